"""The comparison of a routing with a baseline that a table shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import Literal

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.config import STATISTICS, Figure, Headline, Study
from routelab.config import Table as TableSpec
from routelab.config.headline import statistic_columns, value_columns
from routelab.config.views import BENCHMARKS
from routelab.registry.suggest import did_you_mean
from routelab.report.frames.derivation import IMPROVEMENT, RELATIVE_TO
from routelab.report.frames.view import OK, View, filter_rows, key_text
from routelab.report.table import ReportTable
from routelab.report.tables import select_rows

PROVEN = "proven"
"""Verdict of the deadlock checker."""
ROUTING = "routing"
Measure = Literal["value", "improvement", "gain", "ratio"]
"""What a column holds: a value, or one of the comparisons of `Relative`."""
_ONE = (1.0, 1.0, 1.0)
_NO_ORDER = tuple(f"_{name}" for name in STATISTICS if name.startswith("arg"))


@dataclass(frozen=True)
class Value:
    """A value of a table, with its range over the runs of its row."""

    number: float
    low: float
    high: float


@dataclass(frozen=True)
class Case:
    """Values of a routing and a baseline under the same conditions.

    Attributes
    ----------
    keys : dict of str
        The conditions: texts of all columns that identify the row, except the routing.
    mine : Value
    base : Value
        1 if `mine` is already relative to the baseline.
    """

    keys: Mapping[str, str]
    mine: Value
    base: Value


@dataclass(frozen=True)
class Comparison:
    """A routing compared with a baseline.

    Attributes
    ----------
    value : str
        Column of the table.
    measure : Measure
        What the column holds.
    routing, baseline : str
    is_next : bool
        Whether the baseline is the next best routing, because no baseline is declared.
    cases : tuple of Case
        All conditions under which both have a value and the routing is proven free of deadlock.
    total : int
        Number of conditions under which the baseline has a value.
    """

    value: str
    measure: Measure
    routing: str
    baseline: str
    is_next: bool
    cases: tuple[Case, ...]
    total: int

    @property
    def routings(self) -> tuple[str, str]:
        """Return the routing and the baseline."""
        return self.routing, self.baseline

    def ratios(self) -> tuple[float, float, float] | None:
        """Return the geometric mean, the least and the greatest ratio of the routing's values.

        The least and the greatest ratio are those of the ends of the ranges. None if a value is
        not positive.
        """
        pairs = [(case.mine, case.base) for case in self.cases]
        if any(min(mine.low, base.low) <= 0 for mine, base in pairs):
            return None
        mean = exp(fmean(log(mine.number / base.number) for mine, base in pairs))
        lows = [mine.low / base.high for mine, base in pairs]
        highs = [mine.high / base.low for mine, base in pairs]
        return mean, min(lows), max(highs)


_Key = tuple[tuple[str, str], ...]
_Cells = dict[_Key, dict[str, Value]]
"""Values by routing, by the conditions of a case."""


def declared_baseline(study: Study) -> str | None:
    """Return the baseline that the first view with one routing in `relative` names, or `bench`."""
    views: list[TableSpec | Figure] = [*study.tables.values(), *study.figures.values()]
    for view in views:
        if view.relative is not None and len(view.relative.routings) == 1:
            return view.relative.routings[0]
    return next((one.baseline for one in study.bench_settings if one.baseline), None)


def find_comparison(
    table: ReportTable,
    spec: TableSpec,
    view: View,
    headline: Headline,
    baseline: str | None,
    place: str,
) -> Comparison | None:
    """Return the comparison that a table shows, or None if it has none.

    A routing is compared only where all its runs are proven free of deadlock, and only where the
    baseline has a value for the same, non-empty keys. Routings with more such cases win over
    routings with fewer.

    Parameters
    ----------
    table : ReportTable
    spec : config.Table
        Declares `table`.
    view : View
        The rows of `table`.
    headline : Headline
    baseline : str or None
        Used if the headline has none and the table shows it.
    place : str
        Prefix of messages: where the headline is declared.

    Raises
    ------
    InputError
        If the table does not show a routing of the headline, or the preferred direction of its
        value is unknown.
    """
    chosen = _value_of(spec, view, headline, place)
    if chosen is None or table.of in BENCHMARKS or table.counts:
        return None
    value, lower = chosen
    rows = _rows(table, spec, value, headline)
    relative = spec.relative
    shown = {routing for _, routing, _ in rows} | set(relative.routings if relative else ())
    if view.any_ok:
        _check_names(headline, shown - {""}, place)
    cells = _cells(rows, headline)
    proven = _proven(spec, view, value)
    measure = _measure(spec, value)
    if relative is not None and measure != "value":
        own = headline.baseline or (baseline if baseline in relative.routings else None)
        own = own or relative.routings[0]
        cells = {
            key: {**cell, own: Value(*_ONE)}
            for key, cell in cells.items()
            if dict(key).get(RELATIVE_TO, own) == own
        }
        return _best(cells, proven, headline, value, measure, lower, own)
    if headline.baseline is not None:
        return _best(cells, proven, headline, value, measure, lower, headline.baseline)
    own = relative.routings[0] if relative and len(relative.routings) == 1 else baseline
    if own is not None and any(own in cell for cell in cells.values()):
        return _best(cells, proven, headline, value, measure, lower, own)
    return _best_two(cells, proven, headline, value, lower)


def _value_of(
    spec: TableSpec, view: View, headline: Headline, place: str
) -> tuple[str, bool] | None:
    """Return the column to compare, and whether less is better."""
    names = [headline.value] if headline.value is not None else value_columns(spec)
    for name in names:
        direction = headline.better or _direction(spec, view, name)
        if direction:
            return name, direction == "lower"
    if headline.value is not None and view.any_ok:
        raise InputError(
            f"{place}whether more or less of {headline.value!r} is better is not known; add "
            "'better: lower' or 'better: higher'"
        )
    return None


def _direction(spec: TableSpec, view: View, name: str) -> str:
    if name.endswith(_NO_ORDER):
        return ""
    measure = _measure(spec, name)
    if measure in ("improvement", "gain"):
        return "higher"
    source = statistic_columns(spec).get(name, name)
    if measure == "ratio" and spec.relative is not None:
        source = spec.relative.column
    return view.better.get(source, "")


def _measure(spec: TableSpec, value: str) -> Measure:
    source = statistic_columns(spec).get(value, value)
    measures: dict[str, Measure] = {IMPROVEMENT: "improvement"}
    if spec.relative is not None:
        column = spec.relative.column
        measures |= {f"{column}_gain": "gain", f"{column}_ratio": "ratio"}
    return measures.get(source, "value") if spec.relative is not None else "value"


_Row = tuple[dict[str, str], str, Value | None]


def _rows(table: ReportTable, spec: TableSpec, value: str, headline: Headline) -> list[_Row]:
    """Return keys, routing and value of each row, or of each cell of a pivot."""
    by = _pivot_key(spec, value)
    only = headline.routings[0] if len(headline.routings) == 1 else ""
    columns = [one for one in table.with_role("value") if one.source == value]
    ends = {one.name: _ends(table, one.name) for one in columns}
    rows: list[_Row] = []
    for row in table.rows:
        for column in columns:
            keys = {one.name: key_text(row[one.name]) for one in table.with_role("row")}
            if by:
                keys[by] = column.by
            routing = keys.pop(ROUTING, only)
            number = row.get(column.name)
            if isinstance(number, int | float | np.number) and number == number:
                limits = [row.get(end) for end in ends[column.name]]
                low, high = (number if end is None or end != end else end for end in limits)
                rows.append((keys, routing, Value(float(number), float(low), float(high))))
            else:
                rows.append((keys, routing, None))
    return rows


def _pivot_key(spec: TableSpec, value: str) -> str | None:
    """Return the column whose names became columns, if a pivot shows the value."""
    return spec.pivot.by if spec.pivot is not None and value in spec.pivot.values else None


def _ends(table: ReportTable, value: str) -> tuple[str, str]:
    """Return the columns with the ends of a value's range; empty names if it has no range."""
    low, high = (
        next((one.name for one in table.columns if one.role == role and one.of == value), "")
        for role in ("low", "high")
    )
    return low, high


