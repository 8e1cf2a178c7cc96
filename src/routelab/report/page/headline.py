"""The sentence that answers the question of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import TypeGuard

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.api.verdicts import PROVEN
from routelab.artifacts.losses import Loss
from routelab.config import Between, Headline, Study
from routelab.config import Table as TableSpec
from routelab.config.headline import statistic_columns
from routelab.config.views import BENCHMARKS
from routelab.registry.suggest import did_you_mean
from routelab.report.frames.derivation import IMPROVEMENT, RELATIVE_TO
from routelab.report.frames.view import OK, View, filter_rows, key_text
from routelab.report.frames.views import Views
from routelab.report.labels import STATISTIC_LABELS, heading_parts, number_text
from routelab.report.page.benchmark_summary import benchmark_sentences
from routelab.report.page.missing import BOUND, as_sentence, incomplete
from routelab.report.page.summary import proof_sentence, runs_sentences
from routelab.report.table import ReportTable
from routelab.report.tables import select_rows

ROUTING = "routing"
SMALLEST = 0.05
"""Largest difference in percent that counts as none."""

_NOUNS = {
    "topology": "network",
    "dims": "network",
    "nodes": "network size",
    "dimensions": "number of dimensions",
    "traffic": "traffic pattern",
    "workload": "workload",
    "benchmark": "benchmark",
}
"""Nouns for the values of a column."""

_PLACES = {"topology": "on", "dims": "on", "traffic": "under", "workload": "in", "benchmark": "in"}
"""Prepositions before the value of a column."""

_Keys = Mapping[str, str]
_Row = tuple[_Keys, str, tuple[float, float, float]]
"""Conditions, routing, and value with the ends of its range."""


@dataclass(frozen=True)
class Answer:
    """The answer to the question of a study.

    Attributes
    ----------
    sentence : str
    table : str
        Name of the table that proves it; empty if none does.
    routings : tuple of str
        The routings that it compares, the baseline last.
    """

    sentence: str
    table: str = ""
    routings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A routing and the baseline under the same conditions.

    Attributes
    ----------
    keys : mapping of str
        The conditions: texts of all columns that identify the row, except the routing.
    ratio, low, high : float
        Value of the routing relative to that of the baseline, and the ends of its range over the
        runs of both; NaN if the baseline's value is not positive.
    values : tuple of float
        Both values; empty if the column is relative to the baseline already.
    """

    keys: _Keys
    ratio: float
    low: float
    high: float
    values: tuple[float, ...] = ()


def find_answer(
    study: Study,
    views: Views,
    tables: Sequence[tuple[ReportTable, View]],
    losses: Sequence[Loss] = (),
) -> Answer:
    """Return the first of these that exists.

    1. the comparison that the headline declares, or that of a table of measurements, with a
       reservation if results of its kind are missing;
    2. the most serious loss of any kind of result except bounds;
    3. the number of tables proven free of deadlock;
    4. the number of runs and their outcomes.

    Raises
    ------
    InputError
        If the headline names a routing that its table does not show, or if the better direction of
        its value is needed and unknown.
    """
    headline = study.headline
    named = headline.table or (tables[0][0].name if headline.value and tables else "")
    for table, view in tables:
        if named and table.name != named:
            continue
        if table.of in BENCHMARKS:
            sentences = benchmark_sentences(views.merits, incomplete(views.merits, views))
            if sentences:
                return Answer(sentences[0], table.name)
        elif headline.value is not None:
            spec = study.tables[table.name]
            answer = _compare(table, spec, view, headline, study.place("headline"))
            if answer is not None:
                text, reservation = answer.sentence, incomplete(view, views)
                text = f"{reservation}{text[0].lower()}{text[1:]}" if reservation else text
                return Answer(text, answer.table, answer.routings)
    for loss in losses:
        if loss.is_alarm and loss.noun != BOUND:
            return Answer(as_sentence(loss.sentence))
    return Answer([*runs_sentences(views), *proof_sentence(views.routes)][-1])


