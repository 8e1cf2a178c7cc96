"""The sentence that answers the question of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from routelab.artifacts.losses import Loss
from routelab.config import Between, Headline, Study
from routelab.config import Table as TableSpec
from routelab.config.headline import statistic_columns
from routelab.config.views import BENCHMARKS
from routelab.report.frames.view import View, key_text
from routelab.report.frames.views import Views
from routelab.report.labels import STATISTIC_LABELS, heading_parts, number_text
from routelab.report.page.benchmark_summary import benchmark_sentences
from routelab.report.page.comparison import (
    Case,
    Comparison,
    declared_baseline,
    find_comparison,
)
from routelab.report.page.missing import BOUND, absent_kinds, as_sentence, incomplete
from routelab.report.page.summary import proof_sentence, runs_sentences
from routelab.report.table import ReportTable

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

SMALLEST = 0.05
"""Largest difference in percent that counts as none."""


@dataclass(frozen=True)
class Answer:
    """The answer to the question of a study.

    Attributes
    ----------
    sentence : str
    table : str
        Name of the table that proves it; empty if none does.
    comparison : Comparison or None
        What the sentence says, if it is a comparison of values.
    name : str
        Words for the value that is compared.
    """

    sentence: str
    table: str = ""
    comparison: Comparison | None = None
    name: str = ""


def find_answer(
    study: Study,
    views: Views,
    tables: Sequence[tuple[ReportTable, View]],
    losses: Sequence[Loss] = (),
) -> Answer:
    """Return the first of these that exists.

    1. the most serious loss of a kind of result that is absent (see `absent_kinds`);
    2. the comparison that the headline declares, or that of the first table with one, with a
       reservation if results of its kind are missing;
    3. the most serious loss of any kind of result except bounds;
    4. the number of tables proven free of deadlock;
    5. the number of runs and their outcomes.

    Raises
    ------
    InputError
        If the headline names a routing that its table does not show.
    """
    absent = absent_kinds(views)
    headline = study.headline
    named = headline.table or (next(iter(study.tables), "") if _is_declared(headline) else "")
    found = None
    for table, view in tables:
        if found is None and (not named or table.name == named):
            found = _answer_of(study, table, view, views)
    for loss in losses:
        if loss.noun in absent:
            return Answer(as_sentence(loss.sentence))
    if found is not None:
        return found
    for loss in losses:
        if loss.is_alarm and loss.noun != BOUND:
            return Answer(as_sentence(loss.sentence))
    return Answer([*runs_sentences(views), *proof_sentence(views.routes)][-1])


def _is_declared(headline: Headline) -> bool:
    """Return whether a headline says more than a question and a figure."""
    return bool(headline.model_fields_set - {"question", "figure"})


def _answer_of(study: Study, table: ReportTable, view: View, views: Views) -> Answer | None:
    if table.of in BENCHMARKS:
        sentences = benchmark_sentences(views.merits, incomplete(views.merits, views))
        return Answer(sentences[0], table.name) if sentences else None
    place = study.place("headline")
    spec, baseline = study.tables[table.name], declared_baseline(study)
    comparison = find_comparison(table, spec, view, study.headline, baseline, place)
    if comparison is None:
        return None
    name = study.headline.name or _value_name(comparison, spec, table.of)
    text = comparison_sentence(comparison, spec, study.headline, table.of, name)
    reservation = incomplete(view, views)
    if reservation:
        text = f"{reservation}{text[0].lower()}{text[1:]}"
    return Answer(text, table.name, comparison, name)


def comparison_sentence(
    comparison: Comparison, spec: TableSpec, headline: Headline, of: str, name: str
) -> str:
    """Return a comparison as a sentence; `name` are words for the value.

    Improvements have at most two significant digits. Several rows are one geometric mean with the
    least and the greatest ratio.
    """
    cases = distinguishing_keys(comparison.cases)
    where = _where(comparison.cases, spec, headline, of)
    over = _over(comparison, cases, of)
    baseline = comparison.baseline + (", the next best" if comparison.is_next else "")
    if comparison.measure in ("improvement", "gain"):
        text = _improvement(comparison, over, name, baseline)
    else:
        text = _ratio(comparison, over, name, baseline)
    return f"{_begin(where, text)}."


def _ratio(comparison: Comparison, over: str, name: str, baseline: str) -> str:
    """Return a comparison of values by their ratio, or by their means if one is not positive."""
    cases, text = comparison.cases, f"the {name} of {comparison.routing} is"
    mine, base = (
        number_text(comparison.value, fmean(numbers))
        for numbers in ([one.mine.number for one in cases], [one.base.number for one in cases])
    )
    ratios = comparison.ratios()
    if ratios is None:
        comma = "," if comparison.is_next else ""
        text += f" {mine}, that of {baseline}{comma} is {base}"
        return f"{text} (means over {over})" if len(cases) > 1 else text
    how, spread = _difference(*ratios)
    has_ranges = any(one.low != one.high for case in cases for one in (case.mine, case.base))
    if has_ranges:
        spread += " over all runs"
    if len(cases) > 1:
        return f"{text} {how} that of {baseline} (geometric mean over {over}; {spread})"
    text += f" {how} that of" if comparison.measure == "ratio" else f" {mine}, {how} the {base} of"
    return f"{text} {baseline} ({spread})" if has_ranges else f"{text} {baseline}"


def _difference(mean: float, low: float, high: float) -> tuple[str, str]:
    """Return the mean ratio and its range: percentages, or factors if one is 2 or more."""
    if high >= 2:
        how = f"{two_digits(mean)} times" if two_digits(mean) != "1" else "about equal to"
        return how, f"{_range(two_digits(low), two_digits(high))} times"
    return _percentages(*(100 * (one - 1) for one in (mean, low, high)))


def _percentages(percent: float, least: float, greatest: float) -> tuple[str, str]:
    """Return a difference in percent and its range in words."""
    how = f"{percent_text(percent)} than" if abs(percent) >= SMALLEST else "equal to"
    if max(abs(least), abs(greatest)) < SMALLEST:
        return how, "no difference in any"
    if greatest < SMALLEST:
        return how, f"{_range(size_text(greatest), size_text(least))} lower"
    if least > -SMALLEST:
        return how, f"{_range(size_text(least), size_text(greatest))} higher"
    return how, f"{percent_text(least)} to {percent_text(greatest)}"


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def size_text(percent: float) -> str:
    """Return the size of a difference with two significant digits, and at most one decimal."""
    size = abs(percent)
    if size < SMALLEST:
        return "0 %"
    return f"{two_digits(size if size >= 1 else round(size, 1))} %"


def percent_text(percent: float) -> str:
    """Return a difference in words: ``12 % lower``."""
    return f"{size_text(percent)} {'higher' if percent > 0 else 'lower'}"


def _improvement(comparison: Comparison, over: str, name: str, baseline: str) -> str:
    """Return a comparison of values that are improvements in percent."""
    numbers = [case.mine for case in comparison.cases]
    mean = fmean(one.number for one in numbers)
    least, greatest = min(one.low for one in numbers), max(one.high for one in numbers)
    if comparison.measure == "gain":
        how, spread = _percentages(-mean, -greatest, -least)
        text = f"the {name} of {comparison.routing} is {how} that of {baseline}"
    else:
        ends = [f"{'−' if end <= -SMALLEST else ''}{size_text(end)}" for end in (least, greatest)]
        word = "better" if mean > 0 else "worse"
        how = f"{size_text(mean)} {word} than" if abs(mean) >= SMALLEST else "as good as"
        text = f"{comparison.routing} is {how} {baseline} in {name}"
        spread = _range(*ends)
    return f"{text} (mean over {over}; {spread})" if len(numbers) > 1 else text


def two_digits(number: float) -> str:
    """Return a number with at most two significant digits, without an exponent."""
    return f"{float(f'{number:.2g}'):.10g}"


def _begin(where: str, text: str) -> str:
    text = f"{where}, {text}" if where else text
    return text[0].upper() + text[1:] if where or text.startswith("the ") else text


def _value_name(comparison: Comparison, spec: TableSpec, of: str) -> str:
    """Return words for the value that is compared: its heading without the unit."""
    if spec.relative is not None and comparison.measure != "value":
        return _heading(spec.relative.column, of)
    value = comparison.value
    source = statistic_columns(spec).get(value)
    if source is None:
        return _heading(value, of)
    statistic = STATISTIC_LABELS[value.removeprefix(f"{source}_")]
    return f"{statistic} {'of ' if statistic == 'share' else ''}{_heading(source, of)}"


def _heading(column: str, of: str) -> str:
    return heading_parts(column, of)[0]


def _where(cases: Sequence[Case], spec: TableSpec, headline: Headline, of: str) -> str:
    """Return the conditions that all cases share, as a phrase."""
    constant = {
        key: key_text(value)
        for key, value in spec.where.items()
        if key in (*_PLACES, "nodes", "load") and not isinstance(value, list | Between)
    }
    constant |= {
        key: text
        for key, text in cases[0].keys.items()
        if all(case.keys[key] == text for case in cases)
    }
    constant |= {
        key: key_text(value)
        for key, value in headline.where.items()
        if key in constant and not isinstance(value, list | Between)
    }
    return ", ".join(_condition(key, text, of) for key, text in constant.items())


def _condition(key: str, text: str, of: str) -> str:
    if key == "nodes":
        return f"on {text} nodes"
    if key in _PLACES:
        return f"{_PLACES[key]} {text}"
    return f"{'at' if text[0].isdigit() else 'with'} {_heading(key, of)} {text}"


def distinguishing_keys(cases: Sequence[Case]) -> list[dict[str, str]]:
    """Return the keys of cases that distinguish them."""
    keys = [
        key for key in cases[0].keys if any(case.keys[key] != cases[0].keys[key] for case in cases)
    ]
    for key in list(keys):
        others = [one for one in keys if one != key]
        if others and len({tuple(case.keys[one] for one in others) for case in cases}) == len(
            cases
        ):
            keys = others
    return [{key: case.keys[key] for key in keys} for case in cases]


def _over(comparison: Comparison, cases: Sequence[dict[str, str]], of: str) -> str:
    """Return the number of cases in words: ``4 networks``."""
    number = f"{len(cases)}"
    if comparison.total > len(cases):
        number += f" of {comparison.total}"
    nouns = [_NOUNS.get(key, f"value of {_heading(key, of)}") for key in cases[0]]
    if len(nouns) == 1:
        noun, _, rest = nouns[0].partition(" of ")
        return f"{number} {noun}s{f' of {rest}' if rest else ''}"
    nouns = [noun.removeprefix("value of ") for noun in nouns]
    return f"{number} combinations of {' and '.join(nouns)}"
