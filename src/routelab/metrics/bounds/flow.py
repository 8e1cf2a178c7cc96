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
            classes = int(symmetry.channel_class.max()) + 1
            _, row_dual = solution
            return np.maximum(-row_dual[:classes], 0.0)
    return None


def _flow_program(graph: RoutingGraph, symmetry: SourceSymmetry) -> LinearProgram | None:
    """Build the program; return None if it has too many variables.

    Variable 0 is the maximum load; the first rows are the flow over the channel classes minus that
    load over their factor.
    """
    classes = int(symmetry.channel_class.max()) + 1
    program = LinearProgram()
    program.variables(1, cost=1.0)
    program.rows(np.full(classes, -np.inf), np.zeros(classes))
    factor = symmetry.by_class(channel_factors(graph.topology))
    program.entries(np.arange(classes), np.zeros(classes, np.int64), -1.0 / factor)
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    for source in symmetry.representatives:
        edges, stops = shortest_route_edges(graph.arrays, source, terminals)
        _add_flow(program, graph, symmetry.channel_class, int(source), edges, stops)
        if program.num_variables > MAX_VARIABLES:
            return None
    return program


def _add_flow(
    program: LinearProgram,
    graph: RoutingGraph,
    channel_class: Int32Array,
    source: int,
    edges: Int32Array,
    stops: Int32Array,
) -> None:
    """Add the flow of one source: all flow into a vertex leaves it or stops there."""
    terminals = graph.topology.terminals_per_switch
    tail, head = graph.edge_source[edges], graph.edge_target[edges]
    vertices = np.unique(head)
    flow = program.variables(len(edges))
    program.entries(channel_class[graph.edge_channel[edges]], flow, 1.0)

    # a switch with one accepting vertex gets all its packets there
    switch = graph.vertex_switch[stops]
    alone = np.bincount(switch, minlength=graph.topology.num_switches)[switch] == 1
    stopping = np.zeros(len(vertices))
    demand = terminals[switch].astype(np.float64) * int(terminals[source])
    stopping[np.searchsorted(vertices, stops[alone])] = demand[alone]
    conserved = program.rows(stopping, stopping)
    program.entries(conserved[np.searchsorted(vertices, head)], flow, 1.0)
    inner = tail != graph.begin[source]
    program.entries(conserved[np.searchsorted(vertices, tail[inner])], flow[inner], -1.0)
    if alone.all():
        return
    # otherwise the flow chooses
    stopped = program.variables(int((~alone).sum()))
    program.entries(conserved[np.searchsorted(vertices, stops[~alone])], stopped, -1.0)
    _, first_vertex, choice = np.unique(switch[~alone], return_index=True, return_inverse=True)
    arriving = program.rows(demand[~alone][first_vertex], demand[~alone][first_vertex])
    program.entries(arriving[choice], stopped, 1.0)


def integer_weights(weights: Float64Array) -> list[Int64Array]:
    """Round weights to integers, coarsely first: values of solvers are often fractions."""
    top = float(weights.max(initial=0.0))
    if top <= 0:
        return []
    scales = (1, 2, 3, 4, 5, 6, 12, 60, 1_000, 1_000_000)
    return [np.rint(weights / top * scale).astype(np.int64) for scale in scales]
