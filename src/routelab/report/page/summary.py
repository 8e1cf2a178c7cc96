"""Sentences on the results of a study, generated from its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from routelab.artifacts.losses import NOT_RUN, STATUS_TEXTS, Loss, cause_text, status_text
from routelab.artifacts.outcome import Outcome
from routelab.config.views import BENCHMARKS
from routelab.report.frames.benchmarks import BenchFrames
from routelab.report.frames.runs import Frames
from routelab.report.frames.view import OK, View, key_text
from routelab.report.frames.views import Views
from routelab.report.labels import label, number_text
from routelab.report.page.benchmark_summary import benchmark_sentences
from routelab.report.page.missing import BOUND, absent_kinds, as_sentence, incomplete
from routelab.report.table_formats import layout
from routelab.report.tables import ReportTable

PROVEN = "proven"
VCS = "virtual_channels"
_REPORTED_STATES = ("deadlock", "livelock", "no-route", "saturated", "undecided", "unfinished")
"""States of simulations that the summary reports."""


def summarize(views: Views, tables: Sequence[tuple[ReportTable, View]]) -> list[str]:
    """Return sentences on the runs, the proofs, the tables' main values and published numbers."""
    sentences = [*_runs_sentences(views), *_proof_sentence(views.routes)]
    sentences += _bounds_sentence(views.routes)
    sentences += _states_sentence(views)
    sentences += _benchmark_sentences(views)
    for table, view in tables:
        sentences += _comparison(table, view, views)
        sentences += _published_sentence(table)
    return sentences


def key_finding(
    views: Views, tables: Sequence[tuple[ReportTable, View]], losses: Sequence[Loss] = ()
) -> str:
    """Return the sentence that matters most.

    It is the first of these that exists:

    1. the most serious loss of a kind of result that is absent (see `absent_kinds`);
    2. the main comparison of the first table that has one, with a reservation if results of its
       kind are missing;
    3. the most serious loss of any kind of result except bounds;
    4. the number of tables proven free of deadlock;
    5. the number of runs and their outcomes.
    """
    absent = absent_kinds(views)
    for loss in losses:
        if loss.noun in absent:
            return as_sentence(loss.sentence)
    for table, view in tables:
        sentences = _benchmark_sentences(views) if isinstance(view, BenchFrames) else []
        for sentence in sentences or _comparison(table, view, views):
            return sentence
    for loss in losses:
        if loss.is_alarm and loss.noun != BOUND:
            return as_sentence(loss.sentence)
    return [*_runs_sentences(views), *_proof_sentence(views.routes)][-1]


def tiles(views: Views, pooled: Collection[str]) -> list[tuple[str, str]]:
    """Return counts that show the size of a study: number and noun.

    Parameters
    ----------
    pooled : collection of str
        Parameters by which routings are not distinguished.
    """
    routes, views_by_noun = views.routes, views.named_views
    every = [routes, *(view for _, view in views_by_noun)]
    jobs = pd.concat([view.select(None, pooled, "") for view in every])
    outcomes = [outcome for view in every for outcome in view.outcomes]
    proven = sum(
        outcome.status == OK and outcome.facts.get("deadlock") == PROVEN
        for outcome in routes.outcomes
    )
    counts = [(len(routes.outcomes), "run")] if routes.outcomes or not outcomes else []
    counts += [(len(view.outcomes), noun) for noun, view in views_by_noun]
    counts += [(jobs["topology"].nunique(), "network"), (jobs["routing"].nunique(), "routing")]
    if routes.outcomes or not outcomes:
        counts.append((proven, "table proven free of deadlock"))
    counted = [(str(number), noun if number == 1 else _plural(noun)) for number, noun in counts]
    failures = _status_counts(outcome for outcome in outcomes if outcome.status != OK)
    return [*counted, *((str(number), status) for status, number in failures)]


def _plural(phrase: str) -> str:
    if phrase.endswith("simulation"):
        return f"{phrase}s"
    noun, _, rest = phrase.partition(" ")
    return f"{noun}s {rest}".strip()


def _runs_sentences(views: Views) -> list[str]:
    """Return the numbers of tables and simulations and their outcomes as sentences."""
    named_views = views.named_views
    sentences = [runs_sentence(views.routes)] if views.routes.records or not named_views else []
    return [*sentences, *(runs_sentence(view, noun) for noun, view in named_views)]


