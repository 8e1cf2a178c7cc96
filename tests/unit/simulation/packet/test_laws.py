"""Laws of the packet engine that hold to the cycle and to the flit, on networks of any kind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
from engine_audits import audit, audit_fifos
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import (
    between,
    layered_tables,
    line,
    line_table,
    messages_of,
    messages_on,
    numbers,
    reachable_demand,
    routers,
)

from routelab.api import Demand, InputError
from routelab.kernels.hops import CAPACITY, CREDITS
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop

MANY = 100_000


def drained(table, router, messages, seed=0, **more):
    """A closed-loop run to its end."""
    simulation = Simulation(
        table.topology, table_program(table), router, ClosedLoop(messages, **more), seed=seed
    )
    while not simulation.finished:
        simulation.run(200)
        assert simulation.blocked() is None
    return simulation


@st.composite
def closed_runs(draw, most_paths=1):
    """A table without deadlock, settings that it can run under, and messages."""
    table = draw(layered_tables(most_paths))
    lanes = draw(st.integers(1, 2))
    router = draw(routers(vcs=lanes * table.virtual_channels))
    return table, router, draw(messages_on(table))


@settings(max_examples=60)
@given(st.integers(0, 6), routers(), st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_zero_load_latency_to_the_cycle(hops, router, delays):
    """Channels with latencies of their own where `delays` are not all alike."""
    network = line(7, channel_latency=np.array(delays) * 2e-9)
    timed = router.model_copy(update={"cycle_seconds": 2e-9})
    for settings_, crossing in (
        (router, hops * router.link_delay),
        (timed, sum(delays[:hops])),
    ):
        counts = drained(line_table(network), settings_, messages_of([[hops]] + [[]] * 6)).counts()
        expected = (
            crossing
            + (hops + 1) * router.router_delay
            + router.injection_delay
            + router.ejection_delay
            + router.packet_flits
            - 1
        )
        assert counts.latency.sum == counts.network_latency.sum == expected
        assert counts.finished_at[hops] == expected
        assert counts.hops[hops] == counts.latency.total == 1


def queued_units(simulation):
    """The queue of every virtual channel of every output, as routing functions read it."""
    rows, vcs = simulation._engine.visible_queues, simulation.router.vcs
    ports = simulation._ports.of_channel
    queues = (ports[:, None] * vcs + np.arange(vcs)).reshape(-1)
    queued = rows[queues, CAPACITY] - rows[queues, CREDITS]
    return queued.reshape(len(ports), vcs)


@settings(max_examples=40)
@given(closed_runs(most_paths=2), st.floats(0.05, 1.0), st.integers(0, 9), st.data())
def test_flits_and_credits_are_conserved(case, load, seed, data):
    table, router, _ = case
    simulation = Simulation(
        table.topology,
        table_program(table),
        router,
        OpenLoop(reachable_demand(table), load),
        seed=seed,
    )
    generated = ejected = 0
    for _ in range(12):
        sample = simulation.run(data.draw(st.integers(1, 9)))
        generated += sample.generated_flits
        ejected += sample.ejected_flits
        room = audit(simulation)
        assert room.shape == (table.topology.num_channels, router.vcs, 4)
        assert room.min(initial=0) >= 0
        assert np.all(room.sum(axis=2) == router.capacity)
        inside = sample.packets_in_network * router.packet_flits
        assert generated == sample.packets_waiting * router.packet_flits + inside + ejected
        fifos = audit_fifos(simulation)
        assert fifos.min(initial=0) >= 0
        assert np.all(fifos.sum(axis=2) == router.fifo_units)
        # what a channel sends is in its FIFO and on the way
        taken = (room[:, :, 1:3].sum() + fifos[:, :, 1].sum()) * router.unit_flits
        assert taken <= inside
        # an output's queue: what waits in the FIFO, and the credits that are gone
        queued = fifos[:, :, 1] + router.capacity - room[:, :, 0]
        np.testing.assert_array_equal(queued_units(simulation), queued)


@given(layered_tables(), st.data())
def test_credits_go_to_the_sender_of_their_queue(table, data):
    router = data.draw(routers(vcs=table.virtual_channels))
    traffic = OpenLoop(reachable_demand(table), 0.5)
    simulation = Simulation(table.topology, table_program(table), router, traffic)
    # the sender follows from the queue's port, whose rows no credit touches
    engine = simulation._engine
    ports = engine.inputs[engine.queues["port"]]
    sender = np.where(ports["upstream_switch"] >= 0, ports["upstream_switch"], ports["channel"])
    np.testing.assert_array_equal(engine.senders["switch"], sender)
    simulation.run(50)
    np.testing.assert_array_equal(engine.senders["switch"], sender)


@settings(max_examples=60)
@given(closed_runs(), st.integers(1, 3))
def test_a_drained_run_ends_empty_and_crossed_exactly_its_routes(case, message_packets):
    table, router, messages = case
    topology = table.topology
    simulation = drained(table, router, messages, message_packets=message_packets)
    counts = simulation.counts()
    flits = message_packets * router.packet_flits
    classes = table.virtual_channels
    crossed = np.zeros((topology.num_channels, classes), dtype=int)
    hops = np.zeros(table.path_length.max() + 1, dtype=int)
    sent = np.diff(messages.start)
    for terminal in range(topology.num_terminals):
        for message in range(messages.start[terminal], messages.start[terminal + 1]):
            ends = between(table, terminal, int(messages.target[message]))
            path = table.pair_start[table.pair(*ends)]
            along = slice(table.path_start[path], table.path_start[path + 1])
            np.add.at(crossed, (table.hop_channel[along], table.hop_vc[along]), flits)
            hops[along.stop - along.start] += message_packets
    lanes = router.vcs // classes
    np.testing.assert_array_equal(
        counts.vc_flits.reshape(topology.num_channels, classes, lanes).sum(axis=2), crossed
    )
    np.testing.assert_array_equal(counts.channel_flits, crossed.sum(axis=1))
    np.testing.assert_array_equal(counts.hops, np.trim_zeros(hops, "b"))
    np.testing.assert_array_equal(counts.generated, sent * flits)
    np.testing.assert_array_equal(counts.injected, sent * flits)
    np.testing.assert_array_equal(counts.delivered, sent * message_packets)
    arrived = np.bincount(messages.target, minlength=topology.num_terminals)
    np.testing.assert_array_equal(counts.received, arrived * message_packets)
    np.testing.assert_array_equal(counts.ejected, arrived * flits)
    assert counts.message_latency.total == len(messages.target)
    np.testing.assert_array_equal(counts.finished_at >= 0, arrived > 0)
    last = simulation.run(router.credit_delay + router.packet_flits)
    assert last.packets_in_network == last.packets_waiting == last.flit_hops == 0
    assert np.all(audit(simulation) == [router.capacity, 0, 0, 0])
    assert np.all(audit_fifos(simulation) == [router.fifo_units, 0, 0])


@settings(max_examples=40)
@given(closed_runs(), st.integers(0, 9))
def test_littles_law(case, seed):
    """In a run from empty to empty the packets, summed over cycles, are the latencies' sum."""
    table, router, messages = case
    simulation = Simulation(
        table.topology, table_program(table), router, ClosedLoop(messages), seed=seed
    )
    inside = network_latency = 0
    for _ in range(MANY):
        sample = simulation.run(1)
        inside += sample.packets_in_network
        network_latency += sample.network_latency_sum
        if simulation.finished and not sample.packets_in_network:
            break
    # a packet is counted out when its tail sets out for the terminal
    last_way = router.ejection_delay + router.unit_flits - 1
    packets = len(messages.target)
    queued = network_latency - inside - packets * last_way
    assert 0 <= queued <= packets * router.output_buffer_flits


