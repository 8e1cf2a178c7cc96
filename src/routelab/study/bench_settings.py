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
        description="Cluster: <name> of config/clusters/<name>.yaml, or a file",
    )
    ranks_per_node: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="MPI processes per host; 0: the value of the cluster's file",
    )
    repeats: int = Field(default=5, ge=1, le=1000, description="Measured rounds")
    warm_up: int = Field(
        default=1, ge=0, le=100, description="Warm-up rounds, which are not counted"
    )
    seconds: float = Field(default=600, gt=0, description="Time limit of one run, in seconds")
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="Seed of the order of runs")
    baseline: str = Field(
        default="",
        description="Routing to compare with; empty: the first one",
    )
    predict: bool = Field(
        default=True, description="Add predictions of the flow engine to the measurements"
    )
    minutes: int = Field(
        default=0,
        ge=0,
        description="Longest allocation, in minutes; the next run measures the rest. 0: the sum "
        "of the limits of all runs",
    )

    def canonical(self) -> str:
        """Return the settings that affect runs and are not defaults, as ``repeats=7,seed=3``.

        Measurements with equal texts share a folder. Brackets quote a value that contains ``=``, as
        in instance names: ``cluster=[a=b.yaml]``.
        """
        return ",".join(
            f"{name}=[{value}]" if "=" in value else f"{name}={value}"
            for name, value in self.non_defaults().items()
            if name not in NO_CHANGE
        )
