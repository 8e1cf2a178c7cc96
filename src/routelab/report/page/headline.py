"""The sentence that answers the question of a study.

    comparison      {proviso}{the comparison that the headline declares}
    measurements    {proviso}of 4 measured differences from the baseline, 1 is more than noise: …
    missing         3 of 9 simulations of demo have not run yet.
    proofs          All 4 route tables are proven free of deadlock.
    runs            4 simulations on 1 network, all of them ok.

`headline_cases` finds what can be compared, `headline_text` puts it into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routelab.report.page.headline_cases import ComparedValue, best_routing, compare_routings
from routelab.report.page.headline_text import comparison_sentence, refusal_sentence
from routelab.report.page.missing_rows import BOUND, as_sentence, proviso_text
from routelab.report.page.summary import benchmark_sentences, proof_sentence, runs_sentences
from routelab.report.rows.row_set import RowSet
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.results.missing_results import MissingResult
from routelab.study import Study
from routelab.study.views import BENCHMARKS


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


def find_answer(
    study: Study,
    study_rows: StudyRows,
    tables: Sequence[tuple[ReportTable, RowSet]],
    missing: Sequence[MissingResult] = (),
) -> Answer:
    """Answer the question of a study by the first of these that exists.

    1. the comparison that the headline declares, or that of a table of measurements, with a
       proviso if results of its kind are missing; if runs have values, but none that can be
       compared, the reason;
    2. the most serious cause of missing results of any kind except bounds;
    3. the number of tables proven free of deadlock;
    4. the number of runs and their outcomes.

    Raises
    ------
    InputError
        If the better direction of the headline's value is needed and unknown.
    """
    headline = study.headline
    # the most serious cause is the first one
    alarms = [result for result in missing if result.is_alarm and result.noun != BOUND]
    # 1. A comparison. Without a declared table, a declared value is in the first table; with
    #    neither, the first table of measurements answers.
    table_name = headline.table or (tables[0][0].name if headline.value and tables else "")
    for table, row_set in tables:
        if table_name not in ("", table.name):
            continue
        if table.of in BENCHMARKS:
            if sentences := benchmark_sentences(study_rows):
                return Answer(sentences[0], table.name)
        elif headline.value is not None:
            value = ComparedValue(headline, study.tables[table.name])
            answer = _compare(table, value, row_set, study_rows, study.place("headline"))
            # If there is no value to compare, missing results are the best explanation (2).
            if answer.sentence or not alarms:
                text = answer.sentence or (
                    f"Table {table.name!r} has no values of two routings to compare."
                )
                if proviso := proviso_text(row_set, study_rows):
                    text = f"{proviso}{text[0].lower()}{text[1:]}"
                return Answer(text, answer.table, answer.routings)
    # 2. The most serious cause of missing results.
    if alarms:
        return Answer(as_sentence(alarms[0].sentence))
    # 3. The proofs, in one sentence; if no table has a verdict, the last sentence on runs (4).
    return Answer([*runs_sentences(study_rows), *proof_sentence(study_rows.routes)][-1])


def _compare(
    table: ReportTable, value: ComparedValue, row_set: RowSet, study_rows: StudyRows, place: str
) -> Answer:
    """Compare the best of the headline's routings with its baseline.

    If no routing can be compared, the answer is the reason, without a table; its sentence is empty
    if no case was left out. `place` begins messages.
    """
    compared = compare_routings(table, value, row_set, study_rows)
    candidates = [routing for routing in compared if routing.cases]
    if not candidates:
        return Answer(refusal_sentence(value, compared))
    best = best_routing(candidates, value, row_set, place)
    sentence = comparison_sentence(value, best, row_set)
    return Answer(sentence, table.name, (best.name, value.baseline))
