"""Smaller or simpler routing graphs with the same routes.

Both reductions are always valid: they change the vertices on a route, not the legal routes.
"""

from __future__ import annotations

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Int64Array


def determinized(graph: RoutingGraph) -> RoutingGraph:
    """Return an equivalent deterministic graph (subset construction of automata theory).

    A vertex of the result is the set of all vertices in which a packet with the same history of
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
    # The first sets are those of the begin vertices, in the order of their switches.
    set_number: dict[frozenset[int], int] = {}
    for vertex in graph.begin.tolist():
        set_number[frozenset((vertex,))] = len(set_number)
    sets = list(set_number)
    edges: list[tuple[int, int, int]] = []
    # `sets` grows while it is read, because it is also the work list.
    for number, members in enumerate(sets):
        targets_by_channel: dict[int, set[int]] = {}
        for vertex in members:
            for edge in range(start[vertex], start[vertex + 1]):
                targets_by_channel.setdefault(int(channel[edge]), set()).add(int(target[edge]))
        for next_channel, next_vertices in targets_by_channel.items():
            next_set = frozenset(next_vertices)
            if next_set not in set_number:
                set_number[next_set] = len(sets)
                sets.append(next_set)
            edges.append((number, set_number[next_set], next_channel))
    edge_table = np.array(edges, dtype=np.int64).reshape(-1, 3)
    return RoutingGraph.create(
        graph.topology,
        # All vertices of a set are at one switch, the target of their last channel.
        vertex_switch=[graph.vertex_switch[next(iter(members))] for members in sets],
        accepting=[bool(graph.accepting[list(members)].any()) for members in sets],
        begin=np.arange(graph.topology.num_switches),
        edge_source=edge_table[:, 0],
        edge_target=edge_table[:, 1],
        edge_channel=edge_table[:, 2],
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
    # 1. A row for each vertex: its class, then channel and next class of each edge, in the order of
    #    the edges, -1 behind the last one. Edge k of a vertex is in columns 1 + 2k and 2 + 2k.
    #    Vertices with equal rows are in one class.
    max_degree = int(np.diff(graph.edge_start).max(initial=0))
    rows = np.full((graph.num_vertices, 1 + 2 * max_degree), -1, dtype=np.int64)
    edge_of_vertex = np.arange(graph.num_edges) - graph.edge_start[graph.edge_source]
    rows[graph.edge_source, 1 + 2 * edge_of_vertex] = graph.edge_channel
    # 2. First classes: switch and acceptance as one number.
    classes: Int64Array = graph.vertex_switch.astype(np.int64) * 2 + graph.accepting
    num_classes = len(np.unique(classes))
    # 3. Refine. A row begins with the class so far, so classes are split and never joined: if their
    #    number stays, the classes do.
    while True:
        rows[:, 0] = classes
        rows[graph.edge_source, 2 + 2 * edge_of_vertex] = classes[graph.edge_target]
        _, representative, classes = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        classes = classes.reshape(-1)
        if len(representative) == num_classes:
            break
        num_classes = len(representative)
    # 4. One vertex of each class, with its edges, remains.
    is_representative = np.zeros(graph.num_vertices, dtype=np.bool_)
    is_representative[representative] = True
    is_kept_edge = is_representative[graph.edge_source]
    return RoutingGraph.create(
        graph.topology,
        vertex_switch=graph.vertex_switch[representative],
        accepting=graph.accepting[representative],
        begin=classes[graph.begin],
        edge_source=classes[graph.edge_source[is_kept_edge]],
        edge_target=classes[graph.edge_target[is_kept_edge]],
        edge_channel=graph.edge_channel[is_kept_edge],
        turn_set=graph.turn_set,
        minimal_only=graph.minimal_only,
        facts=graph.facts,
        channel_facts=graph.channel_facts,
        prohibited=graph.prohibited,
    )
