"""Settings of measurements on clusters: location, number and order of runs."""

from __future__ import annotations

from pydantic import Field

from routelab.api.parameters import Parameters

NO_CHANGE = ("baseline", "predict", "minutes")
"""Fields that do not affect measurements, only their presentation or the allocation."""


class BenchSettings(Parameters):
    """Everything that a comparison depends on besides network, routings and benchmarks."""

    cluster: str = Field(
        default="local",
        min_length=1,
        description="Where: <name> of config/clusters/<name>.yaml, or a file",
    )
    ranks_per_node: int = Field(
        default=0, ge=0, le=4096, description="MPI processes of a host; 0: the cluster's"
    )
    repeats: int = Field(default=5, ge=1, le=1000, description="Rounds that count")
    warm_up: int = Field(default=1, ge=0, le=100, description="Rounds before them that do not")
    seconds: float = Field(
        default=600, gt=0, description="Limit of one run; it is ended with its whole step"
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="Of the order of the turns")
    baseline: str = Field(
        default="",
        description="Routing that the others are compared with; none: the first one",
    )
    predict: bool = Field(
        default=True, description="Put what the flow engine predicts beside what was measured"
    )
    minutes: int = Field(
        default=0,
        ge=0,
        description="Longest allocation to ask a scheduler for; what is missing after it is done "
        "by the next run. 0: as long as if every run took its limit",
    )

    def canonical(self) -> str:
        """Return the settings that affect runs and are not defaults, as ``repeats=7,seed=3``."""
        return ",".join(
            f"{name}=[{value}]" if "=" in value else f"{name}={value}"
            for name, value in self.non_defaults().items()
            if name not in NO_CHANGE
        )
