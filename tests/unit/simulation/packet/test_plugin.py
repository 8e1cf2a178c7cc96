"""Packets: conservation in its files, honest outcomes, the same numbers anywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from routelab.api import (
    Demand,
    HopProgram,
    InputError,
    RouteTable,
    Topology,
    TrafficPlugin,
    UnsupportedError,
    pack_tables,
)
from routelab.deadlock import check_hops
from routelab.jobs.folder_job import run_job
from routelab.kernels.hops import hop_kernel
from routelab.registry.instances import load, name_of
from routelab.results.json_files import to_plain
from routelab.results.outcome import read_outcome
from routelab.results.row_store import RowWriter
from routelab.results.tables import read_rows
from routelab.routing import route, topology
from routelab.routing import routing as checked_routing
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation import case, run
from routelab.simulation.checkpoint import FOLDER, FinishedParts
from routelab.simulation.packet import simulate as packets
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.rows import from_row, to_row
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.plugin import PacketEngine
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.stages.simulations import SimulationJob
from routelab.workflow.stages.topologies import TopologyJob

NETWORK = "torus~dims=4x4"
RING = "torus~dims=8"
"""Under tornado everybody sends three hops the same way: it takes a third of the load at most."""
TIMES = (*PacketEngine.clock, "routing_seconds")
QUICK = {"sample_cycles": 20, "max_cycles": 4000, "precision": 0.05}


def settings(**values) -> SimulationSettings:
    return SimulationSettings(**{**QUICK, **values})


def job(
    folder: Path,
    network: str = NETWORK,
    routing: str = "dor",
    traffic: str = "uniform",
    options: SimulationSettings | None = None,
    digest: str = "abc",
) -> SimulationJob:
    return SimulationJob(
        folder=str(folder),
        topology=network,
        text=routing,
        work=traffic,
        engine=name_of(PacketEngine(options or settings())),
        digest=digest,
    )


class Across(TrafficPlugin):
    """Terminal t sends to t + 2 only."""

    name = "across"
    summary = "Two on"

    def demand(self, topology, seed):
        count = topology.num_terminals
        return Demand.permutation((np.arange(count) + 2) % count, "two on")


def timeless(facts):
    """Facts that are those of the seed."""
    return {name: value for name, value in facts.items() if name not in TIMES}


def simulate(network, routing, traffic, options: SimulationSettings):
    return run.run_simulation(network, routing, traffic, PacketEngine(options))


def named(network: str, routing: str, traffic: str, options: SimulationSettings):
    """The result of what is called like this."""
    _, topology, algorithms, work, _ = case.look_up(network, [routing], traffic, PacketEngine)
    return simulate(topology, algorithms[routing], work, options)


def curve_of(result):
    """A row for each load."""
    table = result.tables["loads"]
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def rows(folder: Path, name: str, *needed: str):
    return read_rows(folder / name, ["load", *needed])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A sweep of two loads, the second saturated."""
    where = tmp_path_factory.mktemp("simulated") / "out"
    outcome = run_job(job(where, RING, "dor", "tornado", settings(loads=(0.2, 0.9))))
    assert outcome.status == "ok"
    assert read_outcome(where / "outcome.json").facts == to_plain(outcome.facts)
    return where


def test_a_saturated_load_has_no_latency(folder: Path) -> None:
    low, high = rows(folder, "curve.csv")
    assert (low["load"], low["saturated"], low["state"]) == (0.2, False, "stationary")
    assert (high["load"], high["saturated"], high["state"]) == (0.9, True, "saturated")
    assert low["latency_mean_low"] <= low["latency_mean"] <= low["latency_mean_high"]
    assert high["latency_mean"] is None
    assert high["latency_p99"] is None
    lines = rows(folder, "latencies.csv")
    assert {line["load"] for line in lines if line["hops"] is None} == {0.2}
    assert {line["load"] for line in lines if line["hops"] is not None} == {0.2, 0.9}
    means = {
        line["latency_mean"] is None
        for line in rows(folder, "terminals.csv")
        if line["load"] == 0.9
    }
    assert means == {True}


