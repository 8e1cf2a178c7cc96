"""The walker keeps to the contract: injection, waypoint, phases, classes, penalties."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from deadlock_cases import ring as deadlock_ring
from hop_cases import KEEP, parity_program, steered_program

from routelab.api import HopProgram, Topology, pack_tables
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    PHASE,
    STATE,
    TARGET,
    WAYPOINT,
    channel_flits,
    class_packets,
    hop_kernel,
    inject_kernel,
    pick,
    table,
    waiting_flits,
)
from routelab.testing.walks import Walker


@hop_kernel
def both_ways(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Round a ring of as many switches as channels: on class STATE, or (escape) back on class 2.

    STATE counts the hops of a phase, and stays at 1. A fresh packet must not know where it came
    from, and the classes of a phase begin at 0.
    """
    first = packets[packet, STATE] == 0
    if first != (channel < 0) or first != (vc < 0) or vc > 2:
        return 0
    out[0, 0] = switch
    out[0, 1] = packets[packet, STATE]
    out[0, 2] = 0
    out[1, 0] = tables[table(tables, 0)] + switch
    out[1, 1] = 2
    out[1, 2] = ESCAPE
    packets[packet, STATE] = 1
    return 2


@inject_kernel
def by_way_of_3(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, WAYPOINT] = 3
    packets[packet, STATE] = 0
    return 0


def ring(inject=None, **more):
    switches = np.arange(5)
    topology = Topology.create(
        num_switches=5,
        channel_source=[*switches, *switches],
        channel_target=[*(switches + 1) % 5, *(switches - 1) % 5],
    )
    program = HopProgram(
        hop=both_ways,
        inject=inject,
        tables=pack_tables(topology, [5]),
        vc_classes=3,
        candidates=2,
        phases=1 if inject is None else 2,
        **more,
    )
    return topology, program


def test_a_packet_goes_to_its_target_and_no_further() -> None:
    topology, program = ring()
    walk = Walker(program, topology).walk(1, 4)
    assert walk.arrived
    assert walk.channels == [1, 2, 3]
    assert [hop.vc for hop in walk.hops] == [0, 1, 1]
    assert walk.waypoint == -1
    assert Walker(program, topology).walk(2, 2).hops == ()


@pytest.mark.parametrize(
    ("source", "target", "classes"),
    [(3, 1, [3, 4, 4]), (1, 3, [0, 1]), (0, 2, [0, 1, 1, 3, 4, 4, 4]), (3, 3, [])],
)
def test_waypoints_at_the_ends_and_beyond_the_target(source, target, classes) -> None:
    topology, program = ring(by_way_of_3)
    walk = Walker(program, topology).walk(source, target)
    assert walk.arrived
    assert [hop.vc for hop in walk.hops] == classes


def test_blocked_candidates_are_passed_over_and_a_packet_without_any_stays() -> None:
    topology, program = ring()
    walker = Walker(program, topology)
    walk = walker.walk(1, 4, blocked=lambda candidate: not candidate.escape)
    assert walk.channels == [6, 5]
    assert all(hop.escape and hop.vc == 2 for hop in walk.hops)
    stuck = walker.walk(1, 4, blocked=lambda candidate: candidate.channel in (2, 7))
    assert not stuck.arrived
    assert stuck.channels == [1]
    assert len(stuck.offers) == 2


def test_a_packet_that_takes_more_hops_than_promised_has_not_arrived() -> None:
    topology, program = ring(max_hops=2)
    walk = Walker(program, topology).walk(1, 4)
    assert not walk.arrived
    assert len(walk.hops) == 2


def test_occupied_buffers_count_where_the_program_says_so() -> None:
    topology, by_penalty = ring()
    for program, taken in ((by_penalty, 1), (ring(by_occupancy=True)[1], 6)):
        walker = Walker(program, topology)
        for vc in range(3):
            walker.occupy(1, vc, 2 * ESCAPE)
        assert walker.walk(1, 2, blocked=lambda candidate: False).channels[0] == taken


