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

from .entries import direction_names, entry_of_route, entry_text, parse_entry, steps
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
        for pair, route in _routes(table).items():
            entry = entry_of_route(route, shape.dims)
            if isinstance(entry, str):
                return (
                    f"the route from {_pair_text(table.topology, pair)} is not an Angara route: "
                    f"{entry}, and no first step (positive) or last step (negative) makes it legal"
                )
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``network.txt``, and ``node-<coordinates>.txt`` of each node with terminals."""
        topology = table.topology
        shape = shape_of(topology)
        assert not isinstance(shape, str), shape
        files = {NETWORK: "\n".join(network_lines(topology, shape)) + "\n"}
        nodes = _endpoints(topology)
        routes = _routes(table)
        for i, source in enumerate(nodes):
            lines = [HEAD, f"node {source}", COLUMNS]
            for j, target in enumerate(nodes):
                route = routes.get(i * len(nodes) + j)
                if i == j:
                    continue
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
        nodes = _endpoints(topology)
        names = {f"node-{node}.txt" for node in nodes}
        strangers = sorted(name for name in files if name.startswith("node-") and name not in names)
        if strangers:
            raise InputError(f"angara: {NETWORK} has no node with a table {strangers[0]}")
        channel_at = _channels(topology)
        lengths, hops = [], []
        for source, node in zip(topology.endpoints.tolist(), nodes, strict=True):
            file = f"node-{node}.txt"
            if file not in files:
                raise InputError(f"angara: {file} not found")
            walks = _Walks(topology, channel_at, shape.dims, source)
            try:
                ways = walks.of(files[file], node, nodes)
            except InputError as error:
                raise InputError(f"angara: {file}: {error}") from None
            lengths += [-1 if way is None else len(way) for way in ways]
            hops += [channel for way in ways for channel in way or ()]
        try:
            table = RouteTable.from_lengths(topology, lengths, np.array(hops, dtype=np.int32))
            # the flow control of its routers
            return table.with_vcs(table.hop_vc, "bubble")
        except PluginError as error:
            raise InputError(f"angara: {error}") from None


class _Walks:
    """Routes of the entries in one node's table."""

    def __init__(
        self,
        topology: Topology,
        channel_at: Mapping[tuple[int, int], int],
        dims: tuple[int, ...],
        source: int,
    ) -> None:
        self.topology, self.channel_at = topology, channel_at
        self.dims, self.source = dims, source

    def of(self, text: str, node: str, nodes: list[str]) -> list[list[int] | None]:
        """Return the channels to each node with terminals, in their order; None without a route.

        Raises
        ------
        InputError
        """
        lines = [
            (number, line)
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        ]
        for place, expected in enumerate((HEAD, f"node {node}")):
            heading = lines[place][1] if place < len(lines) else "the end"
            if heading != expected:
                raise InputError(f"{heading[:40]!r}, expected {expected!r}")
        ways: dict[str, list[int] | None] = {node: []}
        targets = dict(zip(nodes, self.topology.endpoints.tolist(), strict=True))
        for number, line in lines[2:]:
            target, *words = line.split(" ")
            try:
                if target not in targets:
                    raise InputError(f"there is no destination {target}")
                if target in ways:
                    raise InputError(f"the destination {target} occurs twice, or is the node")
                unreachable = words == [UNREACHABLE]
                ways[target] = None if unreachable else self._way(words, targets[target])
            except InputError as error:
                raise InputError(f"line {number}: from {node} to {target}: {error}") from None
        absent = [target for target in nodes if target not in ways]
        if absent:
            raise InputError(f"no line for the destination {absent[0]}")
        return [ways[target] for target in nodes]

    def _way(self, words: list[str], target: int) -> list[int]:
        """Return the channels that an entry's words lead along; they must end at `target`."""
        switch, way = self.source, []
        names = direction_names(len(self.dims))
        for direction in steps(parse_entry(words, self.dims)):
            channel = self.channel_at.get((switch, direction))
            if channel is None:
                raise InputError(f"{self._name(switch)} has no link {names[direction]}")
            way.append(channel)
            switch = int(self.topology.channel_target[channel])
        if switch != target:
            raise InputError(f"the route ends at {self._name(switch)}")
        return way

    def _name(self, switch: int) -> str:
        assert self.topology.coordinates is not None
        return node_name(self.topology.coordinates[switch].tolist())


def _endpoints(topology: Topology) -> list[str]:
    """Return names of the nodes with terminals: their coordinates."""
    assert topology.coordinates is not None
    return [node_name(row) for row in topology.coordinates[topology.endpoints].tolist()]


def _channels(topology: Topology) -> dict[tuple[int, int], int]:
    """Return the channel that leaves a switch in a direction, by (switch, direction)."""
    sources, directions = topology.channel_source.tolist(), topology.channel_direction.tolist()
    return {at: channel for channel, at in enumerate(zip(sources, directions, strict=True))}


def _routes(table: RouteTable) -> dict[int, list[int]]:
    """Return the directions of the hops of every pair of different nodes with a route."""
    directions = table.topology.channel_direction[table.hop_channel].tolist()
    starts, ends = table.path_start.tolist(), len(table.topology.endpoints)
    return {
        pair: directions[starts[path] : starts[path + 1]]
        for path, pair in enumerate(table.path_pair.tolist())
        if pair // ends != pair % ends
    }


def _pair_text(topology: Topology, pair: int) -> str:
    source, target = divmod(pair, len(topology.endpoints))
    names = _endpoints(topology)
    return f"{names[source]} to {names[target]}"
