"""The walker keeps to the contract: injection, waypoint, phases, classes, penalties."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from routelab.api import HopProgram, Topology, pack_tables
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    PHASE,
    STATE,
    TARGET,
    WAYPOINT,
    hop_kernel,
    inject_kernel,
    table,
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


def test_behind_the_waypoint_state_is_cleared_and_classes_are_the_second_set() -> None:
    topology, program = ring(by_way_of_3)
    walk = Walker(program, topology).walk(1, 0)
    assert walk.waypoint == 3
    assert walk.channels == [1, 2, 3, 4]
    assert [hop.vc for hop in walk.hops] == [0, 1, 3, 4]


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
    walk = walker.walk(1, 4, blocked=lambda one: not one.escape)
    assert walk.channels == [6, 5]
    assert all(hop.escape and hop.vc == 2 for hop in walk.hops)
    stuck = walker.walk(1, 4, blocked=lambda one: one.channel in (2, 7))
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
        assert walker.walk(1, 2, blocked=lambda one: False).channels[0] == taken


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
