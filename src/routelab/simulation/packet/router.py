"""Settings of the routers of a simulated network."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, model_validator

from routelab.api.parameters import Parameters
from routelab.simulation.packet.kernels.layout import MOST_UNITS

PRESETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "input-queued": MappingProxyType({"speedup": 1, "output_buffer_flits": 0}),
        # six packets of 16 flits, as in the studies of low-diameter networks
        "combined": MappingProxyType({"speedup": 2, "output_buffer_flits": 96}),
    }
)
"""Settings of the routers with a name."""


class Router(Parameters):
    """Settings of every router; times in cycles. The fastest channels carry one flit per cycle.

    Raises
    ------
    pydantic.ValidationError
        If values are out of range or do not fit together; the error lists all.
    """

    router: Literal["input-queued", "combined"] | None = Field(
        default=None,
        exclude=True,
        description="Preset: input-queued (no output queues, `speedup` 1) or combined (combined "
        "input and output queues: `output_buffer_flits` 96, `speedup` 2). Both settings override "
        "it. none: combined",
    )
    vcs: int = Field(default=4, ge=1, le=64, description="Virtual channels per channel")
    buffer_flits: int = Field(
        default=8, ge=1, le=65536, description="Buffer size per virtual channel, in flits"
    )
    packet_flits: int = Field(default=1, ge=1, le=4096, description="Packet length, in flits")
    switching: Literal["virtual-cut-through", "wormhole"] = Field(
        default="virtual-cut-through",
        description="Switching: a packet moves if the next buffer has room for all of it "
        "(virtual-cut-through) or for one flit (wormhole)",
    )
    router_delay: int = Field(
        default=1, ge=1, le=1000, description="Delay of flits in a router, in cycles"
    )
    link_delay: int = Field(
        default=1,
        ge=1,
        le=10000,
        description="Delay of channels without a known latency, in cycles",
    )
    cycle_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Length of a cycle, in seconds, to convert latencies of channels; 0: all "
        "channels use `link_delay`",
    )
    injection_delay: int = Field(
        default=1, ge=1, le=10000, description="Delay from a terminal to its switch, in cycles"
    )
    ejection_delay: int = Field(
        default=1, ge=1, le=10000, description="Delay from a switch to its terminal, in cycles"
    )
    credit_delay: int = Field(
        default=1, ge=1, le=10000, description="Delay of credits to the router upstream, in cycles"
    )
    speedup: int = Field(default=2, ge=1, le=8, description="Switch allocations per cycle")
    output_buffer_flits: int = Field(
        default=96,
        ge=0,
        le=65536,
        description="FIFO per virtual channel at each output, in flits; 0: none (input-queued)",
    )
    priority: Literal["round-robin", "random", "age"] = Field(
        default="age",
        description="Arbitration policy between packets that request the same channel",
    )
    injection_queue: int = Field(
        default=0, ge=0, le=65536, description="Queue at each terminal, in packets; 0: no limit"
    )

    @model_validator(mode="before")
    @classmethod
    def _replace_preset(cls, values: Any) -> Any:
        """Replace the preset `router` by the settings that it stands for.

        So routers of equal settings are equal, whether a preset was given or not.
        """
        # Without a preset there is nothing to replace. An invalid one is left to the check of the
        # field. (`tuple`, because the value may be unhashable: a mapping would raise TypeError.)
        if not isinstance(values, Mapping) or values.get("router") not in tuple(PRESETS):
            return values
        given = {name: value for name, value in values.items() if name != "router"}
        return {**PRESETS[values["router"]], **given}

    @model_validator(mode="after")
    def _check_sizes(self) -> Router:
        """Refuse buffers that hold no packet or exceed the engine, and a speedup without effect."""
        # Names of settings are in backquotes: commands replace them by their options.
        if self.switching == "virtual-cut-through" and self.buffer_flits < self.packet_flits:
            raise ValueError(
                f"`buffer_flits` is {self.buffer_flits}, less than `packet_flits`, "
                f"{self.packet_flits}: no packet could ever move under virtual cut-through; raise "
                "`buffer_flits`, or set `switching` to wormhole"
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
                f"{self.packet_flits}: no packet fits; raise it, or set 0 for no queue"
            )
        if self.speedup > 1 and not self.output_buffer_flits:
            raise ValueError(
                f"`speedup` is {self.speedup}, but without output queues it has no effect: set it "
                "to 1, or `router` to input-queued"
            )
        return self

    @property
    def text(self) -> str:
        """Kind of router, virtual channels, buffers and switching in words, for reports."""
        kind, output_buffers = "input-queued", ""
        if self.output_buffer_flits:
            kind = f"combined input and output queues with speed-up {self.speedup}"
            output_buffers = f" at inputs and {self.output_buffer_flits} at outputs"
        return (
            f"{kind}, {_count(self.vcs, 'virtual channel')} of {_count(self.buffer_flits, 'flit')}"
            f"{output_buffers}, {self.switching.replace('-', ' ', 1)}, packets of "
            f"{_count(self.packet_flits, 'flit')}"
        )

    @property
    def units_per_packet(self) -> int:
        """Units of a packet: one, or its flits under wormhole switching."""
        return self.packet_flits if self.switching == "wormhole" else 1

    @property
    def unit_flits(self) -> int:
        """Flits of a unit, which moves as a whole: a packet, or a flit under wormhole switching."""
        return self.packet_flits // self.units_per_packet

    @property
    def fifo_units(self) -> int:
        """Units that the FIFO of a virtual channel at an output holds."""
        return self.output_buffer_flits // self.unit_flits

    @property
    def capacity(self) -> int:
        """Units that a buffer holds."""
        return self.buffer_flits // self.unit_flits


def _count(number: int, noun: str) -> str:
    """Return number and noun: 1 flit, 2 flits."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
