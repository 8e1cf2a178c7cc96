"""The k shortest simple paths, against enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_simple_paths import simple_paths
from small_graphs import networks

from routelab.api import Topology
from routelab.testing.inputs.networks import NETWORKS
from routelab.toolkit import build_grid
from routelab.toolkit.families.simple_paths import (
    ShortPaths,
    shortest_simple_paths,
    too_many_paths,
)


def linked(links: list[tuple[int, int]], terminals: list[int] | None = None) -> Topology:
    return Topology.create(
        num_switches=1 + max(max(link) for link in links),
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
        terminal_switch=terminals,
    )


def paths_between(paths: ShortPaths, source: int, target: int) -> list[tuple[int, ...]]:
    ends = paths.topology.endpoints.tolist()
    pair = ends.index(source) * len(ends) + ends.index(target)
    start = paths.hop_start
    return [
        tuple(paths.hops[start[k] : start[k + 1]].tolist())
        for k in range(paths.pair_start[pair], paths.pair_start[pair + 1])
    ]


def agree(topology: Topology, k: int, seed: int) -> None:
    """Check all pairs: shorter paths are complete, those of the last length exist and differ."""
    paths = shortest_simple_paths(topology, k, seed)
    for source, target in permutations(topology.endpoints.tolist(), 2):
        expected = [tuple(path) for path in simple_paths(topology, source, target)]
        between = paths_between(paths, source, target)
        assert [len(path) for path in between] == [len(path) for path in expected[:k]]
        assert len(set(between)) == len(between)
        assert set(between) <= set(expected)
        assert all(not path for end in (source, target) for path in paths_between(paths, end, end))


@settings(max_examples=60, deadline=None)
@given(networks(), st.integers(1, 12), st.integers(0, 99))
def test_they_are_the_shortest_of_all_simple_paths(topology, k, seed) -> None:
    agree(topology, k, seed)


def clique(size: int, first: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(first, first + size) for b in range(first, a)]


def test_dense_parts_behind_a_bottleneck_do_not_matter() -> None:
    """No path leads through a clique of 20 to a switch outside; a search would never end."""
    topology = linked([*clique(20, 2), (0, 1), (1, 2)], [0, 1, 2, 3])
    paths = shortest_simple_paths(topology, 8, 0)
    assert [len(path) for path in paths_between(paths, 1, 0)] == [1]
    assert [len(path) for path in paths_between(paths, 2, 0)] == [2]
    # out of the clique: directly, by one of 18 others, by two of them
    assert [len(path) for path in paths_between(paths, 3, 0)] == [3, *7 * [4]]


def test_paths_of_the_last_length_are_drawn_with_equal_chances() -> None:
    """Petersen, k = 3: all other paths between neighbours have four hops or more, and are four."""
    topology = NETWORKS["petersen"]()
    options = [tuple(path) for path in simple_paths(topology, 0, 1)]
    last = [path for path in options if len(path) == 4]
    assert (len(options[0]), len(last)) == (1, 4)
    draws = 1200
    seen = Counter(
        frozenset(paths_between(shortest_simple_paths(topology, 3, seed), 0, 1)[1:])
        for seed in range(draws)
    )
    expected = draws / comb(4, 2)
    assert set().union(*seen) == set(last)
    # chi-square with 5 degrees of freedom: .999 quantile
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < 20.5
    assert len(seen) == comb(4, 2)


def test_pairs_draw_independently() -> None:
    """On a ring of four, both neighbours of the opposite switch are equally likely."""
    topology = linked([(0, 1), (1, 2), (2, 3), (3, 0)])
    both = Counter()
    for seed in range(400):
        paths = shortest_simple_paths(topology, 1, seed)
        first, second = paths_between(paths, 0, 2)[0], paths_between(paths, 1, 3)[0]
        both[first, second] += 1
    assert len(both) == 4
    # .999 quantile with 3 degrees of freedom
    assert sum((n - 100) ** 2 / 100 for n in both.values()) < 16.3


def test_of_very_many_shortest_paths_some_are_drawn() -> None:
    """An 8x8 mesh has 3,432 shortest paths between opposite corners."""
    topology = build_grid("mesh", (8, 8), wrap=False)
    first_hops = Counter()
    for seed in range(40):
        between = paths_between(shortest_simple_paths(topology, 8, seed), 0, 63)
        assert len(set(between)) == 8
        assert {len(path) for path in between} == {14}
        first_hops.update(path[0] for path in between)
        for path in between:
            ends = topology.channel_target[list(path)].tolist()
            assert topology.channel_source[list(path)].tolist() == [0, *ends[:-1]]
            assert ends[-1] == 63
    assert len(first_hops) == 2
    # 320 draws of one half: five standard deviations are 45
    assert all(abs(n - 160) < 45 for n in first_hops.values())


def test_too_many_paths_are_refused_with_a_fix() -> None:
    class Large:
        endpoints = np.arange(2000)

    assert too_many_paths(Large(), 5) is None
    assert too_many_paths(Large(), 6).endswith("lower k to 5")
