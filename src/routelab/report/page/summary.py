"""Sentences on the results of a study, generated from its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from routelab.report.page.benchmark_summary import benchmark_sentences
from routelab.report.page.missing_rows import proviso_text
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.row_set import OK, RowSet, key_text
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.report.table_formats import deviation_text, layout
from routelab.results.missing_results import NOT_RUN, STATUS_TEXTS, cause_text, status_text
from routelab.results.outcome import Outcome
from routelab.simulation.packet.router import Router

VCS = "virtual_channels"
_REPORTED_STATES = ("deadlock", "livelock", "no-route", "saturated", "undecided", "unfinished")
"""States of simulations that the summary reports."""

UNDECIDED = (
    "An undecided load is one for which the run was too short to call it stationary or saturated; "
    "its accepted load is measured all the same."
)


def summarize(study_rows: StudyRows, tables: Sequence[ReportTable]) -> list[str]:
    """Return sentences on the runs, the proofs, the measurements and published numbers."""
    sentences = [*runs_sentences(study_rows), *proof_sentence(study_rows.routes)]
    sentences += _file_sentences(study_rows)
    sentences += _algorithms_sentence(study_rows)
    sentences += _bounds_sentence(study_rows.routes)
    sentences += _routers_sentence(study_rows)
    sentences += _states_sentence(study_rows)
    sentences += benchmark_sentences(study_rows.merits, proviso_text(study_rows.merits, study_rows))
    for table in tables:
        sentences += _published_sentence(table)
    return sentences


def runs_sentences(study_rows: StudyRows) -> list[str]:
    """Return the numbers of tables and simulations and their outcomes as sentences."""
    named_rows = study_rows.named_rows
    sentences = (
        [runs_sentence(study_rows.routes)] if study_rows.routes.records or not named_rows else []
    )
    return [*sentences, *(runs_sentence(row_set, noun) for noun, row_set in named_rows)]


def runs_sentence(row_set: RowSet, noun: str = "run") -> str:
    """Return the number of runs and their outcomes as a sentence."""
    counts = dict(_status_counts(row_set.outcomes))
    total = len(row_set.outcomes)
    text = (
        f"{_count(total, noun)} on {_count(row_set.jobs['topology'].nunique(), 'network')}"
        if total
        else "No runs"
    )
    ok = counts.pop(OK, 0)
    if ok == total:
        return f"{text}, all of them ok." if total else f"{text}."
    parts = [f"{ok} ok", *(f"{number} {status}" for status, number in counts.items())]
    return f"{text}: {', '.join(parts)}."


def _file_sentences(study_rows: StudyRows) -> list[str]:
    """Return what files of networks have that the networks do not; networks that share it once."""
    networks: dict[str, dict[str, None]] = {}
    for row_set in study_rows.of_jobs:
        for record, outcome in zip(row_set.records, row_set.outcomes, strict=True):
            if notes := outcome.facts.get("file_notes"):
                networks.setdefault(notes, {})[record.topology] = None
    return [f"File of {', '.join(names)}: {notes}." for notes, names in networks.items()]


def _status_counts(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """Count statuses, in words; ``ok`` first, then the most serious first."""
    counts = Counter(status_text(outcome.status, outcome.reason) for outcome in outcomes)
    return [(text, counts[text]) for text in STATUS_TEXTS.values() if counts[text]]


def _routers_sentence(study_rows: StudyRows) -> list[str]:
    """Return the routers of the packet simulations in words."""
    settings = [record.engine.parameters for record in study_rows.simulations.records]
    texts = dict.fromkeys(router.text for router in settings if isinstance(router, Router))
    return [f"Simulated routers: {'; '.join(texts)}."] if texts else []


def _states_sentence(study_rows: StudyRows) -> list[str]:
    """Return sentences on the simulated loads with a problem or without a value."""
    if not study_rows.simulations.records or "state" not in study_rows.loads.jobs:
        return []
    states = Counter(study_rows.loads.jobs["state"].dropna())
    parts = [f"{states[state]} {state}" for state in _REPORTED_STATES if states[state]]
    total = _count(states.total(), "simulated load")
    sentences = [f"Of {total}: {', '.join(parts)}."] if parts else []
    return [*sentences, UNDECIDED] if states["undecided"] else sentences


def verdicts(
    study_rows: StudyRows, pooled: Collection[str]
) -> list[tuple[str, str, str, str, int]]:
    """Return routing, verdict, flow control, virtual channels, and the number of such tables.

    For routings without tables, the last item is the number of simulations.

    Parameters
    ----------
    pooled : collection of str
        Parameters by which routings are not distinguished.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    table_routings = {record.routing for record in study_rows.routes.records}
    for row_set in (study_rows.routes, study_rows.simulations):
        jobs = row_set.select(None, pooled, "")
        for run, routing in jobs.loc[jobs["status"] == OK, "routing"].items():
            if (
                row_set is study_rows.simulations
                and row_set.records[int(str(run))].routing in table_routings
            ):
                continue
            facts = row_set.outcomes[int(str(run))].facts
            key_texts = (key_text(facts.get(key)) for key in ("deadlock", "flow_control", VCS))
            counts[routing, *key_texts] += 1
    return [(*key, number) for key, number in counts.items()]