def _compare(
    table: ReportTable, spec: TableSpec, view: View, headline: Headline, place: str
) -> Answer | None:
    """Compare the best of the headline's routings with its baseline.

    A routing is compared only where all its runs are proven free of deadlock and the baseline has
    a value. A routing with more such cases wins over one with fewer.
    """
    value = headline.value or ""
    relative = spec.relative
    baseline = headline.baseline or (relative.routings[0] if relative else "")
    rows = _rows(table, spec, headline)
    if view.any_ok:
        shown = {routing for _, routing, _ in rows} | set(relative.routings if relative else ())
        for name in (*headline.routings, baseline):
            if name not in shown:
                fix = did_you_mean(name, shown) or f"; it shows {', '.join(sorted(shown))}"
                raise InputError(f"{place}the table does not show routing {name!r}{fix}")
    source = statistic_columns(spec).get(value, value)
    relation = _relation(spec, source)
    cases, total = _cases(_chosen(rows, headline), _proven(spec, view, value), relation, baseline)
    wanted = {name: found for name, found in cases.items() if name in headline.routings}
    cases = wanted if headline.routings else cases
    if not cases:
        return None
    most = max(map(len, cases.values()))
    cases = {name: found for name, found in cases.items() if len(found) == most}
    routing = next(iter(cases))
    if len(cases) > 1:
        lower = _is_lower_better(headline, spec, view, source, place)
        routing = min(cases, key=lambda name: _mean(cases[name]) * (1 if lower else -1))
    name = headline.name or _value_name(spec, value, source)
    text = _sentence(cases[routing], total, spec, headline, (name, routing, baseline))
    return Answer(text, table.name, (routing, baseline))


def _rows(table: ReportTable, spec: TableSpec, headline: Headline) -> list[_Row]:
    """Return each row, or each cell of a pivot, that has a value."""
    by = _pivot_key(spec, headline.value)
    only = headline.routings[0] if len(headline.routings) == 1 else ""
    rows: list[_Row] = []
    for column in table.with_role("value"):
        if column.source != headline.value:
            continue
        ends = {one.role: one.name for one in table.columns if one.of == column.name}
        for row in table.rows:
            keys = {one.name: key_text(row[one.name]) for one in table.with_role("row")}
            if by:
                keys[by] = column.by
            routing = keys.pop(ROUTING, only)
            number = row.get(column.name)
            # a group without one of the keys is no condition
            if routing and "" not in keys.values() and _is_number(number):
                limits = [row.get(ends.get(role, "")) for role in ("low", "high")]
                low, high = (end if _is_number(end) else number for end in limits)
                rows.append((keys, routing, (float(number), float(low), float(high))))
    return rows


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and value == value


def _pivot_key(spec: TableSpec, value: str | None) -> str | None:
    """Return the column whose names became columns, if a pivot shows the value."""
    return spec.pivot.by if spec.pivot is not None and value in spec.pivot.values else None


def _chosen(rows: Sequence[_Row], headline: Headline) -> list[_Row]:
    frame = pd.DataFrame([keys for keys, _, _ in rows], index=range(len(rows)))
    for column, condition in headline.where.items():
        if column in frame:
            frame = filter_rows(frame, frame[column], condition)
    return [rows[position] for position in frame.index]


def _proven(spec: TableSpec, view: View, value: str) -> set[tuple[str, ...]]:
    """Return routing and conditions for which every run is proven free of deadlock."""
    frame = select_rows(spec, view, "")
    frame = frame[frame["status"] == OK]
    if "deadlock" not in frame:
        return set()
    keys = [key for key in (*spec.rows, _pivot_key(spec, value)) if key not in (ROUTING, None)]
    columns = [map(key_text, frame[key]) for key in keys]
    verdicts: dict[tuple[str, ...], bool] = {}
    for verdict, *at in zip(frame["deadlock"], frame[ROUTING], *columns, strict=True):
        verdicts[tuple(at)] = verdicts.get(tuple(at), True) and verdict in PROVEN
    return {at for at, proven in verdicts.items() if proven}


