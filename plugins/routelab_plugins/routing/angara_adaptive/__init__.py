"""angara-adaptive: the adaptive mode of the Angara interconnect.

Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara Interconnect*,
section 2.1: a separate virtual channel serves adaptive routing over any shortest path, in any order
of directions; to avoid a deadlock, a packet can switch to the deterministic channel.

The model: the deterministic routes are those of any table (`escape`), on the virtual channels that
it needs, 0 for Angara's. All other virtual channels are adaptive: any channel that comes nearer,
the one with the emptiest buffer behind it first. While none of them has room, a packet may enter
the deterministic route from its position to its destination, and stays on it. So a packet in the
deterministic channels waits for those only, and the proof of the table covers these.

It works on any network that the table supports, including failures. It stores a number for each
pair of switches and the table's hops.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Parameters,
    RoutingPart,
    Topology,
    UnsupportedError,
    pack_tables,
    parameter,
)
from routelab.api.parameters import RoutingName
from routelab.api.topology import Int32Array
from routelab.kernels.distances import hop_distances
from routelab_plugins import works

from .kernels import hop


class AngaraAdaptiveParameters(Parameters):
    """Deterministic routes."""

    escape: RoutingName = parameter(
        "angara-sssp", description="Routing with a table, for the deterministic routes"
    )


class AngaraAdaptive(HopRoutingPlugin):
    """Shortest paths by occupancy, with the routes of a table as the escape."""

    name = "angara-adaptive"
    summary = "Adaptive shortest routes by occupancy, with the routes of a table as escape (Angara)"
    citations = (works.MUKOSEY2020("the adaptive virtual channel and its way out (section 2.1)"),)
    capabilities = Capabilities(minimal=None, multipath=True, virtual_channels=None)
    Parameters = AngaraAdaptiveParameters
    proof = "duato"

    def receive_parts(self, parts: Mapping[str, RoutingPart]) -> None:
        """Receive the routing whose table is the escape."""
        super().receive_parts(parts)
        self._deterministic = parts["escape"]

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a table with routes between all switches, and enough virtual channels."""
        if topology.terminals_per_switch.min(initial=1) == 0:
            return "needs a terminal at every switch: a table has no routes from others"
        try:
            table = self._deterministic.table(topology)
        except UnsupportedError as error:
            return f"escape {self._deterministic.name}: {error}"
        if table.per_terminal:
            return f"escape {self._deterministic.name}: its routes lead to terminals, not switches"
        if (np.diff(table.pair_start) == 0).any():
            return f"escape {self._deterministic.name}: some pairs have no route"
        # those of the table, and at least one for adaptive hops
        if virtual_channels <= table.virtual_channels:
            return (
                f"needs {table.virtual_channels + 1} virtual channels, "
                f"{table.virtual_channels} of them for the table; available: {virtual_channels}"
            )
        return None

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the program; its tables are as large as the table of routes.

        Raises
        ------
        UnsupportedError
            If the table does not exist.
        """
        table = self._deterministic.table(topology)
        # a class for each virtual channel of the table, and an adaptive one with the next number
        escape_classes, ends = table.virtual_channels, topology.endpoints
        distance = _distances(topology)
        most_channels = int(np.diff(topology.outgoing[0]).max(initial=0))
        # of several paths of a pair, the first is the escape
        first_path = table.pair_start[:-1]
        return HopProgram(
            hop=hop,
            # in the order of the constants of the kernels
            tables=pack_tables(
                topology,
                [len(ends), escape_classes, escape_classes + 1],  # the numbers of HEAD
                np.searchsorted(ends, np.arange(topology.num_switches)),
                distance,
                *topology.outgoing,
                topology.channel_target,
                table.path_start[first_path],
                table.hop_channel,
                table.hop_vc,
            ),
            vc_classes=escape_classes + 1,
            # the adaptive class has all virtual channels that the table does not need
            rest=escape_classes,
            # all channels on adaptive virtual channels, and the deterministic route
            candidates=most_channels + 1,
            # the emptiest buffer first
            by_occupancy=True,
            bubble=tuple(range(escape_classes)) if table.flow_control == "bubble" else (),
            # adaptive hops come nearer; behind the last of them may be a whole route of the table
            max_hops=int(distance.max(initial=0)) + int(table.path_length.max(initial=0)),
        )


def _distances(topology: Topology) -> Int32Array:
    """Return the distance from each switch to each endpoint in hops; int32, shape (S, P)."""
    start, channel = topology.incoming
    count = topology.num_switches
    distance_to = np.empty((len(topology.endpoints), count), dtype=np.int32)
    queue = np.empty(count, dtype=np.int32)
    # a search over incoming channels gives the hops from all switches to one
    for row, end in zip(distance_to, topology.endpoints, strict=True):
        hop_distances(start, channel, topology.channel_source, end, row, queue)
    return np.ascontiguousarray(distance_to.T)
