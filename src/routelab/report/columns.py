"""Columns that reports make from others."""

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
        "smallest_size", "smallest size of a dimension of a grid", of=_EVERY, group="The network"
    ),
    Column(
        "sizes",
        "sizes of a grid in descending order, so that networks of one shape have one name",
        of=_EVERY,
        group="The network",
    ),
    Column(
        "gap_percent",
        "`gap` in percent of the bound",
        heading="gap (%)",
        better="lower",
        of=_EVERY,
        needs="bound",
        group="How good it could be",
    ),
    Column(
        "near_optimal",
        "whether the gap is at most one route or 1 % of the bound",
        heading="gap of at most one route or 1 %",
        of=_EVERY,
        needs="bound",
        group="How good it could be",
    ),
    Column(
        "relative_to",
        "the routing that a run is compared with; only with `relative`",
        heading="compared with",
        of=_EVERY,
        needs="relative",
        group="Comparisons",
    ),
    Column(
        "improvement_percent",
        "by how many percent a run is better than that of another routing: how much more, or how "
        "many times as fast if less is better",
        heading="improvement (%)",
        better="higher",
        of=("routes", "simulations", "loads", "flows"),
        needs="relative",
        group="Comparisons",
    ),
)


def _measured(name: str, meaning: str, heading: str = "", better: Better = "") -> Column:
    return Column(
        name, meaning, heading=heading, better=better, of=("benchmarks",), group="Measurements"
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
    Column("traffic", "the traffic's name or alias", of=_PACKETS, group="Names and status"),
    Column(
        "simulation",
        "settings of the simulation that differ from the defaults",
        of=_PACKETS,
        group="Names and status",
    ),
    Column("workload", "the workload's name or alias", of=("flows",), group="Names and status"),
    Column(
        "program", "the workload without its parameters", of=("flows",), group="Names and status"
    ),
    Column(
        "flow",
        "settings of the simulation that differ from the defaults",
        of=("flows",),
        group="Names and status",
    ),
    *(
        Column(
            f"at_{axis}",
            f"coordinate {axis} of the switch that the channel leaves",
            heading=axis,
            of=("channels", "flow-channels"),
            group="Channels",
        )
        for axis in _AXES
    ),
)

BENCHMARKS: Final = (
    _measured("benchmark", "the benchmark's name or alias"),
    _measured("program", "the benchmark without its parameters"),
    _measured("bench", "settings that differ from the defaults", heading="settings"),
    _measured("cluster", "the cluster"),
    _measured("baseline", "the routing that others are compared with"),
    _measured("ranks", "MPI processes"),
    _measured("hosts", "hosts that ran the processes"),
    _measured("job_ids", "allocations of the batch system", heading="allocations"),
    _measured("applied", "whether the fabric was switched to the routing"),
    _measured("version", "version of the benchmark, as it prints it"),
    _measured("metric", "the figure of merit"),
    _measured("size", "message size", heading="size (bytes)"),
    _measured("unit", "unit of the figure of merit"),
    _measured("better", "whether less or more of the figure is better"),
    _measured("median", "median of the runs"),
    _measured("mean", "mean of the runs"),
    _measured(
        "cov_percent", "coefficient of variation of the runs", heading="CoV (%)", better="lower"
    ),
    _measured("ci_low", "lower end of the 95 % interval of the median", heading="95 % from"),
    _measured("ci_high", "upper end of the 95 % interval of the median", heading="95 % to"),
    _measured("runs", "runs that gave the figure"),
    _measured("failed", "runs that gave no figure", heading="failed runs", better="lower"),
    _measured("failures", "why runs gave no figure"),
    _measured(
        "improvement_percent",
        "by how many percent the median is better than that of the baseline",
        heading="improvement (%)",
        better="higher",
    ),
    _measured(
        "improvement_low",
        "lower end of the 95 % interval of the improvement",
        heading="improvement from",
    ),
    _measured(
        "improvement_high",
        "upper end of the 95 % interval of the improvement",
        heading="improvement to",
    ),
    _measured("within_noise", "whether the improvement may be noise"),
    _measured("predicted", "what the flow engine predicts of the figure"),
    _measured(
        "predicted_improvement_percent",
        "the improvement that the flow engine predicts",
        heading="predicted improvement (%)",
        better="higher",
    ),
)
