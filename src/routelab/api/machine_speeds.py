"""What exporters may ask of a machine."""

from __future__ import annotations

from typing import Protocol


class MachineSpeeds(Protocol):
    """Speeds of links, nodes and the message layer; see `routelab.simulation.flow.machine`.

    Bandwidths are in bytes per second, 0 for no limit (but of links); latencies in seconds.
    """

    @property
    def link_bandwidth(self) -> float:
        """Of a channel of capacity 1, in its one direction."""

    @property
    def injection_bandwidth(self) -> float:
        """From a terminal into the network."""

    @property
    def ejection_bandwidth(self) -> float:
        """From the network into a terminal."""

    @property
    def memory_bandwidth(self) -> float:
        """Of all messages together between ranks of one terminal."""

    @property
    def latency(self) -> float:
        """Of a message through the network, without its hops."""

    @property
    def hop_latency(self) -> float:
        """Of a channel."""

    @property
    def memory_latency(self) -> float:
        """Of a message between ranks of one terminal."""

    @property
    def compute_rate(self) -> float:
        """Operations per second of a rank; 0: computing takes no time."""
