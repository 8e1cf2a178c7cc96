"""What the checker said of an algorithm is asked for once, and for the same question only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from routelab.api.hops import append_tables, program_digest
from routelab.jobs.folder_job import run_job
from routelab.registry.instances import load, load_routing
from routelab.results.outcome import read_outcome
from routelab.routing import routing as checked_routing
from routelab.routing.routing import Routing
from routelab.simulation import case
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.routing import make_packet_program
from routelab.simulation.proofs import FOLDER, Proofs
from routelab.workflow.stages.simulations import SimulationJob
from routelab.workflow.stages.topologies import TopologyJob

SETTINGS = {"loads": (0.1,), "sample_cycles": 10, "max_cycles": 2000, "precision": 0.2}
JUDGED = ("deadlock", "deadlock_proof", "deadlock_reason", "deadlock_coverage", "deadlock_cycle")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Dimensions and virtual channels of every question that reaches the checker."""
    calls: list[tuple[str, int]] = []
    check = checked_routing.check_hop_routing

    def counted(part, network, virtual_channels, **options):
        calls.append((str(network.attributes["dims"]), virtual_channels))
        return check(part, network, virtual_channels, **options)

    monkeypatch.setattr(checked_routing, "check_hop_routing", counted)
    return calls


def simulated(results: Path, network: str, traffic: str, **values) -> dict[str, object]:
    """What the checker says of minimal-adaptive, as a job of a study tells it."""
    facts = outcome_of(results, network, traffic, "minimal-adaptive", **values).facts
    return {name: facts[name] for name in JUDGED}


def outcome_of(results: Path, network: str, traffic: str, routing: str, **values):
    """The outcome of a job of a study."""
    folder = results / "topologies" / network
    built = TopologyJob(folder=str(folder), text=network, digest=f"of {network}")
    if not folder.exists():
        run_job(built)
    settings = SimulationSettings(**{**SETTINGS, **values})
    name = settings.canonical().replace("/", " ")
    job = results / "simulations" / network / routing / traffic / name
    run_job(
        SimulationJob(
            folder=str(job),
            text=routing,
            work=traffic,
            engine=f"packet~{settings.canonical()}",
            digest="abc",
            **SimulationJob.network_fields(built),
        )
    )
    return read_outcome(job / "outcome.json")


def test_a_network_and_a_routing_are_judged_once(tmp_path: Path, checks) -> None:
    first = simulated(tmp_path, "torus~dims=4x4", "uniform")
    assert simulated(tmp_path, "torus~dims=4x4", "tornado") == first
    assert simulated(tmp_path, "torus~dims=4x4", "tornado", seed=3) == first
    assert first["deadlock"] == "proven if declared"
    assert len(checks) == 1


def test_another_question_is_asked_anew(tmp_path: Path, checks) -> None:
    simulated(tmp_path, "torus~dims=4x4", "uniform", vcs=2)
    simulated(tmp_path, "torus~dims=4x4", "uniform", vcs=3)
    simulated(tmp_path, "torus~dims=4x4", "uniform", vcs=2, buffer_flits=2)
    simulated(tmp_path, "torus~dims=3x3", "uniform", vcs=2)
    assert len(checks) == 4


def test_a_network_of_other_content_is_another_question(tmp_path: Path) -> None:
    routing = Routing.from_name("minimal-adaptive")
    runs = [
        Proofs(tmp_path, network).find_or_make(routing, (2,), lambda n=network: {"deadlock": n})
        for network in ("one", "other", "one")
    ]
    assert [facts["deadlock"] for facts in runs] == ["one", "other", "one"]


class Fickle:
    """A hop-by-hop plugin whose tables are new at every call, as from an unseeded generator."""

    reads_variables = ()

    def __init__(self, plugin):
        self.plugin, self.calls = plugin, 0

    def __getattr__(self, name):
        return getattr(self.plugin, name)

    @staticmethod
    def data_files():
        return []

    def prepare(self, topology, virtual_channels):
        self.calls += 1
        program = self.plugin.prepare(topology, virtual_channels)
        return replace(program, tables=append_tables(program.tables, [self.calls]))


def test_the_proven_program_is_the_one_that_runs(tmp_path: Path, monkeypatch) -> None:
    routing, ran, proven = load_routing("minimal-adaptive"), [], []
    fickle = Fickle(routing.plugin)
    routing = replace(routing, plugin=fickle)
    check = checked_routing.check_hop_routing

    def noted(part, network, virtual_channels, **options):
        proven.append(part.prepare(network, virtual_channels))
        return check(part, network, virtual_channels, **options)

    monkeypatch.setattr(checked_routing, "check_hop_routing", noted)
    network, traffic = load("topology", "torus~dims=4x4").build(), load("traffic", "uniform")
    proofs = Proofs(tmp_path, "network")
    for _ in range(2):
        part = Routing(routing)
        simulated_case = case.build_case(network, part, traffic, proofs=proofs)
        ran.append(make_packet_program(simulated_case, SimulationSettings(vcs=2).routers())[0])
        assert ran[-1] is part.prepare(network, 2)
    # a second process has another program, and the stored verdict is not about that one
    assert [id(program) for program in ran] == [id(program) for program in proven]
    assert (fickle.calls, len({program_digest(program) for program in ran})) == (2, 2)


def test_a_damaged_proof_is_made_again(tmp_path: Path, checks) -> None:
    first = simulated(tmp_path, "torus~dims=4x4", "uniform")
    (kept,) = tmp_path.glob(f"simulations/*/*/{FOLDER}/*.json")
    kept.write_text(kept.read_text()[:-20])
    assert simulated(tmp_path, "torus~dims=4x4", "tornado") == first
    assert len(checks) == 2
    assert simulated(tmp_path, "torus~dims=4x4", "shuffle") == first
    assert len(checks) == 2
