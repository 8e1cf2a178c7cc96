"""Flows: from names to times, and every end that a job can come to."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from routelab.api import (
    InputError,
    Job,
    PluginError,
    Program,
    WorkloadPlugin,
)
from routelab.jobs.folder_job import run_job
from routelab.metrics import channel_loads
from routelab.registry.instances import load, name_of
from routelab.results.outcome import read_outcome
from routelab.routing.routing import Routing
from routelab.simulation import case, run
from routelab.simulation.flow.plugin import FlowEngine
from routelab.simulation.flow.settings import FlowSettings
from routelab.toolkit import BlockBuilder, build_grid
from routelab.workflow.stages.simulations import FlowJob

NETWORK = "torus~dims=4x2"
FREE = {"latency": 0, "hop_latency": 0, "memory_latency": 0, "handshake": False, "eager_bytes": 0}


class AllAtOnce(WorkloadPlugin):
    """Every rank sends to all others at once."""

    name = "all-at-once"
    summary = "As many bytes from each to each"

    def program(self, job: Job) -> Program:
        builder, at = BlockBuilder(job.ranks), np.arange(job.ranks)
        for step in range(1, job.ranks):
            builder.ireceive(at, (at - step) % job.ranks, 1e6)
            builder.isend(at, (at + step) % job.ranks, 1e6)
        builder.wait(at)
        return Program(job.ranks, (builder.build(),), self.summary, operations=4e6)


def flow_job(
    folder: Path, routing: str, workload: str, settings: FlowSettings | None = None
) -> FlowJob:
    return FlowJob(
        folder=str(folder),
        topology=NETWORK,
        text=routing,
        work=workload,
        engine=name_of(FlowEngine(settings or FlowSettings())),
        digest="abc",
    )


def simulate(network, routing, workload, settings: FlowSettings):
    return run.run_simulation(network, routing, workload, FlowEngine(settings))


def named(routing: str, workload: str, settings: FlowSettings):
    """The result of what is called like this."""
    _, network, algorithms, work, engine = case.look_up(
        NETWORK, [routing], workload, FlowEngine, lambda: settings
    )
    return run.run_simulation(network, algorithms[routing], work, engine)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("routing", ["dor", "angara-sssp", "angara-bfs"])
def test_simultaneous_messages_take_the_time_of_the_busiest_channel(routing: str) -> None:
    network = build_grid("torus", (4, 2), wrap=True)
    settings = FlowSettings(link_bandwidth=1e9, **FREE)
    result = simulate(network, Routing.from_name(routing), AllAtOnce(), settings)
    loads = channel_loads(Routing.from_name(routing).reroute(network))
    facts = result.facts
    assert facts["completion_time_s"] == pytest.approx(loads.max() * 1e6 / 1e9)
    assert facts["timed_s"] == pytest.approx(facts["completion_time_s"])
    assert facts["mops"] == pytest.approx(4 / facts["timed_s"])
    assert facts["bottleneck_share"] == pytest.approx(1)
    assert facts["bottleneck_channel"] == network.channel_name(int(loads.argmax()))
    assert result.tables["flow-channels"]["bytes"] == pytest.approx((loads * 1e6).tolist())
    assert facts["network_bytes"] == facts["bytes"] == 56e6
    assert result.tables["flow-ranks"]["terminal"] == list(range(8))
    pairs = result.tables["flow-pairs"]
    ends = list(zip(pairs["sender"], pairs["receiver"], strict=True))
    assert ends == [(a, b) for a in range(8) for b in range(8) if a != b]
    assert pairs["bytes"] == pytest.approx([1e6] * 56)
    assert set(pairs["block"]) == {1}


def test_a_job_leaves_its_outcome_and_tables(tmp_path: Path) -> None:
    settings = FlowSettings(ranks_per_node=2, iterations=2, placement="cyclic")
    where = tmp_path / "o"
    job = flow_job(where, "dor", "npb-cg~class=S", settings)
    outcome = run_job(job)
    assert outcome.status == "ok"
    assert read_outcome(where / "outcome.json").facts == pytest.approx(dict(outcome.facts))
    assert outcome.provenance["fingerprint"] == job.fingerprint != ""
    assert outcome.provenance["settings"]["ranks_per_node"] == 2
    facts = outcome.facts
    assert (facts["ranks"], facts["terminals_used"]) == (16, 8)
    assert (facts["iterations_simulated"], facts["iterations_of"]) == (2, 15)
    pairs = rows(where / "pairs.csv")
    assert sum(float(row["bytes"]) for row in pairs) == pytest.approx(facts["network_bytes"])
    assert all(row["sender"] != row["receiver"] for row in pairs)
    ranks = rows(where / "ranks.csv")
    assert [int(row["terminal"]) for row in ranks] == [*range(8), *range(8)]
    assert max(float(row["timed_s"]) for row in ranks) == facts["timed_s"]
    channels = rows(where / "channels.csv")
    assert len(channels) == facts["channels"]
    shares = [float(row["share"]) for row in channels]
    assert max(shares) == pytest.approx(facts["bottleneck_share"])


def test_settings_override_the_machine_of_the_cluster(tmp_path: Path) -> None:
    file = tmp_path / "fast.yaml"
    file.write_text("machine: {link_bandwidth: 4.0e+9, latency: 5.0e-7}\n")
    settings = FlowSettings(machine=str(file), latency=1e-6)
    facts = named("dor", "osu-alltoall", settings).facts
    assert (facts["link_bandwidth"], facts["latency"]) == (4e9, 1e-6)
    file.write_text("machine: {link_bandwith: 4.0e+9}\n")
    with pytest.raises(InputError, match=r"fast.yaml:1: machine.link_bandwith: unknown key"):
        named("dor", "osu-alltoall", settings)


@pytest.mark.parametrize(
    ("routing", "workload", "values", "reason"),
    [
        ("rdr", "osu-alltoall", {}, "hop by hop and has no route table"),
        ("dor", "npb-cg~class=S", {"ranks": 7}, "power of two of processes"),
        ("dor", "osu-alltoall", {"ranks": 9}, "9 ranks do not fit on 8 terminals"),
        ("dor", "osu-alltoall", {"placement": "none.txt"}, "placement none.txt: No such file"),
        ("dor", "transpose~by=coordinate", {"ranks": 4}, "the same number of ranks at every"),
    ],
)
def test_contradictory_settings_are_unsupported(
    tmp_path: Path, routing: str, workload: str, values: dict, reason: str
) -> None:
    outcome = run_job(flow_job(tmp_path / "o", routing, workload, FlowSettings(**values)))
    assert outcome.status == "unsupported"
    assert reason in outcome.reason
    assert outcome.facts["workload"] == workload
    assert read_outcome(tmp_path / "o/outcome.json").reason == outcome.reason


def test_ranks_that_wait_for_each_other_are_unsupported_with_their_names() -> None:
    class Facing(AllAtOnce):
        def program(self, job):
            builder = BlockBuilder(job.ranks)
            builder.send([0, 1], [1, 0], 1e6).receive([0, 1], [1, 0], 1e6)
            return Program(job.ranks, (builder.build(),), "two that send first")

    network = build_grid("torus", (4, 2), wrap=True)
    with pytest.raises(InputError, match="rank 0: send to 1"):
        simulate(network, Routing.from_name("dor"), Facing(), FlowSettings(eager_bytes=0))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda job: "messages", "expected a Program, found str"),
        (lambda job: Program(job.ranks + 1, (), "more"), "a program of 9 ranks for a job of 8"),
    ],
)
def test_a_workload_that_breaks_its_contract_is_named(program, message: str) -> None:
    class Wrong(AllAtOnce):
        pass

    Wrong.program = lambda self, job: program(job)
    network = build_grid("torus", (4, 2), wrap=True)
    with pytest.raises(PluginError, match=f"all-at-once: .*{message}"):
        simulate(network, Routing.from_name("dor"), Wrong(), FlowSettings())


@pytest.mark.parametrize(
    ("name", "few", "all_"), [("lu", 4, 300), ("mg", 3, 4), ("cg", 3, 15), ("ft", 3, 6)]
)
def test_a_few_iterations_predict_the_time_of_all(name: str, few: int, all_: int) -> None:
    """Class W in full, on as many ranks as its messages were counted for."""
    network = build_grid("torus", (4, 2, 2, 2), wrap=True)
    workload = load("workload", f"npb-{name}~class=W")

    def facts(iterations: int) -> dict[str, object]:
        settings = FlowSettings(iterations=iterations)
        return simulate(network, Routing.from_name("angara-sssp"), workload, settings).facts

    cut, whole = facts(few), facts(0)
    assert (cut["iterations_simulated"], cut["iterations_of"]) == (few, all_)
    assert cut["timed_s"] == pytest.approx(whole["timed_s"], rel=5e-4)
    for count in ("messages", "bytes", "network_bytes"):
        assert cut[count] == whole[count]