@hop_kernel
def either(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Both directions of a ring of two, equally good."""
    if packets[packet, TARGET] != packets[packet, DESTINATION] or packets[packet, PHASE] != 0:
        return 0
    for way in range(2):
        out[way, 0] = 2 * switch + way
        out[way, 1] = 0
        out[way, 2] = 7
    return 2


def test_equal_candidates_are_drawn_alike_and_seeds_repeat() -> None:
    topology = Topology.create(
        num_switches=2, channel_source=[0, 0, 1, 1], channel_target=[1, 1, 0, 0]
    )
    program = HopProgram(hop=either, tables=pack_tables(topology), vc_classes=1, candidates=2)
    walker = Walker(program, topology, seed=3)
    first = [walker.walk(0, 1).channels[0] for _ in range(1000)]
    seen = Counter(first)
    # five deviations of a fair coin
    assert abs(seen[0] - 500) < 5 * 16
    again = Walker(program, topology, seed=3)
    assert first == [again.walk(0, 1).channels[0] for _ in range(1000)]


@hop_kernel
def by_load(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Both directions of a ring, by what waits for them and behind them; back is an escape.

    Where the tables say so, every other random word offers only the way back.
    """
    size = tables[table(tables, 0)]
    first = 1 if tables[table(tables, 0) + 1] and pick(random, 2) else 0
    for way in range(first, 2):
        onward = switch + way * size
        out[way - first, 0] = onward
        out[way - first, 1] = 0
        out[way - first, 2] = (
            class_packets(tables, queues, onward, packets[packet, PHASE], 0)
            + 100 * channel_flits(tables, queues, onward)
            + 10_000 * waiting_flits(tables, queues, onward)
            + way * ESCAPE
        )
    return 2 - first


def loaded(moody=0, **more):
    topology, _ = ring()
    tables = pack_tables(topology, [5, moody])
    program = HopProgram(by_load, tables, vc_classes=2, candidates=2, waiting=True, **more)
    return Walker(program, topology)


def test_functions_see_occupied_and_waiting_flits() -> None:
    walker = loaded(max_hops=1)
    walker.occupy(1, 0, 3)
    walker.occupy(1, 1, 4)
    walker.occupy(2, 0, 9)
    walker.set_waiting_flits(1, 2)
    assert (walker.occupancy(1, 0), walker.occupancy(1, 1), walker.occupancy(6, 0)) == (3, 4, 0)
    offered = walker.walk(1, 2).offers[0]
    assert [candidate.penalty for candidate in offered] == [3 + 700 + 20_000, ESCAPE]
    for wrong in ((10, 0), (-1, 0), (1, 2), (1, -1)):
        with pytest.raises(ValueError, match="there are 0"):
            walker.occupy(*wrong, 1)
    with pytest.raises(ValueError, match="waiting=False"):
        Walker(ring()[1], ring()[0]).set_waiting_flits(0, 1)


@pytest.mark.parametrize(
    ("ranking", "free", "onward"),
    [
        # channel 1 leads on, 6 is the escape
        ("room", (1, 6), 1),
        ("best", (1, 6), 1),
        ("best-or-escape", (1, 6), 1),
        ("room", (6,), 6),
        ("best", (6,), None),
        ("best-or-escape", (6,), 6),
    ],
)
def test_a_blocked_packet_follows_the_ranking(ranking, free, onward) -> None:
    walker = loaded(ranking=ranking, max_hops=1)
    walk = walker.walk(
        1, 2 if onward == 1 else 0, blocked=lambda candidate: candidate.channel not in free
    )
    assert walk.channels == ([] if onward is None else [onward])
    assert walk.arrived is (onward is not None)


def test_a_packet_that_waits_is_asked_again_if_the_program_says_so() -> None:
    """Every other answer has the way back only; the way on is blocked."""
    for again in (False, True):
        walker = loaded(moody=1, ranking="best", again=again, max_hops=1)
        arrived = [
            walker.walk(1, 0, blocked=lambda candidate: candidate.channel < 5).arrived
            for _ in range(40)
        ]
        assert any(arrived)
        assert all(arrived) is again


def test_terminals_are_the_first_of_their_switches_or_those_that_are_named() -> None:
    topology = replace(deadlock_ring(4, both=True), terminal_switch=np.repeat(np.arange(4), 2))
    walker = Walker(parity_program(topology, 2, by_terminal=True), topology)
    assert walker.walk(0, 1).channels == [0]
    assert walker.walk(0, 1, terminals=(0, 3)).channels == [4, 7, 6]


@pytest.mark.parametrize("keeps_state", [False, True])
def test_hop_may_set_a_waypoint_on_the_way(keeps_state) -> None:
    """At switch 1 it sends the packet to 4 first; STATE is the class."""
    topology = deadlock_ring(5)

    def steps(s, t, phase, own, vc):
        turns = s == 1 and phase == 0 and own == 0
        return [(4 if turns else KEEP, own or int(turns), [(s, own, 0)])]

    program = steered_program(topology, steps, 2, keeps_state=keeps_state)
    walk = Walker(program, topology).walk(0, 2)
    assert walk.waypoint == 4
    assert walk.channels == [0, 1, 2, 3, 4, 0, 1]
    # classes of phase 1 begin at 2
    assert [hop.vc for hop in walk.hops] == [0, 0, 1, 1] + [2 + keeps_state] * 3


@pytest.mark.parametrize(("waypoint", "phases"), [(1, 2), (5, 2), (3, 1)])
def test_a_packet_with_an_invalid_waypoint_goes_no_further(waypoint, phases) -> None:
    topology = deadlock_ring(5)

    def steps(s, t, phase, own, vc):
        return [(waypoint if s == 1 else KEEP, 0, [(s, 0, 0)])]

    walk = Walker(steered_program(topology, steps, 1, phases=phases), topology).walk(0, 2)
    assert (walk.channels, walk.arrived) == ([0], False)