def _check_names(headline: Headline, shown: set[str], place: str) -> None:
    for name in (*headline.routings, *([headline.baseline] if headline.baseline else [])):
        if name not in shown:
            fix = did_you_mean(name, shown) or f"; it shows {', '.join(sorted(shown))}"
            raise InputError(f"{place}the table does not show routing {name!r}{fix}")


def _cells(rows: Iterable[_Row], headline: Headline) -> _Cells:
    """Return the values that `where` chooses, without groups that have an empty key."""
    full = [(keys, routing, value) for keys, routing, value in rows if value and routing]
    frame = pd.DataFrame([keys for keys, _, _ in full], index=range(len(full)))
    for column, condition in headline.where.items():
        if column in frame:
            frame = filter_rows(frame, frame[column], condition)
    cells: _Cells = {}
    for position in frame.index:
        keys, routing, value = full[position]
        if value is not None and "" not in keys.values():
            cells.setdefault(tuple(keys.items()), {})[routing] = value
    return cells


def _proven(spec: TableSpec, view: View, value: str) -> set[tuple[_Key, str]]:
    """Return the conditions and routings for which every run is proven free of deadlock."""
    frame = select_rows(spec, view, "")
    frame = frame[frame["status"] == OK]
    if "deadlock" not in frame:
        return set()
    by = _pivot_key(spec, value)
    keys = [key for key in (*spec.rows, by) if key not in (ROUTING, None)]
    columns = [[(key, key_text(one)) for one in frame[key]] for key in keys]
    verdicts: dict[tuple[_Key, str], bool] = {}
    for routing, verdict, *key in zip(frame[ROUTING], frame["deadlock"], *columns, strict=True):
        at = (tuple(key), str(routing))
        verdicts[at] = verdicts.get(at, True) and verdict == PROVEN
    return {at for at, proven in verdicts.items() if proven}


