"""Settings of simulations: routers, offered loads and measurement."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from routelab.api.parameters import split_items
from routelab.simulation.packet.measurement.intervals import LEAST_GROUPS
from routelab.simulation.packet.router import Router

WARMUP_SAMPLES = 30
"""Smallest number of samples for the end of a warm-up."""
MEASURED_SAMPLES = 2 * LEAST_GROUPS
"""Smallest number of samples of a measurement."""
LONGEST = 2**30
"""Largest number of cycles of the engine."""


def _read_loads(value: Any) -> Any:
    """Convert loads from text or a single number; pydantic checks what is returned."""
    if isinstance(value, str):
        items = value.replace(",", "+")
        return split_items(items) if items.strip("+") else ()
    return (value,) if isinstance(value, (int, float)) else value


def _sort_loads(loads: tuple[float, ...]) -> tuple[float, ...]:
    """Return the loads ascending, each once; raise ValueError if there is none."""
    if not loads:
        raise ValueError("name at least one load")
    return tuple(sorted(set(loads)))


Load = Annotated[float, Field(gt=0, le=1)]
Loads = Annotated[tuple[Load, ...], BeforeValidator(_read_loads), AfterValidator(_sort_loads)]
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
        description="Offered loads, in flits per cycle and terminal of rate 1; one run per load",
    )
    find_saturation: bool = Field(
        default=False, description="Also search for the largest load that is not saturated"
    )
    tolerance: float = Field(
        default=0.01, gt=0, lt=1, description="Relative width at which the saturation search stops"
    )
    max_probes: int = Field(
        default=16,
        ge=4,
        le=1000,
        description="Largest number of loads that the saturation search tries",
    )
    proof_states: int = Field(
        default=0,
        ge=0,
        description="Largest number of states that the deadlock proof of a hop-by-hop routing "
        "examines; with more it is unproven. 0: 4 million, and 500 million for routings with fixed "
        "candidates",
    )
    message_packets: int = Field(default=1, ge=1, le=65536, description="Packets per message")
    messages: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Messages that each terminal sends; the run ends when all have arrived. 0: "
        "endless traffic at the offered loads",
    )
    in_order: bool = Field(
        default=False,
        description="Also measure when packets can be delivered in the order sent",
    )
    seed: int = Field(
        default=0, ge=0, le=2**63 - 1, description="Seed of the first run of each load"
    )
    seeds: int = Field(
        default=1, ge=1, le=1000, description="Runs per load, with seed, seed + 1, ..."
    )
    warmup_cycles: int = Field(
        default=0,
        ge=0,
        le=LONGEST,
        description="Shortest warm-up, in cycles; its end is detected",
    )
    sample_cycles: int = Field(
        default=100,
        ge=1,
        le=LONGEST,
        description="Length of a sample, in cycles",
    )
    precision: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description="Relative half-width of the intervals of accepted load and mean latency at "
        "which a run ends",
    )
    confidence: float = Field(
        default=0.95, gt=0, lt=1, description="Confidence level of all intervals"
    )
    max_cycles: int = Field(
        default=200_000,
        ge=1,
        le=LONGEST,
        description="Longest run at an offered load, in cycles; at most half of them are warm-up",
    )
    finish_within: int = Field(
        default=10_000_000,
        ge=1,
        le=LONGEST,
        description="Longest run with `messages`, in cycles",
    )

    @model_validator(mode="after")
    def _check_combination(self) -> SimulationSettings:
        """Refuse settings that contradict each other."""
        if self.messages and self.find_saturation:
            raise ValueError(
                "`find_saturation` needs offered loads, but runs with `messages` have none: "
                "leave one of the two out"
            )
        if 0 < self.injection_queue < self.message_packets:
            raise ValueError(
                f"`injection_queue` is {self.injection_queue}, less than `message_packets`, "
                f"{self.message_packets}: no message fits; raise it, or set 0 for no limit"
            )
        # at most half of the cycles are warm-up, and the other half must suffice for the samples
        min_cycles = 2 * max(self.warmup_cycles, MEASURED_SAMPLES * self.sample_cycles)
        if not self.messages and self.max_cycles < min_cycles:
            raise ValueError(
                f"`max_cycles` is {self.max_cycles}; with `warmup_cycles` {self.warmup_cycles} and "
                f"`sample_cycles` {self.sample_cycles} it must be at least {min_cycles}"
            )
        return self

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Seeds of a load's runs."""
        return tuple(range(self.seed, self.seed + self.seeds))

    def routers(self) -> Router:
        """Return the settings of the routers."""
        return Router(**{name: getattr(self, name) for name in Router.model_fields})
