"""codes: a network and its routes for users of CODES, the simulator on ROSS.

No network model of CODES reads the routes of an arbitrary network: its torus, dragonfly, fat-tree
and other models are built from their sizes, and the static tables of its fat-tree are for that
fat-tree only. What it reads of any network is the matrices of its model ``simplep2p``: latency and
bandwidth from every node to every other, without contention inside the network. So there are

- ``latency_ns.conf`` and ``bandwidth_mbps.conf``, those matrices as the routes have them
  (``net_latency_ns_file`` and ``net_bw_mbps_file``; the unit of the latter is MiB/s), and
  ``codes.conf``, a configuration with one node a terminal that names them;
- ``network.txt``, the complete network as text for custom models. It has the lines
  ``switch NUMBER "NAME"``, ``terminal NUMBER SWITCH "NAME"`` (without a name where terminals have
  none) and ``channel NUMBER SOURCE TARGET BANDWIDTH LATENCY`` (bytes per second, seconds);
- ``routes.txt``, the routes with one path per line, ``SOURCE TARGET WEIGHT CHANNEL CHANNEL ...``
  (switches, the share of the packets). Below the line ``# routes to terminals``, TARGET is a
  terminal.

Mubarak, Carothers, Ross and Carns, *Enabling Parallel Simulation of Large-Scale HPC Network
Systems*, IEEE TPDS 28(1), 2017.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import (
    Capabilities,
    Citation,
    ExportPlugin,
    InputError,
    MachineSpeeds,
    RoutelabError,
    RouteTable,
    Topology,
)
from routelab.toolkit import route_lines, table_from_lines

CONFIGURATION, LATENCIES, BANDWIDTHS = "codes.conf", "latency_ns.conf", "bandwidth_mbps.conf"
NETWORK, ROUTES = "network.txt", "routes.txt"
MEBI = 1024.0 * 1024.0


class Codes(ExportPlugin):
    """Writes the matrices and the text files, and reads the text files back."""

    name = "codes"
    summary = "Matrices of CODES' simplep2p, and the network with its routes as text"
    citations = (Citation("mubarak2017", "the simulator that reads the matrices"),)
    capabilities = Capabilities(multipath=True)

    def supports(self, table: RouteTable) -> str | None:
        """Require a route for every pair, because the matrices have a bandwidth for each."""
        if (np.diff(table.pair_start) == 0).any():
            return "some pairs have no route, but CODES' simplep2p has a link for each pair"
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write the five files."""
        latency, bandwidth = _matrices(table, machine)
        channels = [str(channel) for channel in range(table.topology.num_channels)]
        return {
            CONFIGURATION: _configuration(table.topology.num_terminals),
            LATENCIES: _matrix_text(latency * 1e9),
            BANDWIDTHS: _matrix_text(bandwidth / MEBI),
            NETWORK: "\n".join(_network(table.topology, machine)) + "\n",
            ROUTES: "".join(f"{line}\n" for line in route_lines(table, channels)),
        }

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read switches with names, terminals, channels with relative capacities, and routes."""
        for file in (NETWORK, ROUTES):
            if file not in files:
                raise InputError(f"codes: {file} not found")
        try:
            topology = _topology(files[NETWORK])
            return table_from_lines(
                topology, files[ROUTES].splitlines(), lambda _, channel: int(channel)
            )
        except (RoutelabError, ValueError, KeyError, IndexError) as error:
            raise InputError(f"codes: files cannot be read: {error}") from error


def _matrices(
    table: RouteTable, machine: MachineSpeeds
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return latency and bandwidth between terminals: means over paths; float64, shape (T, T)."""
    topology = table.topology
    narrowest = np.full(table.num_paths, np.inf)
    paths = np.repeat(np.arange(table.num_paths), table.path_length)
    capacity = topology.channel_capacity * machine.link_bandwidth
    np.minimum.at(narrowest, paths, capacity[table.hop_channel])
    for limit in (machine.injection_bandwidth, machine.ejection_bandwidth):
        if limit:
            np.minimum(narrowest, limit, out=narrowest)
    # no channel between terminals of one switch
    narrowest[np.isinf(narrowest)] = capacity.max(initial=machine.link_bandwidth)
    source, target = topology.terminal_endpoint, table.terminal_destination

    def between_terminals(of_path: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        mean = np.zeros(table.num_pairs)
        np.add.at(mean, table.path_pair, table.path_weight * of_path)
        matrix: NDArray[np.float64] = mean.reshape(len(topology.endpoints), -1)[
            np.ix_(source, target)
        ]
        np.fill_diagonal(matrix, 0.0)
        return matrix

    return (
        between_terminals(machine.latency + machine.hop_latency * table.path_length),
        between_terminals(narrowest),
    )


def _matrix_text(matrix: NDArray[np.float64]) -> str:
    """Write each entry twice: for the direction out of a node, and for that into it."""
    rows = (" ".join(f"{value!r},{value!r}" for value in row) for row in matrix.tolist())
    return "\n".join(rows) + "\n"


def _configuration(terminals: int) -> str:
    return (
        "LPGROUPS\n{\n   MODELNET_GRP\n   {\n"
        f'      repetitions="{terminals}";\n      nw-lp="1";\n      modelnet_simplep2p="1";\n'
        "   }\n}\nPARAMS\n{\n"
        '   message_size="592";\n   modelnet_order=( "simplep2p" );\n'
        '   modelnet_scheduler="fcfs";\n   packet_size="4096";\n'
        f'   net_latency_ns_file="{LATENCIES}";\n   net_bw_mbps_file="{BANDWIDTHS}";\n'
        "}\n"
    )


def _network(topology: Topology, machine: MachineSpeeds) -> Iterator[str]:
    for switch, name in enumerate(topology.switch_names):
        yield f"switch {switch} {json.dumps(name)}"
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        name = (
            f" {json.dumps(topology.terminal_names[terminal])}" if topology.terminal_names else ""
        )
        yield f"terminal {terminal} {switch}{name}"
    channels = zip(
        topology.channel_source.tolist(),
        topology.channel_target.tolist(),
        (topology.channel_capacity * machine.link_bandwidth).tolist(),
        strict=True,
    )
    for channel, (source, target, bandwidth) in enumerate(channels):
        yield f"channel {channel} {source} {target} {bandwidth!r} {machine.hop_latency!r}"


def _topology(text: str) -> Topology:
    lines = [line.split(maxsplit=2) for line in text.splitlines()]
    names = [json.loads(rest) for kind, _, rest in lines if kind == "switch"]
    terminals = [rest.split(maxsplit=1) for kind, _, rest in lines if kind == "terminal"]
    channels = [rest.split() for kind, _, rest in lines if kind == "channel"]
    bandwidth = np.array([float(words[2]) for words in channels])
    return Topology.create(
        family="codes",
        num_switches=len(names),
        switch_names=names,
        terminal_switch=[int(words[0]) for words in terminals],
        terminal_names=[json.loads(name) for _, *given in terminals for name in given],
        channel_source=[int(words[0]) for words in channels],
        channel_target=[int(words[1]) for words in channels],
        channel_capacity=bandwidth / bandwidth.max(initial=0) if len(bandwidth) else None,
    )
