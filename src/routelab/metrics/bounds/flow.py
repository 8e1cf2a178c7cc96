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
    """Build the program; return None if it has too many variables.

    Variable 0 is the maximum load. The first rows say for each channel class: flow over it minus
    maximum load / factor <= 0.
    """
    num_classes = int(symmetry.channel_class.max()) + 1
    program = LinearProgram()
    program.add_variables(1, cost=1.0)
    program.add_rows(np.full(num_classes, -np.inf), np.zeros(num_classes))
    factor = symmetry.by_class(channel_factors(graph.topology))
    program.add_entries(np.arange(num_classes), np.zeros(num_classes, np.int64), -1.0 / factor)
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
    """Add the flow of one source: all flow into a vertex leaves it or is received there.

    `edges` are those of its shortest routes, `last_vertices` the vertices where these routes end.
    """
    terminals = graph.topology.terminals_per_switch
    tail, head = graph.edge_source[edges], graph.edge_target[edges]
    # 1. A variable for the flow over each edge, which loads the class of its channel.
    vertices = np.unique(head)
    flow = program.add_variables(len(edges))
    program.add_entries(channel_class[graph.edge_channel[edges]], flow, 1.0)
    # 2. Flow into a vertex − flow out of it = flow received there. A switch where all routes end at
    #    one vertex receives all its packets at that one.
    switch = graph.vertex_switch[last_vertices]
    is_only = np.bincount(switch, minlength=graph.topology.num_switches)[switch] == 1
    received = np.zeros(len(vertices))
    demand = terminals[switch].astype(np.float64) * int(terminals[source])
    received[np.searchsorted(vertices, last_vertices[is_only])] = demand[is_only]
    conservation = program.add_rows(received, received)
    program.add_entries(conservation[np.searchsorted(vertices, head)], flow, 1.0)
    # the vertex where all routes begin has no row
    has_row = tail != graph.begin[source]
    tail_row = conservation[np.searchsorted(vertices, tail[has_row])]
    program.add_entries(tail_row, flow[has_row], -1.0)
    if is_only.all():
        return
    # 3. Where routes to a switch end at several vertices (states of the rules), a variable for each
    #    says how much it receives; together they receive all packets of the switch.
    shared = ~is_only
    share = program.add_variables(int(shared.sum()))
    shared_row = conservation[np.searchsorted(vertices, last_vertices[shared])]
    program.add_entries(shared_row, share, -1.0)
    _, first_vertex, row = np.unique(switch[shared], return_index=True, return_inverse=True)
    switch_demand = demand[shared][first_vertex]
    arrivals = program.add_rows(switch_demand, switch_demand)
    program.add_entries(arrivals[row], share, 1.0)


def integer_weights(weights: Float64Array) -> list[Int64Array]:
    """Round weights to integers in several ways; each result is a candidate for a certificate.

    The greatest weight becomes 1, then 2, 3 and so on: the values of solvers are often multiples of
    a simple fraction, such as 1, 1/2 and 1/6, which the scale 6 represents exactly.
    """
    greatest = float(weights.max(initial=0.0))
    if greatest <= 0:
        return []
    scales = (1, 2, 3, 4, 5, 6, 12, 60, 1_000, 1_000_000)
    return [np.rint(weights / greatest * scale).astype(np.int64) for scale in scales]
