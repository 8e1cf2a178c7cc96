"""Networks of any shape for tests of rules that prohibit turns, and what all such rules keep."""

from __future__ import annotations

import networkx as nx
from hypothesis import strategies as st
from naive_segments import simple_graph

from routelab.api import RoutingGraph, Topology


def network_of(count: int, links: list[tuple[int, int]]) -> Topology:
    return Topology.create(
        num_switches=count,
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
    )


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Several parts, bridges and parallel cables."""
    count = draw(st.integers(1, 9))
    end = st.integers(0, count - 1)
    links = [(a, b) for a, b in draw(st.lists(st.tuples(end, end), max_size=18)) if a != b]
    return network_of(count, links + links[: draw(st.integers(0, 2))])


def legal_turns(graph: RoutingGraph) -> nx.DiGraph:
    """Channels that may follow each other on a legal path, shortest or not."""
    turns = nx.DiGraph()
    turns.add_nodes_from(graph.edge_channel.tolist())
    leaving = [
        graph.edge_channel[graph.edge_start[v] : graph.edge_start[v + 1]].tolist()
        for v in range(graph.num_vertices)
    ]
    for channel, target in zip(
        graph.edge_channel.tolist(), graph.edge_target.tolist(), strict=True
    ):
        turns.add_edges_from((channel, after) for after in leaving[target])
    return turns


def assert_acyclic_and_connected(graph: RoutingGraph) -> None:
    """Legal turns have no cycle, and every pair of switches of a part has a legal route."""
    links = simple_graph(graph.topology)
    assert nx.is_directed_acyclic_graph(legal_turns(graph))
    walks = nx.DiGraph(zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True))
    walks.add_nodes_from(graph.begin.tolist())
    for switch in links:
        begin = int(graph.begin[switch])
        reached = {begin, *nx.descendants(walks, begin)}
        switches = {int(graph.vertex_switch[vertex]) for vertex in reached}
        assert switches == nx.node_connected_component(links, switch)