def _cases(
    rows: Sequence[_Row], proven: set[tuple[str, ...]], relation: str, baseline: str
) -> tuple[dict[str, list[Case]], int]:
    """Return the cases of every routing, and the number of conditions with a baseline."""
    base = {tuple(keys.items()): value for keys, routing, value in rows if routing == baseline}
    cases: dict[str, list[Case]] = {}
    conditions = set()
    for keys, routing, value in rows:
        at = tuple(keys.items())
        shown = {name: text for name, text in keys.items() if name != RELATIVE_TO}
        if relation and keys.get(RELATIVE_TO, baseline) == baseline:
            ratio, *ends = (_as_ratio(one, relation) for one in value)
            case = Case(shown, ratio, min(ends), max(ends))
        elif not relation and at in base:
            case = Case(shown, *_ratios(value, base[at]), (value[0], base[at][0]))
        else:
            continue
        conditions.add(at)
        if routing != baseline and (routing, *keys.values()) in proven:
            cases.setdefault(routing, []).append(case)
    return cases, len(conditions)


def _relation(spec: TableSpec, source: str) -> str:
    """Return how a column is relative to a baseline; empty if it is not."""
    if spec.relative is None:
        return ""
    names = {IMPROVEMENT: "improvement"}
    names |= {f"{spec.relative.column}_{one}": one for one in ("gain", "ratio")}
    return names.get(source, "")


def _as_ratio(number: float, relation: str) -> float:
    if relation == "ratio":
        return number
    return 1 + number / 100 if relation == "improvement" else 1 - number / 100


def _ratios(
    mine: tuple[float, float, float], base: tuple[float, float, float]
) -> tuple[float, float, float]:
    if min(*mine, *base) <= 0:
        return np.nan, np.nan, np.nan
    return mine[0] / base[0], mine[1] / base[2], mine[2] / base[1]


def _mean(cases: Sequence[Case]) -> float:
    """Return the geometric mean of the ratios, or the mean of the values if one has no ratio."""
    if any(np.isnan(case.ratio) for case in cases):
        return fmean(case.values[0] for case in cases)
    return exp(fmean(log(max(case.ratio, 1e-9)) for case in cases))


def _is_lower_better(
    headline: Headline, spec: TableSpec, view: View, source: str, place: str
) -> bool:
    relation = _relation(spec, source)
    column = spec.relative.column if spec.relative and relation == "ratio" else source
    # ratios of gains are those of values, of which less is better
    known = {"gain": "lower", "improvement": "higher"}.get(relation) or view.better.get(column)
    better = headline.better or known
    if not better:
        raise InputError(
            f"{place}whether more or less of {headline.value!r} is better is not known; add "
            "'better: lower' or 'better: higher'"
        )
    return better == "lower"


def _sentence(
    cases: Sequence[Case],
    total: int,
    spec: TableSpec,
    headline: Headline,
    words: tuple[str, str, str],
) -> str:
    """Return a comparison as a sentence that is true alone: conditions, values and range."""
    name, routing, baseline = words
    value = headline.value or ""
    where = _where(cases, spec)
    over = _over(cases, total, spec.of)
    source = statistic_columns(spec).get(value, value)
    improves = _relation(spec, source) == "improvement"
    verb = f"{routing} is" if improves else f"the {name} of {routing} is"
    values = zip(*(case.values for case in cases), strict=True)
    numbers = [number_text(value, fmean(one)) for one in values]
    if any(np.isnan(case.ratio) for case in cases):
        text = f"{verb} {numbers[0]}, that of {baseline} is {numbers[1]}"
        text += f" (means over {over})" if len(cases) > 1 else ""
    else:
        low, high = min(case.low for case in cases), max(case.high for case in cases)
        how, spread = _difference(_mean(cases), low, high, improves)
        if any(case.low < case.high for case in cases):
            spread += " over all runs"
        than = f"{baseline} in {name}" if improves else f"that of {baseline}"
        if len(cases) > 1:
            text = f"{verb} {how} {than} (geometric mean over {over}; {spread})"
        else:
            if numbers:
                verb, than = f"{verb} {numbers[0]},", f"the {numbers[1]} of {baseline}"
            text = f"{verb} {how} {than}" + (f" ({spread})" if low < high else "")
    text = f"{where}, {text}" if where else text
    return f"{text[0].upper() if where or not improves else text[0]}{text[1:]}."


