"""Columns that reports compute from other columns."""

from __future__ import annotations

from typing import Final

from routelab.api.columns import Better, Column

_EVERY: Final = ("routes", "simulations", "loads", "flows", "benchmarks")

COLUMNS: Final = (
    Column("nodes", "terminals of the network", of=_EVERY, group="The network"),
    Column(
        "dimensions",
        "number of dimensions of a grid",
        of=_EVERY,
        group="The network",
    ),
    Column(
        "smallest_size",
        "smallest size of a dimension of a grid",
        heading="smallest dimension",
        of=_EVERY,
        group="The network",
    ),
    Column(
        "sizes",
        "sizes of a grid in descending order, such as `4x2x2`; grids of the same shape have the "
        "same value",
        heading="grid size",
        of=_EVERY,
        group="The network",
    ),
    Column(
        "gap_percent",
        "`gap` as a percentage of the bound",
        heading="gap to the bound",
        unit="%",
        better="lower",
        of=_EVERY,
        needs="bound",
        group="Lower bounds",
    ),
    Column(
        "load_to_bound",
        "`max_load` as a multiple of `lower_bound_any_length`",
        heading="maximum load / bound",
        better="lower",
        decimals=3,
        of=_EVERY,
        needs="any_length",
        group="Lower bounds",
    ),
    Column(
        "near_optimal",
        "whether the gap is at most one route or 1 % of the bound",
        heading="within one route or 1 % of the bound",
        of=_EVERY,
        needs="bound",
        group="Lower bounds",
    ),
    Column(
        "relative_to",
        "routing that the run is compared with",
        heading="baseline",
        of=_EVERY,
        needs="relative",
        group="Comparisons",
    ),
    Column(
        "improvement_percent",
        "improvement over the routing `relative_to`, in percent: the increase of the value, or of "
        "its inverse if less is better",
        heading="improvement",
        unit="%",
        better="higher",
        of=("routes", "simulations", "loads", "flows"),
        needs="relative",
        group="Comparisons",
    ),
)


def _bench_column(
    name: str,
    meaning: str,
    heading: str = "",
    better: Better = "",
    unit: str = "",
    decimals: int | None = None,
) -> Column:
    """Return a column of benchmarks."""
    return Column(
        name,
        meaning,
        heading=heading,
        unit=unit,
        better=better,
        of=("benchmarks",),
        decimals=decimals,
        group="Measurements",
    )


_PACKETS: Final = ("simulations", "loads")
_AXES: Final = "xyzuvw"

ENGINES: Final = (
    Column(
        "engine",
        "the engine that ran the simulation",
        of=("simulations", "loads", "flows"),
        group="Names and status",
    ),
    Column("traffic", "name or alias of the traffic", of=_PACKETS, group="Names and status"),
    Column(
        "simulation",
        "settings of the simulation that differ from the defaults",
        heading="simulation settings",
        of=_PACKETS,
        group="Names and status",
    ),
    Column("workload", "name or alias of the workload", of=("flows",), group="Names and status"),
    Column("program", "workload without its parameters", of=("flows",), group="Names and status"),
    Column(
        "flow",
        "settings of the simulation that differ from the defaults",
        heading="simulation settings",
        of=("flows",),
        group="Names and status",
    ),
    *(
        Column(
            f"at_{axis}",
            f"coordinate {axis} of the switch that the channel leaves",
            heading=f"{axis} coordinate",
            of=("channels", "flow-channels"),
            group="Channels",
        )
        for axis in _AXES
    ),
)

BENCHMARKS: Final = (
    _bench_column("benchmark", "name or alias of the benchmark"),
    _bench_column("program", "benchmark without its parameters"),
    _bench_column("bench", "settings that differ from the defaults", heading="settings"),
    _bench_column("cluster", "name of the cluster"),
    _bench_column("baseline", "routing that the others are compared with"),
    _bench_column("ranks", "number of MPI processes"),
    _bench_column("hosts", "hosts that ran the processes"),
    _bench_column(
        "job_ids", "number of jobs of the batch system that ran the runs", heading="allocations"
    ),
    _bench_column("applied", "whether the fabric was switched to the routing"),
    _bench_column("version", "version of the benchmark, as it prints it"),
    _bench_column("metric", "figure of merit", heading="measured quantity"),
    _bench_column("size", "message size", heading="message size", unit="bytes"),
    _bench_column("unit", "unit of the figure of merit", heading="unit of measurement"),
    _bench_column("better", "preferred direction of the figure of merit: `lower` or `higher`"),
    _bench_column("median", "median of the runs"),
    _bench_column("mean", "mean of the runs"),
    _bench_column(
        "cov_percent",
        "coefficient of variation of the runs",
        heading="coefficient of variation",
        better="lower",
        unit="%",
        decimals=2,
    ),
    _bench_column(
        "ci_low",
        "lower end of the 95 % interval of the median",
        heading="median, lower 95 % confidence limit",
    ),
    _bench_column(
        "ci_high",
        "upper end of the 95 % interval of the median",
        heading="median, upper 95 % confidence limit",
    ),
    _bench_column("runs", "number of runs with a result"),
    _bench_column(
        "failed", "number of runs without a result", heading="failed runs", better="lower"
    ),
    _bench_column("failures", "why runs have no result"),
    _bench_column(
        "improvement_percent",
        "improvement of the median over that of the baseline, in percent",
        heading="improvement",
        better="higher",
        unit="%",
    ),
    _bench_column(
        "improvement_low",
        "lower end of the 95 % interval of the improvement",
        heading="improvement, lower 95 % confidence limit",
        unit="%",
    ),
    _bench_column(
        "improvement_high",
        "upper end of the 95 % interval of the improvement",
        heading="improvement, upper 95 % confidence limit",
        unit="%",
    ),
    _bench_column("within_noise", "whether the improvement may be noise", heading="within noise"),
    _bench_column("predicted", "value of the figure that the flow engine predicts"),
    _bench_column(
        "predicted_improvement_percent",
        "improvement that the flow engine predicts, in percent",
        heading="predicted improvement",
        better="higher",
        unit="%",
    ),
)
