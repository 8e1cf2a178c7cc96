"""``routelab simulate``: its options are the settings, its messages whole, its numbers complete."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from routelab.cli import main, make_parser
from routelab.commands._shared.settings import (
    PREFIX,
    settings_from_options,
    with_option_names,
)
from routelab.jobs.batches import write_jobs
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.contract import RESERVED_SETTINGS
from routelab.registry.engines import engine_classes
from routelab.results.outcome import read_outcome
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.workflow.stages.simulations import SimulationJob

RUN = ("simulate", "torus~dims=4x4", "dor", "uniform")
QUICK = ("--sample-cycles", "20", "--max-cycles", "4000", "--precision", "0.05")


def parsed(*options: str) -> dict:
    return vars(make_parser().parse_args([*RUN, *options]))


def test_options_that_are_not_given_leave_the_defaults() -> None:
    assert settings_from_options(SimulationSettings, parsed()) == SimulationSettings()
    assert not [name for name in parsed() if name.startswith(PREFIX)]


def test_no_setting_may_be_called_like_another_argument() -> None:
    settings = {name for engine in engine_classes() for name in engine.Parameters.model_fields}
    others = {name for name in parsed() if not name.startswith(PREFIX)} - settings - {"run"}
    assert {"engine", "plot", "routings"} <= others <= {*RESERVED_SETTINGS}


def test_options_become_settings() -> None:
    options = ("--load", "0.3,0.1", "--saturation", "--in-order", "--priority", "age")
    settings = settings_from_options(
        SimulationSettings, parsed(*options, "--vcs=8", "--precision", "0.01")
    )
    assert settings == SimulationSettings(
        loads=(0.1, 0.3), find_saturation=True, in_order=True, priority="age", vcs=8, precision=0.01
    )
    assert settings_from_options(SimulationSettings, parsed("--load", "0.3")).loads == (0.3,)


@pytest.fixture
def refused(capsys):
    """Run a command that has to fail with code 2, and return its message."""

    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("routelab: error: ")
        assert "Traceback" not in printed.err
        return printed.err

    return run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vcs", "-1"], "--vcs=-1: must be greater than or equal to 1"),
        (["--load", "0.2,1.5"], "must be less than or equal to 1"),
        (["--load", ","], "--load=,: name at least one load"),
        (["--switching", "worm"], "--switching=worm: must be 'virtual-cut-through' or 'wormhole'"),
        (["--packet-flits", "16"], "raise --buffer-flits, or set --switching to wormhole"),
        (["--output-buffer-flits", "0"], "set it to 1, or --router to input-queued"),
        (["--messages", "5", "--saturation"], "--saturation needs offered loads, but runs with"),
        (["--max-cycles", "10"], "--max-cycles is 10; with --warmup-cycles 0 and --sample-cycles"),
    ],
)
def test_wrong_settings_are_told_by_the_names_of_options(refused, options, message) -> None:
    assert message in refused(*RUN, *options)


def test_all_mistakes_are_reported_together(refused) -> None:
    names = ("torsu~dims=4", "dorr", "unifrom")
    message = refused("simulate", *names, "--vcs", "0", "--priority", "old", "--load", "2")
    for part in ("--vcs=0", "--priority=old", "--load=2", "'torus'", "'dor'", "'uniform'"):
        assert part in message
    assert len(message.splitlines()) == 6


CIRCLING = (
    *("simulate", "torus~dims=8", "first@unrestricted", "tornado", "--vcs", "1"),
    *("--router", "input-queued", "--buffer-flits", "2", "--load", "0.1,1", *QUICK),
)
"""Shortest routes around a ring, which wait for each other at load 1."""


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_deadlock_is_broken(capsys, form) -> None:
    assert main([*CIRCLING, "--format", form]) == 6
    printed = capsys.readouterr()
    assert printed.err.startswith(
        "routelab: error: packets are blocked: load 1: deadlock: 16 buffers wait for each other"
    )
    assert "Traceback" not in printed.err
    if form == "json":
        facts = json.loads(printed.out)
        assert [row["state"] for row in facts["curve"]] == ["stationary", "deadlock"]
        assert facts["blocked"].startswith("load 1: deadlock: ")
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(printed.out)))
        assert [row["state"] for row in rows] == ["stationary", "deadlock"]
    else:
        assert "deadlock" in printed.out.splitlines()[2]


def test_a_deadlock_is_a_result_in_a_folder_and_in_a_batch(capsys, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert main([*CIRCLING, "-o", str(folder)]) == 6
    assert "packets are blocked: load 1: deadlock" in capsys.readouterr().err
    outcome = read_outcome(folder / "outcome.json")
    assert outcome.status == "ok"
    assert outcome.facts["state"] == "deadlock"
    network = tmp_path / "network"
    assert main(["topology", "torus~dims=8", "-o", str(network)]) == 0
    quick = "loads=1,sample_cycles=20,max_cycles=4000,precision=0.05"
    options = f"router=input-queued,vcs=1,buffer_flits=2,{quick}"
    job = SimulationJob(
        folder=str(tmp_path / "job"),
        topology=str(network),
        text="first@unrestricted",
        work="tornado",
        engine=f"packet~{options}",
    )
    write_jobs([job], tmp_path / "spec.json")
    listed = str(tmp_path / "outcomes.json")
    assert main(["batch", str(tmp_path / "spec.json"), "-o", listed]) == 0
    assert read_outcome(tmp_path / "job/outcome.json").facts["state"] == "deadlock"


BROKEN = """
from routelab.api import HopProgram, HopRoutingPlugin, Parameters, pack_tables, parameter
from routelab.kernels.hops import TARGET, hop_kernel, inject_kernel


