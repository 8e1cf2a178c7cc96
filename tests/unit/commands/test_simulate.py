"""``routelab simulate``: its options are the settings, its messages whole, its numbers complete."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from routelab.cli import main, make_parser
from routelab.commands._settings import OPTIONS, PREFIX, option, read_settings
from routelab.simulation.settings import SimulationSettings

pytestmark = pytest.mark.builtins

RUN = ("simulate", "torus~dims=4x4", "dor", "uniform")
QUICK = ("--sample-cycles", "20", "--max-cycles", "4000", "--precision", "0.05")


def parsed(*options: str) -> dict:
    return vars(make_parser().parse_args([*RUN, *options]))


def test_every_setting_is_an_option_that_says_what_it_is(capsys) -> None:
    assert main(["simulate", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, field in SimulationSettings.model_fields.items():
        assert f"{option(name)} " in told
        assert field.description.split(",")[0][:30] in told
    assert set(OPTIONS) <= set(SimulationSettings.model_fields)


def test_options_that_are_not_given_leave_the_defaults() -> None:
    assert read_settings(SimulationSettings, parsed()) == SimulationSettings()
    assert not [name for name in parsed() if name.startswith(PREFIX)]


def test_options_mean_what_they_say() -> None:
    options = ("--load", "0.3,0.1", "--saturation", "--in-order", "--priority", "age")
    made = read_settings(SimulationSettings, parsed(*options, "--vcs=8", "--precision", "0.01"))
    assert made == SimulationSettings(
        loads=(0.1, 0.3), find_saturation=True, in_order=True, priority="age", vcs=8, precision=0.01
    )
    assert read_settings(SimulationSettings, parsed("--load", "0.3")).loads == (0.3,)


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
        (["--vcs", "0"], "--vcs=0: must be greater than or equal to 1"),
        (["--vcs", "-1"], "--vcs=-1: must be greater than or equal to 1"),
        (["--vcs", "four"], "--vcs=four: must be a valid integer"),
        (["--load", "0"], "--load=0: item 1 must be greater than 0"),
        (["--load", "0.2,1.5"], "must be less than or equal to 1"),
        (["--load", "0.2,much"], "must be a valid number"),
        (["--load", ","], "--load=,: name at least one load"),
        (["--switching", "worm"], "--switching=worm: must be 'virtual-cut-through' or 'wormhole'"),
        (["--seed", "-3"], "--seed=-3: must be greater than or equal to 0"),
        (["--seed", "99999999999999999999"], "--seed="),
        (["--packet-flits", "16"], "buffer_flits is 8, less than packet_flits, 16"),
        (["--speedup", "2"], "speedup needs output_buffer_flits"),
        (["--messages", "5", "--saturation"], "find_saturation needs offered loads"),
        (["--max-cycles", "10"], "max_cycles is 10"),
        (["--confidence", "1"], "--confidence=1: must be less than 1"),
    ],
)
def test_wrong_settings(refused, options, message) -> None:
    assert message in refused(*RUN, *options)


def test_all_that_is_wrong_is_told_at_once(refused) -> None:
    message = refused(
        "simulate",
        "torsu~dims=4",
        "dorr",
        "unifrom",
        "--vcs",
        "0",
        "--priority",
        "old",
        "--load",
        "2",
    )
    for part in (
        "--vcs=0",
        "--priority=old",
        "--load=2",
        "did you mean 'torus'",
        "did you mean 'dor'",
        "did you mean 'uniform'",
    ):
        assert part in message
    assert len(message.splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate"], "TOPOLOGY and ROUTING and TRAFFIC missing"),
        (["simulate", "torus~dims=4", "dor"], "TRAFFIC missing"),
        ([*RUN, "--engine", "flow"], "invalid choice: 'flow'"),
        (["simulate", "torus~dims=4", "no/such/routes.npz", "uniform"], "no/such/routes.npz"),
        (["simulate", "no/such.npz", "dor", "uniform"], "no/such.npz"),
        (["simulate", "torus~dims=4", "dor", "tornado~shfit=1"], "did you mean 'shift'"),
    ],
)
def test_wrong_arguments(capsys, arguments, message) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_table_of_another_network_is_refused(refused, tmp_path: Path) -> None:
    assert main(["route", "torus~dims=5", "dor", "-o", str(tmp_path / "r")]) == 0
    message = refused("simulate", "torus~dims=4", str(tmp_path / "r/routes.npz"), "uniform")
    assert "another topology" in message or "torus" in message


def test_what_does_not_go_together_ends_with_1_and_the_reason(capsys, tmp_path: Path) -> None:
    assert main([*RUN, "--switching", "wormhole"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "dor: bubble flow control needs virtual cut-through" in printed.err
    assert main([*RUN, "--buffer-flits", "1", "-o", str(tmp_path / "o")]) == 1
    assert "raise buffer_flits to 2" in capsys.readouterr().err
    outcome = json.loads((tmp_path / "o/outcome.json").read_text())
    assert outcome["status"] == "unsupported"


def test_json_has_what_was_measured_and_how(capsys) -> None:
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


def test_a_sweep_is_a_line_a_load(capsys) -> None:
    sweep = [*RUN, "--load", "0.1,0.3", *QUICK]
    assert main([*sweep, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["load"] for row in rows] == ["0.1", "0.3"]
    assert float(rows[0]["latency_mean"]) < float(rows[1]["latency_mean"])
    assert main(sweep) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:3] == ["load", "state", "accepted_load"]
    assert printed[1].split()[:2] == ["0.1", "stationary"]
    assert "±" in printed[1]
    assert any(line.startswith("deadlock: proven") for line in printed)


def test_messages_to_finish_are_told_by_their_completion(capsys) -> None:
    assert main([*RUN, "--messages", "3"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:2] == ["state", "completion_cycles"]
    assert printed[1].split()[0] == "finished"
