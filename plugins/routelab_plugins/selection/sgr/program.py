"""The linear program of the best channel loads, and its solution by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import RoutingGraph, UnsupportedError
from routelab.api.topology import Float64Array, Int64Array
from routelab.metrics import channel_factors

from .kernels import SourceGraphs

_Entries = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], Float64Array | float]
"""Rows and columns of a sparse matrix, with a value each or one value for all."""


def solve(
    graph: RoutingGraph, sources: SourceGraphs, seconds: float
) -> tuple[float, Float64Array, Float64Array]:
    """Find flows of least maximum relative load.

    The variables (columns) are the flows on the edges of all source graphs, the flows that leave by
    their exits, and the maximum load. The constraints (rows) conserve the flow at every vertex but
    the source's own, let the packets of each pair leave at its target, and bound the load of every
    channel. Flows are in terminal pairs.

    Returns
    -------
    load : float
        Maximum relative load, in terminal pairs.
    edge_flow : float64 array
        Flow on each edge of the source graphs.
    exit_flow : float64 array
        Flow that leaves by each exit.

    Raises
    ------
    UnsupportedError
        If time ran out.
    """
    import highspy  # late, as importing takes time and most runs need no solver

    highs: Any = highspy

    solver = highs.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "time_limit": seconds,
        "solver": "ipm",
    }.items():
        solver.setOptionValue(option, value)
    solver.passModel(_build_program(highs, graph, sources))
    solver.run()
    if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
        raise UnsupportedError(
            f"the linear program was not solved within seconds={seconds:g}: raise it"
        )
    values = np.array(solver.getSolution().col_value)
    # flows may be negative by rounding errors
    num_edges = len(sources.edge)
    edge_flow, exit_flow = np.maximum(values[:num_edges], 0), np.maximum(values[num_edges:-1], 0)
    return float(values[-1]), edge_flow, exit_flow


def _build_program(highs: Any, graph: RoutingGraph, sources: SourceGraphs) -> Any:
    """Return the linear program as a HiGHS model; its last column is the maximum relative load."""
    topology = graph.topology
    num_endpoints = len(topology.endpoints)
    num_edges, num_exits = len(sources.edge), len(sources.exit_vertex)
    edge_source = np.repeat(np.arange(num_endpoints), np.diff(sources.edge_start))
    exit_source = np.repeat(np.arange(num_endpoints), np.diff(sources.exit_start))

    # 1. Rows: one for each vertex of each source graph that an edge enters, numbered
    #    source * num_vertices + vertex; then one for each pair; then one for each channel.
    num_vertices = graph.num_vertices
    vertex_before_edge = edge_source * num_vertices + graph.edge_source[sources.edge]
    vertex_behind_edge = edge_source * num_vertices + graph.edge_target[sources.edge]
    vertex_of_exit = exit_source * num_vertices + sources.exit_vertex
    vertices = np.unique(vertex_behind_edge)
    pairs, pair_of_exit = np.unique(
        exit_source * num_endpoints + sources.exit_target, return_inverse=True
    )
    first_pair, first_channel = len(vertices), len(vertices) + len(pairs)
    # whether an edge starts at another vertex than the one in which the source's packets begin
    is_inner = graph.begin[topology.endpoints][edge_source] != graph.edge_source[sources.edge]
    # 2. Entries, as rows, columns and values. A vertex: flow in − flow out − flow that leaves = 0,
    #    but not at the source, where all flow begins. A pair: its exits add up to its demand. A
    #    channel: the flow over its edges is at most the maximum load times the capacity, as a share
    #    of the greatest one.
    edge_column, exit_column = np.arange(num_edges), num_edges + np.arange(num_exits)
    load_column = np.full(topology.num_channels, num_edges + num_exits)
    channel_row = first_channel + np.arange(topology.num_channels)
    entries: list[_Entries] = [
        # flow into a vertex; flow out of it, by edges and by exits
        (np.searchsorted(vertices, vertex_behind_edge), edge_column, 1.0),
        (np.searchsorted(vertices, vertex_before_edge[is_inner]), edge_column[is_inner], -1.0),
        (np.searchsorted(vertices, vertex_of_exit), exit_column, -1.0),
        # flow of a pair
        (first_pair + pair_of_exit, exit_column, 1.0),
        # flow over a channel, and its capacity as a share of the greatest one (1 / factor)
        (first_channel + graph.edge_channel[sources.edge], edge_column, 1.0),
        (channel_row, load_column, -1.0 / channel_factors(topology)),
    ]
    terminals = topology.demand
    source, target = np.divmod(pairs, max(num_endpoints, 1))
    demand = (terminals[source] * terminals[target]).astype(np.float64)
    zeros_of_vertices, zeros_of_channels = np.zeros(len(vertices)), np.zeros(topology.num_channels)
    lp = highs.HighsLp()
    lp.num_col_ = num_edges + num_exits + 1
    lp.num_row_ = first_channel + topology.num_channels
    lp.col_cost_ = np.concatenate((np.zeros(num_edges + num_exits), [1.0]))
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highs.kHighsInf)
    lp.row_lower_ = np.concatenate(
        (zeros_of_vertices, demand, np.full(topology.num_channels, -highs.kHighsInf))
    )
    lp.row_upper_ = np.concatenate((zeros_of_vertices, demand, zeros_of_channels))
    start, index, value = _sort_by_column(entries, lp.num_col_)
    lp.a_matrix_.format_ = highs.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start, index, value
    return lp


def _sort_by_column(
    entries: list[_Entries], num_columns: int
) -> tuple[Int64Array, Int64Array, Float64Array]:
    """Convert a sparse matrix from triplets to CSC (column by column), which HiGHS takes.

    Returns
    -------
    start : int64 array, shape (num_columns + 1,)
        Entries ``start[c]:start[c + 1]`` are those of column c.
    row : int64 array
        Row of each entry, ascending in each column.
    value : float64 array
        Value of each entry.
    """
    row = np.concatenate([rows for rows, _, _ in entries])
    column = np.concatenate([columns for _, columns, _ in entries])
    # one value for all rows is repeated for each of them
    value = np.concatenate([np.broadcast_to(value, len(rows)) for rows, _, value in entries])
    order = np.lexsort((row, column))
    start = np.searchsorted(column[order], np.arange(num_columns + 1))
    return start, row[order], value[order]
