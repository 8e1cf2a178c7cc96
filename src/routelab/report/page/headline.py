"""The sentence that answers the question of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import TypeGuard

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.report.labels import STATISTIC_LABELS, heading_parts, number_text
from routelab.report.page.benchmark_summary import benchmark_sentences
from routelab.report.page.compared_runs import (
    ROUTING,
    Run,
    compared_runs,
    problem_of,
    states_text,
    unproven_text,
)
from routelab.report.page.missing_rows import BOUND, as_sentence, proviso_text
from routelab.report.page.summary import proof_sentence, runs_sentences
from routelab.report.rows.derivation import IMPROVEMENT, RELATIVE_TO
from routelab.report.rows.row_set import OK, RowSet, filter_rows, key_text
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.report.tables import select_rows
from routelab.results.missing_results import MissingResult
from routelab.study import Between, Headline, Relative, Study
from routelab.study import Table as TableSpec
from routelab.study.headline import statistic_columns
from routelab.study.views import BENCHMARKS

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

_AVERAGES = {"mean": " on average", "median": " in the median"}
"""Words for statistics of comparisons."""

_Keys = Mapping[str, str]
_At = tuple[tuple[str, str], ...]
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
    runs : sequence of tuple
        The runs of both.
    """

    keys: _Keys
    ratio: float
    low: float
    high: float
    values: tuple[float, ...] = ()
    runs: Sequence[Run] = ()


def find_answer(
    study: Study,
    study_rows: StudyRows,
    tables: Sequence[tuple[ReportTable, RowSet]],
    losses: Sequence[MissingResult] = (),
) -> Answer:
    """Return the first of these that exists.

    1. the comparison that the headline declares, or that of a table of measurements, with a
       proviso if results of its kind are missing; if runs have values, but none that can be
       compared, the reason;
    2. the most serious loss of any kind of result except bounds;
    3. the number of tables proven free of deadlock;
    4. the number of runs and their outcomes.

    Raises
    ------
    InputError
        If the better direction of the headline's value is needed and unknown.
    """
    headline = study.headline
    loss_sentences = [
        as_sentence(loss.sentence) for loss in losses if loss.is_alarm and loss.noun != BOUND
    ]
    table_name = headline.table or (tables[0][0].name if headline.value and tables else "")
    for table, row_set in tables:
        if table_name and table.name != table_name:
            continue
        if table.of in BENCHMARKS:
            sentences = benchmark_sentences(
                study_rows.merits, proviso_text(study_rows.merits, study_rows)
            )
            if sentences:
                return Answer(sentences[0], table.name)
        elif headline.value is not None:
            spec = study.tables[table.name]
            answer = _compare(table, spec, row_set, study_rows, headline, study.place("headline"))
            if answer.sentence or not loss_sentences:
                text, proviso = answer.sentence, proviso_text(row_set, study_rows)
                text = text or f"Table {table.name!r} has no values of two routings to compare."
                text = f"{proviso}{text[0].lower()}{text[1:]}" if proviso else text
                return Answer(text, answer.table, answer.routings)
    if loss_sentences:
        return Answer(loss_sentences[0])
    return Answer([*runs_sentences(study_rows), *proof_sentence(study_rows.routes)][-1])


def _compare(
    table: ReportTable,
    spec: TableSpec,
    row_set: RowSet,
    study_rows: StudyRows,
    headline: Headline,
    place: str,
) -> Answer:
    """Compare the best of the headline's routings with its baseline.

    A routing is compared only where the baseline has a value, all runs of the routing are proven
    free of deadlock, and no run of either is starved, blocked or unfinished. A routing with more
    such cases wins over one with fewer. Without any, the sentence is the reason, or empty if values
    are missing.
    """
    value = headline.value or ""
    relative = spec.relative
    baseline = headline.baseline or (relative.routings[0] if relative else "")
    source = statistic_columns(spec).get(value, value)
    keys = [key for key in (*spec.rows, _pivot_key(spec, value)) if key not in (ROUTING, None)]
    runs = compared_runs(spec, keys, row_set, study_rows, spec.names.get(source, source))
    relation = _relation(spec, source)
    rows = _chosen(_rows(table, spec, headline), headline)
    cases, reasons_of = _cases(rows, runs, relation, baseline, headline.routings)
    candidates = headline.routings or list(reasons_of)
    cases = {name: cases[name] for name in candidates if name in cases}
    name = headline.name or _value_name(spec, value, source)
    if not cases:
        reasons: Counter[str] = Counter()
        for candidate in candidates:
            reasons |= Counter(reasons_of[candidate])
        total = max((len(reasons_of[candidate]) for candidate in candidates), default=0)
        if not total:
            return Answer("")
        cases_of = {text: f" in {count} of {total} cases" for text, count in reasons.items()}
        reason = "; ".join(text + (share if total > 1 else "") for text, share in cases_of.items())
        subject = (
            f"{' and '.join(headline.routings)} cannot" if headline.routings else "no routing can"
        )
        return Answer(f"The {name} of {subject} be compared with that of {baseline}: {reason}.")
    most_cases = max(map(len, cases.values()))
    cases = {
        candidate: routing_cases
        for candidate, routing_cases in cases.items()
        if len(routing_cases) == most_cases
    }
    routing = next(iter(cases))
    if len(cases) > 1:
        lower = _is_lower_better(headline, spec, row_set, source, place)
        routing = min(cases, key=lambda name: _mean(cases[name]) * (1 if lower else -1))
    best = cases[routing]
    text = _sentence(best, spec, headline, (name, routing, baseline))
    if value != source or "mean" in spec.over.values():
        text += _pairs(spec, row_set, source, best, (routing, baseline))
    text += unproven_text(baseline, [case.runs for case in best])
    text += states_text([run for case in best for run in case.runs])
    text += _left_out_text(reasons_of[routing], len(best))
    return Answer(f"{text}.", table.name, (routing, baseline))


