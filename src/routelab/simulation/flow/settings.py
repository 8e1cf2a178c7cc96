"""Settings of flow simulations: machine, job and algorithms of collectives."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from routelab.api.errors import InputError
from routelab.api.parameters import Parameters
from routelab.simulation.flow.collectives import MPICH, choice_text, parse_choice
from routelab.toolkit.machine import Machine

_LIMITS = ("gt", "ge", "lt", "le")
"""Names of the limits of a number in pydantic: as arguments of `Field`, and as attributes of the
constraints in a field's metadata."""

MAX_RANKS, MAX_RANKS_PER_NODE = 2**20, 4096
"""Largest numbers of ranks that a job and a terminal have."""


def _machine_field(name: str) -> Any:
    """Return an optional setting that replaces a value of the machine, with the same limits."""
    field = Machine.model_fields[name]
    # {"gt": 0.0} if the machine's field was declared with Field(gt=0.0)
    limits = {
        limit: getattr(constraint, limit)
        for constraint in field.metadata
        for limit in _LIMITS
        if hasattr(constraint, limit)
    }
    return Field(
        default=None, description=f"{field.description}; none: the machine's value", **limits
    )


class FlowSettings(Parameters):
    """All that a flow simulation depends on besides network, routing and workload.

    Raises
    ------
    pydantic.ValidationError
        If values are out of range; the error lists all.
    """

    machine: str = Field(
        default="",
        description="Cluster that describes the machine: <name> of config/clusters/<name>.yaml, or "
        "a file; empty: the default machine",
    )
    ranks: int = Field(
        default=0,
        ge=0,
        le=MAX_RANKS,
        description="Ranks of the job; 0: the largest number that fits on the network, or the "
        "number in the placement file",
    )
    ranks_per_node: int = Field(
        default=1, ge=1, le=MAX_RANKS_PER_NODE, description="Largest number of ranks per terminal"
    )
    placement: str = Field(
        default="block",
        min_length=1,
        description="Placement of ranks: block, cyclic, or a file with the terminal of a rank on "
        "each line",
    )
    iterations: int = Field(
        default=0,
        ge=0,
        description="Simulated iterations of the outermost timed loop; the others are "
        "extrapolated; 0: all",
    )
    collectives: str = Field(
        default=MPICH,
        description="Algorithms of collectives, such as alltoall=pairwise+bcast=binomial; mpich, "
        "and the default for others: MPICH's choice by size and ranks",
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="Seed of random paths")
    link_bandwidth: float | None = _machine_field("link_bandwidth")
    injection_bandwidth: float | None = _machine_field("injection_bandwidth")
    ejection_bandwidth: float | None = _machine_field("ejection_bandwidth")
    memory_bandwidth: float | None = _machine_field("memory_bandwidth")
    latency: float | None = _machine_field("latency")
    hop_latency: float | None = _machine_field("hop_latency")
    memory_latency: float | None = _machine_field("memory_latency")
    overhead: float | None = _machine_field("overhead")
    eager_bytes: float | None = _machine_field("eager_bytes")
    handshake: bool | None = _machine_field("handshake")
    compute_rate: float | None = _machine_field("compute_rate")

    @field_validator("collectives")
    @classmethod
    def _normalize_choice(cls, value: str) -> str:
        """Check the algorithms; return the text with the collectives in alphabetical order."""
        try:
            return choice_text(parse_choice(value))
        except InputError as error:
            # pydantic names the field itself
            raise ValueError(str(error).removeprefix("collectives: ")) from None

    def override(self, machine: Machine) -> Machine:
        """Return a copy of the machine in which the values of these settings replace its own."""
        settings = {name: getattr(self, name) for name in Machine.model_fields}
        return machine.model_copy(
            update={name: value for name, value in settings.items() if value is not None}
        )