def proof_sentence(row_set: RouteRows) -> list[str]:
    """Return how many tables are proven free of deadlock; nothing without a table."""
    counts = Counter(
        str(outcome.facts.get("deadlock") or "unproven")
        for outcome in row_set.outcomes
        if outcome.status == OK
    )
    total = counts.total()
    if not total:
        return []
    if counts["proven"] == total:
        subject = "The route table is" if total == 1 else f"All {total} route tables are"
        return [f"{subject} proven free of deadlock."]
    unproven = [
        f"{number} ({verdict})" for verdict, number in counts.items() if verdict != "proven"
    ]
    proven = f"{counts['proven']} of {_count(total, 'route table')}"
    return [f"Proven free of deadlock: {proven}; not proven: {', '.join(unproven)}."]


def _algorithms_sentence(study_rows: StudyRows) -> list[str]:
    """Return the verdicts on routings that `proof_sentence` does not count, by simulation."""
    with_tables = {record.routing for record in study_rows.routes.records}
    runs = zip(study_rows.simulations.records, study_rows.simulations.outcomes, strict=True)
    counts = Counter(
        str(outcome.facts.get("deadlock") or "unproven")
        for record, outcome in runs
        if outcome.status == OK and record.routing not in with_tables
    )
    if not counts:
        return []
    parts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    total = _count(counts.total(), "simulation")
    scope = " of the other routings," if with_tables else ""
    return [f"Deadlock freedom{scope} in {total}: {parts}."]


def _bounds_sentence(row_set: RouteRows) -> list[str]:
    """Return sentences on the number of optimal tables, and on bounds without a result."""
    facts = [outcome.facts for outcome in row_set.outcomes if outcome.status == OK]
    optimality = [fact["optimal"] for fact in facts if fact.get("optimal") is not None]
    sentences = []
    if optimality:
        proven = f"{sum(optimality)} of {_count(len(optimality), 'table')}"
        sentences.append(
            f"Maximum load proven the least that the rules of a routing allow: {proven}."
        )
    failures = [outcome for outcome in row_set.bound_outcomes if outcome.status != OK]
    if failures:
        causes = "; ".join(
            dict.fromkeys(f"{outcome.routing}: {_bound_cause(outcome)}" for outcome in failures)
        )
        sentences.append(f"Without a bound: {_count(len(failures), 'network')} × rules ({causes}).")
    return sentences


def _bound_cause(outcome: Outcome) -> str:
    not_run = outcome.status == NOT_RUN
    return cause_text(outcome.status, outcome.reason) if not_run else outcome.reason


def published_counts(table: ReportTable) -> Counter[str]:
    """Count the published numbers with a value of ours, by their relation to it."""
    return Counter(cell.relation for row in layout(table).rows for cell in row if cell.relation)


def _published_sentence(table: ReportTable) -> list[str]:
    """Return a sentence that counts the published numbers that ours match."""
    counts = published_counts(table)
    if not counts:
        return []
    total, differing = counts.total(), counts["below"] + counts["above"]
    if not differing:
        where = " or within the range of our runs" if counts["inside"] else ""
        return [
            f"{table.title}: all {total} published numbers are equal to ours as printed{where}."
        ]
    far = deviation_text(table)
    text = f"{table.title}: {differing} of {total} published numbers differ"
    sides = [(word, counts[key]) for word, key in (("lower", "below"), ("higher", "above"))]
    ours = " and ".join(f"{word} in {number}" for word, number in sides if number)
    return [f"{text}{f', {far}' if far else ''}. Ours is {ours} of them."]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
