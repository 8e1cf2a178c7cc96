"""Sentences on the results of a study, generated from its data.

    jobs            9 simulations on 1 network: 0 ok, 9 reached a limit.
    proofs          All 4 route tables are proven free of deadlock.
                    Deadlock freedom of the other routings, in 2 simulations: 1 proven, 1 unproven.
    files           File of fabric-1: not read: column delay.
    bounds          Maximum load proven the least that the rules of a routing allow: 3 of 4 tables.
    routers         Simulated routers: input-queued, 4 virtual channels of 8 flits.
    loads           Of 54 simulated loads: 26 saturated.
    measurements    Of 4 measured differences from the baseline, 1 is more than noise: …
    publications    Table 2: 8 of 60 published numbers differ, … Ours is lower in 4 of them.

`summarize` has all of these, in the order of the page; an empty kind has no sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from routelab.report.labels import count_text, number_text
from routelab.report.page.missing_rows import proviso_text
from routelab.report.rows.derivation import IMPROVEMENT
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

MAX_DIFFERENCES = 3
"""Largest number of measured differences in the text, starting with the largest."""


def summarize(study_rows: StudyRows, tables: Sequence[ReportTable]) -> list[str]:
    """Return sentences on the runs, the proofs, the measurements and published numbers."""
    return [
        *runs_sentences(study_rows),
        *proof_sentence(study_rows.routes),
        *_file_sentences(study_rows),
        *_simulated_proofs_sentence(study_rows),
        *_bounds_sentences(study_rows.routes),
        *_simulation_sentences(study_rows),
        *benchmark_sentences(study_rows),
        *(sentence for table in tables for sentence in _published_sentence(table)),
    ]


def runs_sentences(study_rows: StudyRows) -> list[str]:
    """Return the numbers of tables and simulations and their outcomes as sentences."""
    kinds = study_rows.named_rows
    # a study without any job has the sentence "No runs."
    if study_rows.routes.records or not kinds:
        kinds = (("run", study_rows.routes), *kinds)
    return [_runs_sentence(row_set, noun) for noun, row_set in kinds]


def _runs_sentence(row_set: RowSet, noun: str) -> str:
    """Return a sentence such as "9 simulations on 1 network: 0 ok, 9 reached a limit"."""
    total = len(row_set.outcomes)
    if not total:
        return "No runs."
    networks = count_text(row_set.frame["topology"].nunique(), "network")
    text = f"{count_text(total, noun)} on {networks}"
    counts = Counter(status_text(outcome.status, outcome.reason) for outcome in row_set.outcomes)
    if counts[OK] == total:
        return f"{text}, all of them ok."
    # The number of runs with a result is always in the sentence, even 0: "0 ok, 9 failed".
    statuses = [status for status in STATUS_TEXTS.values() if counts[status] or status == OK]
    return f"{text}: {', '.join(f'{counts[status]} {status}' for status in statuses)}."


def _file_sentences(study_rows: StudyRows) -> list[str]:
    """Return what was not read from files of networks; equal notes share a sentence."""
    networks_by_notes: dict[str, dict[str, None]] = {}
    for row_set in study_rows.job_row_sets:
        for record, outcome in zip(row_set.records, row_set.outcomes, strict=True):
            if notes := outcome.facts.get("file_notes"):
                networks_by_notes.setdefault(notes, {})[record.topology] = None
    return [f"File of {', '.join(names)}: {notes}." for notes, names in networks_by_notes.items()]


def _simulation_sentences(study_rows: StudyRows) -> Iterator[str]:
    """Iterate over sentences on the simulated routers, and on loads with a problem."""
    simulations = study_rows.simulations.records
    settings = [record.engine.parameters for record in simulations]
    if routers := dict.fromkeys(router.text for router in settings if isinstance(router, Router)):
        yield f"Simulated routers: {'; '.join(routers)}."
    if simulations and "state" in study_rows.loads.frame:
        states = Counter(study_rows.loads.frame["state"].dropna())
        if parts := [f"{states[state]} {state}" for state in _REPORTED_STATES if states[state]]:
            yield f"Of {count_text(states.total(), 'simulated load')}: {', '.join(parts)}."
        if states["undecided"]:
            yield UNDECIDED


def verdict_counts(
    study_rows: StudyRows, pooled: Collection[str]
) -> list[tuple[str, str, str, str, int]]:
    """Count the tables with a result by routing and verdict.

    Returns
    -------
    list of (str, str, str, str, int)
        Routing, verdict, flow control, virtual channels, and the number of tables with these; of a
        routing without tables, the number of simulations.

    Parameters
    ----------
    pooled : collection of str
        Parameters in which routings of one line may differ, such as ``seed``.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    with_tables = {record.routing for record in study_rows.routes.records}
    for row_set in (study_rows.routes, study_rows.simulations):
        frame = row_set.select(None, pooled, "")
        for label, routing in frame.loc[frame["status"] == OK, "routing"].items():
            run = int(str(label))  # pandas types labels as hashable only
            # The verdict of a simulation is that of its table, which is counted already.
            if row_set is study_rows.routes or row_set.records[run].routing not in with_tables:
                facts = row_set.outcomes[run].facts
                texts = (key_text(facts.get(key)) for key in ("deadlock", "flow_control", VCS))
                counts[routing, *texts] += 1
    return [(*key, number) for key, number in counts.items()]


