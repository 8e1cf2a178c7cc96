"""Routings of fat trees against their definitions, and the laws of d-mod-k."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hop_cases import distances
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import Topology, UnsupportedError
from routelab.metrics.load import channel_loads
from routelab.routing.routing import Routing
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid
from routelab_plugins.routing.adaptive_up import AdaptiveUp
from routelab_plugins.routing.d_mod_k import DModK
from routelab_plugins.topology.fat_tree import FatTree

TREES = [
    {"k": 2, "levels": 2},
    {"k": 2, "levels": 4},
    {"k": 3, "levels": 3},
    {"down": "4x6", "up": "1x2", "parallel": "1x2"},
    {"down": "4x4x2", "up": "1x2x4", "parallel": "1x2x1"},
    {"down": "3x2x2", "up": "1x2x1", "parallel": "1x1x2", "terminals": 2},
    {"down": "2x1x3", "up": "1x2x2"},
]
FULL = [  # as many links up as down below the roots
    {"k": 2, "levels": 4},
    {"k": 3, "levels": 3},
    {"k": 4, "levels": 2},
    {"down": "4x6", "up": "1x2", "parallel": "1x2"},
    {"down": "6x4", "up": "1x3", "parallel": "1x2"},
    {"down": "4x2x3", "up": "1x2x2", "parallel": "1x2x2"},
    {"down": "6x2x2", "up": "1x2x2", "parallel": "1x3x3"},
]


@st.composite
def small_trees(draw):
    height = draw(st.integers(2, 4))
    numbers = st.lists(st.integers(1, 3 if height < 4 else 2), min_size=height - 1)
    several = numbers.filter(lambda values: len(values) >= height - 1)
    lists = [(1, *draw(several)[: height - 1]) for _ in range(3)]
    down = (draw(st.integers(1, 3)), *lists[0][1:])
    return {"down": down, "up": lists[1], "parallel": lists[2]}


def climb_and_descend(topology: Topology) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """Naive twin of d-mod-k: hops (switch, next switch, parallel link) by leaf and terminal.

    Digits are counted from the leaves; the b digits of a switch are the last ones of its index.
    """
    facts = topology.attributes
    m, w, p, here = facts["down"], facts["up"], facts["parallel"], facts["terminals_per_leaf"]
    place = {tuple(c): s for s, c in enumerate(topology.coordinates.tolist())}
    height = len(m)

    def switch(level: int, leaf: int, b: list[int]) -> int:
        index = leaf // prod(m[1 : level + 1])
        for digit, radix in zip(reversed(b), reversed(w[1 : level + 1]), strict=True):
            index = index * radix + digit
        return place[level, index]

    routes = {}
    for source in range(prod(m[1:])):
        for terminal in range(prod(m[1:]) * here):
            target = terminal // here
            digits, links, rest = [], [], terminal
            for level in range(1, height):
                rest, digit = divmod(rest, w[level])
                digits.append(digit)
                links.append(rest % p[level])
            top = 0
            while source // prod(m[1 : top + 1]) != target // prod(m[1 : top + 1]):
                top += 1
            up = [switch(level, source, digits[:level]) for level in range(top + 1)]
            down = [switch(level, target, digits[:level]) for level in reversed(range(top))]
            both = [*links[:top], *reversed(links[:top])]
            path = [*up, *down]
            routes[up[0], terminal] = list(zip(path, path[1:], both, strict=False))
    return routes


def hops_of(topology: Topology, table) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    routes = {}
    level = topology.coordinates[:, 0]
    for pair in range(table.num_pairs):
        (path,) = range(*table.pair_start[pair : pair + 2])
        channels = table.hop_channel[slice(*table.path_start[path : path + 2])].tolist()
        hops = []
        for channel in channels:
            source, target = topology.channel_source[channel], topology.channel_target[channel]
            upper = max(level[source], level[target])
            port = topology.source_port[channel]
            first = 0
            if level[target] > level[source] and level[source]:
                here = level[source]
                first = topology.attributes["down"][here] * topology.attributes["parallel"][here]
            link = (port - first) % topology.attributes["parallel"][upper]
            hops.append((int(source), int(target), int(link)))
        start = int(topology.endpoints[pair // table.num_destinations])
        routes[start, pair % table.num_destinations] = hops
    return routes


@given(small_trees())
@settings(max_examples=40, deadline=None)
def test_d_mod_k_follows_the_digits(values):
    topology = FatTree(**values).build()
    assert hops_of(topology, DModK().route(topology)) == climb_and_descend(topology)


@pytest.mark.parametrize(("k", "levels"), [(2, 2), (2, 4), (3, 3), (4, 2), (4, 3)])
def test_d_mod_k_loads_a_k_ary_n_tree_evenly(k, levels):
    topology = FatTree(k=k, levels=levels).build()
    table = DModK().route(topology)
    loads, level = channel_loads(table), topology.coordinates[:, 0]
    ends = zip(level[topology.channel_source], level[topology.channel_target], strict=True)
    by_step = {}
    for (here, there), load in zip(ends, loads, strict=True):
        by_step.setdefault((int(here), int(there)), set()).add(float(load))
    # k^n terminals, k^(i + 1) of them below a switch of level i; k^n links between two levels
    for (here, there), step_loads in by_step.items():
        below = k ** (min(here, there) + 1)
        assert step_loads == {k**levels - below}
    # each channel downwards serves one terminal
    served = {}
    for (_, terminal), hops in hops_of(topology, table).items():
        for source, target, _ in hops:
            if level[source] > level[target]:
                served.setdefault((source, target), set()).add(terminal)
    assert len(served) == (levels - 1) * k**levels
    assert all(len(terminals) == 1 for terminals in served.values())


@pytest.mark.parametrize("values", FULL)
def test_shift_permutations_have_no_contention(values):
    """Zahavi 2012: d-mod-k routes shifts without contention if the bisection is full."""
    topology = FatTree(**values).build()
    routes = hops_of(topology, DModK().route(topology))
    count, at = topology.num_terminals, topology.terminal_switch.tolist()
    for shift in range(1, count):
        used = Counter(
            hop for source in range(count) for hop in routes[at[source], (source + shift) % count]
        )
        assert max(used.values(), default=1) == 1


@pytest.mark.parametrize("values", TREES)
def test_adaptive_up_offers_all_channels_up_and_one_way_down(values):
    topology = FatTree(**values).build()
    near, level = distances(topology), topology.coordinates[:, 0]
    walker = Walker(Routing.from_name("adaptive-up").prepare(topology, 1), topology, seed=2)
    for source in topology.endpoints.tolist():
        for target in topology.endpoints.tolist():
            if source == target:
                continue
            walk = walker.walk(source, target)
            assert walk.arrived
            assert len(walk.hops) == near[source][target]
            here = source
            for offer, hop in zip(walk.offers, walk.hops, strict=True):
                out = np.flatnonzero(topology.channel_source == here)
                # all channels that are on a shortest path: all those upwards, or one child
                expected = {
                    int(c)
                    for c in out
                    if near[topology.channel_target[c]][target] < near[here][target]
                }
                assert {candidate.channel for candidate in offer} == expected
                ups = {int(c) for c in out if level[topology.channel_target[c]] > level[here]}
                climbs = near[here][target] > len(walk.hops) // 2
                assert (expected == ups) if climbs else not expected & ups
                assert all(candidate.vc == candidate.penalty == 0 for candidate in offer)
                here = int(topology.channel_target[hop.channel])


def test_adaptive_up_prefers_short_queues():
    topology = FatTree(k=4, levels=2).build()
    walker = Walker(Routing.from_name("adaptive-up").prepare(topology, 1), topology)
    ups = np.flatnonzero(topology.channel_source == 0).tolist()
    for free in ups:
        for channel in ups:
            walker.occupy(channel, 0, 0 if channel == free else 9)
        assert walker.walk(0, 3).hops[0].channel == free


def has_dead_end(topology: Topology) -> bool:
    """Naive search: follow every choice of adaptive-up from every leaf to every other leaf."""
    level, index = topology.coordinates.T
    down, up = topology.attributes["down"], topology.attributes["up"]

    def above(switch: int, leaf: int) -> bool:
        here = int(level[switch])
        same = int(index[switch]) // prod(up[1 : here + 1])
        return same == int(index[leaf]) // prod(down[1 : here + 1])

    onward: dict[int, list[int]] = {s: [] for s in range(topology.num_switches)}
    for source, target in zip(topology.channel_source, topology.channel_target, strict=True):
        onward[int(source)].append(int(target))
    ends = topology.endpoints.tolist()
    for target in ends:
        stack = [source for source in ends if source != target]
        while stack:
            switch = stack.pop()
            if switch == target:
                continue
            falls = above(switch, target)
            steps = [
                there
                for there in onward[switch]
                if (
                    level[there] < level[switch] and above(there, target)
                    if falls
                    else level[there] > level[switch]
                )
            ]
            if not steps:
                return True
            stack += steps
    return False


@given(small_trees(), st.integers(0, 3), st.integers(0, 2), st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_damaged_trees_are_refused_exactly_where_packets_could_be_stuck(
    values, links, switches, seed
):
    whole = FatTree(**values).build()
    links = min(links, len(whole.links) - 1)
    rng = np.random.default_rng(seed)
    lost = whole.links[rng.choice(len(whole.links), links, replace=False)].reshape(-1)
    high = np.flatnonzero(whole.coordinates[:, 0] > 0)
    gone = rng.choice(high, min(switches, len(high)), replace=False)
    topology = whole.without(switches=gone.tolist(), channels=lost.tolist())
    reason = AdaptiveUp().supports(topology, 1)
    assert (reason is not None) == has_dead_end(topology)
    expected = named_routes(whole)
    present = set(map(channel_namer(topology), range(topology.num_channels)))
    if not all(present.issuperset(route) for route in expected.values()):
        assert "no route from switch" in DModK().supports(topology)
        with pytest.raises(UnsupportedError, match="is missing"):
            DModK().route(topology)
    else:
        assert named_routes(topology) == expected


def channel_namer(topology: Topology):
    """From a channel to the names of its ends and its port, which failures do not change."""
    names, ends = topology.switch_names, (topology.channel_source, topology.channel_target)
    return lambda c: (*(names[end[c]] for end in ends), int(topology.source_port[c]))


def named_routes(topology: Topology):
    table, name = DModK().route(topology), channel_namer(topology)
    leaves = [topology.switch_names[leaf] for leaf in topology.endpoints]
    return {
        (leaf, terminal): list(map(name, table.paths(int(topology.endpoints[place]), terminal)[0]))
        for place, leaf in enumerate(leaves)
        for terminal in range(topology.num_terminals)
    }


@pytest.mark.parametrize(
    "make", [lambda t: DModK().supports(t), lambda t: AdaptiveUp().supports(t, 4)]
)
def test_other_networks_are_refused(make):
    assert make(NETWORKS["petersen"]()).startswith("needs a network of the topology fat-tree")
    assert "this one is 'torus'" in make(build_grid("torus", (4, 4), wrap=True))
    tree = FatTree(k=2, levels=3).build()
    assert make(tree) is None
    assert "no coordinates" in make(replace(tree, coordinates=None))
    assert "no attributes" in make(replace(tree, attributes={}))
    wrong = "coordinates, ports or channels are not those"
    assert wrong in make(replace(tree, source_port=tree.target_port))
    assert wrong in make(replace(tree, source_port=np.full_like(tree.source_port, -1)))
    assert wrong in make(replace(tree, coordinates=tree.coordinates[::-1]))
    assert wrong in make(replace(tree, terminal_switch=np.array([5])))
    assert wrong in make(replace(tree, attributes={**tree.attributes, "down": [2, 3, 2]}))
