"""The machine that programs run on: speeds of messages, copies and computation."""

from __future__ import annotations

from pydantic import Field

from routelab.api.parameters import Parameters

LARGEST = 1e18
"""Largest rate: far above all existing ones, far below the loss of exactness."""
LONGEST = 1e3
"""Largest delay, in seconds."""

_RATES = ("link_bandwidth", "injection_bandwidth", "ejection_bandwidth", "memory_bandwidth")
_DELAYS = ("latency", "hop_latency", "memory_latency", "overhead")
UNITS = {
    **dict.fromkeys(_RATES, "bytes/s"),
    **dict.fromkeys(_DELAYS, "s"),
    "compute_rate": "operations/s",
}
"""Units of the properties of a machine, for headings and axes."""


class Machine(Parameters):
    """Speeds of the links, the nodes and the message layer of a cluster.

    Raises
    ------
    pydantic.ValidationError
        If values are out of range; the error lists all.
    """

    link_bandwidth: float = Field(
        default=12.5e9,
        gt=0,
        le=LARGEST,
        description="Bandwidth of a channel of capacity 1, in one direction, in bytes per second",
    )
    injection_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bandwidth from a terminal into the network, in bytes per second; 0: no limit",
    )
    ejection_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bandwidth from the network into a terminal, in bytes per second; 0: no limit",
    )
    memory_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bandwidth shared by all messages inside a terminal, in bytes per second; 0: "
        "no limit",
    )
    latency: float = Field(
        default=1e-6,
        ge=0,
        le=LONGEST,
        description="Latency of a message through the network, in seconds",
    )
    hop_latency: float = Field(
        default=1e-7,
        ge=0,
        le=LONGEST,
        description="Latency of each channel on its path, in seconds",
    )
    memory_latency: float = Field(
        default=5e-7,
        ge=0,
        le=LONGEST,
        description="Latency of a message inside a terminal, in seconds",
    )
    overhead: float = Field(
        default=0.0,
        ge=0,
        le=LONGEST,
        description="Time that sender and receiver each spend on a message, in seconds",
    )
    eager_bytes: float = Field(
        default=65536.0,
        ge=0,
        le=LARGEST,
        description="Largest message that is sent before its receiver is ready, in bytes",
    )
    handshake: bool = Field(
        default=True, description="Whether larger messages wait one more latency for a handshake"
    )
    compute_rate: float = Field(
        default=1e9,
        ge=0,
        le=LARGEST,
        description="Computing speed of a rank, in operations per second; 0: unlimited",
    )