def _left_out_text(reasons: Sequence[str], compared: int) -> str:
    total = compared + len(reasons)
    parts = [
        f"{count} of {total} cases, where {reason}" for reason, count in Counter(reasons).items()
    ]
    return f"; left out: {'; '.join(parts)}" if parts else ""


def _pairs(
    spec: TableSpec, row_set: RowSet, source: str, cases: Sequence[Case], names: tuple[str, str]
) -> str:
    """Return in how many pairs of runs a value is higher and lower, if a statistic mixes both."""
    relation, column = _relation(spec, source), spec.names.get(source, source)
    if not relation:
        relative = Relative(to=names[1], column=column)
        spec = spec.model_copy(update={"relative": relative})
    case_keys = [case.keys for case in cases]
    signs: Counter[int] = Counter()
    for row in select_rows(spec, row_set, "").to_dict("records"):
        at = {key: key_text(row[key]) for key in cases[0].keys}
        if row["status"] == OK and (row[ROUTING], row[RELATIVE_TO]) == names and at in case_keys:
            if relation:
                more = _as_ratio(row[column], relation) - 1
            else:
                more = row[column] - row[f"{column}_reference"]
            signs[int(np.sign(np.round(np.nan_to_num(more), 9)))] += 1
    if not (signs[1] and signs[-1]):
        return ""
    lower, higher = _comparison_words(relation == "improvement")
    total = signs.total()
    return f"; {higher} in {signs[1]} and {lower} in {signs[-1]} of {total} pairs of runs"


def _comparison_words(improves: bool) -> tuple[str, str]:
    return ("worse", "better") if improves else ("lower", "higher")


def _rows(table: ReportTable, spec: TableSpec, headline: Headline) -> list[_Row]:
    """Return each row, or each cell of a pivot, that has a value."""
    by = _pivot_key(spec, headline.value)
    single_routing = headline.routings[0] if len(headline.routings) == 1 else ""
    rows: list[_Row] = []
    for column in table.with_role("value"):
        if column.source != headline.value:
            continue
        ends = {
            report_column.role: report_column.name
            for report_column in table.columns
            if report_column.of == column.name
        }
        for row in table.rows:
            keys = {
                report_column.name: key_text(row[report_column.name])
                for report_column in table.with_role("row")
            }
            if by:
                keys[by] = column.by
            routing = keys.pop(ROUTING, single_routing)
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


