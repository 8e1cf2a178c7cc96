"""What a study found, in sentences made from its data."""

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
from routelab.report.page.benchmark_summary import measured_sentences
from routelab.report.page.missing import BOUND, absent_things, as_sentence, incomplete
from routelab.report.table_formats import layout
from routelab.report.tables import Table

PROVEN = "proven"
VCS = "virtual_channels"
_TOLD = ("deadlock", "livelock", "no-route", "saturated", "undecided", "unfinished")
"""States of simulations that are told of."""


def summarize(views: Views, tables: Sequence[tuple[Table, View]]) -> list[str]:
    """Sentences about the runs, the proofs, the tables' main values and the published numbers."""
    sentences = [*_runs_sentences(views), *_proof_sentence(views.routes)]
    sentences += _bounds_sentence(views.routes)
    sentences += _states_sentence(views)
    sentences += _measured(views)
    for table, view in tables:
        sentences += _comparison(table, view, views)
        sentences += _published_sentence(table)
    return sentences


def key_finding(
    views: Views, tables: Sequence[tuple[Table, View]], losses: Sequence[Loss] = ()
) -> str:
    """Return the sentence that matters most.

    It is the first of these that exists:

    1. the most serious loss of a kind of result that is absent (see `absent_things`);
    2. the main comparison of the first table that has one, with a reservation if results of its
       kind are missing;
    3. the most serious loss of any kind of result except bounds;
    4. what is proven;
    5. what became of the runs.
    """
    absent = absent_things(views)
    for loss in losses:
        if loss.noun in absent:
            return as_sentence(loss.sentence)
    for table, view in tables:
        found = _measured(views) if isinstance(view, BenchFrames) else []
        for sentence in found or _comparison(table, view, views):
            return sentence
    for loss in losses:
        if loss.is_alarm and loss.noun != BOUND:
            return as_sentence(loss.sentence)
    return [*_runs_sentences(views), *_proof_sentence(views.routes)][-1]


def tiles(views: Views, pooled: Collection[str]) -> list[tuple[str, str]]:
    """Counts that tell how large a study is: number and thing.

    Parameters
    ----------
    pooled : collection of str
        Parameters that do not make a routing another one.
    """
    routes, simulated = views.routes, views.simulated
    every = [routes, *(view for _, view in simulated)]
    jobs = pd.concat([view.select(None, pooled, "") for view in every])
    outcomes = [outcome for view in every for outcome in view.outcomes]
    proven = sum(
        outcome.status == OK and outcome.facts.get("deadlock") == PROVEN
        for outcome in routes.outcomes
    )
    counts = [(len(routes.outcomes), "run")] if routes.outcomes or not outcomes else []
    counts += [(len(view.outcomes), thing) for thing, view in simulated]
    counts += [(jobs["topology"].nunique(), "network"), (jobs["routing"].nunique(), "routing")]
    if routes.outcomes or not outcomes:
        counts.append((proven, "table proven free of deadlock"))
    shown = [(str(number), thing if number == 1 else _plural(thing)) for number, thing in counts]
    lost = _status_counts(outcome for outcome in outcomes if outcome.status != OK)
    return [*shown, *((str(number), status) for status, number in lost)]


def _plural(thing: str) -> str:
    if thing.endswith("simulation"):
        return f"{thing}s"
    noun, _, rest = thing.partition(" ")
    return f"{noun}s {rest}".strip()


def _runs_sentences(views: Views) -> list[str]:
    """How many tables and simulations there are and what came of them."""
    simulated = views.simulated
    sentences = [runs_sentence(views.routes)] if views.routes.records or not simulated else []
    return [*sentences, *(runs_sentence(view, thing) for thing, view in simulated)]


def runs_sentence(frames: View, thing: str = "run") -> str:
    """How many runs there are and what came of them."""
    counts = dict(_status_counts(frames.outcomes))
    total = len(frames.outcomes)
    text = (
        f"{_count(total, thing)} on {_count(frames.jobs['topology'].nunique(), 'network')}"
        if total
        else "No runs"
    )
    ok = counts.pop(OK, 0)
    if ok == total:
        return f"{text}, all of them ok." if total else f"{text}."
    parts = [f"{ok} ok", *(f"{number} {status}" for status, number in counts.items())]
    return f"{text}: {', '.join(parts)}."


