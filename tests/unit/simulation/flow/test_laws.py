"""Laws of messages that share a network."""

import numpy as np
import pytest
from engine_audits import snapshot
from flow_cases import cases, simulation
from hypothesis import given
from hypothesis import strategies as st
from random_programs import linear, reachable_tables, schedule_of, schedules

from routelab.api import InputError, RouteTable, Topology
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.result import StuckError
from routelab.toolkit import BlockBuilder
from routelab.toolkit.machine import Machine

BARE = Machine(
    link_bandwidth=4e9, latency=0, hop_latency=0, memory_latency=0, overhead=0, compute_rate=0
)


def line(switches, terminals=None):
    """Switches in a row, one channel each way between neighbours, and its only table."""
    here = np.arange(switches - 1)
    topology = Topology.create(
        num_switches=switches,
        channel_source=np.concatenate((here, here + 1)),
        channel_target=np.concatenate((here + 1, here)),
        terminal_switch=terminals,
    )
    steps = np.full((switches, len(topology.endpoints)), -1)
    for k, end in enumerate(topology.endpoints):
        steps[:end, k] = np.arange(end)
        steps[end + 1 :, k] = switches - 1 + np.arange(end, switches - 1)
    return RouteTable.from_next_hops(topology, steps)


def loaded(load):
    """32 switches: one channel for each pair, but `load` pairs share one between two hubs."""
    shared = {(k % 32, (k % 32 + 1 + k // 32) % 32) for k in range(load)}
    source, target, lengths, hops = [32], [33], [], []
    for s in range(32):
        for t in range(32):
            way = [(s, 32), (33, t)] if (s, t) in shared else [(s, t)] if s != t else []
            path = list(range(len(source), len(source) + len(way)))
            source += [begin for begin, _ in way]
            target += [other for _, other in way]
            if len(way) == 2:
                path.insert(1, 0)
            lengths.append(len(path))
            hops += path
    topology = Topology.create(
        num_switches=34,
        channel_source=source,
        channel_target=target,
        terminal_switch=np.arange(32),
    )
    return RouteTable.from_lengths(topology, lengths, hops)


@pytest.mark.parametrize(("load", "ms"), [(16, 4.1945), (48, 12.583), (256, 67.11)])
def test_alltoall_takes_the_time_of_simgrid_without_its_factors(load, ms):
    """A linear alltoall of 1 MiB on 32 ranks at 4 GB/s (measured with SMPI 3.32)."""
    run = run_flows(schedule_of(linear(32, 2**20)), Paths.create(loaded(load), range(32)), BARE)
    assert run.seconds * 1e3 == pytest.approx(ms, rel=1e-4)
    assert run.seconds == pytest.approx(load * 2**20 / 4e9, rel=1e-12)
    assert run.bottleneck == 0
    assert run.bottleneck_share == pytest.approx(1.0, rel=1e-12)


@given(reachable_tables(), st.sampled_from([1.0, 1000.0, 2.0**20]), st.integers(0, 5))
def test_equal_messages_at_once_take_the_largest_load(table, size, seed):
    topology = table.topology
    equal = RouteTable.create(
        Topology.create(
            num_switches=topology.num_switches,
            channel_source=topology.channel_source,
            channel_target=topology.channel_target,
            terminal_switch=topology.terminal_switch,
        ),
        pair_start=table.pair_start,
        path_start=table.path_start,
        path_weight=table.path_weight,
        hop_channel=table.hop_channel,
        per_terminal=table.per_terminal,
    )
    ranks = topology.num_terminals
    schedule = schedule_of(linear(ranks, size))
    run = run_flows(schedule, Paths.create(equal, range(ranks)), BARE, seed)
    load = run.channel_bytes.max(initial=0.0) / size
    assert load == round(load)
    assert run.seconds == pytest.approx(load * size / 4e9, rel=1e-12)


@given(cases())
def test_no_resource_carries_more_than_it_can(case):
    table, _, _, machine, _ = case
    engine = simulation(case)
    engine.run()
    run = engine.result()
    needed = [run.channel_seconds]
    for through, bandwidth in (
        (run.injected_bytes, machine.injection_bandwidth),
        (run.ejected_bytes, machine.ejection_bandwidth),
        (run.memory_bytes, machine.memory_bandwidth),
    ):
        needed.append(through / bandwidth if bandwidth else np.zeros(1))
    assert run.seconds >= np.concatenate(needed).max() * (1 - 1e-12)
    assert run.injected_bytes.sum() == run.ejected_bytes.sum()
    assert run.injected_bytes.sum() + run.memory_bytes.sum() == run.bytes
    # at every switch as much goes in as comes out
    topology, size = table.topology, table.topology.num_switches
    there = np.bincount(topology.terminal_switch, run.injected_bytes - run.ejected_bytes, size)
    there += np.bincount(topology.channel_target, run.channel_bytes, size)
    there -= np.bincount(topology.channel_source, run.channel_bytes, size)
    assert there.tolist() == [0.0] * size


@given(cases(), st.integers(1, 40))
def test_every_flow_is_fastest_on_a_resource_that_is_used_up(case, steps):
    engine = simulation(case)
    engine.run(steps)
    now = snapshot(engine)
    used, fastest = np.zeros(len(now.capacity)), np.zeros(len(now.capacity))
    for count, rate, resources in zip(now.count, now.rate, now.resources, strict=True):
        for resource in resources:
            used[resource] += count * rate
            fastest[resource] = max(fastest[resource], rate)
    assert (used <= now.capacity * (1 + 1e-9)).all()
    for rate, resources in zip(now.rate, now.resources, strict=True):
        assert any(
            used[resource] >= now.capacity[resource] * (1 - 1e-9)
            and fastest[resource] <= rate * (1 + 1e-9)
            for resource in resources
        )


@given(reachable_tables(), st.data())
def test_twice_the_bandwidth_halves_all_times(table, data):
    ranks = 4
    schedule = data.draw(schedules(ranks))
    last = table.topology.num_terminals - 1
    terminal = data.draw(st.lists(st.integers(0, last), min_size=ranks, max_size=ranks))
    speeds = {"injection_bandwidth": 3e9, "ejection_bandwidth": 5e9, "memory_bandwidth": 7e9}
    slow = BARE.model_copy(update=speeds)
    fast = slow.model_copy(
        update={name: 2 * speed for name, speed in {**speeds, "link_bandwidth": 4e9}.items()}
    )
    runs = [
        run_flows(schedule, Paths.create(table, terminal), machine, 1) for machine in (slow, fast)
    ]
    np.testing.assert_allclose(runs[0].finish, 2 * runs[1].finish, rtol=1e-9)


def test_a_message_takes_its_overheads_its_latencies_and_its_bytes():
    builder = BlockBuilder(2)
    builder.send(0, 1, 1000).compute(1, 7).receive(1, 0, 1000)
    schedule, paths = schedule_of(builder.build()), Paths.create(line(3), [0, 2])
    machine = Machine(
        link_bandwidth=1000, latency=2, hop_latency=0.25, overhead=0.5, compute_rate=1
    )
    eager = run_flows(schedule, paths, machine)
    # 0.5 + (2 + 2 × 0.25) + 1000 / 1000 + 0.5; the sender has gone on after its overhead
    assert eager.finish.tolist() == [0.5, max(0.5 + 2.5 + 1, 7) + 0.5]
    assert eager.seconds == 7.5
    held = run_flows(schedule, paths, machine.model_copy(update={"eager_bytes": 999.0}))
    # from second 7 on both are there; one latency for the handshake, one for the bytes
    assert held.finish.tolist() == [7 + 2 * 2.5 + 1, 7 + 2 * 2.5 + 1 + 0.5]
    bare = machine.model_copy(update={"eager_bytes": 999.0, "handshake": False})
    assert run_flows(schedule, paths, bare).finish.tolist() == [7 + 2.5 + 1, 7 + 2.5 + 1.5]


def test_blocking_sends_that_face_each_other_are_reported():
    builder = BlockBuilder(3)
    builder.send([0, 1], [1, 0], 1e6).receive([0, 1], [1, 0], 1e6)
    builder.ireceive(2, 0, 8).wait(2).send(0, 2, 8)
    schedule, paths = schedule_of(builder.build()), Paths.create(line(3), [0, 1, 2])
    with pytest.raises(StuckError) as caught:
        run_flows(schedule, paths, Machine())
    waiting = caught.value.waiting
    assert [(wait.rank, wait.peers, wait.operation) for wait in waiting] == [
        (0, (1,), 0),
        (1, (0,), 0),
        (2, (0,), 1),
    ]
    assert "rank 0: send to 1 (operation 0 of block 'block 0', place 0" in str(caught.value)
    assert "rank 2: wait for requests with 0" in str(caught.value)
    assert run_flows(schedule, paths, Machine(eager_bytes=1e6)).messages == 3


def test_messages_that_share_nothing_cost_nothing_together():
    """16 pairs at both ends of their own channels: no flow is ever computed with another."""
    rank = np.arange(32)
    builder = BlockBuilder(32)
    for size in range(1000, 11000, 1000):
        builder.send_receive(rank, rank ^ 1, size + 10 * (rank // 2), rank ^ 1)
    run = run_flows(schedule_of(builder.build()), Paths.create(line(32), rank), BARE)
    assert run.messages == 320
    assert run.computed_shares == 320


def test_equal_messages_are_computed_once():
    """Who is limited by a channel is through at once, and holds nobody else back."""
    run = run_flows(schedule_of(linear(32, 2**20)), Paths.create(line(32), range(32)), BARE)
    assert run.share_computations == 1
    assert run.computed_shares == 992


@pytest.mark.parametrize("simulated", [1, 2, 5, 12])
def test_rounds_that_are_left_out_are_added(simulated):
    exchange, first = BlockBuilder(3), BlockBuilder(3)
    exchange.compute(range(3), [5, 1, 2]).send_receive(range(3), [1, 2, 0], 1000, [2, 0, 1])
    first.compute([0, 1, 2], 3).isend(0, 2, 100).ireceive(2, 0, 100).wait([0, 2])
    paths = Paths.create(line(3), [0, 1, 2])
    machine = Machine(link_bandwidth=1e3, compute_rate=1)
    rounds = 12

    def run(count):
        tape = [0, *[1] * count, 0]
        schedule = schedule_of(
            first.build(),
            exchange.build(),
            tape=tape,
            timed=(1, count + 1),
            rounds=np.arange(1, count + 2),
            total_rounds=rounds,
        )
        return run_flows(schedule, paths, machine)

    whole, part = run(rounds), run(simulated)
    assert (part.rounds, part.total_rounds) == (simulated, rounds)
    assert whole.begin.min() > 0
    assert part.messages == whole.messages == 36
    np.testing.assert_allclose(part.channel_bytes, whole.channel_bytes)
    if simulated > 2:  # ranks have settled into their rhythm by then
        assert part.seconds == pytest.approx(whole.seconds, rel=1e-9)
        np.testing.assert_allclose(part.end, whole.end, rtol=1e-9)


def test_a_sender_may_be_far_ahead():
    """20,000 messages in 2,000 blocks are under way before the first is received."""
    builder = BlockBuilder(2)
    for _ in range(10):
        builder.send(0, 1, 10).receive(1, 0, 10)
    late = BlockBuilder(2).compute(1, 1e9).build()
    schedule = schedule_of(late, builder.build(), tape=[0] + [1] * 2000)
    machine = Machine(link_bandwidth=1e6, latency=0, hop_latency=0, overhead=1e-6, compute_rate=1e9)
    run = run_flows(schedule, Paths.create(line(2), [0, 1]), machine)
    assert run.messages == 20_000
    # sent every microsecond, 10 µs each; received one by one from second 1 on
    assert run.finish[0] == pytest.approx(20_000e-6)
    assert run.finish[1] == pytest.approx(1 + 20_000e-6)


@pytest.mark.parametrize("seed", [0, 7])
def test_paths_are_drawn_by_their_shares(seed):
    topology = Topology.create(num_switches=2, channel_source=[0, 0, 1], channel_target=[1, 1, 0])
    table = RouteTable.create(
        topology,
        pair_start=[0, 1, 3, 4, 5],
        path_start=[0, 0, 1, 2, 3, 3],
        path_weight=[1, 0.25, 0.75, 1, 1],
        hop_channel=[0, 1, 2],
    )
    builder = BlockBuilder(2)
    for _ in range(100):
        builder.send(0, 1, 1).receive(1, 0, 1)
    schedule = schedule_of(builder.build(), tape=[0] * 100)
    run = run_flows(schedule, Paths.create(table, [0, 1]), BARE, seed)
    # 10,000 draws: five standard deviations are 217
    assert abs(run.channel_bytes[0] - 2500) < 217
    assert (
        run.channel_bytes.tolist()
        != run_flows(schedule, Paths.create(table, [0, 1]), BARE, seed + 1).channel_bytes.tolist()
    )


def test_ranks_without_a_route_are_named():
    schedule = schedule_of(linear(2, 8))
    apart = Topology.create(num_switches=2, channel_source=[0], channel_target=[1])
    one_way = RouteTable.from_lengths(apart, [0, 1, -1, 0], [0])
    with pytest.raises(InputError, match="none from switch 1 to 0; place the ranks elsewhere"):
        run_flows(schedule, Paths.create(one_way, [0, 1]), BARE)
