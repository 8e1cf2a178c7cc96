"""Small deterministic routing graphs for selections: regular, damaged, irregular, with hubs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from routelab.api import RoutingGraph, Topology
from routelab.testing.inputs.graphs import GRAPHS
from routelab.toolkit import build_grid, determinized


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Random connected networks; some switches have no terminal, some have several."""
    count = draw(st.integers(2, 6))
    links = [(draw(st.integers(0, k - 1)), k) for k in range(1, count)]
    extra = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links += [(a, b) for a, b in draw(st.lists(extra, max_size=6)) if a != b]
    return Topology.create(
        num_switches=count,
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
        terminal_switch=draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=9)),
    )


@st.composite
def simple_networks(draw: st.DrawFn, least: int = 2) -> Topology:
    """Random connected networks without parallel links, a terminal at each switch."""
    size = draw(st.integers(least, 9))
    tree = [(draw(st.integers(0, k - 1)), k) for k in range(1, size)]
    some = st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=12)
    links = sorted({(min(a, b), max(a, b)) for a, b in [*tree, *draw(some)] if a != b})
    both = [*links, *((b, a) for a, b in links)]
    return Topology.create(
        num_switches=size, channel_source=[a for a, _ in both], channel_target=[b for _, b in both]
    )


def plain_graphs() -> st.SearchStrategy[RoutingGraph]:
    """Routing graphs of the rules that the conformance kit brings along."""
    return st.builds(
        lambda rules, topology: determinized(rules(topology)),
        st.sampled_from(list(GRAPHS.values())),
        networks(),
    )


SPEEDS = (1,), (5,), (1, 4), (14, 25, 56)
"""Capacities that the channels of a network have: one, or several."""


def graphs(speeds: Sequence[Sequence[float]] = ((1,),)) -> st.SearchStrategy[RoutingGraph]:
    """Routing graphs of the built-in rules, on networks with one of the sets of capacities."""
    # tests of the core draw `plain_graphs` where there are no built-in plugins
    from routelab_plugins.rules.angara import AngaraRules
    from routelab_plugins.rules.unrestricted import Unrestricted
    from routelab_plugins.rules.up_down import UpDown

    torus = st.builds(
        lambda dims, fail, seed: build_grid("torus", dims, True, fail_links=fail, seed=seed),
        st.sampled_from([(4,), (2, 3), (4, 2), (3, 3), (2, 2, 2)]),
        st.integers(0, 1),
        st.integers(0, 99),
    )
    on_torus = st.builds(
        lambda t: AngaraRules(turns="exact").routing_graph(t), mixed(torus, speeds)
    )
    on_any = st.builds(
        lambda rules, topology: rules.routing_graph(topology),
        st.sampled_from([Unrestricted(), UpDown()]),
        mixed(networks(), speeds),
    )
    return on_torus | on_any


@st.composite
def mixed(
    draw: st.DrawFn, topologies: st.SearchStrategy[Topology], speeds: Sequence[Sequence[float]]
) -> Topology:
    """Networks whose channels have capacities of one of some sets."""
    topology = draw(topologies)
    speed = st.sampled_from(draw(st.sampled_from(speeds)))
    count = topology.num_channels
    capacity = draw(st.lists(speed, min_size=count, max_size=count))
    return replace(topology, channel_capacity=np.array(capacity, dtype=np.float64))