def _cases(
    rows: Sequence[_Row],
    runs: Mapping[tuple[str, ...], Mapping[int, Run]],
    relation: str,
    baseline: str,
    declared: Sequence[str],
) -> tuple[dict[str, list[Case]], dict[str, list[str]]]:
    """Return the cases of every routing, and why others, also of `declared`, are left out."""
    base = {tuple(keys.items()): value for keys, routing, value in rows if routing == baseline}
    cases: dict[str, list[Case]] = {}
    reasons_of: dict[str, list[str]] = {}
    conditions_of: dict[str, set[_At]] = {}
    for keys, routing, value in rows:
        at = tuple(keys.items())
        if relation and keys.get(RELATIVE_TO, baseline) != baseline:
            continue
        conditions_of.setdefault(routing, set()).add(at)
        if routing == baseline:
            continue
        case_runs = {
            **runs.get((baseline, *keys.values()), {}),
            **runs.get((routing, *keys.values()), {}),
        }
        pair_runs = [run for run in case_runs.values() if run[0] in (routing, baseline)]
        case_keys = {name: text for name, text in keys.items() if name != RELATIVE_TO}
        if problem := problem_of(pair_runs, routing):
            reasons_of.setdefault(routing, []).append(problem)
        elif relation:
            ratio, *ends = (_as_ratio(end, relation) for end in value)
            case = Case(case_keys, ratio, min(ends), max(ends), runs=pair_runs)
            cases.setdefault(routing, []).append(case)
        elif at in base:
            values = (value[0], base[at][0])
            case = Case(case_keys, *_ratios(value, base[at]), values, pair_runs)
            cases.setdefault(routing, []).append(case)
        else:
            reasons_of.setdefault(routing, []).append(f"{baseline} has no value")
    conditions = set[_At]().union(*conditions_of.values()) if relation else base.keys()
    for routing in dict.fromkeys([*cases, *reasons_of, *declared]):
        lacks = len(conditions - conditions_of.get(routing, set()))
        reasons_of.setdefault(routing, []).extend([f"{routing} has no value"] * lacks)
    return cases, reasons_of


def _relation(spec: TableSpec, source: str) -> str:
    """Return how a column is relative to a baseline; empty if it is not."""
    if spec.relative is None:
        return ""
    names = {IMPROVEMENT: "improvement"}
    names |= {f"{spec.relative.column}_{ending}": ending for ending in ("gain", "ratio")}
    return names.get(source, "")


def _as_ratio(number: float, relation: str) -> float:
    if relation == "ratio":
        return number
    return 1 + number / 100 if relation == "improvement" else 1 - number / 100


def _ratios(
    value: tuple[float, float, float], base: tuple[float, float, float]
) -> tuple[float, float, float]:
    if min(*value, *base) <= 0:
        return np.nan, np.nan, np.nan
    return value[0] / base[0], value[1] / base[2], value[2] / base[1]


def _mean(cases: Sequence[Case]) -> float:
    """Return the geometric mean of the ratios, or the mean of the values if one has no ratio."""
    if any(np.isnan(case.ratio) for case in cases):
        return fmean(case.values[0] for case in cases)
    return exp(fmean(log(max(case.ratio, 1e-9)) for case in cases))


def _is_lower_better(
    headline: Headline, spec: TableSpec, row_set: RowSet, source: str, place: str
) -> bool:
    """Return whether lower values of the column `source` are better; refuse it if unknown."""
    relation = _relation(spec, source)
    column = spec.relative.column if spec.relative and relation == "ratio" else source
    # ratios of gains are those of values, of which less is better
    declared = {"gain": "lower", "improvement": "higher"}.get(relation) or row_set.better.get(
        column
    )
    better = headline.better or declared
    if not better:
        raise InputError(
            f"{place}whether more or less of {headline.value!r} is better is not known; add "
            "'better: lower' or 'better: higher'"
        )
    return better == "lower"


def _sentence(
    cases: Sequence[Case],
    spec: TableSpec,
    headline: Headline,
    words: tuple[str, str, str],
) -> str:
    """Return a comparison as a sentence that is true alone: conditions, values and range."""
    name, routing, baseline = words
    if spec.relative is not None and spec.relative.median:
        baseline = f"the median of {baseline}"
    value = headline.value or ""
    where = _shared_conditions(cases, spec)
    over = _cases_text(cases, spec.of)
    source = statistic_columns(spec).get(value, value)
    improves = _relation(spec, source) == "improvement"
    verb = f"{routing} is" if improves else f"the {name} of {routing} is"
    # the other names of statistics say so themselves
    if _relation(spec, source):
        verb += _AVERAGES.get(value.removeprefix(f"{source}_"), "")
    values = zip(*(case.values for case in cases), strict=True)
    numbers = [number_text(value, fmean(side_values)) for side_values in values]
    signs = [_sign(case) for case in cases]
    than = f"{baseline} in {name}" if improves else f"that of {baseline}"
    if 1 in signs and -1 in signs:
        text = f"{verb} {_wins_and_losses(cases, signs, than, improves)} of {over}"
    elif any(np.isnan(case.ratio) for case in cases):
        text = f"{verb} {numbers[0]}, that of {baseline} is {numbers[1]}"
        text += f" (means over {over})" if len(cases) > 1 else ""
    else:
        low, high = min(case.low for case in cases), max(case.high for case in cases)
        relation_text, spread = _difference(_mean(cases), low, high, improves)
        if any(case.low < case.high for case in cases):
            spread += " over all runs"
        if len(cases) > 1:
            text = f"{verb} {relation_text} {than} (geometric mean over {over}; {spread})"
        else:
            if numbers:
                verb, than = f"{verb} {numbers[0]},", f"the {numbers[1]} of {baseline}"
            text = f"{verb} {relation_text} {than}" + (f" ({spread})" if low < high else "")
    text = f"{where}, {text}" if where else text
    return f"{text[0].upper() if where or not improves else text[0]}{text[1:]}"


