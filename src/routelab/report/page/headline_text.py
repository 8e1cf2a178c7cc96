"""A comparison of a routing with its baseline as a sentence that is true alone.

    mixed       … is higher than that of bfs in 1 (by up to 11 %) and lower in 2 (by up to 20 %)
                of 3 networks
    means       … is 0.75, that of bfs is 0.25 (means over 2 networks)
    several     … is 37 % lower than that of bfs (geometric mean over 3 networks; 0 % to 50 % lower)
    one         … is 26, 46 % lower than the 48 of bfs (35 % to 57 % lower over all runs)

    before      At offered load 0.8, the accepted load of sssp …, or: sssp … (better, not higher)
    after       ; higher in 1 and lower in 2 of 3 pairs of runs
                ; bfs is not proven free of deadlock in 1 of 3 cases
                ; of 6 runs, 4 are saturated and 2 are undecided
                ; left out: 1 of 4 cases, where terminals of bfs starve

The second form is for values of which one is not positive, so that there is no ratio.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from statistics import fmean

from routelab.report.labels import STATISTIC_LABELS, count_text, heading_parts, number_text
from routelab.report.page.compared_runs import Run, is_proven
from routelab.report.page.headline_cases import (
    LEAST_DIFFERENCE,
    Case,
    ComparedRouting,
    ComparedValue,
    differing_pairs,
)
from routelab.report.rows.row_set import RowSet, key_text
from routelab.study import Between

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

_PHRASES = {
    "topology": "on {}",
    "dims": "on {}",
    "nodes": "on {} nodes",
    "traffic": "under {}",
    "workload": "in {}",
    "benchmark": "in {}",
}
"""Conditions in words, by column."""

_AVERAGES = {"mean": " on average", "median": " in the median"}
"""Words for statistics of comparisons; the other names of statistics say so themselves."""


def refusal_sentence(value: ComparedValue, compared: Sequence[ComparedRouting]) -> str:
    """Return why no routing can be compared; empty if none has a value or a reason."""
    total = max((len(routing.left_out) for routing in compared), default=0)
    if not total:
        return ""
    # `total` is the number of cases of one routing, and routings may share a reason: of its counts,
    # the largest is taken (`|`), not the sum.
    reasons: Counter[str] = Counter()
    for routing in compared:
        reasons |= Counter(routing.left_out)
    shares = {text: f" in {count} of {total} cases" for text, count in reasons.items()}
    reason = "; ".join(text + (share if total > 1 else "") for text, share in shares.items())
    names = value.headline.routings
    subject = f"{' and '.join(names)} cannot" if names else "no routing can"
    return (
        f"The {_value_name(value)} of {subject} be compared with that of {value.baseline}: "
        f"{reason}."
    )


def comparison_sentence(value: ComparedValue, routing: ComparedRouting, row_set: RowSet) -> str:
    """Return the comparison of a routing with the baseline: conditions, values and range."""
    cases, baseline = routing.cases, value.baseline
    parts = [_comparison(value, routing)]

    # A statistic over networks, or a mean over runs, can hide that single ones differ both ways.
    if value.column != value.source or "mean" in value.spec.over.values():
        higher, lower, pairs = differing_pairs(value, routing, row_set)
        if higher and lower:
            less, more = value.words
            parts.append(f"{more} in {higher} and {less} in {lower} of {pairs} pairs of runs")

    unproven = sum(not is_proven(baseline, case.runs) for case in cases)
    share = f" in {unproven} of {len(cases)} cases" if unproven < len(cases) else ""
    parts += [f"{baseline} is not proven free of deadlock{share}"] if unproven else []
    parts += _state_counts([run for case in cases for run in case.runs])

    total = len(cases) + len(routing.left_out)
    reasons = [
        f"{count} of {total} cases, where {reason}"
        for reason, count in Counter(routing.left_out).items()
    ]
    parts += [f"left out: {'; '.join(reasons)}"] if reasons else []
    return f"{'; '.join(parts)}."


def _state_counts(runs: Sequence[Run]) -> list[str]:
    """Return how many runs are saturated or undecided; nothing if none is."""
    states = Counter(run.state for run in runs if run.state)
    if len(states) == 1 and states.total() == len(runs):
        return [f"all runs are {next(iter(states))}"]
    counts = [f"{count} {'is' if count == 1 else 'are'} {state}" for state, count in states.items()]
    return [f"of {len(runs)} runs, {_enumerate(counts)}"] if states else []


def _comparison(value: ComparedValue, routing: ComparedRouting) -> str:
    """Return the conditions that all cases share, and one of the module's four forms."""
    # 1. Who is compared with whom: "the accepted load of sssp is", "that of bfs"; or "sssp is",
    #    "bfs in run time".
    cases, is_improvement = routing.cases, value.is_improvement
    name = _value_name(value)
    is_median = value.spec.relative is not None and value.spec.relative.median
    baseline = f"the median of {value.baseline}" if is_median else value.baseline
    subject = f"{routing.name} is" if is_improvement else f"the {name} of {routing.name} is"
    if value.relation:
        subject += _AVERAGES.get(value.column.removeprefix(f"{value.source}_"), "")
    than = f"{baseline} in {name}" if is_improvement else f"that of {baseline}"

    # 2. The means of both over the cases; no numbers if the column is relative to the baseline.
    both_values = zip(*(case.values for case in cases), strict=True)
    numbers = [number_text(value.column, fmean(values)) for values in both_values]
    over = _count_cases(cases, value.spec.of)

    # 3. The form. A mean of higher and lower cases would hide both, and values that are 0 or
    #    negative have no ratio.
    if {1, -1} <= {case.sign for case in cases}:
        text = f"{subject} {_higher_and_lower(value, cases, than)} of {over}"
    elif any(isnan(case.ratio) for case in cases):
        means = f" (means over {over})" if len(cases) > 1 else ""
        text = f"{subject} {numbers[0]}, that of {baseline} is {numbers[1]}{means}"
    else:
        low, high = min(case.low for case in cases), max(case.high for case in cases)
        difference, spread = _difference_and_range(value, routing.mean, low, high)
        if any(case.low < case.high for case in cases):
            spread += " over all runs"
        if len(cases) > 1:
            text = f"{subject} {difference} {than} (geometric mean over {over}; {spread})"
        else:
            if numbers:
                subject, than = f"{subject} {numbers[0]},", f"the {numbers[1]} of {baseline}"
            text = f"{subject} {difference} {than}" + (f" ({spread})" if low < high else "")

    if conditions := _shared_conditions(value, cases):
        text = f"{conditions}, {text}"
    # An improvement begins with the name of a routing, which is never capitalized.
    return text if is_improvement and not conditions else f"{text[0].upper()}{text[1:]}"