def test_the_facts_are_those_of_the_highest_load(folder: Path) -> None:
    outcome = read_outcome(folder / "outcome.json")
    high = rows(folder, "curve.csv")[-1]
    for name in ("accepted_load", "accepted_load_low", "hops_mean", "worst_terminal", "text"):
        assert outcome.facts[name] == high[name]
    assert (outcome.kind, outcome.routing, outcome.facts["traffic"]) == (
        "simulation",
        "dor",
        "tornado",
    )
    assert outcome.facts["deadlock"] == "proven"
    assert outcome.facts["virtual_channels_used"] == 4
    repeated = job(folder, RING, "dor", "tornado", settings(loads=(0.2, 0.9)))
    assert outcome.provenance["fingerprint"] == repeated.fingerprint != ""
    assert outcome.provenance["settings"]["loads"] == [0.2, 0.9]
    assert {plugin["name"] for plugin in outcome.provenance["plugins"]} >= {"dor", "tornado"}
    assert outcome.facts["worst_terminal_switch"] in {
        str(line["switch"]) for line in rows(folder, "terminals.csv")
    }


def test_terminals_with_names_are_listed_by_them(tmp_path: Path) -> None:
    """And each way of a table per terminal is the one that its packets take."""
    (tmp_path / "pair.json").write_text(
        '{"multigraph": true,'
        ' "nodes": [{"id": "a"}, {"id": "b"}, {"id": "n1", "kind": "host"}, {"id": "n2", "kind":'
        ' "host"}, {"id": "n3", "kind": "host"}], "links": [{"source": "a", "target": "b"},'
        ' {"source": "a", "target": "b"}, {"source": "n1", "target": "a"}, {"source": "n2",'
        ' "target": "b"}, {"source": "n3", "target": "b"}]}'
    )
    network = f"graph~file={tmp_path / 'pair.json'}"
    result = named(network, "dfsssp~routes=terminals", "uniform", settings())
    assert result.tables["terminals"]["name"][:3] == ["n1", "n2", "n3"]
    assert result.facts["worst_terminal_name"] in {"n1", "n2", "n3"}
    # a sends to n2 over one of the parallel links and to n3 over the other one
    channels = result.tables["channels"]
    flits = dict(zip(channels["channel"], channels["flits"], strict=True))
    assert min(flits[0], flits[2]) > 0


def test_files_agree_with_each_other(folder: Path) -> None:
    for point in rows(folder, "curve.csv"):
        lines = [line for line in rows(folder, "terminals.csv") if line["load"] == point["load"]]
        assert len(lines) == 8
        # everybody sends and everybody receives
        assert sum(line["received"] for line in lines) / 8 == pytest.approx(point["accepted_load"])
        assert sum(line["offered"] for line in lines) / 8 == pytest.approx(point["offered_load"])
        channels = [line for line in rows(folder, "channels.csv") if line["load"] == point["load"]]
        assert sum(line["flits"] for line in channels) == point["flit_hops"]
        assert max(line["utilisation"] for line in channels) == point["utilisation_max"]
    packets = [line for line in rows(folder, "latencies.csv") if line["latency"] is not None]
    total = sum(line["count"] for line in packets)
    mean = sum(line["count"] * line["latency"] for line in packets) / total
    assert mean == pytest.approx(rows(folder, "curve.csv")[0]["latency_mean"])
    assert packets[-1]["share"] == 1


