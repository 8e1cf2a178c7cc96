"""Ring claims: each kind of false one is dropped, true ones come in order."""

from __future__ import annotations

from deadlock_cases import torus
from naive_deadlock import ring_successors

from routelab.api import Topology
from routelab.toolkit.rings import complete_rings


def rings_of(size: int, links: list[tuple[int, int]], claims: list[int]) -> list[list[int]]:
    source, target = zip(*links, strict=True)
    return complete_rings(
        Topology.create(
            num_switches=size, channel_source=source, channel_target=target, channel_ring=claims
        )
    )


def test_ring_comes_in_the_order_of_its_cycle() -> None:
    links = [(0, 2), (3, 1), (2, 3), (1, 0)]
    assert rings_of(4, links, [9, 9, 9, 9]) == [[0, 2, 1, 3]]


def test_two_channels_between_two_switches_are_a_ring() -> None:
    assert rings_of(2, [(0, 1), (1, 0)], [0, 0]) == [[0, 1]]


def test_two_cycles_under_one_claim_are_none() -> None:
    assert rings_of(4, [(0, 1), (1, 0), (2, 3), (3, 2)], [0, 0, 0, 0]) == []


def test_figure_eight_visits_a_switch_twice() -> None:
    assert rings_of(3, [(0, 1), (1, 0), (0, 2), (2, 0)], [0, 0, 0, 0]) == []


def test_tail_into_a_cycle_is_no_ring() -> None:
    assert rings_of(3, [(0, 1), (1, 2), (2, 1)], [0, 0, 0]) == []


def test_parallel_channel_is_one_too_many() -> None:
    links = [(0, 1), (1, 2), (2, 0), (0, 1)]
    assert rings_of(3, links, [0, 0, 0, 0]) == []
    assert rings_of(3, links, [0, 0, 0, -1]) == [[0, 1, 2]]


def test_rings_of_a_torus_agree_with_the_twin() -> None:
    topology = torus(3, 5)
    rings = complete_rings(topology)
    assert sorted(map(len, rings)) == [3] * 10 + [5] * 6
    after = {a: b for ring in rings for a, b in zip(ring, ring[1:] + ring[:1], strict=True)}
    assert after == ring_successors(topology)
