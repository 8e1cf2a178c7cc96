"""Wrong selections and layers; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

import ctypes
import re

import numpy as np
from right import RightLayers, RightSelection

from routelab.api import Capabilities, RouteTable
from routelab.kernels.rooted_trees import routes_by_root
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.legal_routes import first_paths, shortest_legal_routes
from routelab.toolkit import TieParameters, search_arrays


class LosesAPair(RightSelection):
    name = "loses-a-pair"
    caught = "reachable", "1 pairs have a legal route and get none, such as switch 0 to 1"

    def select(self, graph):
        table = super().select(graph)
        lengths = np.full(table.num_pairs, -1)
        lengths[table.path_pair] = table.path_length
        if table.num_pairs < 2:
            return table
        hops = table.hop_channel[max(lengths[1], 0) :]
        lengths[1] = -1
        return RouteTable.from_lengths(table.topology, lengths, hops)


class IgnoresTheRules(RightSelection):
    name = "ignores-the-rules"
    caught = "legal", "the rules forbid its route"

    def select(self, graph):
        return first_paths(shortest_legal_routes(all_walks(graph.topology)))


class Strolls(RightSelection):
    """There, back and there again, where that is legal."""

    name = "strolls"
    capabilities = Capabilities()
    caught = "minimal", "these rules speak for shortest routes only"

    def select(self, graph):
        topology = graph.topology
        table = super().select(graph)
        ends = list(
            zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        )
        if graph.num_vertices != topology.num_switches:
            return table
        hops, lengths = [], []
        for pair in range(table.num_pairs):
            for k in range(table.pair_start[pair], table.pair_start[pair + 1]):
                path = table.hop_channel[table.path_start[k] : table.path_start[k + 1]].tolist()
                back = ends[path[0]][::-1] if path else None
                if back in ends:
                    path = [path[0], ends.index(back), *path]
                hops += path
                lengths.append(len(path))
            if table.pair_start[pair] == table.pair_start[pair + 1]:
                lengths.append(-1)
        return RouteTable.from_lengths(topology, lengths, hops)


class StrollsBravely(Strolls):
    name = "strolls-bravely"
    capabilities = Capabilities(minimal=True)
    caught = "minimal", "and it claims so"


class GivesAll(RightSelection):
    name = "gives-all"
    caught = "multipath", "and it does not claim multipath"

    def select(self, graph):
        return shortest_legal_routes(graph)


class ClaimsNextHops(RightSelection):
    """Routes from sources: what comes by on the way to a target does not agree on the next hop."""

    name = "claims-next-hops"
    capabilities = Capabilities(destination_based=True)
    caught = "destination-based", "leave a switch over different channels"

    def select(self, graph):
        search = search_arrays(graph, TieParameters())
        hops = routes_by_root(search, from_source=True, each_pair=True)
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)


class TwoChannels(RightSelection):
    name = "two-channels"
    caught = "virtual-channels", "it uses 2 virtual channels, it claims 1"

    def select(self, graph):
        table = super().select(graph)
        return table.with_vcs(np.arange(len(table.hop_vc)) % 2)


class ClaimsPlain(RightSelection):
    name = "claims-plain"
    capabilities = Capabilities(flow_control="plain")
    caught = "deadlock-free", "wait for each other in a cycle"


class ClaimsLess(RightSelection):
    name = "claims-less"
    capabilities = Capabilities(flow_control="plain")
    caught = "deadlock-free", "claims plain flow control and its table declares bubble"

    def select(self, graph):
        table = super().select(graph)
        return table.with_vcs(table.hop_vc, "bubble")


class HoldsTheLock(RightSelection):
    """Compiled code that does not end and lets no other thread run."""

    name = "holds-the-lock"
    caught = "result", "took longer than 0.7 s (/"

    def select(self, graph):
        re.match("(a+)+$", "a" * 60 + "b")
        return super().select(graph)


class Crashes(RightSelection):
    name = "crashes"
    caught = "result", "killed by SIGSEGV (/"

    def select(self, graph):
        return ctypes.string_at(0)


class Leaves(RightSelection):
    name = "leaves"
    caught = "result", "raised SystemExit"

    def select(self, graph):
        raise SystemExit(0)


class OtherRoutes(RightLayers):
    name = "other-routes"
    caught = "same-routes", "it changed the routes"

    def assign(self, table):
        routes = first_paths(shortest_legal_routes(all_walks(table.topology)))
        return super().assign(routes)


class RefusesSeveral(RightLayers):
    name = "refuses-several"
    caught = "multipath", "it claims multipath and refuses several paths per pair"

    def supports(self, table):
        return "several paths" if table.num_paths > table.num_pairs else None
