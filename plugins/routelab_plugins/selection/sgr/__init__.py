"""SGR: the best channel loads by a linear program first, then paths that attain them.

Abdel-Gawad, *Scalable Global Optimal-Bandwidth Application-Specific Routing*, HOTI 2016, as
Mukosey et al. (*Optimized Graph Based Routing Algorithm for the Angara Interconnect*, section 1.1)
describe it: the global routing problem is solved as a linear program,
whose solution splits flows; then a greedy algorithm constructs paths for each pair that achieve the
optimal loads "through a possibility of additional paths for a source-destination pair".

What follows is our reading of both stages. Stage 1: the flows of each source on its shortest legal
routes, one variable an edge of the routing graph, least maximum relative load (see `program`).
Stage 2: from each target back to the source over the largest flow that is left, as much as fits,
until nothing is left (see `kernels.decompose`). So the loads of stage 1 are attained exactly, by
weighted paths. With `paths=single` each pair keeps one of its paths, and the load is what rounding
makes of it.

Measured on one core with the rules `angara~turns=exact`: 0.03 s on 4x2x2x2 (3,737 columns), 0.3 s
on 4x4x4 (13,441), 6 s on 4x4x4x2 (65,601), 14 s on 8x8x4 (187,393); 4x4x4x4 (237,313) is beyond
the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Float64Array, Int32Array, Int64Array
from routelab.kernels.graph import route_lengths
from routelab.kernels.least_loaded import least_loaded_paths
from routelab.kernels.route_dag import shortest_route_edges
from routelab.metrics import channel_factors
from routelab_plugins import works

from .kernels import SourceGraphs, decompose
from .program import solve

MAX_COLUMNS = 200_000
"""Columns of the largest linear program."""

FLOW_TOLERANCE = 1e-7
"""Largest flow, in terminal pairs, that counts as rounding error and not as a path."""


class SgrParameters(Parameters):
    """Form of the table, and time limit of the solver."""

    paths: Literal["weighted", "single"] = parameter(
        "weighted",
        description="Paths per pair: all weighted paths that the best loads need, or only one",
    )
    seconds: float = parameter(
        600.0,
        gt=0,
        description="Time limit of the linear program, in seconds; without a solution, the "
        "selection fails",
    )


class Sgr(SelectionPlugin):
    """Computes loads by a linear program, and paths by greedy decomposition."""

    name = "sgr"
    summary = "Best channel loads by a linear program, then weighted paths that reach them"
    citations = (
        works.ABDELGAWAD2016("the decoupling of loads (linear program) and paths (greedy)"),
        works.MUKOSEY2020("description of the algorithm (section 1.1, reference 20)"),
    )
    capabilities = Capabilities(minimal=None, multipath=True)
    columns = (
        Column(
            "lp_load",
            "`sgr`: maximum load of the fractional routes of the linear program",
            heading="maximum channel load of the linear program",
            group="Computing effort",
        ),
    )
    Parameters = SgrParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require a small enough linear program."""
        sources = _source_graphs(graph)
        columns = len(sources.edge) + len(sources.exit_vertex)
        if columns > MAX_COLUMNS:
            return f"the linear program has {columns:,} columns here; limit {MAX_COLUMNS:,}"
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Compute weighted paths, or one path per pair.

        Raises
        ------
        UnsupportedError
            If the linear program was not solved in time.
        """
        topology = graph.topology
        options: SgrParameters = self.parameters
        sources = _source_graphs(graph)
        load, edge_flow, exit_flow = solve(graph, sources, options.seconds)
        lengths = route_lengths(graph.arrays, topology.endpoints)
        # uses up `edge_flow` and `exit_flow`
        path_pair, path_flow, hops = decompose(
            graph=graph.arrays,
            sources=sources,
            lengths=lengths,
            edge_flow=edge_flow,
            exit_flow=exit_flow,
            tolerance=FLOW_TOLERANCE,
        )
        counters = {"lp_load": round(load, 6)}
        table = _weighted_table(topology, lengths, path_pair, path_flow, hops, counters)
        return table if options.paths == "weighted" else _single_path_table(table, lengths)


def _weighted_table(
    topology: Topology,
    lengths: Int32Array,
    path_pair: Int64Array,
    path_flow: Float64Array,
    hops: Int32Array,
    counters: Mapping[str, float],
) -> RouteTable:
    """Return the table of all paths of the decomposition, weighted by their share of the flow."""
    num_endpoints = len(topology.endpoints)
    num_pairs = num_endpoints**2
    # 1. Add a path for each endpoint i with itself, pair i * num_endpoints + i: a table has one,
    #    the decomposition none. It has no hops, so the hops of the others stay in order.
    own_pair = np.arange(num_endpoints) * (num_endpoints + 1)
    pair = np.concatenate((path_pair, own_pair))
    flow = np.concatenate((path_flow, np.ones(num_endpoints)))
    order = np.argsort(pair, kind="stable")
    pair, flow = pair[order], flow[order]
    # 2. The table, path after path, ascending by pair.
    length = np.maximum(lengths.reshape(-1), 0)[pair]
    flow_of_pair = np.bincount(pair, weights=flow, minlength=num_pairs)
    return RouteTable.create(
        topology,
        pair_start=np.searchsorted(pair, np.arange(num_pairs + 1)),
        path_start=np.concatenate(([0], np.cumsum(length))),
        path_weight=flow / flow_of_pair[pair],
        hop_channel=hops,
        counters=counters,
    )


def _single_path_table(table: RouteTable, lengths: Int32Array) -> RouteTable:
    """Keep one path of each pair, pair after pair: the one whose busiest channel is least loaded.

    Of equally good ones it is the first that the decomposition found. `lengths`: hops of each pair,
    equal for all its paths; negative if it has none.
    """
    topology = table.topology
    chosen = least_loaded_paths(
        table.pair_start,
        table.path_start,
        table.hop_channel,
        (topology.demand[:, None] * topology.demand[None, :]).reshape(-1),
        channel_factors(topology),
    )
    is_chosen = np.isin(np.arange(table.num_paths), chosen)
    hops = table.hop_channel[np.repeat(is_chosen, table.path_length)]
    return RouteTable.from_lengths(topology, lengths, hops, counters=table.counters)


def _source_graphs(graph: RoutingGraph) -> SourceGraphs:
    """Return, for each endpoint as the source, the edges and the ends of its shortest routes.

    An exit of a source graph is a vertex in which packets leave the network. The exits of each
    source are sorted by switch.
    """
    topology = graph.topology
    terminals = topology.terminals_per_switch.astype(np.int64)
    edges, exits = [], []
    for source in topology.endpoints.tolist():
        route_edges, accepting = shortest_route_edges(graph.arrays, source, terminals)
        edges.append(route_edges)
        exits.append(accepting[np.argsort(graph.vertex_switch[accepting], kind="stable")])
    exit_vertex = np.concatenate([*exits, []]).astype(np.int32)
    # index of an exit's switch among the endpoints, which ascend by switch
    exit_target = np.searchsorted(topology.endpoints, graph.vertex_switch[exit_vertex])
    return SourceGraphs(
        edge_start=np.cumsum([0, *map(len, edges)]),
        edge=np.concatenate([*edges, []]).astype(np.int32),
        exit_start=np.cumsum([0, *map(len, exits)]),
        exit_vertex=exit_vertex,
        exit_target=exit_target.astype(np.int32),
    )