@settings(max_examples=40)
@given(closed_runs(most_paths=2), st.integers(0, 9))
def test_wormhole_equals_cut_through_for_packets_of_one_flit(case, seed):
    table, router, messages = case
    counted = []
    for switching in ("virtual-cut-through", "wormhole"):
        one_flit = router.model_copy(update={"switching": switching, "packet_flits": 1})
        counted.append(numbers(drained(table, one_flit, messages, seed=seed).counts()))
    assert counted[0] == counted[1]


@settings(max_examples=40)
@given(closed_runs(most_paths=3), st.integers(2, 4))
def test_in_order_delivery_is_never_earlier(case, message_packets):
    table, router, messages = case
    ordered, free = (
        drained(table, router, messages, message_packets=message_packets, in_order=wish).counts()
        for wish in (True, False)
    )
    assert free.in_order_latency.total == 0
    np.testing.assert_array_equal(ordered.latency.bins, free.latency.bins)
    assert ordered.in_order_latency.total == ordered.latency.total
    # every packet waits for others, never less than for itself: the whole order is shifted
    assert np.all(np.cumsum(ordered.in_order_latency.bins) <= np.cumsum(ordered.latency.bins))
    assert ordered.in_order_latency.maximum == ordered.latency.maximum


def open_run(table, router, seed, cycles=300):
    simulation = Simulation(
        table.topology,
        table_program(table),
        router,
        OpenLoop(reachable_demand(table), 0.5),
        seed=seed,
    )
    simulation.run(cycles)
    return numbers(simulation.counts())


