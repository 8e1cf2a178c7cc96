"""What a headline compares: a value of routings and of a baseline under the same conditions.

    conditions    sssp            bfs             case
    on 4          10 (9 to 12)    20 (20 to 24)   ratio 0.5 (9/24 to 12/20)
    on 4x2        30              40              ratio 0.75
    on 8          50              –               left out: bfs has no value

A column that is relative to the baseline (``max_load_ratio``, ``max_load_gain``,
``improvement_percent``) has the ratio in the row of the routing already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, isnan, log, nan
from statistics import fmean
from typing import NamedTuple, TypeGuard

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.report.page.compared_runs import ROUTING, Run, compared_runs, exclusion_reason
from routelab.report.rows.derivation import IMPROVEMENT, RELATIVE_TO
from routelab.report.rows.row_set import OK, RowSet, filter_rows, key_text
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.report.tables import select_rows
from routelab.study import Headline, Relative
from routelab.study import Table as TableSpec
from routelab.study.headline import statistic_columns

LEAST_DIFFERENCE = 0.05
"""Least difference in percent that counts as one: with one decimal, smaller ones are 0.0 %."""

Conditions = tuple[tuple[str, str], ...]
"""Texts of all columns that identify a row, except the routing, each with its column."""


class Value(NamedTuple):
    """A value, and the ends of its range over runs; both are the value if there is no range."""

    number: float
    low: float
    high: float


@dataclass(frozen=True)
class ComparedValue:
    """The column of a table that a headline compares.

    ::

        column        max_load_gain_mean    the column of the table
        source        max_load_gain         the same without its statistic
        relation      gain                  how the source is relative to the baseline
        run_column    max_load              the column of the runs that is compared
    """

    headline: Headline
    spec: TableSpec

    @property
    def column(self) -> str:
        """The column of the table."""
        return self.headline.value or ""

    @cached_property
    def source(self) -> str:
        """The column without its statistic: ``max_load_gain`` for ``max_load_gain_mean``."""
        return statistic_columns(self.spec).get(self.column, self.column)

    @cached_property
    def relation(self) -> str:
        """How the source is relative to a baseline: ``gain``, ``ratio`` or ``improvement``.

        Empty if its values are not relative.
        """
        if self.spec.relative is None:
            return ""
        # the columns that are made from the compared one, such as `max_load_gain`
        relations = {f"{self.spec.relative.column}_{name}": name for name in ("gain", "ratio")}
        return {IMPROVEMENT: "improvement", **relations}.get(self.source, "")

    @property
    def run_column(self) -> str:
        """The column of the runs that is compared: ``max_load``, also if the source is its gain."""
        if self.spec.relative and self.relation:
            return self.spec.relative.column
        # `names` has the columns of the runs to which the table gives other names
        return self.spec.names.get(self.source, self.source)

    @property
    def is_improvement(self) -> bool:
        """Whether it says by how much a routing is better, instead of higher or lower."""
        return self.relation == "improvement"

    @property
    def words(self) -> tuple[str, str]:
        """The words for less and more than the baseline."""
        return ("worse", "better") if self.is_improvement else ("lower", "higher")

    @property
    def baseline(self) -> str:
        """The routing to compare with."""
        relative = self.spec.relative
        return self.headline.baseline or (relative.routings[0] if relative else "")

    @cached_property
    def keys(self) -> list[str]:
        """The columns that identify a value, the routing included."""
        pivot = self.spec.pivot
        return [*self.spec.rows, *([pivot.by] if pivot and self.column in pivot.values else [])]

    def as_ratio(self, number: float) -> float:
        """Return a number of a relative column as the ratio of two values; others as they are.

        A gain of 20 % is the ratio 0.8, an improvement by 25 % is 1.25.
        """
        if self.relation == "gain":
            return 1 - number / 100
        if self.relation == "improvement":
            return 1 + number / 100
        return number


@dataclass(frozen=True)
class Case:
    """A routing and the baseline under the same conditions.

    Attributes
    ----------
    conditions : mapping of str to str
        Text of each condition, such as ``4x2``, by column.
    ratio, low, high : float
        Value of the routing relative to that of the baseline, and the ends of its range over the
        runs of both; NaN if one of the values is not positive.
    values : tuple of float
        Both values; empty if the column is relative to the baseline already.
    runs : sequence of Run
        The runs of both.
    """

    conditions: Mapping[str, str]
    ratio: float
    low: float
    high: float
    values: tuple[float, ...]
    runs: Sequence[Run]

    @property
    def sign(self) -> int:
        """1 if the value is higher, or better, than that of the baseline, −1 if lower, else 0."""
        if isnan(self.ratio):  # One of the values is not positive.
            routing_value, baseline_value = self.values
            return int(np.sign(routing_value - baseline_value))
        return 0 if abs(100 * (self.ratio - 1)) < LEAST_DIFFERENCE else int(np.sign(self.ratio - 1))


@dataclass(frozen=True)
class ComparedRouting:
    """A routing with its cases, and the reason for each case that is left out."""

    name: str
    cases: list[Case] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Geometric mean of the ratios, or the mean of the routing's values if a case has no ratio.

        It ranks routings that have the same number of cases.
        """
        if any(isnan(case.ratio) for case in self.cases):
            return fmean(case.values[0] for case in self.cases)
        # A gain of 100 % is a ratio of 0, which has no logarithm.
        return exp(fmean(log(max(case.ratio, 1e-9)) for case in self.cases))