def _status_counts(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """Statuses in words and how often they occur; after ``ok``, the most serious first."""
    counts = Counter(status_text(outcome.status, outcome.reason) for outcome in outcomes)
    return [(text, counts[text]) for text in STATUS_TEXTS.values() if counts[text]]


def _states_sentence(views: Views) -> list[str]:
    """Simulated loads at which something is wrong, or nothing is known."""
    if not views.simulations.records or "state" not in views.loads.jobs:
        return []
    states = Counter(views.loads.jobs["state"].dropna())
    told = [f"{states[state]} {state}" for state in _TOLD if states[state]]
    total = _count(states.total(), "simulated load")
    return [f"Of {total}: {', '.join(told)}."] if told else []


def verdicts(views: Views, pooled: Collection[str]) -> list[tuple[str, str, str, str, int]]:
    """Routing, verdict, flow control and virtual channels, with the number of such tables.

    Of routings without tables it is the number of simulations.

    Parameters
    ----------
    pooled : collection of str
        Parameters that do not make a routing another one.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    tabled = {record.routing for record in views.routes.records}
    for view in (views.routes, views.simulations):
        jobs = view.select(None, pooled, "")
        for run, routing in jobs.loc[jobs["status"] == OK, "routing"].items():
            if view is views.simulations and view.records[int(str(run))].routing in tabled:
                continue
            facts = view.outcomes[int(str(run))].facts
            shown = (key_text(facts.get(key)) for key in ("deadlock", "flow_control", VCS))
            counts[routing, *shown] += 1
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
    """How many tables are as good as they can be, and which bounds could not be found."""
    facts = [outcome.facts for outcome in frames.outcomes if outcome.status == OK]
    known = [fact["optimal"] for fact in facts if fact.get("optimal") is not None]
    sentences = []
    if known:
        proven = f"{sum(known)} of {_count(len(known), 'table')}"
        sentences.append(
            f"Maximum load proven the least that the rules of a routing allow: {proven}."
        )
    lost = [outcome for outcome in frames.bound_outcomes if outcome.status != OK]
    if lost:
        causes = "; ".join(
            dict.fromkeys(f"{outcome.routing}: {_bound_cause(outcome)}" for outcome in lost)
        )
        sentences.append(f"Without a bound: {_count(len(lost), 'network')} × rules ({causes}).")
    return sentences


def _bound_cause(outcome: Outcome) -> str:
    not_run = outcome.status == NOT_RUN
    return cause_text(outcome.status, outcome.reason) if not_run else outcome.reason


def _measured(views: Views) -> list[str]:
    return measured_sentences(views.merits, incomplete(views.merits, views))


def _comparison(table: Table, view: View, views: Views) -> list[str]:
    """The headline of a table, which says so if results of its kind are missing."""
    reservation = incomplete(view, views)
    return [
        f"{reservation}{text[0].lower()}{text[1:]}" if reservation else text
        for text in _headline(table, view.better)
    ]


def _headline(table: Table, better: Mapping[str, str]) -> list[str]:
    """Who is best and who is worst in a table's first value, in its last group of rows."""
    keys = [column.name for column in table.named("row")]
    values = [column.name for column in table.named("value") if column.name in better]
    if "routing" not in keys or not values or not table.rows or table.counts:
        return []
    if table.of in BENCHMARKS:
        # the greatest of differences that are noise is no finding
        return []
    value = values[0]
    others = [key for key in keys if key != "routing"]
    last = [key_text(table.rows[-1][key]) for key in others]
    rows = [
        row
        for row in table.rows
        if [key_text(row[key]) for key in others] == last and not _missing(row.get(value))
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
    """How much better the best is, with the range that the runs allow."""

    def relative(good: Any, bad: Any) -> float:
        if not bad:
            return float("nan")
        return 1 - float(good) / float(bad) if lower else float(good) / float(bad) - 1

    def ends(row: dict[str, Any]) -> tuple[Any, Any]:
        low, high = row.get(f"{value}_low"), row.get(f"{value}_high")
        return (row[value], row[value]) if _missing(low) else (low, high)

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


def _published_sentence(table: Table) -> list[str]:
    """How many published numbers ours equal."""
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


def _missing(value: Any) -> bool:
    return value is None or value != value


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
