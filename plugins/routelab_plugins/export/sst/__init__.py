"""sst: a network and its routes for SST's "any topology" (sst-elements, merlin), and a run of them.

    network.graphml   switches n0, n1, ... with their number of endpoints, and an edge per link
    routes.json       {SOURCE: {TARGET: [[WEIGHT, [ROUTER, ...]], ...]}}: a path is the routers
                      after SOURCE, the last of them is TARGET
    run.py            reads both, and offers uniform traffic: ``sst run.py``

SST chooses the virtual channel itself: a packet's k-th hop, from 1, is on virtual channel k. Routes
of H hops take H + 1 of them, cannot deadlock, and need no virtual channels of the table. `SST.read`
returns the virtual channels of SST.

The format is that of ``pymerlin-topo-any.py``, ``anytopo.cc`` and ``SourceRouting.cc`` in
https://github.com/sstsimulator/sst-elements, which pull request 2598 added in 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import numpy as np

from routelab.api import (
    Capabilities,
    ExportPlugin,
    InputError,
    MachineSpeeds,
    RoutelabError,
    RouteTable,
)
from routelab_plugins.export.sst.network import graph_lines, read_graph
from routelab_plugins.export.sst.routes import read_routes, route_lines
from routelab_plugins.export.sst.run import run_script

NETWORK, ROUTES, RUN = "network.graphml", "routes.json", "run.py"


class SST(ExportPlugin):
    """Writes the files and reads the first two back; ``run.py`` is yours to change."""

    name = "sst"
    summary = "Network, source routes and a run for SST's any topology (merlin)"
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)

    def supports(self, table: RouteTable) -> str | None:
        """Require what SST can run: two-way links, one bandwidth, and a route for every pair."""
        topology = table.topology
        if not topology.num_channels:
            return "the network has no links, and SST does not start then"
        if np.any(topology.channel_capacity != topology.channel_capacity[0]):
            return "links have different capacities, and SST has one bandwidth for all"
        without_terminals = np.flatnonzero(topology.terminals_per_switch == 0)
        if without_terminals.size:
            name = topology.switch_names[without_terminals[0]]
            return f"switch {name} has no terminals, and SST stops at a router without endpoints"
        ends = set(
            zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        )
        if len(ends) < topology.num_channels:
            return (
                "two switches are joined by several links, and SST draws one of them at random "
                "for each packet"
            )
        if any((target, source) not in ends for source, target in ends):
            return "a link has only one direction, but SST uses both"
        if table.per_terminal:
            return "the routes lead to terminals, and SST has one set of routes for each router"
        if np.any(np.diff(table.pair_start) == 0):
            return "some pairs have no route, and SST stops at their first packet"
        # SST ends a route at the first hop into its target. Paths between different switches have
        # their last hop into it, paths from a switch to itself have no hops. So if there are more
        # hops into the target than paths between different switches, one is before a path's end.
        source, target = np.divmod(table.path_pair, table.num_destinations)
        target_of_hop = np.repeat(table.destination_switch[target], table.path_length)
        is_into_target = topology.channel_target[table.hop_channel] == target_of_hop
        if np.count_nonzero(is_into_target) > np.count_nonzero(source != target):
            return "a route visits its target before its end, where SST would end it"
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write the network, the routes and a script that runs them."""
        return {
            NETWORK: "".join(f"{line}\n" for line in graph_lines(table.topology)),
            ROUTES: "".join(f"{line}\n" for line in route_lines(table)),
            RUN: run_script(table, machine),
        }

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read switches, terminals and channels with their names and numbers, and all routes."""
        for file in (NETWORK, ROUTES):
            if file not in files:
                raise InputError(f"sst: {file} not found")
        try:
            topology = read_graph(files[NETWORK])
        except (ET.ParseError, RoutelabError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"sst: {NETWORK} cannot be read: {error}") from error
        try:
            return read_routes(files[ROUTES], topology)
        except (RoutelabError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"sst: {ROUTES} cannot be read: {error}") from error