def _sign(case: Case) -> int:
    """Return 1 if the value is higher, or better, than that of the baseline, and -1 if lower."""
    if np.isnan(case.ratio):
        return int(np.sign(case.values[0] - case.values[1]))
    return 0 if abs(100 * (case.ratio - 1)) < SMALLEST else int(np.sign(case.ratio - 1))


def _wins_and_losses(cases: Sequence[Case], signs: Sequence[int], than: str, improves: bool) -> str:
    """Return in how many cases a value is higher and lower, and by how much at most."""
    less, more = _comparison_words(improves)
    parts = []
    as_factor = any(case.high >= 2 for case in cases) and not improves
    for sign, word in ((1, f"{more} than {than}"), (-1, less)):
        ratios = [
            end
            for case, case_sign in zip(cases, signs, strict=True)
            if case_sign == sign
            for end in (case.low, case.high)
        ]
        extreme_ratio = max(ratios) if sign > 0 else min(ratios)
        extreme = f"{'up' if sign > 0 else 'down'} to {two_digits(extreme_ratio)} times"
        extreme = extreme if as_factor else f"by up to {size_text(100 * (extreme_ratio - 1))}"
        ratio_text = "" if np.isnan(ratios).any() else f" ({extreme})"
        parts.append(f"{word} in {signs.count(sign)}{ratio_text}")
    parts += [f"equal in {signs.count(0)}"] if 0 in signs else []
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _difference(mean: float, low: float, high: float, improves: bool) -> tuple[str, str]:
    """Return a ratio and its range: percentages, or factors if one is 2 or more."""
    if high >= 2 and not improves:
        relation_text = f"{two_digits(mean)} times" if two_digits(mean) != "1" else "about equal to"
        return relation_text, f"{_range(two_digits(low), two_digits(high))} times"
    less, more = _comparison_words(improves)
    percent, least, greatest = (100 * (factor - 1) for factor in (mean, low, high))
    relation_text = f"{size_text(percent)} {more if percent > 0 else less} than"
    if abs(percent) < SMALLEST:
        relation_text = "as good as" if improves else "equal to"
    if max(abs(least), abs(greatest)) < SMALLEST:
        return relation_text, "no difference in any"
    if greatest < SMALLEST:
        return relation_text, f"{_range(size_text(greatest), size_text(least))} {less}"
    if least > -SMALLEST:
        return relation_text, f"{_range(size_text(least), size_text(greatest))} {more}"
    return relation_text, f"{size_text(least)} {less} to {size_text(greatest)} {more}"


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


def _shared_conditions(cases: Sequence[Case], spec: TableSpec) -> str:
    """Return the conditions that all cases share, as a phrase."""
    constant = {
        key: key_text(value)
        for key, value in spec.where.items()
        if key in (*_PLACES, "nodes", "load") and not isinstance(value, list | Between)
    }
    first_keys = cases[0].keys
    constant |= {
        key: text
        for key, text in first_keys.items()
        if all(case.keys[key] == text for case in cases)
    }
    return ", ".join(_condition(key, text, spec.of) for key, text in constant.items())


def _condition(key: str, text: str, of: str) -> str:
    if key == "nodes":
        return f"on {text} nodes"
    if key in _PLACES:
        return f"{_PLACES[key]} {text}"
    return f"{'at' if text[0].isdigit() else 'with'} {_heading(key, of)} {text}"


def _cases_text(cases: Sequence[Case], of: str) -> str:
    """Return the number of cases in words: ``4 networks``, ``9 combinations of …``."""
    first_keys = cases[0].keys
    keys = [key for key in first_keys if any(case.keys[key] != first_keys[key] for case in cases)]
    for key in keys:
        if len({case.keys[key] for case in cases}) == len(cases):
            noun, _, qualifier = _NOUNS.get(key, f"value of {_heading(key, of)}").partition(" of ")
            return f"{len(cases)} {noun}s{f' of {qualifier}' if qualifier else ''}"
    nouns = [_NOUNS.get(key, _heading(key, of)) for key in keys]
    return f"{len(cases)} combinations of {' and '.join(nouns)}"
