"""Settings of the routers of a simulated network."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from routelab.api.parameters import Parameters
from routelab.simulation.packet.kernels.layout import MOST_UNITS


class Router(Parameters):
    """Settings of every router; times in cycles. A flit crosses the fastest channels in one.

    Raises
    ------
    pydantic.ValidationError
        If values are out of range or do not fit together; the error lists all.
    """

    vcs: int = Field(default=4, ge=1, le=64, description="Virtual channels of every channel")
    buffer_flits: int = Field(
        default=8, ge=1, le=65536, description="Flits that the buffer of a virtual channel holds"
    )
    packet_flits: int = Field(default=1, ge=1, le=4096, description="Flits of every packet")
    switching: Literal["virtual-cut-through", "wormhole"] = Field(
        default="virtual-cut-through",
        description="Whether packets move only into room for all of them, or flit by flit",
    )
    router_delay: int = Field(
        default=1, ge=1, le=1000, description="From a flit's arrival to its earliest departure"
    )
    link_delay: int = Field(
        default=1, ge=1, le=10000, description="Of a channel whose latency is not known"
    )
    cycle_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Length of a cycle, to make cycles of latencies; 0: all take link_delay",
    )
    injection_delay: int = Field(default=1, ge=1, le=10000, description="From terminal to switch")
    ejection_delay: int = Field(default=1, ge=1, le=10000, description="From switch to terminal")
    credit_delay: int = Field(
        default=1, ge=1, le=10000, description="From a flit's departure to room known upstream"
    )
    speedup: int = Field(
        default=1, ge=1, le=8, description="Times that a switch allocates in a cycle"
    )
    output_buffer_flits: int = Field(
        default=0, ge=0, le=65536, description="Flits that queue for each channel; 0: no queue"
    )
    priority: Literal["round-robin", "random", "age"] = Field(
        default="age", description="Who goes first where several want one channel"
    )
    injection_queue: int = Field(
        default=0, ge=0, le=65536, description="Packets a terminal keeps waiting; 0: no limit"
    )

    @model_validator(mode="after")
    def _fits(self) -> Router:
        # `...` marks names of settings, which commands replace by their options
        if self.switching == "virtual-cut-through" and self.buffer_flits < self.packet_flits:
            raise ValueError(
                f"`buffer_flits` is {self.buffer_flits}, less than `packet_flits`, "
                f"{self.packet_flits}: no packet could ever move under virtual cut-through; raise "
                "`buffer_flits` or say `switching` wormhole"
            )
        if self.capacity > MOST_UNITS:
            units = "flits" if self.switching == "wormhole" else "packets"
            raise ValueError(
                f"`buffer_flits` is {self.buffer_flits}: buffers of {self.capacity} {units} are "
                f"too large, the engine's limit is {MOST_UNITS}; lower it"
            )
        if self.switching == "virtual-cut-through" and (
            0 < self.output_buffer_flits < self.packet_flits
        ):
            raise ValueError(
                f"`output_buffer_flits` is {self.output_buffer_flits}, less than `packet_flits`, "
                f"{self.packet_flits}: no packet fits; raise it, or say 0 for no queue"
            )
        if self.speedup > 1 and not self.output_buffer_flits:
            raise ValueError(
                "`speedup` needs `output_buffer_flits`: without queues for the channels nothing is "
                "gained by moving faster to them"
            )
        return self

    @property
    def units_per_packet(self) -> int:
        """Units of a packet: one, or its flits under wormhole switching."""
        return self.packet_flits if self.switching == "wormhole" else 1

    @property
    def unit_flits(self) -> int:
        """Flits of a unit."""
        return self.packet_flits // self.units_per_packet

    @property
    def capacity(self) -> int:
        """Units that a buffer holds."""
        return self.buffer_flits // self.unit_flits