@settings(max_examples=10)
@given(closed_runs(most_paths=2))
def test_one_seed_gives_one_result_on_any_number_of_threads(case):
    table, router, _ = case
    seeds = [1, 2, 1, 2]
    alone = [open_run(table, router, seed) for seed in seeds]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda seed: open_run(table, router, seed), seeds))
    assert alone == together
    assert alone[:2] == alone[2:]


@settings(max_examples=20)
@given(closed_runs(most_paths=2), st.lists(st.integers(1, 40), min_size=2, max_size=6))
def test_counts_do_not_depend_on_the_sample_length(case, parts):
    table, router, _ = case
    pieces, whole = (
        Simulation(
            table.topology,
            table_program(table),
            router,
            OpenLoop(reachable_demand(table), 0.4),
            seed=3,
        )
        for _ in range(2)
    )
    samples = [pieces.run(cycles) for cycles in parts]
    total = whole.run(sum(parts))
    assert numbers(pieces.counts()) == numbers(whole.counts())
    summed = [f.name for f in fields(total) if not f.name.startswith("packets_")]
    for name in summed:
        assert sum(getattr(sample, name) for sample in samples) == getattr(total, name)
    assert replace(samples[-1], **dict.fromkeys(summed, 0)) == replace(
        total, **dict.fromkeys(summed, 0)
    )


def test_a_reset_forgets_the_counts_and_keeps_the_packets():
    table = line_table(line(3))
    router = Router(vcs=1)
    simulation = Simulation(
        table.topology, table_program(table), router, ClosedLoop(messages_of([[2], [], []]))
    )
    before = simulation.run(5)
    assert before.packets_in_network == 1
    simulation.reset()
    assert simulation.counts().cycles == 0
    assert simulation.counts().injected.sum() == 0
    simulation.run(50)
    counts = simulation.counts()
    assert (counts.cycles, counts.injected.sum(), counts.ejected.sum()) == (50, 0, 1)
    # the clock goes on: two hops, three routers and both ways to terminals of a cycle each
    assert counts.latency.sum == 2 + 3 + 1 + 1


@pytest.mark.parametrize("switching", ["virtual-cut-through", "wormhole"])
def test_a_message_is_there_when_its_last_packet_is(switching):
    table = line_table(line(2))
    router = Router(vcs=1, buffer_flits=16, packet_flits=4, switching=switching)
    counts = drained(table, router, messages_of([[1], []]), message_packets=5).counts()
    # an unloaded way, and five packets one behind the other
    expected = 1 + 2 + 1 + 1 + 5 * 4 - 1
    assert counts.message_latency.sum == expected
    assert counts.latency.maximum == expected


def test_a_terminal_offers_at_most_one_message_per_cycle():
    table = line_table(line(2))
    demand = replace(Demand.uniform(table.topology, "to the other"), rate=np.array([2.0, 2.0]))
    router = Router(packet_flits=4)
    Simulation(table.topology, table_program(table), router, OpenLoop(demand, 2.0))
    with pytest.raises(InputError, match="more than one message per cycle"):
        Simulation(table.topology, table_program(table), router, OpenLoop(demand, 2.1))