@hop_kernel
def wander(tables, packets, packet, queues, switch, channel, vc, random, out):
    if packets[packet, TARGET] == 3:
        raise ValueError("no way to 3")
    out[0, 0] = -1
    return 1


@inject_kernel
def enter(tables, reals, packets, packet, queues, hop, random, out):
    if packets[packet, TARGET] == 3:
        raise KeyError("no entry")
    return 0


@hop_kernel
def stay(tables, packets, packet, queues, switch, channel, vc, random, out):
    return 0


@hop_kernel
def write(tables, packets, packet, queues, switch, channel, vc, random, out):
    tables[0] = 3
    return 0


class Fragile(HopRoutingPlugin):
    name = "fragile"
    summary = "Breaks where it is told to"
    proof = "none"

    class Parameters(Parameters):
        at: str = parameter("lost", description="where")

    def supports(self, topology, virtual_channels):
        return None

    def prepare(self, topology, virtual_channels):
        at = self.parameters.at
        return HopProgram(
            hop={"stay": stay, "enter": stay, "write": write}.get(at, wander),
            inject=enter if at == "enter" else None,
            tables=pack_tables(topology),
            vc_classes=1,
        )


"""


@pytest.fixture
def broken(site):
    site.install(
        "broken",
        {"routing": {"fragile": "broken:Fragile"}},
        {"broken.py": BROKEN},
    )
    installed_catalogue.cache_clear()
    return site


@pytest.mark.parametrize(
    ("at", "message"),
    [("wander", "ValueError: no way to 3 ("), ("enter", "KeyError: 'no entry' (")],
)
def test_an_exception_of_a_plugin_is_one_message_with_its_place(
    broken, capsys, tmp_path, at, message
) -> None:
    routing = f"fragile~at={at}"
    command = ["simulate", "torus~dims=4", routing, "uniform", "--load", "0.2", *QUICK]
    assert main(command) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"routelab: error: {message}")
    assert re.search(r"broken\.py, line \d+\); --verbose shows the traceback$", line)
    assert main([*command, "--verbose"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err
    assert main([*command, "-o", str(tmp_path / "o")]) == 1
    outcome = read_outcome(tmp_path / "o/outcome.json")
    assert outcome.status == "failed"
    assert message in outcome.reason


def test_a_function_that_does_not_compile_breaks_the_jobs_that_use_it(
    broken, capsys, tmp_path
) -> None:
    command = ["simulate", "torus~dims=4", "fragile~at=write", "neighbor", "--load", "0.2", *QUICK]
    assert main(command) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("routelab: error: broken.write: expected a function that Numba")
    assert "readonly array" in printed.err
    assert "Traceback" not in printed.err
    assert main([*command, "-o", str(tmp_path / "o")]) == 1
    outcome = read_outcome(tmp_path / "o/outcome.json")
    assert outcome.status == "failed"
    assert "broken.write: expected a function that Numba" in outcome.reason
    # it has another function, too
    assert main(["plugins", "list", "routing", "--format", "csv"]) == 0
    assert "routing,fragile,broken,1.0,ok," in capsys.readouterr().out


def test_a_state_without_a_route_is_reported_before_a_run(broken, capsys) -> None:
    command = ["simulate", "torus~dims=4", "fragile~at=stay", "neighbor", "--load", "0.2", *QUICK]
    assert main(command) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    # from each of 4 switches to each of 3 others
    assert re.fullmatch(
        r"routelab: error: fragile~at=stay: 12 dead ends without a candidate: \d to \d, at switch "
        r"\d, come at injection",
        printed.err.strip(),
    )


def test_a_table_of_another_network_is_refused(refused, tmp_path: Path) -> None:
    assert main(["route", "torus~dims=5", "dor", "-o", str(tmp_path / "r")]) == 0
    message = refused("simulate", "torus~dims=4", str(tmp_path / "r/routes.npz"), "uniform")
    assert "another topology" in message or "torus" in message


def test_json_has_measurements_and_settings(capsys) -> None:
    assert main([*RUN, "--load", "0.3", "--vcs", "5", *QUICK, "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    for name in ("accepted_load", "latency_mean", "latency_p99", "hops_mean"):
        assert facts[f"{name}_low"] <= facts[name] <= facts[f"{name}_high"]
    assert facts["saturated"] is False
    assert facts["flit_hops_per_cpu_s"] > 0
    assert facts["load"] == 0.3
    assert facts["offered_load"] == pytest.approx(0.3, rel=0.1)
    assert facts["hops_mean"] == pytest.approx(32 / 15, rel=0.05)
    assert (facts["deadlock"], facts["blocked"]) == ("proven", None)
    assert (facts["virtual_channels_used"], facts["virtual_channels_unused"]) == (5, 0)
    assert facts["convention"]
    assert (facts["seed"], facts["seeds"]) == (0, 1)
    assert facts["warmup_cycles"] > 0
    assert facts["cycles"] > 0
    assert 0 <= facts["worst_terminal"] < 16
    assert [row["load"] for row in facts["curve"]] == [0.3]


def test_a_parameter_that_is_wrong_for_the_network_is_wrong_input_among_several(capsys) -> None:
    wrong = "sssp@up-down~root=nope"
    arguments = ("simulate", "torus~dims=4x4", wrong, "dor", "uniform", "--load", "0.1", *QUICK)
    assert main([*arguments, "--format", "csv"]) == 2
    out, errors = capsys.readouterr()
    statuses = {row["routing"]: row["status"] for row in csv.DictReader(io.StringIO(out))}
    assert statuses == {wrong: "unsupported", "dor": "ok"}
    assert "root=nope is not a switch" in errors


def test_a_deadlock_that_only_the_search_meets_is_broken_too(capsys) -> None:
    searched = [*CIRCLING, "--load", "0.1", "--saturation", "--max-probes", "4"]
    assert main([*searched, "--format", "json"]) == 6
    facts = json.loads(capsys.readouterr().out)
    assert facts["state"] == "stationary"
    assert "deadlock" in facts["blocked"]


def test_messages_name_options_but_keep_names_of_instances():
    text = "`loads` and max_cycles: raise vcs; flow~max_cycles=3 and tree~vcs=2,max_cycles=4"
    message, instances = with_option_names(text, SimulationSettings).split("; ")
    assert message == "--load and --max-cycles: raise --vcs"
    assert instances == "flow~max_cycles=3 and tree~vcs=2,max_cycles=4"
