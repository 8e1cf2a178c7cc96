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
    count_differing_pairs,
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
    """Return why no routing can be compared; empty if no case of any routing was left out."""
    num_cases = max((len(routing.left_out) for routing in compared), default=0)
    if not num_cases:
        return ""
    # `num_cases` is the number of cases of one routing. If several routings have a reason, the
    # largest of their counts is shown (`|`), because their sum could be more than this number.
    counts: Counter[str] = Counter()
    for routing in compared:
        counts |= Counter(routing.left_out)
    reasons = [
        reason + (f" in {count} of {num_cases} cases" if num_cases > 1 else "")
        for reason, count in counts.items()
    ]
    names = value.headline.routings
    subject = f"{' and '.join(names)} cannot" if names else "no routing can"
    return (
        f"The {_value_name(value)} of {subject} be compared with that of {value.baseline}: "
        f"{'; '.join(reasons)}."
    )


def comparison_sentence(value: ComparedValue, routing: ComparedRouting, row_set: RowSet) -> str:
    """Return the comparison of a routing with the baseline: conditions, values and range."""
    cases, baseline = routing.cases, value.baseline
    parts = [_comparison(value, routing)]

    # A statistic over networks, or a mean over runs, can hide that the value is higher in some
    # runs and lower in others.
    if value.column != value.source or "mean" in value.spec.over.values():
        higher, lower, pairs = count_differing_pairs(value, routing, row_set)
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
    # 1. Who is compared with whom: "the accepted load of sssp is … that of bfs". An improvement
    #    is of the routing itself: "sssp is … bfs in run time".
    cases, is_improvement = routing.cases, value.is_improvement
    name = _value_name(value)
    is_median = value.spec.relative is not None and value.spec.relative.median
    baseline = f"the median of {value.baseline}" if is_median else value.baseline
    subject = f"{routing.name} is" if is_improvement else f"the {name} of {routing.name} is"
    if value.relation:  # "… is on average" if the column has means, "… in the median" if medians
        subject += _AVERAGES.get(value.column.removeprefix(f"{value.source}_"), "")
    than = f"{baseline} in {name}" if is_improvement else f"that of {baseline}"

    # 2. The means over the cases, of the routing and of the baseline. A column that is relative to
    #    the baseline has no values of either, so `numbers` is empty.
    values_by_routing = zip(*(case.values for case in cases), strict=True)
    numbers = [number_text(value.column, fmean(values)) for values in values_by_routing]
    count = _count_cases(cases, value.spec.of)

    # 3. The form: mixed, means, several or one. A mean of higher and lower cases would hide that
    #    there are both, and values that are 0 or negative have no ratio.
    if {1, -1} <= {case.sign for case in cases}:
        text = f"{subject} {_higher_and_lower(value, cases, than)} of {count}"
    elif any(isnan(case.ratio) for case in cases):
        means = f" (means over {count})" if len(cases) > 1 else ""
        text = f"{subject} {numbers[0]}, that of {baseline} is {numbers[1]}{means}"
    else:
        low, high = min(case.low for case in cases), max(case.high for case in cases)
        difference, spread = _difference_and_range(value, routing.mean, low, high)
        if any(case.low < case.high for case in cases):
            spread += " over all runs"
        if len(cases) > 1:
            text = f"{subject} {difference} {than} (geometric mean over {count}; {spread})"
        else:
            if numbers:  # "… is 26, 46 % lower than the 48 of bfs"
                subject, than = f"{subject} {numbers[0]},", f"the {numbers[1]} of {baseline}"
            text = f"{subject} {difference} {than}" + (f" ({spread})" if low < high else "")

    if conditions := _shared_conditions(value, cases):
        text = f"{conditions}, {text}"
    # The name of a routing is never capitalized; the sentence on an improvement begins with it.
    return text if is_improvement and not conditions else f"{text[0].upper()}{text[1:]}"


