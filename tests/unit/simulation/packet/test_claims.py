"""Claims of ring lanes: rings keep their bubble, and no terminal starves."""

from __future__ import annotations

import numpy as np
import pytest
from deadlock_cases import table_of, torus_table
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import Demand, Topology
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.tables import table_program

SIZE = 4
PRIORITIES = ("age", "round-robin", "random")


def ring_simulation(targets, *, load=1.0, seed=0, extra=(), **more):
    """Packets go clockwise round one ring; `extra` are the switches of further terminals."""
    topology = Topology.create(
        num_switches=SIZE,
        channel_source=np.arange(SIZE),
        channel_target=(np.arange(SIZE) + 1) % SIZE,
        channel_ring=np.zeros(SIZE, int),
        terminal_switch=[*range(SIZE), *extra],
    )
    ways = table_of(
        topology, lambda s, t: [[(s + i) % SIZE for i in range((t - s) % SIZE)]], "bubble"
    )
    return Simulation(
        ways.topology,
        table_program(ways),
        Router(**{"vcs": 1, **more}),
        demand=Demand.permutation(targets, "one each"),
        load=load,
        seed=seed,
    )


def free_packets(simulation):
    """Return the free packets of the ring on each virtual channel, known upstream or not yet."""
    use = simulation.audit()
    return (use[:, :, 0] + use[:, :, 3]).sum(axis=0)


@settings(max_examples=40)
@given(
    st.permutations(range(SIZE)),
    st.sampled_from([1, 2, 4, 9, 30]),
    st.integers(2, 4),
    st.integers(1, 2),
    st.sampled_from(PRIORITIES),
    st.floats(0.1, 1.0),
    st.integers(0, 99),
)
def test_a_ring_with_claims_keeps_its_bubble(targets, patience, room, vcs, priority, load, seed):
    simulation = ring_simulation(
        targets,
        load=load,
        seed=seed,
        bubble_patience=patience,
        buffer_flits=room,
        vcs=vcs,
        priority=priority,
    )
    for _ in range(60):
        simulation.run(3)
        assert free_packets(simulation).min() >= 1
    assert simulation.blocked() is None


@pytest.mark.parametrize("patience", [1, 4, 20])
def test_every_terminal_enters_within_the_bound_of_the_proof(patience):
    """Behind through traffic that never leaves room for two, terminals enter all the same.

    A ring of k buffers for c packets each holds less than k c packets, with k - 1 hops and an
    ejection at most. One of them moves in `patience` + 4 cycles: a yield, and the round trip of a
    unit and its credit. So a claim ends after k c k of these times, and k - 1 others come first.
    """
    room = 4
    bound = patience + 1 + SIZE * SIZE * room * SIZE * (patience + 4)
    starved = {}
    for setting in (0, patience):
        simulation = ring_simulation(
            [1, 0, 1, 1], buffer_flits=room, priority="round-robin", bubble_patience=setting
        )
        entered = []
        for _ in range(4):
            simulation.run(bound)
            entered.append(simulation.counts().injected)
        starved[setting] = (np.diff(entered, axis=0) == 0).any(axis=0).sum()
    assert starved == {0: 2, patience: 0}


def put_packet(simulation, queue, switch, target):
    """Put a packet into a buffer, from which it goes on to a target."""
    engine = simulation._engine
    packet = int(engine.totals[at.FRESH_PACKET])
    engine.totals[at.FRESH_PACKET] += 1
    engine.totals[at.IN_NETWORK] += 1
    row = engine.packets[packet : packet + 1]
    row["source"], row["target"], row["destination"] = switch, target, target
    row["waypoint"], row["terminal"], row["drop"] = -1, switch, target
    engine.room["credits"][queue] -= 1
    count = int(engine.queues["count"][queue])
    if count == 0:
        engine.queues["packet"][queue], engine.queues["ready"][queue] = packet, 1
        engine.heads[1, queue >> 6] |= np.uint64(1 << (queue & 63))
    slot = queue * simulation.router.capacity + count
    engine.slots["packet"][slot], engine.slots["ready"][slot] = packet, 1
    engine.queues["count"][queue] += 1


def test_a_yield_ends_where_the_only_bubble_is_behind_a_claim():
    """Only a packet that yields can move: one that yields for ever would block the ring."""
    patience = 20
    simulation = ring_simulation([3, 0, 1, 2], load=0, buffer_flits=2, bubble_patience=patience)
    buffers, ways_in = simulation._ports.of_channel, simulation._ports.of_terminal
    for channel, count in enumerate((1, 2, 2, 2)):
        switch = (channel + 1) % SIZE
        for _ in range(count):
            put_packet(simulation, int(buffers[channel]), switch, (switch + 2) % SIZE)
    put_packet(simulation, int(ways_in[0]), 0, 2)
    # the terminal at switch 0 claims the buffer behind its channel
    claims = simulation._engine.claims
    claims["since"][ways_in[0]] = 0
    claims["claimed"][ways_in[0]] = claims["lane"][buffers[0]]
    claims["place"][ways_in[0]] = buffers[0]
    claims["first"][claims["lane"][buffers[0]]] = ways_in[0]
    assert free_packets(simulation) == [1]
    simulation.run(patience + 1)
    assert simulation.counts().packet_hops == 0
    simulation.run(1)
    assert simulation.counts().packet_hops == 1
    simulation.run(7 * SIZE * (patience + 4))
    assert simulation.counts().delivered.tolist() == [3, 1, 2, 2]


@pytest.mark.parametrize("priority", PRIORITIES)
def test_endless_patience_changes_nothing(priority):
    """Without claims, packets that wait are woken in other ways, but at the right time."""
    table = torus_table(4, 3)
    ends = []
    for patience in (0, 10**6):
        router = Router(vcs=2, buffer_flits=2, priority=priority, bubble_patience=patience)
        simulation = Simulation(
            table.topology,
            table_program(table),
            router,
            demand=Demand.uniform(table.topology, "to all others"),
            load=0.9,
            seed=3,
        )
        simulation.run(1500)
        ends.append(simulation.counts())
    for name in ("vc_flits", "injected", "ejected", "latency_by_source", "hops"):
        np.testing.assert_array_equal(getattr(ends[0], name), getattr(ends[1], name))
    np.testing.assert_array_equal(ends[0].latency.bins, ends[1].latency.bins)


@pytest.mark.parametrize(
    ("other", "word"),
    [({"switching": "wormhole"}, "wormhole"), ({"output_buffer_flits": 4}, "room")],
)
def test_routers_without_bubbles_have_no_claims(other, word):
    with pytest.raises(ValueError, match=f"bubble_patience.*{word}"):
        Router(bubble_patience=4, **other)