def runs_sentence(frames: View, noun: str = "run") -> str:
    """Return the number of runs and their outcomes as a sentence."""
    counts = dict(_status_counts(frames.outcomes))
    total = len(frames.outcomes)
    text = (
        f"{_count(total, noun)} on {_count(frames.jobs['topology'].nunique(), 'network')}"
        if total
        else "No runs"
    )
    ok = counts.pop(OK, 0)
    if ok == total:
        return f"{text}, all of them ok." if total else f"{text}."
    parts = [f"{ok} ok", *(f"{number} {status}" for status, number in counts.items())]
    return f"{text}: {', '.join(parts)}."


def _status_counts(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """Count statuses, in words; ``ok`` first, then the most serious first."""
    counts = Counter(status_text(outcome.status, outcome.reason) for outcome in outcomes)
    return [(text, counts[text]) for text in STATUS_TEXTS.values() if counts[text]]


def _states_sentence(views: Views) -> list[str]:
    """Return a sentence on the simulated loads with a problem or without a value."""
    if not views.simulations.records or "state" not in views.loads.jobs:
        return []
    states = Counter(views.loads.jobs["state"].dropna())
    parts = [f"{states[state]} {state}" for state in _REPORTED_STATES if states[state]]
    total = _count(states.total(), "simulated load")
    return [f"Of {total}: {', '.join(parts)}."] if parts else []


def verdicts(views: Views, pooled: Collection[str]) -> list[tuple[str, str, str, str, int]]:
    """Return routing, verdict, flow control, virtual channels, and the number of such tables.

    For routings without tables, the last item is the number of simulations.

    Parameters
    ----------
    pooled : collection of str
        Parameters by which routings are not distinguished.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    table_routings = {record.routing for record in views.routes.records}
    for view in (views.routes, views.simulations):
        jobs = view.select(None, pooled, "")
        for run, routing in jobs.loc[jobs["status"] == OK, "routing"].items():
            if view is views.simulations and view.records[int(str(run))].routing in table_routings:
                continue
            facts = view.outcomes[int(str(run))].facts
            key_texts = (key_text(facts.get(key)) for key in ("deadlock", "flow_control", VCS))
            counts[routing, *key_texts] += 1
    return [(*key, number) for key, number in counts.items()]


def _proof_sentence(frames: Frames) -> list[str]:
    counts = Counter(
        str(outcome.facts.get("deadlock") or "not checked")
        for outcome in frames.outcomes
        if outcome.status == OK
    )
    total = counts.total()
    if not total:
        return []
    if counts[PROVEN] == total:
        one = "The route table is" if total == 1 else f"All {total} route tables are"
        return [f"{one} proven free of deadlock."]
    others = [f"{number} {verdict}" for verdict, number in counts.items() if verdict != PROVEN]
    proven = f"{counts[PROVEN]} of {_count(total, 'route table')}"
    return [f"Proven free of deadlock: {proven}; {', '.join(others)}."]


def _bounds_sentence(frames: Frames) -> list[str]:
    """Return sentences on the number of optimal tables, and on bounds without a result."""
    facts = [outcome.facts for outcome in frames.outcomes if outcome.status == OK]
    optimality = [fact["optimal"] for fact in facts if fact.get("optimal") is not None]
    sentences = []
    if optimality:
        proven = f"{sum(optimality)} of {_count(len(optimality), 'table')}"
        sentences.append(
            f"Maximum load proven the least that the rules of a routing allow: {proven}."
        )
    failures = [outcome for outcome in frames.bound_outcomes if outcome.status != OK]
    if failures:
        causes = "; ".join(
            dict.fromkeys(f"{outcome.routing}: {_bound_cause(outcome)}" for outcome in failures)
        )
        sentences.append(f"Without a bound: {_count(len(failures), 'network')} × rules ({causes}).")
    return sentences


def _bound_cause(outcome: Outcome) -> str:
    not_run = outcome.status == NOT_RUN
    return cause_text(outcome.status, outcome.reason) if not_run else outcome.reason


def _benchmark_sentences(views: Views) -> list[str]:
    return benchmark_sentences(views.merits, incomplete(views.merits, views))


def _comparison(table: ReportTable, view: View, views: Views) -> list[str]:
    """Return the headline of a table, with a reservation if results of its kind are missing."""
    reservation = incomplete(view, views)
    return [
        f"{reservation}{text[0].lower()}{text[1:]}" if reservation else text
        for text in _headline(table, view.better)
    ]


def _headline(table: ReportTable, better: Mapping[str, str]) -> list[str]:
    """Return the best and worst routing by a table's first value, in its last group of rows."""
    keys = [column.name for column in table.with_role("row")]
    values = [column.name for column in table.with_role("value") if column.name in better]
    if "routing" not in keys or not values or not table.rows or table.counts:
        return []
    if table.of in BENCHMARKS:
        # the largest difference may be noise
        return []
    value = values[0]
    others = [key for key in keys if key != "routing"]
    last = [key_text(table.rows[-1][key]) for key in others]
    rows = [
        row
        for row in table.rows
        if [key_text(row[key]) for key in others] == last and not _is_missing(row.get(value))
    ]
    if len(rows) < 2:
        return []
    lower = better[value] == "lower"
    rows.sort(key=lambda row: row[value], reverse=not lower)
    best, worst = rows[0], rows[-1]
    where = _where(others, table.rows[-1], table.of)
    name = label(value, table.of)
    if best[value] == worst[value]:
        everyone = ", ".join(str(row["routing"]) for row in rows)
        return [f"{where}{name} is {_with_range(best, value)} for all: {everyone}."]
    names = " and ".join(str(row["routing"]) for row in rows if row[value] == best[value])
    superlatives = ("lowest", "highest") if lower else ("highest", "lowest")
    text = (
        f"{where}the {superlatives[0]} {name} is {_with_range(best, value)}, by {names}; "
        f"the {superlatives[1]} is {_with_range(worst, value)}, by {worst['routing']}"
        f"{_gain(best, worst, value, lower)}."
    )
    return [text]


def _where(others: Sequence[str], row: dict[str, Any], of: str) -> str:
    parts = [
        f"{number_text(key, row[key])} nodes"
        if key == "nodes"
        else str(row[key])
        if key in ("topology", "traffic", "workload", "benchmark")
        else f"{label(key, of)} {number_text(key, row[key])}"
        for key in others
    ]
    return f"On {', '.join(parts)}, " if parts else "Over all rows, "


def _with_range(row: dict[str, Any], value: str) -> str:
    low, high = (number_text(value, row.get(f"{value}_{end}")) for end in ("low", "high"))
    text = number_text(value, row[value])
    return f"{text} ({low}–{high})" if low != high else text


def _gain(best: dict[str, Any], worst: dict[str, Any], value: str, lower: bool) -> str:
    """Return the advantage of the best over the worst, with the range over the runs."""

    def relative(good: Any, bad: Any) -> float:
        if not bad:
            return float("nan")
        return 1 - float(good) / float(bad) if lower else float(good) / float(bad) - 1

    def ends(row: dict[str, Any]) -> tuple[Any, Any]:
        low, high = row.get(f"{value}_low"), row.get(f"{value}_high")
        return (row[value], row[value]) if _is_missing(low) else (low, high)

    gain = relative(best[value], worst[value])
    if np.isnan(gain):
        return ""
    (best_low, best_high), (worst_low, worst_high) = ends(best), ends(worst)
    limits = sorted((relative(best_high, worst_low), relative(best_low, worst_high)))
    word = "less" if lower else "more"
    text = f" ({gain:.0%} {word}"
    if f"{limits[0]:.0%}" != f"{limits[1]:.0%}" and not np.isnan(limits).any():
        text += f"; {limits[0]:.0%} to {limits[1]:.0%} over the ranges".replace("-", "−")
    return text + ")"


def _published_sentence(table: ReportTable) -> list[str]:
    """Return a sentence that counts the published numbers that ours match."""
    cells = [cell for row in layout(table).rows for cell in row if cell.relation]
    if not cells:
        return []
    counts = Counter(cell.relation for cell in cells)
    text = f"{_count(len(cells), 'published number')}: {counts['equal']} equal to ours as printed"
    if counts["inside"]:
        text += f", {counts['inside']} within the range of our runs"
    apart = [
        f"{word} in {number}"
        for word, number in (("lower", counts["below"]), ("higher", counts["above"]))
        if number
    ]
    return [f"{table.title}, {text}{'; ours is ' + ' and '.join(apart) if apart else ''}."]


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
