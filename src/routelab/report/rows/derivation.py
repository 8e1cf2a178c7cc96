"""Columns that are computed from other columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from statistics import median_high, median_low
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.study import Between, Relative

DIMS = "topology.dims"
RELATIVE_TO = "relative_to"
REFERENCE_RUN = "relative_run"
"""Column with the run that a run is compared with."""

IMPROVEMENT = "improvement_percent"
"""Column with the improvement over a run of another routing, in percent."""

GROUPS = ("less", "equal", "greater")
"""Groups of values compared with those of another routing."""

NEAR = 0.01
"""Largest excess of a near-optimal load over the bound, relative to the bound; at least one route
of the fastest channel."""


def with_derived_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return also the columns computed from sizes of grids and from bounds, where these are known.

    ::

        columns                            values   computed columns
        topology.dims                      2x8x4    dimensions 3, smallest_size 2, sizes 8x4x2
        max_load, gap                      52, 2    gap_percent 4 (of the bound 52 - 2 = 50),
                                                    near_optimal no: the gap is more than 1 % of the
                                                    bound, and more than one route
        max_load, lower_bound_any_length   52, 40   load_to_bound 1.3
    """
    frame = frame.copy()
    if DIMS in frame:
        sizes = [_sizes(text) for text in frame[DIMS]]
        frame["dimensions"] = [len(grid) or None for grid in sizes]
        frame["smallest_size"] = [min(grid, default=None) for grid in sizes]
        frame["sizes"] = ["x".join(map(str, sorted(grid, reverse=True))) for grid in sizes]
    if "gap" in frame and "max_load" in frame:
        gap, load = (pd.to_numeric(frame[name]) for name in ("gap", "max_load"))
        bound = load - gap
        frame["gap_percent"] = 100 * gap / bound.where(bound > 0)
        near_optimal = gap <= np.maximum(1, NEAR * bound)
        # Without a gap, the comparison with NaN gives false; but the answer is not known.
        frame["near_optimal"] = near_optimal.astype(object).where(gap.notna(), None)
    if "lower_bound_any_length" in frame and "max_load" in frame:
        load, any_length_bound = (
            pd.to_numeric(frame[name]) for name in ("max_load", "lower_bound_any_length")
        )
        frame["load_to_bound"] = load / any_length_bound.where(any_length_bound > 0)
    return frame


def _sizes(text: Any) -> list[int]:
    parts = str(text).split("x")
    return list(map(int, parts)) if all(part.isdecimal() for part in parts) else []


def compare_runs(
    frame: pd.DataFrame,
    spec: Relative,
    conditions: Sequence[str],
    place: str,
    better: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Compare each run with the runs of reference routings under the same conditions.

    Parameters
    ----------
    frame : DataFrame
        One row per run; the index is the run's number.
    spec : Relative
    conditions : sequence of str
        A text for every run; only runs with equal texts (such as the network) are compared.
    place : str
        Prefix of messages: where the comparison is declared.
    better : mapping of str to str
        Preferred direction by column; missing columns count as ``"lower"``.

    Returns
    -------
    frame : DataFrame
        A row for each pair of a run and a reference run; the index is the run, and repeats if it is
        in several pairs. The columns are those of the run, and for the column c that is compared:

        ==========================  =====================================  =======================
        column                      meaning                                example
        ==========================  =====================================  =======================
        ``c``, ``c_reference``      value of the run, and of the other     8, 10
        ``c_ratio``                 ``c`` / ``c_reference``                0.8
        ``c_gain``                  by how many percent ``c`` is less      20
        ``c_group``                 less, equal or greater                 less
        ``improvement_percent``     by how many percent the run is better  25 if less is better,
                                                                           otherwise −20
        ``relative_to``             reference routing                      dor
        ``relative_run``            reference run                          7
        ==========================  =====================================  =======================

        A run is not compared with runs of its own routing. But with ``spec.median`` the only
        reference run of a routing under the same conditions is that with the lower median, and all
        runs are compared with it.

    Raises
    ------
    InputError
        If a routing or the column does not exist.
    """
    # 1. The values. If no run has a result, the column may be missing: it has no numbers then.
    column = spec.column
    routings = dict.fromkeys(frame["routing"])
    for name in spec.routings:
        if name not in routings:
            raise InputError(
                f"{place}relative: no routing {name!r}; there are {', '.join(routings)}"
            )
    if column not in frame:
        frame = frame.assign(**{column: np.full(len(frame), np.nan)})
    values = pd.to_numeric(frame[column], errors="coerce")
    runs = frame.copy()
    runs[column] = values
    runs["_conditions"] = [conditions[run] for run in frame.index]
    runs["_run"] = runs.index
    # 2. The runs to compare with: all of these routings, or of each the one with the lower median,
    #    which stays a run that readers can look up.
    references = runs.loc[runs["routing"].isin(spec.routings) & values.notna()]
    if spec.median:
        ranking = references.sort_values(column)
        groups = ranking.groupby(["_conditions", "routing"], sort=False)
        # Counted from 0, the lower median is number 1 of 4 values, and number 2 of 5.
        lower_median = (groups[column].transform("size") - 1) // 2
        references = ranking[groups.cumcount() == lower_median]
    reference = pd.DataFrame(
        {
            "_conditions": references["_conditions"],
            RELATIVE_TO: references["routing"],
            f"{column}_reference": references[column],
            REFERENCE_RUN: references.index,
        }
    )
    # 3. All pairs under equal conditions. If the reference is a median, runs of the reference
    #    routing stay, too, and show their spread around it. Otherwise they would be compared with
    #    themselves.
    pairs = runs.merge(reference, on="_conditions", how="inner")
    if not spec.median:
        pairs = pairs[pairs["routing"] != pairs[RELATIVE_TO]]
    ratio = pairs[column] / pairs[f"{column}_reference"]
    better_by = 100 * ((ratio if better.get(column) == "higher" else 1 / ratio) - 1)
    # values that differ in the last bits only are equal; adding 0 turns -0 into 0
    pairs[IMPROVEMENT] = better_by.round(9) + 0.0
    pairs[f"{column}_ratio"] = ratio
    pairs[f"{column}_gain"] = 100 * (1 - ratio)
    pairs[f"{column}_group"] = np.select([ratio < 1, ratio == 1, ratio > 1], GROUPS, default="")
    return pairs.set_index("_run").drop(columns="_conditions").rename_axis("run")


def middle_of(
    column: str, spec: Relative | None, better: Mapping[str, str]
) -> Callable[[list[Any]], Any]:
    """Return the function that pools a column of runs to its median: `median_low` or `median_high`.

    All columns of a row should show the same run, such as its time and its improvement. The column
    that is compared has its lower median. Columns that fall where it rises have their upper one:
    of times 8, 5, 4 and 2 and their improvements 0, 60, 100 and 300, these are 4 and 100.
    """
    if spec is None:
        return median_low
    improvement_falls = better.get(spec.column) != "higher"
    falls = column == f"{spec.column}_gain" or (column == IMPROVEMENT and improvement_falls)
    return median_high if falls else median_low


def lies_between(values: pd.Series[Any], limits: Between) -> pd.Series[bool]:
    """Return a mask of the values that are numbers within the limits."""
    low = -inf if limits.min is None else limits.min
    high = inf if limits.max is None else limits.max
    return pd.to_numeric(values, errors="coerce").between(low, high)
