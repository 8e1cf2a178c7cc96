"""The machine that programs run on: speeds of messages, copies and computation."""

from __future__ import annotations

from pydantic import Field

from routelab.api.parameters import Parameters

LARGEST = 1e18
"""Largest rate: far above all existing ones, far below the loss of exactness."""
LONGEST = 1e3
"""Largest delay, in seconds."""


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
        description="Bytes per second of a channel of capacity 1, in its one direction",
    )
    injection_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bytes per second from a terminal into the network; 0: no limit",
    )
    ejection_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bytes per second from the network into a terminal; 0: no limit",
    )
    memory_bandwidth: float = Field(
        default=0.0,
        ge=0,
        le=LARGEST,
        description="Bytes per second that all messages between ranks of one terminal share; 0: "
        "no limit",
    )
    latency: float = Field(
        default=1e-6,
        ge=0,
        le=LONGEST,
        description="Seconds that a message through the network waits before its bytes flow",
    )
    hop_latency: float = Field(
        default=1e-7, ge=0, le=LONGEST, description="Seconds that it waits for every channel, too"
    )
    memory_latency: float = Field(
        default=5e-7,
        ge=0,
        le=LONGEST,
        description="Seconds that a message between ranks of one terminal waits",
    )
    overhead: float = Field(
        default=0.0,
        ge=0,
        le=LONGEST,
        description="Seconds that a sender spends before every message, and a receiver after it",
    )
    eager_bytes: float = Field(
        default=65536.0,
        ge=0,
        le=LARGEST,
        description="Largest message, in bytes, that is sent without its receiver being there",
    )
    handshake: bool = Field(
        default=True, description="Whether a larger one waits a latency more, to meet its receiver"
    )
    compute_rate: float = Field(
        default=1e9,
        ge=0,
        le=LARGEST,
        description="Operations per second of a rank; 0: computing takes no time",
    )