def compare_routings(
    table: ReportTable, value: ComparedValue, row_set: RowSet, study_rows: StudyRows
) -> list[ComparedRouting]:
    """Return the cases of the headline's routings, or of all routings but the baseline.

    A case is left out, with the reason, if the routing or the baseline has no value under its
    conditions, if a run of the routing is not proven free of deadlock, or if a run of either is
    starved, blocked or unfinished.
    """
    baseline, values_by_routing = value.baseline, _select_values(table, value)
    runs = compared_runs(value.spec, value.keys, row_set, study_rows, value.run_column)
    baseline_values = values_by_routing.get(baseline, {})
    # Each routing should have a case under all conditions under which the baseline has a value. A
    # relative table has no rows of the baseline, but each value in it was computed with one of the
    # baseline's.
    all_conditions = set(baseline_values)
    if value.relation:
        all_conditions = all_conditions.union(*values_by_routing.values())

    compared = []
    for name in value.headline.routings or values_by_routing:
        if name == baseline:
            continue
        routing = ComparedRouting(name)
        values = values_by_routing.get(name, {})
        for conditions, routing_value in values.items():
            # Runs by routing and texts of the conditions; joined by number, so that none is twice.
            texts = [text for _, text in conditions]
            numbered_runs = runs.get((baseline, *texts), {}) | runs.get((name, *texts), {})
            # A table that is relative to another routing than the baseline has runs of it, too.
            case_runs = [run for run in numbered_runs.values() if run.routing in (name, baseline)]
            # The sentence names the baseline anyway, so it is not one of its conditions.
            shown = {column: text for column, text in conditions if column != RELATIVE_TO}
            if reason := exclusion_reason(case_runs, name):
                routing.left_out.append(reason)
            elif value.relation:
                # The value is the ratio already, with its range.
                routing.cases.append(Case(shown, *routing_value, values=(), runs=case_runs))
            elif baseline_value := baseline_values.get(conditions):
                ratios = _ratios(routing_value, baseline_value)
                numbers = routing_value.number, baseline_value.number
                routing.cases.append(Case(shown, *ratios, values=numbers, runs=case_runs))
            else:
                routing.left_out.append(f"{baseline} has no value")
        # the conditions under which this routing has no value, each with the same reason
        routing.left_out.extend([f"{name} has no value"] * len(all_conditions - values.keys()))
        compared.append(routing)
    return compared


def best_routing(
    compared: Sequence[ComparedRouting], value: ComparedValue, row_set: RowSet, place: str
) -> ComparedRouting:
    """Return the routing with the best mean among those with the most cases.

    Raises
    ------
    InputError
        If several routings have the most cases, and it is unknown whether lower is better.
    """
    most_cases = max(len(routing.cases) for routing in compared)
    finalists = [routing for routing in compared if len(routing.cases) == most_cases]
    if len(finalists) == 1:
        return finalists[0]
    # Their ratios are compared: a greater gain (a reduction) is a lower ratio, and a greater
    # improvement is a higher one.
    ratio_direction = {"gain": "lower", "improvement": "higher"}.get(value.relation)
    better = value.headline.better or ratio_direction or row_set.better.get(value.run_column)
    if not better:
        raise InputError(
            f"{place}whether more or less of {value.column!r} is better is not known; add "
            "'better: lower' or 'better: higher'"
        )
    best = min if better == "lower" else max
    return best(finalists, key=lambda routing: routing.mean)