def test_delivered_flits_crossed_one_channel_per_hop(tmp_path: Path) -> None:
    options = settings(messages=5, message_packets=3, packet_flits=2, in_order=True)
    outcome = run_job(job(tmp_path / "o", options=options))
    facts = outcome.facts
    assert (facts["state"], facts["saturated"]) == ("finished", None)
    flits = 16 * 5 * 3 * 2
    crossed = sum(line["flits"] for line in rows(tmp_path / "o", "channels.csv"))
    assert crossed == pytest.approx(facts["hops_mean"] * flits)
    lines = rows(tmp_path / "o", "latencies.csv")
    for kind, count in (("latency", 240), ("in_order_latency", 240), ("message_latency", 80)):
        assert sum(line["count"] for line in lines if line[kind] is not None) == count
    hops = [line for line in lines if line["hops"] is not None]
    assert sum(line["count"] for line in hops) == 240
    mean = sum(line["count"] * line["hops"] for line in hops) / 240
    assert mean == pytest.approx(facts["hops_mean"])
    assert (hops[-1]["hops"], hops[-1]["share"]) == (facts["hops_max"], 1)
    ends = [line["finished_at"] for line in rows(tmp_path / "o", "terminals.csv")]
    assert max(end for end in ends if end is not None) == facts["completion_cycles"]
    got = [
        line["received"] * facts["cycles"] / line["finished_at"]
        for line in rows(tmp_path / "o", "terminals.csv")
    ]
    throughputs = [line["throughput"] for line in rows(tmp_path / "o", "terminals.csv")]
    assert throughputs == pytest.approx(got)
    assert facts["terminal_throughput"] == pytest.approx(sum(got) / len(got))


def test_terminals_that_starve_behind_bubbles_are_counted() -> None:
    facts = {
        routing: named(
            "torus~dims=8x8", routing, "transpose", settings(router="input-queued", loads=(1.0,))
        ).facts
        for routing in ("dor", "dimension-order~deadlock=dateline")
    }
    bubble, dateline = facts.values()
    assert bubble["starved_terminals"] > bubble["senders"] / 3
    assert f"{bubble['starved_terminals']} of 56 terminals starve" in bubble["text"]
    assert "bubble flow control" in bubble["text"]
    assert dateline["starved_terminals"] == 0
    assert "starve" not in dateline["text"]
    assert dateline["jain"] > 2 * bubble["jain"]


