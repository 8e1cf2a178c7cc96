"""angara: the routing tables of all nodes of an Angara network, in the form of its rules.

A route is a first step (one hop, positive), hops in the order +X+Y+Z+K−X−Y−Z−K of which the
direction bits admit one direction a dimension, and a last step (one hop, negative): Mukosey,
Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara Interconnect*, section
2.1. ``network.txt`` holds the network, ``node-<coordinates>.txt`` the table of a node. The vendor's
format is not public; these files are input for a site's tool.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routelab.api import (
    ExportPlugin,
    InputError,
    MachineSpeeds,
    PluginError,
    RouteTable,
    Topology,
)
from routelab_plugins import works

from .entries import direction_names, entry_directions, entry_of_route, entry_text, parse_entry
from .network import network_lines, node_name, parse_network, shape_of

NETWORK = "network.txt"
HEAD = "angara-node 1"
COLUMNS = "# DESTINATION FIRST BITS HOPS LAST"
UNREACHABLE = "unreachable"


class AngaraExport(ExportPlugin):
    """Writes the tables; `read` follows each entry hop by hop, like the hardware."""

    name = "angara"
    summary = "Routing table of every Angara node: first step, direction bits, hops, last step"
    citations = (works.MUKOSEY2020("the form of routes and tables (section 2.1)"),)

    def supports(self, table: RouteTable) -> str | None:
        """Require a grid of at most four dimensions, one virtual channel, one route per pair."""
        shape = shape_of(table.topology)
        if isinstance(shape, str):
            return shape
        if table.per_terminal:
            return "the routes lead to terminals, and a node's table has routes to nodes"
        if np.diff(table.pair_start).max(initial=0) > 1:
            return "pairs have several paths, and a node's table has one route to a node"
        if table.virtual_channels > 1:
            return f"the routes need {table.virtual_channels} virtual channels, and there is one"
        nodes = _endpoint_names(table.topology)
        for pair, route in _routes_by_pair(table).items():
            entry_or_reason = entry_of_route(route, shape.dims)
            if isinstance(entry_or_reason, str):
                source, target = divmod(pair, len(nodes))  # pair is source * N + target
                return (
                    f"the route from {nodes[source]} to {nodes[target]} is not an Angara route: "
                    f"{entry_or_reason}, and no first step (positive) or last step (negative) "
                    "makes it legal"
                )
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``network.txt``, and ``node-<coordinates>.txt`` of each node with terminals."""
        topology = table.topology
        shape = shape_of(topology)
        assert not isinstance(shape, str), shape
        files = {NETWORK: "\n".join(network_lines(topology, shape)) + "\n"}
        nodes = _endpoint_names(topology)
        routes = _routes_by_pair(table)
        for i, source in enumerate(nodes):
            lines = [HEAD, f"node {source}", COLUMNS]
            for j, target in enumerate(nodes):
                if i == j:
                    continue
                route = routes.get(i * len(nodes) + j)
                if route is None:
                    lines.append(f"{target} {UNREACHABLE}")
                    continue
                entry = entry_of_route(route, shape.dims)
                assert not isinstance(entry, str), entry
                lines.append(f"{target} {entry_text(entry)}")
            files[f"node-{source}.txt"] = "\n".join(lines) + "\n"
        return files

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read the network, and follow the routes in the tables of its nodes."""
        if NETWORK not in files:
            raise InputError(f"angara: {NETWORK} not found")
        try:
            topology, shape = parse_network(files[NETWORK])
        except InputError as error:
            raise InputError(f"angara: {NETWORK}: {error}") from None
        nodes = _endpoint_names(topology)
        names = {f"node-{node}.txt" for node in nodes}
        unknown = sorted(name for name in files if name.startswith("node-") and name not in names)
        if unknown:
            raise InputError(f"angara: {NETWORK} has no node with a table {unknown[0]}")
        sources, directions = topology.channel_source.tolist(), topology.channel_direction.tolist()
        channel_at = {
            (switch, direction): channel
            for channel, (switch, direction) in enumerate(zip(sources, directions, strict=True))
        }
        lengths, hops = [], []
        for source, node in zip(topology.endpoints.tolist(), nodes, strict=True):
            file = f"node-{node}.txt"
            if file not in files:
                raise InputError(f"angara: {file} not found")
            reader = _TableReader(topology, channel_at, shape.dims, source)
            try:
                routes = reader.read_routes(files[file], node, nodes)
            except InputError as error:
                raise InputError(f"angara: {file}: {error}") from None
            # −1 stands for a pair without a route
            lengths += [-1 if route is None else len(route) for route in routes]
            hops += [channel for route in routes for channel in route or ()]
        try:
            table = RouteTable.from_lengths(topology, lengths, np.array(hops, dtype=np.int32))
            # the routers have bubble flow control, but a new table has the plain one
            return table.with_vcs(table.hop_vc, "bubble")
        except PluginError as error:
            raise InputError(f"angara: {error}") from None


class _TableReader:
    """Reader of one node's table, which follows the entries from switch to switch.

    `channel_at` has the channel that leaves a switch in a direction, `source` is the node's switch.
    """

    def __init__(
        self,
        topology: Topology,
        channel_at: Mapping[tuple[int, int], int],
        dims: tuple[int, ...],
        source: int,
    ) -> None:
        self.topology, self.channel_at = topology, channel_at
        self.dims, self.source = dims, source

    def read_routes(self, text: str, node: str, nodes: list[str]) -> list[list[int] | None]:
        """Return the channels to each node with terminals, in their order; None without a route.

        Raises
        ------
        InputError
            If the table is damaged or that of another node, or an entry's route does not exist or
            ends elsewhere.
        """
        # 1. Two headings, after comments and empty lines.
        lines = [
            (number, line)
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        ]
        for i, expected in enumerate((HEAD, f"node {node}")):
            heading = lines[i][1] if i < len(lines) else "the end"
            if heading != expected:
                raise InputError(f"{heading[:40]!r}, expected {expected!r}")
        # 2. Entries in any order. The node itself has none, but a route without hops.
        route_to: dict[str, list[int] | None] = {node: []}
        targets = dict(zip(nodes, self.topology.endpoints.tolist(), strict=True))
        for number, line in lines[2:]:
            target, *words = line.split(" ")
            try:
                if target not in targets:
                    raise InputError(f"there is no destination {target}")
                if target in route_to:
                    raise InputError(f"the destination {target} occurs twice, or is the node")
                route_to[target] = (
                    None if words == [UNREACHABLE] else self._follow_entry(words, targets[target])
                )
            except InputError as error:
                raise InputError(f"line {number}: from {node} to {target}: {error}") from None
        # 3. A missing entry is an error: unreachable nodes are listed as such.
        absent = [target for target in nodes if target not in route_to]
        if absent:
            raise InputError(f"no line for the destination {absent[0]}")
        return [route_to[target] for target in nodes]

    def _follow_entry(self, words: list[str], target: int) -> list[int]:
        """Return the channels that an entry's words lead along; they must end at `target`."""
        switch, route = self.source, []
        names = direction_names(len(self.dims))
        for direction in entry_directions(parse_entry(words, self.dims)):
            channel = self.channel_at.get((switch, direction))
            if channel is None:
                raise InputError(f"{self._name(switch)} has no link {names[direction]}")
            route.append(channel)
            switch = int(self.topology.channel_target[channel])
        if switch != target:
            raise InputError(f"the route ends at {self._name(switch)}")
        return route

    def _name(self, switch: int) -> str:
        assert self.topology.coordinates is not None
        return node_name(self.topology.coordinates[switch].tolist())


def _endpoint_names(topology: Topology) -> list[str]:
    """Return names of the nodes with terminals: their coordinates."""
    assert topology.coordinates is not None
    return [node_name(row) for row in topology.coordinates[topology.endpoints].tolist()]


def _routes_by_pair(table: RouteTable) -> dict[int, list[int]]:
    """Return the directions of the hops of every pair of different nodes with a route.

    With N nodes that have terminals, the pair from the i-th to the j-th has the key i * N + j.
    """
    directions = table.topology.channel_direction[table.hop_channel].tolist()
    path_start, num_nodes = table.path_start.tolist(), len(table.topology.endpoints)
    return {
        pair: directions[path_start[path] : path_start[path + 1]]
        for path, pair in enumerate(table.path_pair.tolist())
        if pair // num_nodes != pair % num_nodes
    }