def _higher_and_lower(value: ComparedValue, cases: Sequence[Case], than: str) -> str:
    """Return in how many cases a value is higher and lower, and by how much at most.

    From twice on, differences are factors: ``higher than that of bfs in 1 (up to 2.5 times) and
    lower in 2 (down to 0.8 times)``; otherwise they are percentages: ``(by up to 20 %)``.
    """
    less, more = value.words
    as_factors = not value.is_improvement and any(case.high >= 2 for case in cases)
    parts = []
    for sign, words, up_or_down in ((1, f"{more} than {than}", "up"), (-1, less, "down")):
        group = [case for case in cases if case.sign == sign]
        range_ends = [end for case in group for end in (case.low, case.high)]
        part = f"{words} in {len(group)}"
        if not any(map(isnan, range_ends)):
            ratio = max(range_ends) if sign > 0 else min(range_ends)
            factor = f"{up_or_down} to {_two_digits(ratio)} times"
            percent = f"by up to {_percent(100 * (ratio - 1))}"
            part += f" ({factor if as_factors else percent})"
        parts.append(part)
    equal = sum(case.sign == 0 for case in cases)
    parts += [f"equal in {equal}"] if equal else []
    return _enumerate(parts)


def _difference_and_range(
    value: ComparedValue, mean: float, low: float, high: float
) -> tuple[str, str]:
    """Return a ratio and its range in words: percentages, or factors if one is 2 or more.

    0.63 (0.5 to 1): ``37 % lower than`` and ``0 % to 50 % lower``. 1.5 (1 to 2.5): ``1.5 times``
    and ``1 to 2.5 times``.
    """
    less, more = value.words
    equal = "as good as" if value.is_improvement else "equal to"
    if high >= 2 and not value.is_improvement:
        # A mean can be 1 although the range reaches twice.
        factor = _two_digits(mean)
        difference = f"{factor} times" if factor != "1" else f"about {equal}"
        return difference, f"{_span(_two_digits(low), _two_digits(high))} times"
    percent, least, greatest = (100 * (ratio - 1) for ratio in (mean, low, high))
    difference = f"{_percent(percent)} {more if percent > 0 else less} than"
    if abs(percent) < LEAST_DIFFERENCE:
        difference = equal
    if max(abs(least), abs(greatest)) < LEAST_DIFFERENCE:
        return difference, "no difference in any"
    # If all are lower, the sizes of the differences are shown, the smaller one first.
    if greatest < LEAST_DIFFERENCE:
        return difference, f"{_span(_percent(greatest), _percent(least))} {less}"
    if least > -LEAST_DIFFERENCE:
        return difference, f"{_span(_percent(least), _percent(greatest))} {more}"
    return difference, f"{_percent(least)} {less} to {_percent(greatest)} {more}"


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _percent(number: float) -> str:
    """Return the size of a difference with two significant digits, and at most one decimal."""
    size = abs(number)
    if size < LEAST_DIFFERENCE:
        return "0 %"
    return f"{_two_digits(size if size >= 1 else round(size, 1))} %"


