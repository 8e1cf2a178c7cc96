"""booksim: a network for BookSim 2, with routes for a custom routing function.

``anynet.txt`` is what BookSim reads (``topology = anynet; network_file = anynet.txt;``). BookSim
computes shortest routes on it and reads no other routes: ``routes.txt`` is for users who register
a custom routing function. Each of its lines is a path, ``SOURCE TARGET WEIGHT PORT PORT ...``:
routers, the share of the packets, and the output port at each router on the way. Ports are
numbered as `AnyNet` numbers them: first a router's nodes, then its neighbours, both ascending.
Names of routers, and of nodes that have any, are comments in it. Below the line ``# routes to
terminals`` TARGET is a node, else a router.
Jiang et al., *A Detailed and Flexible Cycle-Accurate Network-on-Chip Simulator*, ISPASS 2013.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np

from routelab.api import (
    Capabilities,
    ExportPlugin,
    InputError,
    MachineSpeeds,
    Parameters,
    RoutelabError,
    RouteTable,
    Topology,
    parameter,
)
from routelab.toolkit import route_lines, table_from_lines
from routelab_plugins import works

NETWORK, ROUTES = "anynet.txt", "routes.txt"


class BookSimParameters(Parameters):
    """BookSim's unit of time."""

    latency: int = parameter(
        1, ge=1, le=1_000_000, description="Cycles that a flit spends on a link between routers"
    )


class BookSim(ExportPlugin):
    """Writes both files and reads them back, without capacities, which BookSim does not support."""

    name = "booksim"
    summary = "Network for BookSim's anynet, and a table of routes by output ports"
    citations = (works.JIANG2013("the simulator that reads the network"),)
    capabilities = Capabilities(multipath=True)
    Parameters = BookSimParameters

    def supports(self, table: RouteTable) -> str | None:
        """Require two-way links, at most one between two routers, and a route for every pair."""
        ends = _channel_ends(table.topology)
        distinct_ends = set(ends)
        if len(distinct_ends) < len(ends):
            return "two routers are joined by several links, which BookSim treats as one"
        if any((target, source) not in distinct_ends for source, target in ends):
            return "a link has only one direction, but BookSim uses both"
        if (np.diff(table.pair_start) == 0).any():
            return "some pairs have no route, and BookSim does not start then"
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``anynet.txt`` and ``routes.txt``."""
        topology = table.topology
        port_to = _port_to_neighbour(topology)
        port_of_channel = [
            str(port_to[source][target]) for source, target in _channel_ends(topology)
        ]
        router_names = (
            f"# router {router} {json.dumps(name)}"
            for router, name in enumerate(topology.switch_names)
        )
        node_names = (
            f"# node {terminal} {json.dumps(name)}"
            for terminal, name in enumerate(topology.terminal_names)
        )
        return {
            NETWORK: "\n".join(self._network_lines(topology)) + "\n",
            ROUTES: "\n".join((*router_names, *node_names, *route_lines(table, port_of_channel)))
            + "\n",
        }

    def _network_lines(self, topology: Topology) -> Iterator[str]:
        """Yield a line for each router with its nodes, then one for each channel."""
        for router in range(topology.num_switches):
            nodes = np.flatnonzero(topology.terminal_switch == router).tolist()
            yield " ".join([f"router {router}", *(f"node {node}" for node in nodes)])
        for source, target in _channel_ends(topology):
            yield f"router {source} router {target} {self.parameters.latency}"

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read routers with their names, nodes, channels and routes."""
        for file in (NETWORK, ROUTES):
            if file not in files:
                raise InputError(f"booksim: {file} not found")
        try:
            topology = _read_network(files[NETWORK], files[ROUTES])
            # The file's routes are output ports, as text. Get the channel of each router's ports.
            channel_between = {ends: c for c, ends in enumerate(_channel_ends(topology))}
            channel_at = [
                {str(port): channel_between[router, neighbour] for neighbour, port in ports.items()}
                for router, ports in enumerate(_port_to_neighbour(topology))
            ]
            return table_from_lines(
                topology, files[ROUTES].splitlines(), lambda router, port: channel_at[router][port]
            )
        except (RoutelabError, ValueError, KeyError, IndexError) as error:
            raise InputError(f"booksim: files cannot be read: {error}") from error


def _channel_ends(topology: Topology) -> list[tuple[int, int]]:
    """Return the routers at both ends of each channel."""
    return list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )


def _port_to_neighbour(topology: Topology) -> list[dict[int, int]]:
    """Return the output port of every router to each neighbour; BookSim has no parallel channels.

    The first ports of a router lead to its nodes, the next ones to its neighbours, ascending: a
    router with 2 nodes reaches its neighbours 5 and 9 over the ports 2 and 3.
    """
    neighbours_of_router: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for source, target in _channel_ends(topology):
        neighbours_of_router[source].append(target)
    num_nodes = topology.terminals_per_switch.tolist()
    return [
        {neighbour: port for port, neighbour in enumerate(sorted(neighbours), num_nodes[router])}
        for router, neighbours in enumerate(neighbours_of_router)
    ]


def _read_network(network: str, routes: str) -> Topology:
    """Return the network of a network file, with the names in the comments of a routes file."""
    router_of_node: dict[int, int] = {}
    ends: list[tuple[int, int]] = []
    num_routers = 0
    for line in network.splitlines():
        # "router 0 router 1 LATENCY" is a channel; all other lines are routers, with their nodes
        words = line.split()
        if words[2:3] == ["router"]:
            ends.append((int(words[1]), int(words[3])))
        elif words:
            if words[:2] != ["router", str(num_routers)]:
                raise InputError(f"{NETWORK}: expected router {num_routers}, found {line!r}")
            num_routers += 1
            # the numbers of nodes are every second word: router 0 node 4 node 5
            router_of_node.update((int(node), int(words[1])) for node in words[3::2])
    names: dict[str, list[str]] = {"router": [], "node": []}
    for line in routes.splitlines():
        # Names are in lines such as '# router 0 "NAME"' and '# node 0 "NAME"'.
        words = line.split(maxsplit=3)
        if words[:1] == ["#"] and words[1] in names:
            names[words[1]].append(json.loads(words[3]))
    return Topology.create(
        family="booksim",
        num_switches=num_routers,
        switch_names=names["router"],
        terminal_names=names["node"],
        terminal_switch=[router_of_node[node] for node in range(len(router_of_node))],
        channel_source=[source for source, _ in ends],
        channel_target=[target for _, target in ends],
    )
