"""Exports: plugins that write a network with its routes as files of another program."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Protocol

from routelab.api.plugin_base import Plugin
from routelab.api.route_table import RouteTable


class MachineSpeeds(Protocol):
    """Speeds of links, nodes and the message layer; see `routelab.toolkit.machine`.

    Bandwidths are in bytes per second; 0 means no limit, except that `link_bandwidth` is always
    more than 0. Latencies are in seconds.
    """

    @property
    def link_bandwidth(self) -> float:
        """Bandwidth of a channel of capacity 1; the other direction of the link has its own."""

    @property
    def injection_bandwidth(self) -> float:
        """Bandwidth from a terminal into the network."""

    @property
    def ejection_bandwidth(self) -> float:
        """Bandwidth from the network into a terminal."""

    @property
    def memory_bandwidth(self) -> float:
        """Bandwidth that all messages between ranks on one terminal share."""

    @property
    def latency(self) -> float:
        """Latency of a message between two terminals, besides `hop_latency` for each channel."""

    @property
    def hop_latency(self) -> float:
        """Latency of each channel on the route of a message."""

    @property
    def memory_latency(self) -> float:
        """Latency of a message between ranks on one terminal."""

    @property
    def compute_rate(self) -> float:
        """Operations per second of a rank; 0: computing takes no time."""


class ExportPlugin(Plugin):
    """Write a network with its routes as files of another program."""

    kind = "export"

    def supports(self, table: RouteTable) -> str | None:
        """Return why the format cannot hold `table`; None if it can."""
        return None

    @abstractmethod
    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Return the text of every file, by file name."""

    def read(self, files: Mapping[str, str]) -> RouteTable | None:
        """Read files that `export` wrote; return None if the format cannot be read back.

        After each export, the result is compared with the exported table.

        Parameters
        ----------
        files : mapping of str to str
            Text by file name.

        Returns
        -------
        table : RouteTable
            The same switches with their names, the same terminals and channels, all in the same
            order, and the same routes with their weights. Anything else of a table (directions,
            virtual channels, ...) need not come back.

        Raises
        ------
        InputError
            If a file is missing or damaged.
        """
        return None