def _best(
    cells: _Cells,
    proven: set[tuple[_Key, str]],
    headline: Headline,
    value: str,
    measure: Measure,
    lower: bool,
    baseline: str,
) -> Comparison | None:
    """Compare the best of all routings, or of those that the headline names, with a baseline."""
    with_base = {key: cell for key, cell in cells.items() if baseline in cell}
    found = []
    for routing in _candidates(cells, headline):
        cases = tuple(
            Case(_conditions(key), cell[routing], cell[baseline])
            for key, cell in with_base.items()
            if routing in cell and (key, routing) in proven
        )
        if cases and routing != baseline:
            found.append(
                Comparison(value, measure, routing, baseline, False, cases, len(with_base))
            )
    return max(found, key=lambda one: (len(one.cases), _merit(one, lower)), default=None)


def _conditions(key: _Key) -> dict[str, str]:
    return {name: text for name, text in key if name != RELATIVE_TO}


def _merit(comparison: Comparison, lower: bool) -> float:
    ratios = comparison.ratios() if comparison.measure in ("value", "ratio") else None
    if ratios is None:
        mean = fmean(case.mine.number for case in comparison.cases)
        return -mean if lower else mean
    return -log(ratios[0]) if lower else log(ratios[0])


def _best_two(
    cells: _Cells, proven: set[tuple[_Key, str]], headline: Headline, value: str, lower: bool
) -> Comparison | None:
    """Compare the best routing with the next best one where both have values."""
    routings = list(dict.fromkeys(routing for cell in cells.values() for routing in cell))
    covered = {
        routing: {
            key for key, cell in cells.items() if routing in cell and (key, routing) in proven
        }
        for routing in routings
    }
    most = max(map(len, covered.values()), default=0)
    ranked = [routing for routing in routings if most and len(covered[routing]) == most]
    if len(ranked) < 2:
        return None
    common = set.intersection(*(covered[routing] for routing in ranked))
    keys = [key for key in cells if key in common]
    if not keys:
        return None
    logarithmic = all(cells[key][routing].number > 0 for key in keys for routing in ranked)

    def merit(routing: str) -> float:
        numbers = [cells[key][routing].number for key in keys]
        mean = fmean(map(log, numbers) if logarithmic else numbers)
        return -mean if lower else mean

    ranked.sort(key=merit, reverse=True)
    named = [routing for routing in ranked if routing in headline.routings] or ranked[:1]
    best = named[0]
    others = [one for one in ranked if one != best and one not in headline.routings]
    if not others:
        return None
    cases = tuple(Case(_conditions(key), cells[key][best], cells[key][others[0]]) for key in keys)
    is_next = ranked.index(others[0]) == ranked.index(best) + 1
    return Comparison(value, "value", best, others[0], is_next, cases, len(cells))


def _candidates(cells: _Cells, headline: Headline) -> Sequence[str]:
    every = dict.fromkeys(routing for cell in cells.values() for routing in cell)
    return [routing for routing in every if routing in headline.routings or not headline.routings]