def _higher_and_lower(value: ComparedValue, cases: Sequence[Case], than: str) -> str:
    """Return in how many cases a value is higher and lower, and by how much at most.

    Differences are percentages: ``higher than that of bfs in 1 (by up to 11 %) and lower in 2 (by
    up to 20 %)``. If any is twice or more, they are factors: ``(up to 2.5 times)``, ``(down to 0.8
    times)``. Cases without a ratio only count.
    """
    less, more = value.words
    as_factors = not value.is_improvement and any(case.high >= 2 for case in cases)
    parts = []
    for sign, comparative, up_or_down in ((1, f"{more} than {than}", "up"), (-1, less, "down")):
        group = [case for case in cases if case.sign == sign]
        range_ends = [end for case in group for end in (case.low, case.high)]
        part = f"{comparative} in {len(group)}"
        if not any(map(isnan, range_ends)):
            largest = max(range_ends) if sign > 0 else min(range_ends)
            factor = f"{up_or_down} to {_two_digits(largest)} times"
            percent = f"by up to {_percent(100 * (largest - 1))}"
            part += f" ({factor if as_factors else percent})"
        parts.append(part)
    equal = sum(case.sign == 0 for case in cases)
    parts += [f"equal in {equal}"] if equal else []
    return _enumerate(parts)


def _difference_and_range(
    value: ComparedValue, mean: float, low: float, high: float
) -> tuple[str, str]:
    """Return a mean ratio and the range of the ratios in words.

    They are percentages, or factors if the range reaches 2. A mean of 0.63 in a range from 0.5 to 1
    is ``37 % lower than`` with ``0 % to 50 % lower``. A mean of 1.5 in a range from 1 to 2.5 is
    ``1.5 times`` with ``1 to 2.5 times``.
    """
    less, more = value.words
    equal = "as good as" if value.is_improvement else "equal to"
    if high >= 2 and not value.is_improvement:
        # A mean can be 1 although the range reaches twice.
        factor = _two_digits(mean)
        difference = f"{factor} times" if factor != "1" else f"about {equal}"
        return difference, f"{_range_text(_two_digits(low), _two_digits(high))} times"
    mean_percent, low_percent, high_percent = (100 * (ratio - 1) for ratio in (mean, low, high))
    difference = f"{_percent(mean_percent)} {more if mean_percent > 0 else less} than"
    if abs(mean_percent) < LEAST_DIFFERENCE:
        difference = equal
    if max(abs(low_percent), abs(high_percent)) < LEAST_DIFFERENCE:
        return difference, "no difference in any"
    # If no ratio is higher, the sizes of the differences are shown, the smaller one first: −50 to
    # −10 is "10 % to 50 % lower".
    if high_percent < LEAST_DIFFERENCE:
        return difference, f"{_range_text(_percent(high_percent), _percent(low_percent))} {less}"
    if low_percent > -LEAST_DIFFERENCE:
        return difference, f"{_range_text(_percent(low_percent), _percent(high_percent))} {more}"
    return difference, f"{_percent(low_percent)} {less} to {_percent(high_percent)} {more}"


def _range_text(low: str, high: str) -> str:
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
    """Return the words for a value: those of the headline, or the heading of its column.

    A value that is relative to the baseline has the heading of what is compared: ``maximum channel
    load`` for ``max_load_gain_mean``. Other statistics have their name in front: ``median maximum
    channel load`` for ``max_load_median``.
    """
    if value.headline.name:
        return value.headline.name
    if value.relation:
        return heading_parts(value.run_column, value.spec.of)[0]
    heading = heading_parts(value.source, value.spec.of)[0]
    statistic = value.column.removeprefix(value.source).removeprefix("_")
    return f"{STATISTIC_LABELS[statistic]} {heading}" if statistic else heading


def _shared_conditions(value: ComparedValue, cases: Sequence[Case]) -> str:
    """Return the conditions that all cases share, as a phrase: ``on 4x2, at offered load 0.5``."""
    # Those of the whole table (`where`) that select a single value, and those of the cases.
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
            preposition = "at" if text[0].isdigit() else "with"  # a number or words
            phrases.append(f"{preposition} {heading_parts(key, value.spec.of)[0]} {text}")
    return ", ".join(phrases)


def _count_cases(cases: Sequence[Case], of: str) -> str:
    """Return the number of several cases in words: ``4 networks``, ``9 combinations of …``."""
    distinct_texts: Mapping[str, set[str]] = {
        key: {case.conditions[key] for case in cases} for key in cases[0].conditions
    }
    # If the cases all differ in one condition, such as the network, they are counted by it alone.
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
