"""Linear program for the least maximum load if pairs may use several shortest legal routes.

Routes of one source are one flow along the shortest routes to all terminals; the relative load of a
channel is the sum of the flows of all sources over it times its factor
(`routelab.metrics.capacity`). With translations that preserve the routes and capacities, one source
and one channel of every class suffice: the average of a solution over them is a solution, and its
maximum load is not larger. The dual values of the channels are weights that prove the optimum
(`routelab.metrics.bounds.load_bound`).
"""

from __future__ import annotations

from time import monotonic

import numpy as np

from routelab.api import RoutingGraph
from routelab.api.topology import Float64Array, Int32Array, Int64Array
from routelab.kernels.route_dag import shortest_route_edges
from routelab.metrics import channel_factors
from routelab.metrics.bounds.solver import LinearProgram, solve_program
from routelab.toolkit import SourceSymmetry

MAX_VARIABLES = 200_000
"""Size of the largest program that is solved; one of 100,000 variables takes about 15 s."""

SIMPLEX_VARIABLES = 5_000
"""Up to this size the simplex method is fast, and its dual values are small fractions."""


def flow_weights(
    graph: RoutingGraph, symmetry: SourceSymmetry, seconds: float
) -> Float64Array | None:
    """Find weights of the channel classes that prove the optimum of the linear program.

    Parameters
    ----------
    graph : RoutingGraph
    symmetry : SourceSymmetry
        Symmetry of the graph.
    seconds : float
        Time limit.

    Returns
    -------
    weights : float64 array, shape (classes,), or None
        None if the program is too large or the solver did not finish.
    """
    end = monotonic() + seconds
    program = _flow_program(graph, symmetry)
    if program is None:
        return None
    # Large programs try the interior-point method first; the simplex method is slow for them.
    methods = ("simplex",) if program.num_variables <= SIMPLEX_VARIABLES else ("ipm", "simplex")
    for method in methods:
        solution = solve_program(program, end - monotonic(), solver=method, run_crossover="off")
        if solution is not None:
            num_classes = int(symmetry.channel_class.max()) + 1
            _, row_dual = solution
            # Rows of the classes come first. Dual values of upper limits are not positive.
            return np.maximum(-row_dual[:num_classes], 0.0)
    return None


def _flow_program(graph: RoutingGraph, symmetry: SourceSymmetry) -> LinearProgram | None:
    """Build the program that `flow_weights` solves; None if it has too many variables.

    Variable 0 is the maximum load. The first rows say for each channel class: flow over it minus
    maximum load / factor <= 0.
    """
    num_classes = int(symmetry.channel_class.max()) + 1
    program = LinearProgram()
    program.add_variables(1, cost=1.0)
    program.add_rows(np.full(num_classes, -np.inf), np.zeros(num_classes))
    factor = symmetry.by_class(channel_factors(graph.topology))
    max_load_variable = np.zeros(num_classes, np.int64)
    program.add_entries(np.arange(num_classes), max_load_variable, -1.0 / factor)
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    for source in symmetry.representatives:
        edges, last_vertices = shortest_route_edges(graph.arrays, source, terminals)
        _add_flow(program, graph, symmetry.channel_class, int(source), edges, last_vertices)
        if program.num_variables > MAX_VARIABLES:
            return None
    return program


def _add_flow(
    program: LinearProgram,
    graph: RoutingGraph,
    channel_class: Int32Array,
    source: int,
    edges: Int32Array,
    last_vertices: Int32Array,
) -> None:
    """Add the flow of one source switch along its shortest routes to all other switches.

    `edges` are those of its shortest routes, `last_vertices` the vertices where these routes end.
    A vertex is a switch with a state of the rules, so routes to one switch may end at several.
    """
    terminals = graph.topology.terminals_per_switch
    tail, head = graph.edge_source[edges], graph.edge_target[edges]
    # 1. A variable for the flow over each edge, which loads the class of its channel. The row of a
    #    class has the number of the class.
    vertices = np.unique(head)
    flow = program.add_variables(len(edges))
    program.add_entries(channel_class[graph.edge_channel[edges]], flow, 1.0)
    # 2. A row for each vertex: flow into it − flow out of it = flow that its switch receives there.
    #    That flow is known, all packets of the switch, if all routes to it end at this vertex.
    switch = graph.vertex_switch[last_vertices]
    is_only_end = np.bincount(switch, minlength=graph.topology.num_switches)[switch] == 1
    switch_demand = terminals[switch].astype(np.float64) * int(terminals[source])
    received = np.zeros(len(vertices))
    only_ends = np.searchsorted(vertices, last_vertices[is_only_end])
    received[only_ends] = switch_demand[is_only_end]
    vertex_row = program.add_rows(received, received)
    program.add_entries(vertex_row[np.searchsorted(vertices, head)], flow, 1.0)
    # the vertex where all routes begin has no row
    tail_has_row = tail != graph.begin[source]
    tail_row = vertex_row[np.searchsorted(vertices, tail[tail_has_row])]
    program.add_entries(tail_row, flow[tail_has_row], -1.0)
    if is_only_end.all():
        return
    # 3. Where routes to a switch end at several vertices, a variable for each of them is the flow
    #    that the switch receives there, and a row for the switch: together all its packets.
    is_one_of_several = ~is_only_end
    arriving = program.add_variables(int(is_one_of_several.sum()))
    end_row = vertex_row[np.searchsorted(vertices, last_vertices[is_one_of_several])]
    program.add_entries(end_row, arriving, -1.0)
    _, first_end, switch_index = np.unique(
        switch[is_one_of_several], return_index=True, return_inverse=True
    )
    all_packets = switch_demand[is_one_of_several][first_end]
    switch_row = program.add_rows(all_packets, all_packets)
    program.add_entries(switch_row[switch_index], arriving, 1.0)


def integer_weights(weights: Float64Array) -> list[Int64Array]:
    """Round weights to integers in several ways; each result is a candidate for a certificate.

    The greatest weight becomes 1, then 2, 3 and so on: the values of solvers are often multiples of
    a simple fraction, such as 1, 1/2 and 1/6, which the scale 6 represents exactly.
    """
    greatest = float(weights.max(initial=0.0))
    if greatest <= 0:  # weights of 0 prove nothing
        return []
    scales = (1, 2, 3, 4, 5, 6, 12, 60, 1_000, 1_000_000)
    return [np.rint(weights / greatest * scale).astype(np.int64) for scale in scales]
