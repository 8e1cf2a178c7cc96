"""Algorithm 3 on listed routes and on trees: the same routes, the same number of trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graphs

from routelab.api import RoutingGraph
from routelab.toolkit import build_grid
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.selection import sssp
from routelab_plugins.selection.sssp import Sssp


def assert_same(one, other) -> None:
    assert np.array_equal(one.path_start, other.path_start)
    assert np.array_equal(one.hop_channel, other.hop_channel)
    assert dict(one.counters) == dict(other.counters)


def grown(selection: Sssp, graph: RoutingGraph):
    """The routes that trees find: no pair's routes may be listed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sssp, "MOST_ROUTES", 1)
        return selection.select(graph)


@settings(max_examples=60, deadline=None)
@given(
    graph=graphs(),
    ties=st.sampled_from(["positive", "balanced"]),
    tie_seed=st.integers(0, 3),
    unique_first=st.booleans(),
)
def test_listed_routes_and_trees_give_the_same_table(
    graph: RoutingGraph, ties: str, tie_seed: int, unique_first: bool
) -> None:
    selection = Sssp(ties=ties, tie_seed=tie_seed, unique_first=unique_first)
    assert_same(selection.select(graph), grown(selection, graph))


def test_trees_serve_where_routes_are_too_many() -> None:
    # 5 + 5 hops along 2 dimensions: 252 shortest routes
    graph = Unrestricted().routing_graph(build_grid("mesh", (6, 6), wrap=False))
    table = Sssp().select(graph)
    assert table.counters["group_trees"] > 0
    assert_same(table, grown(Sssp(), graph))
