"""Names and numbers as people read them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from routelab.registry.names import CompositionName, Name, parse_routing

LABELS = {
    "max_load": "maximum load",
    "min_load": "minimum load",
    "mean_load": "mean load",
    "sigma4": "σ(4)",
    "max_hops": "maximum hops",
    "mean_hops": "mean hops",
    "load": "channel load",
    "single_route_share": "pairs with a single route",
    "destination_based": "destination-based",
    "per_terminal": "routes per terminal",
    "routing_seconds": "routing time (s)",
    "cpu_seconds": "CPU time (s)",
    "optimal": "proven optimal",
    "gap_percent": "gap (%)",
    "near_optimal": "gap of at most one route or 1 %",
    "max_load_ratio": "maximum load, ratio",
    "max_load_gain": "maximum load, less by (%)",
    "max_load_group": "maximum load, compared",
    "group_trees": "trees built by sort and group",
    "relative_to": "compared with",
    "lower_bound_rules": "lower bound, rules",
    "lower_bound_topology": "lower bound, network",
    "runs": "runs",
    "latency": "latency (cycles)",
    "network_latency": "latency in the network (cycles)",
    "message_latency": "latency of messages (cycles)",
    "in_order_latency": "latency to delivery in order (cycles)",
    "latency_mean": "mean latency (cycles)",
    "latency_mean_received": "mean latency of what it got (cycles)",
    "latency_p50": "median latency (cycles)",
    "latency_p95": "95 % latency (cycles)",
    "latency_p99": "99 % latency (cycles)",
    "latency_max": "largest latency (cycles)",
    "in_order_latency_mean": "mean latency in order (cycles)",
    "message_latency_mean": "mean latency of messages (cycles)",
    "completion_cycles": "completion (cycles)",
    "finished_at": "last arrival (cycle)",
    "throughput": "throughput (flits per cycle)",
    "terminal_throughput": "throughput, mean over terminals (flits per cycle)",
    "terminal_throughput_ratio": "throughput, ratio",
    "latency_mean_ratio": "mean latency, ratio",
    "latency_mean_gain": "mean latency, less by (%)",
    "saturation_load_ratio": "saturation load, ratio",
    "escape_share": "hops on the escape",
    "saturated": "saturated",
    "utilisation_max": "maximum utilisation",
    "utilisation_mean": "mean utilisation",
    "worst_share": "share of the worst-served terminal",
    "hops_mean": "mean hops",
    "offered": "offered (flits per cycle)",
    "accepted": "accepted (flits per cycle)",
    "received": "received (flits per cycle)",
    "vcs": "virtual channels of the routers",
    "jain": "Jain index",
    "at_x": "x",
    "at_y": "y",
    "at_z": "z",
}
"""Columns whose name does not read well with spaces for underscores."""


STATISTIC_LABELS = {
    "mean": "mean",
    "median": "median",
    "min": "least",
    "max": "greatest",
    "sum": "sum",
    "share": "share",
    "total": "of the sums",
    "argmin": "least on",
    "argmax": "greatest on",
}
"""What a column of statistics has behind its name, after an underscore."""


_SIMULATED = {"load": "offered load"}
"""The same, of simulations."""


_MEASURED = {
    "cov_percent": "CoV (%)",
    "ci_low": "95 % from",
    "ci_high": "95 % to",
    "failed": "failed runs",
    "improvement_percent": "improvement (%)",
    "improvement_low": "improvement from",
    "improvement_high": "improvement to",
    "predicted_improvement_percent": "predicted improvement (%)",
    "job_ids": "allocations",
    "bench": "settings",
    "size": "size (bytes)",
}
"""The same, of benchmarks."""


def label(column: str, of: str = "routes") -> str:
    """A column's name for people, in a view of routes or, whatever they are called, others."""
    if of == "benchmarks" and column in _MEASURED:
        return _MEASURED[column]
    if of != "routes" and column in _SIMULATED:
        return _SIMULATED[column]
    base, _, statistic = column.rpartition("_")
    if column not in LABELS and base in LABELS and statistic in STATISTIC_LABELS:
        return f"{LABELS[base]}: {STATISTIC_LABELS[statistic]}"
    return LABELS.get(column, column.replace("_", " "))


def number_text(column: str, value: Any, digits: int = 4) -> str:
    """A value as tables show it.

    Integers as integers, σ with three decimals, nothing for a missing value, other numbers with
    `digits` significant digits (never in exponent form where they are 1 or more).

    Parameters
    ----------
    column : str
        Its name decides how many decimals are shown.
    """
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return ""
    if "sigma" in column:
        return f"{number:.3f}"
    if number.is_integer():
        return str(int(number))
    if abs(number) >= 10 ** (digits - 1):
        return f"{number:.1f}"
    return f"{number:.{digits}g}"


def without_parameters(name: str, left_out: Collection[str]) -> str:
    """A canonical instance name without some of its parameters.

    ``genetic~seed=3@angara~turns=exact`` without ``seed`` is ``genetic@angara~turns=exact``. A
    parameter that is qualified by its part (``selection.seed``) is left out of every part.

    Raises
    ------
    InputError
        If `name` is no instance name.
    """
    bare = {key.rpartition(".")[2] for key in left_out}
    parsed = parse_routing(name)
    parts = [parsed] if isinstance(parsed, Name) else [parsed.selection, parsed.rules]
    if isinstance(parsed, CompositionName) and parsed.layers:
        parts.append(parsed.layers)
    return "@".join(
        str(
            Name(
                part.key,
                tuple(pair for pair in part.parameters if pair[0].rpartition(".")[2] not in bare),
            )
        )
        for part in parts
    )