def _difference(mean: float, low: float, high: float, improves: bool) -> tuple[str, str]:
    """Return a ratio and its range: percentages, or factors if one is 2 or more."""
    if high >= 2 and not improves:
        how = f"{two_digits(mean)} times" if two_digits(mean) != "1" else "about equal to"
        return how, f"{_range(two_digits(low), two_digits(high))} times"
    less, more = ("worse", "better") if improves else ("lower", "higher")
    percent, least, greatest = (100 * (one - 1) for one in (mean, low, high))
    how = f"{size_text(percent)} {more if percent > 0 else less} than"
    if abs(percent) < SMALLEST:
        how = "as good as" if improves else "equal to"
    if max(abs(least), abs(greatest)) < SMALLEST:
        return how, "no difference in any"
    if greatest < SMALLEST:
        return how, f"{_range(size_text(greatest), size_text(least))} {less}"
    if least > -SMALLEST:
        return how, f"{_range(size_text(least), size_text(greatest))} {more}"
    return how, f"{size_text(least)} {less} to {size_text(greatest)} {more}"


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def size_text(percent: float) -> str:
    """Return the size of a difference with two significant digits, and at most one decimal."""
    size = abs(percent)
    if size < SMALLEST:
        return "0 %"
    return f"{two_digits(size if size >= 1 else round(size, 1))} %"


def two_digits(number: float) -> str:
    """Return a number with at most two significant digits, without an exponent."""
    return f"{float(f'{number:.2g}'):.10g}"


def _value_name(spec: TableSpec, value: str, source: str) -> str:
    """Return words for a value: the heading of its column without the unit."""
    if spec.relative is not None and _relation(spec, source):
        return _heading(spec.relative.column, spec.of)
    if source == value:
        return _heading(value, spec.of)
    statistic = STATISTIC_LABELS[value.removeprefix(f"{source}_")]
    return f"{statistic} {_heading(source, spec.of)}"


def _heading(column: str, of: str) -> str:
    return heading_parts(column, of)[0]


def _where(cases: Sequence[Case], spec: TableSpec) -> str:
    """Return the conditions that all cases share, as a phrase."""
    constant = {
        key: key_text(value)
        for key, value in spec.where.items()
        if key in (*_PLACES, "nodes", "load") and not isinstance(value, list | Between)
    }
    first = cases[0].keys
    constant |= {
        key: text for key, text in first.items() if all(case.keys[key] == text for case in cases)
    }
    return ", ".join(_condition(key, text, spec.of) for key, text in constant.items())


def _condition(key: str, text: str, of: str) -> str:
    if key == "nodes":
        return f"on {text} nodes"
    if key in _PLACES:
        return f"{_PLACES[key]} {text}"
    return f"{'at' if text[0].isdigit() else 'with'} {_heading(key, of)} {text}"


def _over(cases: Sequence[Case], total: int, of: str) -> str:
    """Return the number of cases in words: ``4 networks``, ``9 combinations of …``."""
    number = f"{len(cases)} of {total}" if total > len(cases) else f"{len(cases)}"
    first = cases[0].keys
    keys = [key for key in first if any(case.keys[key] != first[key] for case in cases)]
    for key in keys:
        if len({case.keys[key] for case in cases}) == len(cases):
            noun, _, rest = _NOUNS.get(key, f"value of {_heading(key, of)}").partition(" of ")
            return f"{number} {noun}s{f' of {rest}' if rest else ''}"
    nouns = [_NOUNS.get(key, _heading(key, of)) for key in keys]
    return f"{number} combinations of {' and '.join(nouns)}"