def proof_sentence(row_set: RouteRows) -> list[str]:
    """Return how many tables are proven free of deadlock; nothing without a table."""
    counts = _count_verdicts(row_set.outcomes)
    total = counts.total()
    if not total:
        return []
    if counts["proven"] == total:
        subject = "The route table is" if total == 1 else f"All {total} route tables are"
        return [f"{subject} proven free of deadlock."]
    unproven = [
        f"{number} ({verdict})" for verdict, number in counts.items() if verdict != "proven"
    ]
    proven = f"{counts['proven']} of {count_text(total, 'route table')}"
    return [f"Proven free of deadlock: {proven}; not proven: {', '.join(unproven)}."]


def _simulated_proofs_sentence(study_rows: StudyRows) -> list[str]:
    """Return how many simulations of routings without a table are proven free of deadlock.

    `proof_sentence` counts tables only. Nothing if all routings have tables.
    """
    with_tables = {record.routing for record in study_rows.routes.records}
    runs = zip(study_rows.simulations.records, study_rows.simulations.outcomes, strict=True)
    counts = _count_verdicts(
        outcome for record, outcome in runs if record.routing not in with_tables
    )
    if not counts:
        return []
    parts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    scope = " of the other routings," if with_tables else ""
    return [f"Deadlock freedom{scope} in {count_text(counts.total(), 'simulation')}: {parts}."]


def _bounds_sentences(row_set: RouteRows) -> Iterator[str]:
    """Iterate over sentences on the number of optimal tables, and on bounds without a result."""
    facts = [outcome.facts for outcome in row_set.outcomes if outcome.status == OK]
    # whether each table is proven optimal, without tables to which no bound applies
    optimality = [fact["optimal"] for fact in facts if fact.get("optimal") is not None]
    if optimality:
        proven = f"{sum(optimality)} of {count_text(len(optimality), 'table')}"
        yield f"Maximum load proven the least that the rules of a routing allow: {proven}."
    causes: Counter[str] = Counter()
    for outcome in row_set.bound_outcomes:
        if outcome.status != OK:
            is_pending = outcome.status == NOT_RUN
            cause = cause_text(NOT_RUN, "") if is_pending else outcome.reason
            causes[f"{outcome.routing}: {cause}"] += 1
    if causes:
        # a bound is that of one network with one set of rules, hence "2 networks × rules"
        number = count_text(causes.total(), "network")
        yield f"Without a bound: {number} × rules ({'; '.join(causes)})."


def benchmark_sentences(study_rows: StudyRows) -> list[str]:
    """Return a sentence on measured differences from baselines, and warnings.

    The sentence names the differences that are more than noise; there is none without differences.
    """
    merits = study_rows.merits  # the main figures of all benchmarks
    warnings = merits.warnings(range(len(merits.rows)))
    # a row that has no baseline to differ from is neither within noise nor beyond it
    differences = [row.values for row in merits.rows if row.values.get("within_noise") is not None]
    if not differences:
        return warnings
    beyond_noise = [values for values in differences if not values["within_noise"]]
    beyond_noise.sort(key=lambda values: -abs(values[IMPROVEMENT]))
    texts = [_difference_text(values) for values in beyond_noise[:MAX_DIFFERENCES]]
    if len(beyond_noise) > MAX_DIFFERENCES:
        texts.append(f"and {len(beyond_noise) - MAX_DIFFERENCES} more")
    # "Among the 5 of 9 measurements that have a result, of 3 measured differences ..."
    start = f"{proviso}of" if (proviso := proviso_text(merits, study_rows)) else "Of"
    sentence = (
        f"{start} {count_text(len(differences), 'measured difference')} from the baseline, "
        f"{len(beyond_noise) or 'none'} {'is' if len(beyond_noise) <= 1 else 'are'} more than noise"
    )
    return [f"{sentence}: {'; '.join(texts)}." if texts else f"{sentence}.", *warnings]


def _difference_text(values: Mapping[str, Any]) -> str:
    """Return a measured difference from the baseline in words, with its interval."""

    def percent_text(percent: float) -> str:
        # "+1.2" and "−35"; with two digits, 120 would be "+1.2e+02", and 99.7 "+1e+02".
        text = f"{percent:+.2g}" if round(abs(percent)) < 100 else f"{percent:+.0f}"
        return text.replace("-", "−")

    gain, low, high = (
        percent_text(values[name]) for name in (IMPROVEMENT, "improvement_low", "improvement_high")
    )
    size = number_text("size", values["size"])
    case = f"{values['benchmark']}{f' at {size} bytes' if size else ''} on {values['topology']}"
    return (
        f"{gain} % by {values['routing']} over {values['baseline']} in {case} ({low} to {high} %)"
    )


def published_counts(table: ReportTable) -> Counter[str]:
    """Count our values with a published number by their relation to it, such as ``below``."""
    return Counter(cell.relation for row in layout(table).rows for cell in row if cell.relation)


def _published_sentence(table: ReportTable) -> list[str]:
    """Return a sentence that counts the published numbers that ours match."""
    counts = published_counts(table)
    if not counts:
        return []
    total, differing = counts.total(), counts["below"] + counts["above"]
    if not differing:
        or_inside = " or within the range of our runs" if counts["inside"] else ""
        return [
            f"{table.title}: all {total} published numbers are equal to ours as printed{or_inside}."
        ]
    text = f"{table.title}: {differing} of {total} published numbers differ"
    if deviation := deviation_text(table):
        text += f", {deviation}"
    word_counts = (("lower", counts["below"]), ("higher", counts["above"]))
    ours = " and ".join(f"{word} in {number}" for word, number in word_counts if number)
    return [f"{text}. Ours is {ours} of them."]


def _count_verdicts(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Count the verdicts of the deadlock checker on jobs that have a result."""
    return Counter(
        str(outcome.facts.get("deadlock") or "unproven")
        for outcome in outcomes
        if outcome.status == OK
    )
