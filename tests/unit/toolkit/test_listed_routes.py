"""Lists of all shortest legal routes against a list made by brute force."""

from __future__ import annotations

from hypothesis import given, settings
from naive_selection import shortest_routes
from small_graphs import plain_graphs

from routelab.testing.inputs.graphs import all_walks
from routelab.toolkit import ListedRoutes, build_grid, too_many_routes
from routelab.toolkit.listed_routes import count_hops


@settings(max_examples=40)
@given(plain_graphs())
def test_the_list_is_that_of_the_naive_twin(graph) -> None:
    listed = ListedRoutes.of(graph)
    ends = graph.topology.endpoints.tolist()
    expected = shortest_routes(graph)
    for p, (s, t) in enumerate((s, t) for s in ends for t in ends):
        routes = [
            tuple(listed.hops[listed.hop_start[r] : listed.hop_start[r + 1]].tolist())
            for r in range(listed.route_start[p], listed.route_start[p + 1])
        ]
        # the natural edge order is that of channels
        assert routes == expected.get((s, t), [])
        assert listed.pair_demand[p] == (
            graph.topology.terminals_per_switch[s] * graph.topology.terminals_per_switch[t]
        )
    assert listed.num_routes == len(listed.route_pair) == listed.route_start[-1]
    assert count_hops(graph) == len(listed.hops)


def test_it_says_when_there_are_too_many() -> None:
    graph = all_walks(build_grid("mesh", (2, 2), False))
    assert too_many_routes(graph, count_hops(graph)) is None
    assert too_many_routes(graph, 23) == ("lists all shortest legal routes, here 24 hops; limit 23")
