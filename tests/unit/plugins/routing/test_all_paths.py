"""all-paths: the numbers of paths and walks, and the distribution of what packets draw."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_simple_paths import simple_paths
from small_graphs import networks

from routelab.api import Topology
from routelab.kernels.hops import RandomWord, pick_large
from routelab.kernels.simple_paths import Arcs, count_simple_paths
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid
from routelab_plugins.routing.all_paths.kernels import MOST_WALKS, count_walks


def reason(text: str, topology: Topology, vcs: int = 16) -> str | None:
    return Routing.from_name(text).supports(topology, vcs)


@settings(max_examples=40, deadline=None)
@given(networks(), st.integers(1, 5))
def test_simple_paths_and_walks_are_counted(topology, most) -> None:
    starts, channels = topology.outgoing
    arcs = Arcs(
        starts, channels, topology.channel_target, *topology.incoming, topology.channel_source
    )
    ends = topology.endpoints
    counts, longest = count_simple_paths(arcs, ends, most)
    paths = {
        (i, j): simple_paths(topology, int(ends[i]), int(ends[j]), most)
        for i, j in permutations(range(len(ends)), 2)
    }
    assert all(counts[pair] == len(pair_paths) for pair, pair_paths in paths.items())
    assert np.diag(counts).sum() == 0
    assert longest == max(
        (len(path) for pair_paths in paths.values() for path in pair_paths), default=0
    )
    walks = np.empty((len(ends), most + 1, topology.num_switches), np.int32)
    assert count_walks(starts, topology.channel_target[channels], ends, walks)
    for j, target in enumerate(ends):
        step = np.zeros((topology.num_switches,) * 2, np.int64)
        np.add.at(step, (topology.channel_source, topology.channel_target), 1)
        # a walk ends at its target
        step[target] = 0
        for hops in range(most + 1):
            expected = np.linalg.matrix_power(step, hops)[:, target]
            assert walks[j, hops].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "length", "source", "target"),
    [("petersen", 5, 0, 1), ("petersen", 4, 0, 7), ("parallel-links", 3, 0, 2), ("mesh", 8, 0, 8)],
)
def test_all_simple_paths_are_drawn_with_equal_chances(name, length, source, target) -> None:
    network = NETWORKS[name]()
    program = Routing.from_name(f"all-paths~length={length}").prepare(network, length)
    walker = Walker(program, network, seed=5)
    expected = [tuple(path) for path in simple_paths(network, source, target, length)]
    draws = 200 * len(expected)
    seen = Counter()
    for _ in range(draws):
        walk = walker.walk(source, target)
        assert walk.arrived
        assert [hop.vc for hop in walk.hops] == list(range(len(walk.hops)))
        seen[tuple(walk.channels)] += 1
    assert set(seen) == set(expected)
    # chi-square: mean and variance are its degrees of freedom and twice as many
    freedom = len(expected) - 1
    chance = sum((n - 200) ** 2 / 200 for n in seen.values())
    assert chance < freedom + 4 * (2 * freedom) ** 0.5 + 6


def test_paths_are_as_long_as_the_diameter_by_default() -> None:
    network = build_grid("torus", (4, 4), wrap=True)
    assert Routing.from_name("all-paths").prepare(network, 4).max_hops == 4
    assert reason("all-paths", network, 3) == (
        "paths have up to 4 hops and each needs a virtual channel; the routers have 3: raise vcs "
        "to 4 or lower length"
    )


def test_draws_have_no_bias_by_the_number_of_walks() -> None:
    """The last of 2^31 - 1 numbers has the last words, the first the first ones."""
    assert pick_large(RandomWord(np.uint64(2**64 - 1)), MOST_WALKS) == MOST_WALKS - 1
    assert pick_large(RandomWord(np.uint64(0)), MOST_WALKS) == 0
    for word in (2**63, 12345678901234567890, 2**62 + 12345):
        assert pick_large(RandomWord(np.uint64(word)), MOST_WALKS) == word * MOST_WALKS >> 64


@pytest.mark.parametrize(
    ("text", "network", "words"),
    [
        ("all-paths", lambda: NETWORKS["two-components"](), "have no path"),
        ("all-paths~length=2", lambda: NETWORKS["mesh"](), "raise length to 4"),
        ("all-paths", lambda: build_grid("torus", (60,), wrap=True), "lower length"),
        ("all-paths", lambda: build_grid("mesh", (18,), wrap=False), "only 1 of "),
        ("all-paths~length=80", lambda: NETWORKS["complete"](), "room for 60 hops"),
        ("all-paths~length=9", lambda: load("topology", "hamming~dims=4x4x4").build(), "lower len"),
    ],
)
def test_networks_without_such_paths_are_refused(text, network, words) -> None:
    assert words in reason(text, network(), 99)