def _two_digits(number: float) -> str:
    """Return a number with at most two significant digits, without an exponent."""
    return f"{float(f'{number:.2g}'):.10g}"


def _value_name(value: ComparedValue) -> str:
    """Return words for a value: the heading of its column without the unit."""
    if value.headline.name:
        return value.headline.name
    if value.relation:
        return heading_parts(value.measured, value.spec.of)[0]
    heading = heading_parts(value.source, value.spec.of)[0]
    statistic = value.column.removeprefix(value.source).removeprefix("_")
    return f"{STATISTIC_LABELS[statistic]} {heading}" if statistic else heading


def _shared_conditions(value: ComparedValue, cases: Sequence[Case]) -> str:
    """Return the conditions that all cases share, as a phrase: ``on 4x2, at offered load 0.5``."""
    # Conditions of the whole table that are one value, and those of the cases.
    shared: dict[str, str] = {
        key: key_text(condition)
        for key, condition in value.spec.where.items()
        if key in (*_PHRASES, "load") and not isinstance(condition, list | Between)
    }
    shared |= {
        key: text
        for key, text in cases[0].conditions.items()
        if all(case.conditions[key] == text for case in cases)
    }
    phrases = []
    for key, text in shared.items():
        if key in _PHRASES:
            phrases.append(_PHRASES[key].format(text))
        else:  # "at offered load 0.8", "with simulation settings vcs=4"
            preposition = "at" if text[0].isdigit() else "with"
            phrases.append(f"{preposition} {heading_parts(key, value.spec.of)[0]} {text}")
    return ", ".join(phrases)


def _count_cases(cases: Sequence[Case], of: str) -> str:
    """Return the number of cases in words: ``4 networks``, ``9 combinations of …``."""
    distinct_texts: Mapping[str, set[str]] = {
        key: {case.conditions[key] for case in cases} for key in cases[0].conditions
    }
    # If a condition is another one in each case, the cases are counted by it alone.
    for key, texts in distinct_texts.items():
        if len(texts) == len(cases) > 1:
            noun = _NOUNS.get(key, f"value of {heading_parts(key, of)[0]}")
            return count_text(len(cases), noun)
    nouns = [
        _NOUNS.get(key, heading_parts(key, of)[0])
        for key, texts in distinct_texts.items()
        if len(texts) > 1
    ]
    return f"{len(cases)} combinations of {_enumerate(nouns)}"


def _enumerate(parts: Sequence[str]) -> str:
    """Join parts to a phrase: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
