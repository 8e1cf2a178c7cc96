"""Statistics over many runs, whatever networks they are on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median_low
from typing import Any

import pandas as pd

from routelab.api import InputError
from routelab.report.rows.derivation import REFERENCE_RUN
from routelab.report.rows.row_set import RowSet, key_text

SYSTEMS = "systems"
"""Column with the number of networks that a row stands for."""

MAX_NETWORK_NAMES = 3
"""Largest number of networks in the name of an extreme."""

NETWORK_NAMES = ("argmin", "argmax")
"""Statistics whose values are names of networks."""

_TOTAL_ENDINGS = ("_ratio", "_gain")
"""Endings of the columns that have a total: those that a comparison with another routing makes."""


def statistics_of(
    runs: pd.DataFrame,
    statistics: Mapping[str, Sequence[str]],
    over: Mapping[str, str],
    row_set: RowSet,
    place: str,
) -> dict[str, Any]:
    """Compute statistics of runs, usually on many networks: one row of a table, or one bar.

    Parameters
    ----------
    runs : DataFrame
        Runs with a result; the column ``run`` has their numbers.
    statistics : mapping of str to sequence of str
        Names of statistics by column, such as ``mean`` and ``max``.
    over : mapping of str to str
        Parameters that are pooled, such as a seed, and how: ``median`` or ``range``. A statistic is
        computed separately for the runs with each setting of them. Its value is the lower median of
        these numbers, and with ``range`` their extremes are its range.
    row_set : RowSet
    place : str
        Prefix of messages: where the table is declared.

    Returns
    -------
    row : dict
        ``<column>_<statistic>``, with ``_low`` and ``_high`` for the range, and `SYSTEMS`.

    Raises
    ------
    InputError
        If a column does not exist or has no such statistic.
    """
    networks = [row_set.records[run].topology_name for run in runs["run"]]
    row: dict[str, Any] = {SYSTEMS: len(set(networks))}
    for column, names in statistics.items():
        values = _read_numbers(row_set, runs, column, place)
        setting_groups = _group_by_setting(runs.loc[values.index], over, row_set)
        for name in names:
            key = f"{column}_{name}"
            if name in NETWORK_NAMES:
                row[key] = _extreme_networks(values, runs, name)
                continue
            if not setting_groups:  # no run has a value
                continue
            numbers = [
                _statistic(values[group], runs, column, name, place) for group in setting_groups
            ]
            row[key] = median_low(numbers)
            if "range" in over.values():
                row |= {f"{key}_low": min(numbers), f"{key}_high": max(numbers)}
    return row


def _read_numbers(row_set: RowSet, runs: pd.DataFrame, column: str, place: str) -> pd.Series[Any]:
    """Return the values of a column as floats, without missing ones; truth values are 0 and 1."""
    values = row_set.column(runs, column, f"{place}statistics: ").dropna()
    try:
        return values.map(float).astype(float)
    except ValueError:
        raise InputError(
            f"{place}statistics: column {column!r} holds words, numbers are needed"
        ) from None


def _group_by_setting(
    runs: pd.DataFrame, over: Mapping[str, str], row_set: RowSet
) -> list[list[int]]:
    """Return the groups of runs with equal settings of the parameters `over`, as index labels.

    Without parameters, all runs are one group. If runs are compared with a reference routing that
    has several instances, such as ``sssp~seed=1`` and ``sssp~seed=2``, each of these is a setting,
    too.
    """
    if not over:
        return [runs.index.tolist()] if len(runs) else []
    columns = [runs[parameter].map(key_text).tolist() for parameter in over]
    if REFERENCE_RUN in runs:
        columns.append([row_set.records[run].routing_name for run in runs[REFERENCE_RUN]])
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, setting in zip(runs.index, zip(*columns, strict=True), strict=True):
        groups.setdefault(setting, []).append(index)
    return list(groups.values())


def _statistic(
    values: pd.Series[Any], runs: pd.DataFrame, column: str, name: str, place: str
) -> float:
    """Return the statistic `name` of a column's values."""
    if name == "total":
        return _total(values, runs, column, place)
    if name == "median":
        return float(median_low(values.tolist()))
    if name in ("mean", "share"):
        if name == "share" and not values.isin((0.0, 1.0)).all():
            raise InputError(f"{place}statistics: {column!r} is not a truth value and has no share")
        return fmean(values)
    pool = {"min": values.min, "max": values.max, "sum": values.sum}[name]
    return float(pool())


def _total(values: pd.Series[Any], runs: pd.DataFrame, column: str, place: str) -> float:
    """Return the ratio, or gain in percent, of the sums over all runs.

    Of the values 1 and 9 and the references 2 and 10, the ratio is 10/12, and not a mean of ratios.
    """
    # of the column ``max_load_ratio``, the sums are those of ``max_load`` and its reference
    ending = next((ending for ending in _TOTAL_ENDINGS if column.endswith(ending)), None)
    compared_column = column.removesuffix(ending or "")
    if ending is None or f"{compared_column}_reference" not in runs:
        raise InputError(
            f"{place}statistics: {column!r} has no total; only ratios and gains that 'relative' "
            "makes have"
        )
    total = runs.loc[values.index, compared_column].sum()
    ratio = total / runs.loc[values.index, f"{compared_column}_reference"].sum()
    return float(ratio if ending == "_ratio" else 100 * (1 - ratio))


def _extreme_networks(values: pd.Series[Any], runs: pd.DataFrame, name: str) -> str | None:
    """Return the networks with the least (argmin) or greatest value: their sizes, or names."""
    if values.empty:
        return None
    extreme = values.min() if name == "argmin" else values.max()
    column = "dims" if "dims" in runs else "topology"
    names = list(dict.fromkeys(map(str, runs.loc[values[values == extreme].index, column])))
    more = len(names) - MAX_NETWORK_NAMES
    return ", ".join(names[:MAX_NETWORK_NAMES]) + (f" and {more} more" if more > 0 else "")
