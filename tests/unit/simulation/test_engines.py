"""Engines: what they return is what they declare, and anybody's engine is an engine like ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.api import (
    Column,
    EngineCase,
    EnginePlugin,
    EngineResult,
    InputError,
    Parameters,
    PluginError,
    UnsupportedError,
    parameter,
)
from routelab.api.engine import FACTS
from routelab.cli import main
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.engines import engine_class, engine_classes
from routelab.results.outcome import read_outcome
from routelab.results.tables import read_rows
from routelab.routing.routing import Routing
from routelab.simulation.case import build_case, look_up
from routelab.simulation.flow.plugin import FlowEngine
from routelab.simulation.packet.plugin import PacketEngine
from routelab.simulation.run import check_result, run_simulation, write_engine_result
from routelab.simulation.sample_work import RingWorkload, UniformTraffic, trial_work
from routelab.simulation.smpi import simulate as simgrid
from routelab.simulation.smpi.plugin import SmpiEngine
from routelab.simulation.smpi.simgrid import SmpiRun
from routelab.testing.inputs.tables import table_on
from routelab.toolkit import build_grid
from routelab.workflow.plan.expansion import expand_studies

QUICK = {"sample_cycles": 20, "max_cycles": 4000, "precision": 0.3, "loads": (0.1, 0.3)}


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """SimGrid says one second to everything."""
    monkeypatch.setattr("routelab.simulation.smpi.simgrid.find_program", lambda program="": program)
    monkeypatch.setattr(simgrid, "replay", lambda *arguments: SmpiRun(1.0, 2, 2, 0.5))
    monkeypatch.setattr(
        simgrid, "run_executable", lambda *arguments: SmpiRun(2.0, output="hello\n")
    )


def checked_result(engine: EnginePlugin) -> EngineResult:
    network = build_grid("torus", (4, 2), wrap=True)
    case = build_case(network, Routing(table_on(network)), trial_work(engine))
    result = engine.run(case)
    check_result(engine, result)
    return result


@pytest.mark.parametrize(
    "engine",
    [
        PacketEngine(**QUICK),
        PacketEngine(**QUICK, seeds=2),
        PacketEngine(**QUICK, find_saturation=True, max_probes=4, tolerance=0.3),
        PacketEngine(messages=3, message_packets=2, in_order=True, seeds=2),
        FlowEngine(),
        SmpiEngine(),
    ],
    ids=["loads", "seeds", "saturation", "messages", "flow", "smpi"],
)
def test_every_column_is_declared_and_every_declared_one_is_there(engine, replayed) -> None:
    result = checked_result(engine)
    settings = set(engine.parameters.texts())
    returned = {FACTS[engine.work]: result.facts, **result.tables}
    for of, columns in returned.items():
        needs = {column.name: column.needs for column in engine.columns if of in column.of}
        assert set(columns) - settings <= set(needs)
        needed = {
            name for name, need in needs.items() if not need or getattr(engine.parameters, need)
        }
        assert needed <= set(columns)
    tabled = {of for column in engine.columns for of in column.of} - set(FACTS.values())
    assert set(result.tables) == tabled


class Constant(EnginePlugin):
    """The smallest engine."""

    name = "constant"
    summary = "A number"
    work = "traffic"
    columns = (Column("answer", "The number", of=("simulations",)),)

    class Parameters(Parameters):
        value: int = parameter(42, description="The number")
        file: Path | None = parameter(None, description="A file")

    def run(self, case: EngineCase) -> EngineResult:
        return EngineResult({"answer": self.parameters.value})


def test_an_engine_may_ignore_all_that_it_is_offered(tmp_path: Path) -> None:
    network = build_grid("torus", (4,), wrap=True)
    result = run_simulation(
        network, Routing(table_on(network)), UniformTraffic(), Constant(value=7)
    )
    assert result.facts["answer"] == 7
    assert result.facts["engine"] == "constant"
    assert (result.facts["terminals"], result.facts["traffic"]) == (4, "everywhere")
    write_engine_result(result, "traffic", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda: {"answer": 1}, "expected an EngineResult, found dict"),
        (lambda: EngineResult({"answer": 1, "other": 2}), "does not declare other of simulations"),
        (lambda: EngineResult({"answer": [1]}), "fact answer is list, expected a number"),
        (lambda: EngineResult({"answer": 1j}), "fact answer is complex, expected a number"),
        (lambda: EngineResult(None), "facts is None, expected a mapping by names"),
        (lambda: EngineResult({1: 2}), "facts is {1: 2}, expected a mapping by names"),
        (lambda: EngineResult({}, [1]), r"tables is \[1\], expected a mapping by names"),
        (lambda: EngineResult({}, {"loads": [1]}), r"table 'loads' is \[1\], expected a mapping"),
        (lambda: EngineResult({}, {"loads": {"x": 1}}), "table 'loads': x is not a sequence"),
        (
            lambda: EngineResult({}, {"ranks": {}}),
            "an engine for traffic cannot return the table 'ranks'",
        ),
        (lambda: EngineResult({}, {"loads": {"x": [1]}}), "does not declare x of loads"),
    ],
)
def test_a_result_that_breaks_the_contract_names_the_engine(result, message) -> None:
    class Wrong(Constant):
        def run(self, case):
            return result()

    network = build_grid("torus", (4,), wrap=True)
    with pytest.raises(PluginError, match=f"constant: .*{message}"):
        run_simulation(network, Routing(table_on(network)), UniformTraffic(), Wrong())


def test_files_of_settings_are_seen_from_the_study(tmp_path: Path) -> None:
    moved = Constant(file="a.txt").in_folder(tmp_path)
    assert moved.input_files() == [tmp_path / "a.txt"]
    assert Constant().in_folder(tmp_path).input_files() == []


def test_engines_are_looked_up_by_their_work() -> None:
    assert engine_class("flow", "workload") is FlowEngine
    assert engine_classes("traffic")[0].name == "packet"
    with pytest.raises(InputError, match=r"'flow' runs workloads, not traffic \(engines: packet"):
        engine_class("flow", "traffic")
    with pytest.raises(InputError, match="did you mean 'packet'"):
        engine_class("pakcet", "traffic")


def test_simgrid_that_is_not_installed_is_unsupported(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    network = build_grid("torus", (4,), wrap=True)
    with pytest.raises(UnsupportedError, match="smpi: smpirun is not on PATH"):
        run_simulation(network, Routing.from_name("dor"), RingWorkload(), SmpiEngine())


def test_simgrid_runs_the_file_of_a_program(tmp_path, monkeypatch, replayed, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program").touch()
    _, network, algorithms, work, engine = look_up("torus~dims=4", ["dor"], "./program", SmpiEngine)
    result = run_simulation(network, algorithms["dor"], work, engine)
    assert (result.facts["workload"], result.facts["completion_time_s"]) == ("program", 2.0)
    assert result.output == "hello\n"
    with pytest.raises(InputError, match="program"):
        look_up("torus~dims=4", ["dor"], "./program", FlowEngine)
    run = ["simulate", "torus~dims=4", "dor", "./program", "--engine", "smpi"]
    assert main([*run, "-o", "folder"]) == 2
    assert "-o cannot write the results of an MPI program" in capsys.readouterr().err


STUDY = """\
title: t
topologies: [torus~dims=4]
routings: [dor]
workloads: ["npb-cg~class=S"]
flow: {%s}
"""


def test_a_study_sweeps_engines(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("study.yaml")
    path.write_text(STUDY % "engine: {sweep: [flow, smpi]}, ranks: 4")
    jobs = expand_studies([path]).of("flows").values()
    assert [(job.ids[3], job.engine) for job in jobs] == [
        ("ranks=4", "flow~ranks=4"),
        ("engine=smpi,ranks=4", "smpi~ranks=4"),
    ]
    assert len({job.fingerprint for job in jobs}) == 2


STRANGER = """
from routelab.api import Column, EnginePlugin, EngineResult, Parameters, parameter


