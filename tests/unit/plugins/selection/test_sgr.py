"""SGR: the loads of the linear program are attained, by legal routes, and none is less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from naive_selection import shortest_routes
from small_graphs import SPEEDS, graphs

from routelab.api import UnsupportedError
from routelab.metrics import channel_loads, relative_loads
from routelab.toolkit import build_grid
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.selection.milp import Milp
from routelab_plugins.selection.sgr import Sgr


@settings(max_examples=60)
@given(graphs(SPEEDS))
def test_weighted_paths_attain_the_loads_of_the_linear_program(graph) -> None:
    topology = graph.topology
    table = Sgr().select(graph)
    loads = channel_loads(table)
    relative = relative_loads(topology, loads)
    assert relative.max(initial=0) == pytest.approx(table.counters["lp_load"], abs=1e-5)
    routes = shortest_routes(graph)
    hops = 0
    for s in topology.endpoints.tolist():
        for t in topology.endpoints.tolist():
            paths = [tuple(path) for path in table.paths(s, t)]
            assert len(set(paths)) == len(paths)
            assert set(paths) <= set(routes.get((s, t), []))
            assert bool(paths) == ((s, t) in routes)
            terminals = topology.terminals_per_switch
            hops += len(paths[0]) * terminals[s] * terminals[t] if paths else 0
    # every packet crosses as many channels as its route is long
    assert loads.sum() == pytest.approx(hops)


@settings(max_examples=30)
@given(graphs(SPEEDS))
def test_linear_program_below_integer_program_below_rounding(graph) -> None:
    fractional = Sgr().select(graph).counters["lp_load"]
    single = Sgr(paths="single").select(graph)
    assert np.diff(single.pair_start).max(initial=0) <= 1
    integer, rounded = (
        relative_loads(graph.topology, channel_loads(table)).max(initial=0)
        for table in (Milp().select(graph), single)
    )
    assert fractional - 1e-5 <= integer <= rounded * (1 + 1e-12)


def test_splitting_pays_where_one_path_each_cannot_be_even() -> None:
    # opposite corners of a square, one terminal each: 1 route each way, and 1/2 on every channel
    square = build_grid("mesh", (2, 2), False, nodes=())
    corners = type(square).create(
        num_switches=4,
        channel_source=square.channel_source,
        channel_target=square.channel_target,
        terminal_switch=[0, 3],
    )
    graph = Unrestricted().routing_graph(corners)
    assert set(channel_loads(Sgr().select(graph))) == {0.5}
    assert set(channel_loads(Sgr(paths="single").select(graph))) == {0.0, 1.0}


def test_an_exceeded_time_limit_is_reported() -> None:
    graph = AngaraRules(turns="exact").routing_graph(build_grid("torus", (4, 4, 4), True))
    with pytest.raises(UnsupportedError, match="seconds=1e-09: raise it"):
        Sgr(seconds=1e-9).select(graph)
