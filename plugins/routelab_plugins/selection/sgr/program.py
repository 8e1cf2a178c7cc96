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

    Columns are the flows on the edges of all source graphs, the flows that leave by their exits,
    and the maximum load. Rows keep the flow at every vertex but the source's own, let each pair's
    packets leave, and bound the load of every channel.

    Returns
    -------
    load : float
        Maximum relative load, in terminal pairs.
    flow : float64 array
        On each edge of the source graphs.
    leaving : float64 array
        By each exit.

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
    edges = len(sources.edge)
    return float(values[-1]), np.maximum(values[:edges], 0), np.maximum(values[edges:-1], 0)


def _build_program(highs: Any, graph: RoutingGraph, sources: SourceGraphs) -> Any:
    """Return the linear program as a HiGHS model; its last column is the maximum relative load."""
    topology = graph.topology
    count, edges, exits = len(topology.endpoints), len(sources.edge), len(sources.exit_vertex)
    source = np.repeat(np.arange(count), np.diff(sources.edge_start))
    exit_source = np.repeat(np.arange(count), np.diff(sources.exit_start))

    # 1. Rows: one for each vertex of each source graph that an edge enters, numbered
    #    source * num_vertices + vertex; then one for each pair; then one for each channel.
    num_vertices = graph.num_vertices
    head = source * num_vertices + graph.edge_target[sources.edge]
    tail = source * num_vertices + graph.edge_source[sources.edge]
    exit_tail = exit_source * num_vertices + sources.exit_vertex
    vertices = np.unique(head)
    pairs, pair_row = np.unique(exit_source * count + sources.exit_target, return_inverse=True)
    first_pair, first_channel = len(vertices), len(vertices) + len(pairs)
    is_inner = graph.begin[topology.endpoints][source] != graph.edge_source[sources.edge]
    # 2. A vertex: flow in − flow out − flow that leaves = 0, but not at the source, where all flow
    #    begins. A pair: its exits add up to its demand. A channel: the flow over its edges is at
    #    most the maximum load times the capacity, as a share of the greatest one.
    column = np.arange(edges)
    entries: list[_Entries] = [
        (np.searchsorted(vertices, head), column, 1.0),
        (np.searchsorted(vertices, tail[is_inner]), column[is_inner], -1.0),
        (first_channel + graph.edge_channel[sources.edge], column, 1.0),
        (np.searchsorted(vertices, exit_tail), edges + np.arange(exits), -1.0),
        (first_pair + pair_row, edges + np.arange(exits), 1.0),
        (
            first_channel + np.arange(topology.num_channels),
            np.full(topology.num_channels, edges + exits),
            -1.0 / channel_factors(topology),
        ),
    ]
    demand = topology.demand
    volume = (demand[pairs // max(count, 1)] * demand[pairs % max(count, 1)]).astype(np.float64)
    zero = np.zeros(len(vertices))
    channels = np.zeros(topology.num_channels)
    lp = highs.HighsLp()
    lp.num_col_ = edges + exits + 1
    lp.num_row_ = first_channel + topology.num_channels
    lp.col_cost_ = np.concatenate((np.zeros(edges + exits), [1.0]))
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highs.kHighsInf)
    lp.row_lower_ = np.concatenate((zero, volume, np.full(len(channels), -highs.kHighsInf)))
    lp.row_upper_ = np.concatenate((zero, volume, channels))
    start, index, value = _sort_by_column(entries, lp.num_col_)
    lp.a_matrix_.format_ = highs.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start, index, value
    return lp


def _sort_by_column(
    entries: list[_Entries], num_columns: int
) -> tuple[Int64Array, Int64Array, Float64Array]:
    """Convert a sparse matrix to columns: start of each column, rows and values."""
    row = np.concatenate([rows for rows, _, _ in entries])
    column = np.concatenate([columns for _, columns, _ in entries])
    value = np.concatenate([np.broadcast_to(value, len(rows)) for rows, _, value in entries])
    order = np.lexsort((row, column))
    start = np.searchsorted(column[order], np.arange(num_columns + 1))
    return start, row[order], value[order]