class Stranger(EnginePlugin):
    name = "stranger"
    summary = "Half of the load arrives"
    work = "traffic"
    columns = (
        Column("load", "Offered load", of=("loads",)),
        Column("accepted_load", "Half of it", of=("simulations", "loads"), shown=("simulate",)),
    )

    class Parameters(Parameters):
        load: float = parameter(0.5, description="Offered load")

    def run(self, case):
        half = self.parameters.load / 2
        table = {"load": [self.parameters.load], "accepted_load": [half]}
        return EngineResult({"accepted_load": half}, {"loads": table}, notes=["half of --load"])
"""


@pytest.fixture
def stranger(site):
    """An engine of another distribution, whose option packets have, too."""
    site.install(
        "strange", {"engine": {"stranger": "stranger:Stranger"}}, {"stranger.py": STRANGER}
    )
    installed_catalogue.cache_clear()
    yield
    installed_catalogue.cache_clear()


def test_a_stranger_s_engine_has_options_a_table_and_a_folder(stranger, capsys, tmp_path) -> None:
    run = ["simulate", "torus~dims=4", "dor", "uniform", "--engine", "stranger", "--load", "0.8"]
    assert main(run) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["accepted_load", "0.4", "half of --load"]
    assert main([*run, "--vcs", "2"]) == 2
    assert "--vcs is an option of --engine packet" in capsys.readouterr().err
    assert main([*run, "-o", str(tmp_path / "o")]) == 0
    assert read_outcome(tmp_path / "o/outcome.json").facts["engine"] == "stranger"
    (row,) = read_rows(tmp_path / "o/curve.csv", ["load", "accepted_load"])
    assert (row["load"], row["accepted_load"]) == (0.8, 0.4)
