"""Settings of simulations: routers, offered loads and measurement."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from routelab.simulation.measuring.intervals import LEAST_GROUPS
from routelab.simulation.packet.router import Router

WARMUP_SAMPLES = 30
"""Smallest number of samples for the end of a warm-up."""
MEASURED_SAMPLES = 2 * LEAST_GROUPS
"""Smallest number of samples of a measurement."""
LONGEST = 2**30
"""Largest number of cycles of the engine."""


def _read_loads(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part for part in value.replace(",", "+").split("+") if part)
    return (value,) if isinstance(value, (int, float)) else value


def _check_order(loads: tuple[float, ...]) -> tuple[float, ...]:
    if not loads:
        raise ValueError("name at least one load")
    return tuple(sorted(set(loads)))


Load = Annotated[float, Field(gt=0, le=1)]
Loads = Annotated[tuple[Load, ...], BeforeValidator(_read_loads), AfterValidator(_check_order)]
"""Offered loads in ascending order, written ``0.1+0.2``, or ``0.1,0.2`` outside names."""


class SimulationSettings(Router):
    """Input of a simulation besides network, routing and traffic.

    Raises
    ------
    pydantic.ValidationError
        If values are out of range or do not fit together; the error lists all.
    """

    loads: Loads = Field(
        default=(0.1, 0.3, 0.5, 0.7, 0.9),
        description="Flits that a terminal of rate 1 offers in a cycle, one run each",
    )
    find_saturation: bool = Field(
        default=False, description="Search the largest load that is not saturated, too"
    )
    tolerance: float = Field(
        default=0.01, gt=0, lt=1, description="Of the searched load, relative to it"
    )
    max_probes: int = Field(
        default=16, ge=4, le=1000, description="Most loads that the search tries"
    )
    message_packets: int = Field(default=1, ge=1, le=65536, description="Packets of every message")
    messages: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Messages that every terminal sends, to be finished; 0: arrivals without end, "
        "at the offered loads",
    )
    in_order: bool = Field(
        default=False, description="Measure when packets can be handed on in the order sent, too"
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="Of the first run of each load")
    seeds: int = Field(
        default=1, ge=1, le=1000, description="Runs of each load, with seed, seed + 1, ..."
    )
    warmup_cycles: int = Field(
        default=0,
        ge=0,
        le=LONGEST,
        description="Least cycles of warm-up; where it ends is detected",
    )
    sample_cycles: int = Field(
        default=100,
        ge=1,
        le=LONGEST,
        description="Cycles between two looks at what a run counted",
    )
    precision: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description="Half-width of the intervals of accepted load and mean latency, relative to "
        "them, at which a run ends",
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Of all intervals")
    max_cycles: int = Field(
        default=200_000,
        ge=1,
        le=LONGEST,
        description="Most cycles of a run at an offered load, at most half of them warm-up",
    )
    finish_within: int = Field(
        default=10_000_000,
        ge=1,
        le=LONGEST,
        description="Most cycles of a run with messages to be finished",
    )

    @model_validator(mode="after")
    def _check_combination(self) -> SimulationSettings:
        if self.messages and self.find_saturation:
            raise ValueError(
                "`find_saturation` needs offered loads, and with `messages` there are none: leave "
                "one of the two out"
            )
        if 0 < self.injection_queue < self.message_packets:
            raise ValueError(
                f"`injection_queue` is {self.injection_queue}, less than `message_packets`, "
                f"{self.message_packets}: no message fits; raise it, or say 0 for no limit"
            )
        least = 2 * max(self.warmup_cycles, MEASURED_SAMPLES * self.sample_cycles)
        if not self.messages and self.max_cycles < least:
            raise ValueError(
                f"`max_cycles` is {self.max_cycles}; with `warmup_cycles` {self.warmup_cycles} and "
                f"`sample_cycles` {self.sample_cycles} it takes at least {least}"
            )
        return self

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Seeds of a load's runs."""
        return tuple(range(self.seed, self.seed + self.seeds))

    def router(self) -> Router:
        """Return the settings of the routers."""
        return Router(**{name: getattr(self, name) for name in Router.model_fields})
