"""Smaller or simpler routing graphs with the same routes.

Both reductions are always valid: they change the vertices on a route, not the legal routes.
"""

from __future__ import annotations

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Int64Array


def determinized(graph: RoutingGraph) -> RoutingGraph:
    """Return an equivalent deterministic graph (subset construction).

    A vertex of the result represents all vertices in which a packet with the same history of
    channels may be. A deterministic graph is returned unchanged.

    Examples
    --------
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, determinized
    >>> rules = load("rules", "angara")
    >>> graph = rules.routing_graph(build_grid("torus", (4, 4), wrap=True))
    >>> determinized(graph).num_vertices
    112
    """
    if graph.deterministic:
        return graph
    start, target, channel = graph.edge_start, graph.edge_target, graph.edge_channel
    numbers: dict[frozenset[int], int] = {}
    for vertex in graph.begin.tolist():
        numbers[frozenset((vertex,))] = len(numbers)
    sets = list(numbers)
    edges: list[tuple[int, int, int]] = []
    # `sets` grows while it is read: it is also the work list
    for number, members in enumerate(sets):
        targets: dict[int, set[int]] = {}
        for vertex in members:
            for e in range(start[vertex], start[vertex + 1]):
                targets.setdefault(int(channel[e]), set()).add(int(target[e]))
        for hop, reached in targets.items():
            key = frozenset(reached)
            if key not in numbers:
                numbers[key] = len(sets)
                sets.append(key)
            edges.append((number, numbers[key], hop))
    table = np.array(edges, dtype=np.int64).reshape(-1, 3)
    return RoutingGraph.create(
        graph.topology,
        vertex_switch=[graph.vertex_switch[next(iter(members))] for members in sets],
        accepting=[bool(graph.accepting[list(members)].any()) for members in sets],
        begin=np.arange(graph.topology.num_switches),
        edge_source=table[:, 0],
        edge_target=table[:, 1],
        edge_channel=table[:, 2],
        turn_set=graph.turn_set,
        minimal_only=graph.minimal_only,
        facts=graph.facts,
        channel_facts=graph.channel_facts,
        prohibited=graph.prohibited,
    )


def merged(graph: RoutingGraph) -> RoutingGraph:
    """Merge vertices of a deterministic graph that have the same legal continuations.

    Moore's partition refinement: the first classes are those of equal switch and acceptance; the
    classes that the channels lead to split them further, until nothing changes.

    Raises
    ------
    ValueError
        If the graph is not deterministic.

    Examples
    --------
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, determinized, merged
    >>> torus = build_grid("torus", (4, 4), wrap=True)
    >>> literal = load("rules", "angara~form=literal").routing_graph(torus)
    >>> determinized(literal).num_vertices, merged(determinized(literal)).num_vertices
    (368, 160)
    """
    if not graph.deterministic:
        raise ValueError("only deterministic graphs can be merged; determinize it first")
    # one row per vertex: its class, then (channel, next class) in order of channel, padded
    width = int(np.diff(graph.edge_start).max(initial=0))
    rows = np.full((graph.num_vertices, 1 + 2 * width), -1, dtype=np.int64)
    place = np.arange(graph.num_edges) - graph.edge_start[graph.edge_source]
    rows[graph.edge_source, 1 + 2 * place] = graph.edge_channel
    classes: Int64Array = graph.vertex_switch.astype(np.int64) * 2 + graph.accepting
    count = len(np.unique(classes))
    while True:
        rows[:, 0] = classes
        rows[graph.edge_source, 2 + 2 * place] = classes[graph.edge_target]
        _, first, classes = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        classes = classes.reshape(-1)
        if len(first) == count:
            break
        count = len(first)
    is_kept = np.zeros(graph.num_vertices, dtype=np.bool_)
    is_kept[first] = True
    edge = is_kept[graph.edge_source]
    return RoutingGraph.create(
        graph.topology,
        vertex_switch=graph.vertex_switch[first],
        accepting=graph.accepting[first],
        begin=classes[graph.begin],
        edge_source=classes[graph.edge_source[edge]],
        edge_target=classes[graph.edge_target[edge]],
        edge_channel=graph.edge_channel[edge],
        turn_set=graph.turn_set,
        minimal_only=graph.minimal_only,
        facts=graph.facts,
        channel_facts=graph.channel_facts,
        prohibited=graph.prohibited,
    )