def count_differing_pairs(
    value: ComparedValue, routing: ComparedRouting, row_set: RowSet
) -> tuple[int, int, int]:
    """Count the pairs of a run of the routing and a run of the baseline under equal conditions.

    Returns
    -------
    higher, lower, pairs : int
        Pairs in which the routing's value is higher, or better, those in which it is lower, and all
        pairs.
    """
    # The runs of the table, each compared with the baseline. If the values of the table are not
    # relative, the comparison is added here.
    relative = value.spec.relative if value.relation else None
    relative = relative or Relative(to=value.baseline, column=value.run_column)
    spec = value.spec.model_copy(update={"relative": relative})
    conditions = [case.conditions for case in routing.cases]
    signs = []
    for row in select_rows(spec, row_set, "").to_dict("records"):
        row_conditions = {key: key_text(row[key]) for key in conditions[0]}
        is_pair = (row[ROUTING], row[RELATIVE_TO]) == (routing.name, value.baseline)
        if row["status"] == OK and is_pair and row_conditions in conditions:
            ratio = row[f"{relative.column}_ratio"]
            difference = row[IMPROVEMENT] if value.is_improvement else ratio - 1
            # 9 decimals: values that differ in the last bits only are equal. So are two zeros,
            # whose ratio is NaN.
            signs.append(np.sign(np.round(np.nan_to_num(difference), 9)))
    return signs.count(1), signs.count(-1), len(signs)


def _select_values(table: ReportTable, value: ComparedValue) -> dict[str, dict[Conditions, Value]]:
    """Return the values that the headline selects, by routing and conditions."""
    # 1. The cells that hold a number: one in each row, or in a pivot one for each name. If the
    #    table does not name routings, all its rows are of the only routing of the headline.
    routings = value.headline.routings
    only_routing = routings[0] if len(routings) == 1 else ""
    cells: list[tuple[dict[str, str], str, Value]] = []
    for column in table.with_role("value"):
        if column.source != value.column:
            continue
        # the names of the columns of its range, by role: low and high
        range_columns = {
            other.role: other.name for other in table.columns if other.of == column.name
        }
        for row in table.rows:
            # The rows have all keys but that of a pivot, whose text is in the column (`by`).
            conditions = {key: key_text(row.get(key, column.by)) for key in value.keys}
            routing, number = conditions.pop(ROUTING, only_routing), row.get(column.name)
            # A row with an empty key cannot be compared: its conditions are not known.
            if routing and "" not in conditions.values() and _is_number(number):
                low, high = (row.get(range_columns.get(role, "")) for role in ("low", "high"))
                low = low if _is_number(low) else number
                high = high if _is_number(high) else number
                # The greatest gain is the least ratio: `min` and `max` put the ends in order.
                ratio, *ends = (value.as_ratio(float(end)) for end in (number, low, high))
                cells.append((conditions, routing, Value(ratio, min(ends), max(ends))))

    # 2. Those that the headline's conditions select (`where`), and of relative values those that
    #    are relative to the baseline.
    frame = pd.DataFrame([conditions for conditions, _, _ in cells], index=range(len(cells)))
    for name, condition in value.headline.where.items():
        if name in frame:
            frame = filter_rows(frame, frame[name], condition)
    values: dict[str, dict[Conditions, Value]] = {}
    for position in frame.index:
        conditions, routing, cell_value = cells[position]
        relative_to = conditions.get(RELATIVE_TO, value.baseline)
        if not value.relation or relative_to == value.baseline:
            values.setdefault(routing, {})[tuple(conditions.items())] = cell_value
    return values


def _is_number(value: object) -> TypeGuard[float]:
    # only NaN differs from itself
    return isinstance(value, int | float | np.number) and value == value


def _ratios(value: Value, base: Value) -> tuple[float, float, float]:
    """Return the ratio of two values, and the least and greatest ratio over their ranges.

    All are NaN if any of the numbers is 0 or negative.
    """
    if min(*value, *base) <= 0:
        return nan, nan, nan
    return value.number / base.number, value.low / base.high, value.high / base.low
