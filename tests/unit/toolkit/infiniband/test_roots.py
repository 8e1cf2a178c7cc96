"""Roots of up*/down*: every two hosts have a route from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import Topology
from routelab.registry.instances import load
from routelab.toolkit.infiniband import root_switches


def network(cables: list[tuple[int, int]], hosts: list[int]) -> Topology:
    """Return switches with two-way cables; each entry of `hosts` is a host's switch."""
    ways = np.array([way for a, b in cables for way in ((a, b), (b, a))]).reshape(-1, 2)
    count = 1 + max([*hosts, *ways.reshape(-1).tolist()])
    return Topology.create(
        family="test",
        num_switches=count,
        channel_source=ways[:, 0],
        channel_target=ways[:, 1],
        terminal_switch=hosts,
    )


def unroutable(topology: Topology, roots: list[int]) -> list[tuple[int, int]]:
    """Return pairs of switches with hosts without an up*/down* route, by a search of states."""
    pairs = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    level = dict.fromkeys(roots, 0)
    for _ in range(topology.num_switches):
        for a, b in pairs:
            if a in level and level[a] + 1 < level.get(b, 10**6):
                level[b] = level[a] + 1
    missing = []
    for source, target in itertools.permutations(topology.endpoints.tolist(), 2):
        states, todo = {(source, "up")}, [(source, "up")]
        while todo:
            here, phase = todo.pop()
            for a, b in pairs:
                if a != here or level[a] == level[b]:
                    continue
                way = "up" if level[b] < level[a] else "down"
                if (phase, way) != ("down", "up") and (b, way) not in states:
                    states.add((b, way))
                    todo.append((b, way))
        if not {(target, "up"), (target, "down")} & states:
            missing.append((source, target))
    return missing


TREE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
"""A core, two switches below it, and four leaves."""
LEAVES = [3, 3, 4, 4, 5, 5, 6, 6]


@pytest.mark.parametrize("storage", [[], [0], [0, 0], [0, 0, 0], [1]])
def test_hosts_at_upper_switches_leave_the_core_the_root(storage):
    topology = network(TREE, LEAVES + storage)
    assert root_switches(topology) == [0]
    assert unroutable(topology, [0]) == []


def test_all_upper_switches_of_a_fat_tree_are_roots():
    topology = load("topology", "fat-tree~k=4,levels=3").build()
    roots = root_switches(topology)
    assert len(roots) == 16
    assert topology.terminals_per_switch[roots].sum() == 0


def test_each_part_has_roots():
    topology = network([*TREE, (7, 8), (8, 9)], [*LEAVES, 7, 9])
    assert root_switches(topology) == [0, 8]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_all_hosts_are_routable_in_any_connected_network(data):
    count = data.draw(st.integers(2, 9))
    cables = [(data.draw(st.integers(0, s - 1)), s) for s in range(1, count)]
    more = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    cables += [(a, b) for a, b in data.draw(st.lists(more, max_size=5)) if a != b]
    hosts = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=12))
    topology = network(cables, hosts)
    assert unroutable(topology, root_switches(topology)) == []


@pytest.mark.parametrize("storage", [[], [0], [1], [0, 0, 0]])
def test_a_host_at_one_spine_leaves_no_spine_unused(storage):
    cables = [(spine, leaf) for spine in (0, 1) for leaf in (2, 3, 4)]
    topology = network(cables, [2, 2, 3, 3, 4, 4, *storage])
    roots = root_switches(topology)
    assert unroutable(topology, roots) == []
    # three hosts at a spine are more than at any leaf, so that leaves cannot be told from spines
    assert roots == ([1] if len(storage) == 3 else [0, 1])


def test_hosts_at_two_spines_that_have_no_route_from_all_spines_leave_the_others():
    cables = [(spine, leaf) for spine in (0, 1, 2) for leaf in (3, 4)]
    topology = network(cables, [3, 3, 4, 4, 0, 1])
    assert root_switches(topology) == [2]
    assert unroutable(topology, [0, 1, 2]) != []
