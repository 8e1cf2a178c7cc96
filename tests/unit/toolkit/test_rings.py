"""Ring claims: each kind of false one is dropped, true ones come in order."""

from __future__ import annotations

import pytest
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


@pytest.mark.parametrize(
    ("links", "claims", "rings"),
    [
        ([(0, 2), (3, 1), (2, 3), (1, 0)], [9, 9, 9, 9], [[0, 2, 1, 3]]),
        ([(0, 1), (1, 0)], [0, 0], [[0, 1]]),
        ([(0, 1), (1, 2), (2, 0), (0, 1)], [0, 0, 0, -1], [[0, 1, 2]]),
        # two cycles, a switch twice, a tail into a cycle, a parallel channel
        ([(0, 1), (1, 0), (2, 3), (3, 2)], [0, 0, 0, 0], []),
        ([(0, 1), (1, 0), (0, 2), (2, 0)], [0, 0, 0, 0], []),
        ([(0, 1), (1, 2), (2, 1)], [0, 0, 0], []),
        ([(0, 1), (1, 2), (2, 0), (0, 1)], [0, 0, 0, 0], []),
    ],
)
def test_a_claim_holds_for_one_cycle_in_its_order(links, claims, rings) -> None:
    assert rings_of(4, links, claims) == rings


def test_rings_of_a_torus_agree_with_the_twin() -> None:
    topology = torus(3, 5)
    rings = complete_rings(topology)
    assert sorted(map(len, rings)) == [3] * 10 + [5] * 6
    after = {a: b for ring in rings for a, b in zip(ring, ring[1:] + ring[:1], strict=True)}
    assert after == ring_successors(topology)