def test_a_job_that_was_killed_goes_on_with_the_other_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = settings(loads=(0.1, 0.2, 0.3), find_saturation=True, max_probes=4)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    run_job(job(tmp_path / "whole", options=options))
    whole = read_outcome(tmp_path / "whole" / "outcome.json").facts

    loads: list[float] = []

    def counted(network, program, router, traffic, seed):
        if len(loads) == 2:
            raise KeyboardInterrupt  # as good as a kill: nothing is written on the way out
        loads.append(traffic.load)
        return Simulation(network, program, router, traffic, seed)

    monkeypatch.setattr(packets, "Simulation", counted)
    with pytest.raises(KeyboardInterrupt):
        run_job(job(tmp_path / "cut", options=options))
    assert loads == [0.1, 0.2]
    assert not (tmp_path / "cut").exists()
    # a line that a kill cut off is none
    (kept,) = (tmp_path / FOLDER).glob("*.rows")
    kept.write_text(kept.read_text()[:-20])

    loads.clear()
    monkeypatch.setattr(
        packets,
        "Simulation",
        lambda *a: loads.append(a[3].load) or Simulation(*a),
    )
    run_job(job(tmp_path / "cut", options=options))
    assert loads[:2] == [0.2, 0.3]
    assert 0.1 not in loads
    assert timeless(read_outcome(tmp_path / "cut" / "outcome.json").facts) == timeless(whole)
    for name in ("channels.csv", "terminals.csv", "latencies.csv"):
        assert (tmp_path / "cut" / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert not list((tmp_path / FOLDER).glob("*"))


def test_parts_of_another_fingerprint_are_not_taken(tmp_path: Path) -> None:
    parts = FinishedParts(tmp_path / "o", "one")
    parts.save("0.2 0", {"load": 0.2})
    parts.close(done=False)
    assert FinishedParts(tmp_path / "o", "two").find("0.2 0") is None
    assert FinishedParts(tmp_path / "o", "one").find("0.2 1") is None
    assert FinishedParts(tmp_path / "o", "one").find("0.2 0") == {"load": 0.2}


def test_a_part_that_could_not_be_stored_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise InputError("no space left on device")

    parts = FinishedParts(tmp_path / "o", "one")
    with monkeypatch.context() as context:
        context.setattr(RowWriter, "append", fail)
        parts.save("0.2 0", {"load": 0.2})
    assert "no space left" in caplog.text
    assert parts.find("0.2 0") is None
    parts.save("0.2 0", {"load": 0.2})
    assert parts.find("0.2 0") == {"load": 0.2}
    parts.close(done=False)


def _measured(options: SimulationSettings):
    network = topology.load_network(NETWORK)[1]
    program = table_program(route.route_network(network, Routing.from_name("dor"))[0].table)
    demand = Demand.uniform(network, "all to all")
    simulation = Simulation(network, program, options.routers(), OpenLoop(demand, 0.2))
    return measure_simulation(simulation, options)


def test_a_measurement_survives_json() -> None:
    options = settings(loads=(0.2,))
    measurement = _measured(options)
    again = from_row(json.loads(json.dumps(to_row(measurement))), options)
    assert to_row(again) == to_row(measurement)
    assert again.facts() == measurement.facts()
    assert np.array_equal(again.counts.vc_flits, measurement.counts.vc_flits)
    assert again.counts.latency.quantile(0.99) == measurement.counts.latency.quantile(0.99)


def test_a_table_from_a_file_runs_as_the_routing_that_made_it(tmp_path: Path) -> None:
    run_job(RouteJob(folder=str(tmp_path / "r"), topology=NETWORK, text="dor"))
    options = settings(loads=(0.4,))
    table = str(tmp_path / "r" / "routes.npz")
    results = [named(NETWORK, name, "uniform", options) for name in ("dor", table)]
    assert timeless(curve_of(results[0])[0]) == timeless(curve_of(results[1])[0])


@pytest.mark.parametrize(
    ("network", "routing", "traffic", "values", "reason"),
    [
        (NETWORK, "dor", "tornado~shift=1x1x1", {}, "tornado: "),
        (NETWORK, "dor", "uniform", {"switching": "wormhole"}, "bubble flow control needs virtual"),
        (NETWORK, "dor", "uniform", {"buffer_flits": 1}, "raise buffer_flits to 2"),
        ("torus~dims=4x4x4", "dfsssp", "uniform", {"vcs": 1}, "it needs"),
        ("torus~dims=3", "dor", "transpose", {}, "transpose: "),
    ],
)
def test_contradictory_settings_are_an_outcome(
    tmp_path: Path, network, routing, traffic, values, reason
) -> None:
    outcome = run_job(job(tmp_path / "o", network, routing, traffic, settings(**values)))
    assert outcome.status == "unsupported"
    assert reason in outcome.reason
    assert outcome.facts["traffic"] == traffic
    assert [path.name for path in (tmp_path / "o").iterdir()] == ["outcome.json"]


def test_no_network_no_simulation(tmp_path: Path) -> None:
    none = TopologyJob(folder=str(tmp_path / "none"), text="torus~dims=4,fail_switches=4")
    run_job(none)
    outcome = run_job(job(tmp_path / "o", none.folder))
    assert (outcome.kind, outcome.status) == ("simulation", "unsupported")
    assert outcome.reason.startswith("no network: ")


def clockwise(count: int) -> RouteTable:
    """All routes on a ring the same way round, on one virtual channel without bubble."""
    network = build_grid("torus", (count,), wrap=True)
    onward = {
        int(network.channel_source[c]): c
        for c in range(network.num_channels)
        if network.channel_target[c] == (network.channel_source[c] + 1) % count
    }
    lengths = [[(t - s) % count for t in range(count)] for s in range(count)]
    hops = [
        onward[(s + k) % count]
        for s in range(count)
        for t in range(count)
        for k in range((t - s) % count)
    ]
    return RouteTable.from_lengths(network, lengths, hops)


class Drawn(TrafficPlugin):
    """One terminal, another with each seed, sends to the next."""

    name = "drawn"
    summary = "One sends"

    def demand(self, topology, seed):
        targets = np.full(topology.num_terminals, -1)
        targets[seed] = seed + 1
        return Demand.permutation(targets, "one sends")


@pytest.mark.parametrize("messages", [0, 40])
def test_silent_terminals_have_no_rates_and_others_those_of_their_seeds(messages) -> None:
    network = build_grid("torus", (4,), wrap=True)
    options = settings(loads=(0.2,), seeds=2, messages=messages, max_cycles=20_000)
    result = simulate(network, Routing.from_name("dor"), Drawn(), options)
    table = result.tables["terminals"]
    for name, known in (
        ("offered", [True, True, False, False]),
        ("accepted", [True, True, False, False]),
        ("received", [False, True, True, False]),
    ):
        assert [value is not None for value in table[name]] == known
        if not messages:
            # two runs, each with one sender: the mean is over the run in which it sends
            rates = [value for value in table[name] if value is not None]
            assert rates == pytest.approx([0.2, 0.2], rel=0.15)
    (row,) = curve_of(result)
    assert row["senders"] == 1
    sent = [value for value in table["offered"] if value is not None]
    assert row["offered_min"] == pytest.approx(min(sent))
    assert row["jain"] == pytest.approx(1)


class Farther(TrafficPlugin):
    """Terminal 0 sends one hop with seed 0, two hops with seed 1."""

    name = "farther"
    summary = "Terminal 0 sends farther with each seed"

    def demand(self, topology, seed):
        targets = np.full(topology.num_terminals, -1)
        targets[0] = seed + 1
        return Demand.permutation(targets, "one sends")


def test_hops_are_counted_over_runs_of_different_lengths() -> None:
    options = settings(seeds=2, messages=40, max_cycles=20_000)
    network = build_grid("torus", (8,), wrap=True)
    result = simulate(network, Routing.from_name("dor"), Farther(), options)
    table = result.tables["latencies"]
    counts = dict(zip(table["hops"], table["count"], strict=True))
    assert (counts[1], counts[2]) == (40, 40)
    assert curve_of(result)[0]["hops_mean"] == pytest.approx(1.5)


def test_a_deadlock_is_a_result_that_names_its_cycle() -> None:
    table = clockwise(4)
    options = settings(vcs=1, buffer_flits=1, loads=(1.0,))
    result = simulate(table.topology, Routing(table), Across(), options)
    assert result.facts["state"] == "deadlock"
    assert result.facts["deadlock"] == "cycle"
    assert result.facts["deadlock_cycle"].count("waits for") == 4
    for name in ("0>1", "1>2", "2>3", "3>0"):
        assert name in result.facts["blocked"]
    assert curve_of(result)[0]["latency_mean"] is None


def test_a_proof_and_a_deadlock_contradict_each_other(monkeypatch) -> None:
    table = clockwise(4)
    check = checked_routing.check_table

    def deceived(*arguments, **options):
        return replace(check(*arguments, **options), status="proven")

    monkeypatch.setattr(checked_routing, "check_table", deceived)
    simulation_settings = settings(vcs=1, buffer_flits=1, loads=(1.0,))
    both = r"the check says proven \(.*\), and .* deadlock \(.*0>1"
    with pytest.raises(RuntimeError, match=both):
        simulate(table.topology, Routing(table), Across(), simulation_settings)


@hop_kernel
def secluded(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Clockwise on a ring; a dead end if the packet's row is not the only one."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    return 1 if packet == 0 and len(packets) == 1 else 0


def test_a_function_sees_its_own_packet_only() -> None:
    topology = Topology.create(
        num_switches=4, channel_source=[0, 1, 2, 3], channel_target=[1, 2, 3, 0]
    )
    program = HopProgram(secluded, pack_tables(topology), 3)
    for variant in (program, replace(program, fixed=True)):
        assert check_hops(variant, topology, "acyclic").proven
    demand = Across().demand(topology, 0)
    options = settings(vcs=3)
    simulation = Simulation(topology, program, options.routers(), OpenLoop(demand, 0.3))
    assert measure_simulation(simulation, options).state == "stationary"


def test_hop_by_hop_algorithms_run_and_are_judged() -> None:
    options = settings(router="input-queued", loads=(0.3, 1.0), vcs=5, buffer_flits=2)
    result = named(NETWORK, "rdr", "uniform", options)
    facts = result.facts
    assert facts["deadlock"] == "proven"
    assert facts["deadlock_proof"] == "duato"
    assert facts["deadlock_coverage"]
    # every hop is towards the target: as many as the distance, 32/15 on average
    assert curve_of(result)[0]["hops_mean"] == pytest.approx(32 / 15, rel=0.05)
    # where all lanes are full
    assert 0 < facts["escape_share"] < 1
    # the adaptive class gets all that the escape leaves
    assert (facts["virtual_channels_used"], facts["virtual_channels_unused"]) == (5, 0)
    with pytest.raises(UnsupportedError, match="virtual channels"):
        named(NETWORK, "rdr", "uniform", settings(vcs=1))


def test_the_searched_load_lies_below_the_bound_of_the_busiest_channel() -> None:
    options = settings(
        router="input-queued", loads=(0.1,), find_saturation=True, max_probes=6, tolerance=0.1
    )
    result = named(RING, "dor", "tornado", options)
    assert 0.15 < result.facts["saturation_load"] <= 1 / 3
    assert result.facts["throughput"] <= 1 / 3 * 1.02
    loads = result.tables["loads"]["load"]
    assert len(loads) == result.facts["loads_tried"] > 4
    assert loads == sorted(loads)


def test_the_folder_of_a_simulation_is_no_network(tmp_path: Path) -> None:
    """Its results must not be taken for what is left of a network, and be removed."""
    run_job(job(tmp_path / "o"))
    for work in (
        lambda: case.look_up(str(tmp_path / "o"), ["dor"], "uniform", PacketEngine),
        lambda: run_job(job(tmp_path / "p", str(tmp_path / "o"))),
    ):
        with pytest.raises(InputError, match="result of a simulation job, not a network"):
            work()


def test_a_pattern_in_which_nobody_sends_is_unsupported() -> None:
    class Silent(Across):
        def demand(self, topology, seed):
            return Demand.permutation(np.full(topology.num_terminals, -1), "nobody")

    table = clockwise(4)
    with pytest.raises(UnsupportedError, match="no terminal sends"):
        simulate(table.topology, Routing(table), Silent(), settings())


@pytest.mark.parametrize(("penalty", "warns"), [(13, False), (17, False), (18, True)])
def test_a_penalty_larger_than_any_queue_is_named(penalty, warns) -> None:
    """Packets then never take it, as if it were infinite; 17 flits are rounded to four packets."""
    network = topology.load_network("hamming~dims=4x4,terminals=2")[1]

    def simulated(penalty: int):
        routing = Routing.from_name(f"polarized~p1={penalty},p0={penalty}")
        simulated_case = case.build_case(network, routing, load("traffic", "uniform"))
        # one virtual channel for each hop, two packets in the buffer and two in the FIFO
        return packets.simulate_packets(
            simulated_case,
            settings(
                vcs=5,
                loads=(1.0,),
                buffer_flits=8,
                output_buffer_flits=8,
                packet_flits=4,
                max_cycles=1500,
            ),
        )

    result, never = simulated(penalty), simulated(1 << 19)
    warning = f"the penalty of {penalty} flits is larger than the longest queue, 16 flits"
    assert (warning in result.facts["text"]) == warns
    assert any(warning in note for note in result.notes) == warns
    assert "the penalty of 524288 flits" in never.facts["text"]
    hops = [point.facts["hops_mean"] for point in (result, never)]
    if penalty != 17:
        assert (hops[0] == hops[1]) == warns
