"""Write the report of a study: its page, tables, figures and lists of runs.

1. Build all tables and draw all figures; report all mistakes of the study together.
2. Write the files that the page links to.
3. Answer the study's question.
4. Write the page, section by section, and last the summary that the index of reports reads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from routelab._runtime.progress import report_phase
from routelab.api import InputError, Plugin
from routelab.jobs.plugin_errors import sentence
from routelab.registry.requirements import collect_errors
from routelab.report.figures.styles import SeriesStyles
from routelab.report.labels import number_text
from routelab.report.page.blocks import PageFigure, PageTable, pooled_parameters, write_figure
from routelab.report.page.citations import cited_works
from routelab.report.page.commands import row_command, study_command
from routelab.report.page.headline import Answer, find_answer
from routelab.report.page.index_entry import FORMAT, SOURCE_KEYS, published_results, status_of
from routelab.report.page.lead_figure import lead_figure
from routelab.report.page.measurements import RESTORE_ALARM, page_comparisons
from routelab.report.page.missing_rows import (
    as_sentence,
    missing_json,
    missing_results,
    missing_rows,
)
from routelab.report.page.provenance import cpu_seconds, provenance_lines
from routelab.report.page.render import write_page, write_text
from routelab.report.page.study_values import study_values
from routelab.report.page.summary import summarize, verdict_counts
from routelab.report.page.versions import write_versions
from routelab.report.rows.bench_rows import BenchmarkRecord
from routelab.report.rows.routes import RouteRecord
from routelab.report.rows.row_set import OK, RowSet
from routelab.report.rows.simulations import SimulationRecord
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.report.table_formats import FORMATS, layout
from routelab.report.tables import build_table
from routelab.results.json_files import write_json
from routelab.results.missing_results import MissingResult
from routelab.study import Study
from routelab.toolkit.csv_cells import escape_cell

Part = TypeVar("Part")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BrokenPart:
    """A table or figure that does not fit the results; the page says why at its place."""

    kind: str
    name: str
    title: str
    reason: str

    @property
    def sentence(self) -> str:
        """What is missing, and why."""
        return as_sentence(f"The {self.kind} {self.name} cannot be made: {self.reason}")


@dataclass(frozen=True)
class Report:
    """The tables, figures and findings of a study."""

    study: Study
    study_rows: StudyRows
    tables: Sequence[ReportTable]
    figures: Sequence[PageFigure]
    broken_parts: Sequence[BrokenPart] = ()

    @cached_property
    def missing(self) -> list[MissingResult]:
        """Results that the study lacks, by cause; the most serious first."""
        return missing_results(self.study.name, self.study_rows)

    @cached_property
    def answer(self) -> Answer:
        """The answer to the study's question."""
        specs = self.study.tables
        headline_table = self.study.headline.table or next(iter(specs), "")
        for part in self.broken_parts:
            if (part.kind, part.name) == ("table", headline_table):
                return Answer(part.sentence)  # another table would answer another question
        rows = [(table, self.study_rows.rows_for(specs[table.name])) for table in self.tables]
        return find_answer(self.study, self.study_rows, rows, self.missing)

    @cached_property
    def drawn_figures(self) -> dict[str, PageFigure]:
        """Figures with data, by name; one without data has no description."""
        return {figure.name: figure for figure in self.figures if figure.description}

    @cached_property
    def lead_figure(self) -> PageFigure | None:
        """Figure below the answer; None if nothing is drawn."""
        name = lead_figure(self.study, self.answer.table, self.drawn_figures)
        return self.drawn_figures.get(name)


def write_study_report(
    study: Study,
    jobs: Sequence[RouteRecord],
    results: Path,
    directory: Path,
    plugins: Sequence[Plugin] = (),
    simulations: Sequence[SimulationRecord] = (),
    flows: Sequence[SimulationRecord] = (),
    benchmarks: Sequence[BenchmarkRecord] = (),
    also: Collection[str] = (),
    *,
    keep_going: bool = False,
) -> None:
    """Write a study's tables, figures and page.

    Parameters
    ----------
    study : config.Study
    jobs : sequence of RouteRecord
        All route tables of the study, in its order, with or without a result.
    results : Path
        Folder of all results; messages and the page use paths below it.
    directory : Path
        Gets ``index.html``, ``summary.json``, ``runs.csv``, ``simulations.csv``, ``flows.csv``,
        ``benchmarks.csv``, ``tables/``, ``figures/``, ``versions.json`` and ``SHA256SUMS``.
    plugins : sequence of Plugin
        Plugins of the study; the page lists their citations.
    simulations : sequence of SimulationRecord
        All packet simulations of the study, with or without a result.
    flows : sequence of SimulationRecord
        All flow simulations of the study.
    benchmarks : sequence of BenchmarkRecord
        All benchmarks in its comparisons.
    also : collection of str
        Suffixes of further files of every figure: ``png``, ``pdf``.
    keep_going : bool
        Whether a table or figure that does not fit the results only leaves a gap with the reason.

    Raises
    ------
    InputError
        If tables or figures do not fit the results; lists all mistakes. Nothing is written then.
    """
    # 1. All tables and figures first, because with a mistake in any of them there is no page.
    report_phase(study.name, "results")
    study_rows = StudyRows(jobs, simulations, flows, benchmarks)
    report = build_report(study, study_rows, directory, also, keep_going=keep_going)
    # 2. The files that the page links to. The last ones have the checksums of the CSV files.
    report_phase(study.name, "pages")
    for table in report.tables:
        for suffix, text_of in FORMATS.items():
            write_text(directory / "tables" / f"{table.name}.{suffix}", text_of(table))
    for name, row_set in run_lists(study_rows).items():
        write_text(directory / name, rows_csv(row_set))
    command = study_command(study.path, benchmarks, study.cluster)
    write_versions(study, command, study_rows.outcomes, plugins, directory)
    # 3. The page with the answer, and the summary for the index of reports.
    measurements = page_comparisons(study_rows.benchmarks, directory)
    is_restore_missing = any(RESTORE_ALARM in row["alarms"] for row in measurements)
    works = cited_works(study.reference, plugins, study_rows.benchmarks.versions)
    summary = study_summary(report)
    write_page(
        "study.html.j2",
        directory / "index.html",
        study=study,
        **answer_section(report),
        summary=summary,
        source=study.reference.source if study.reference else None,
        figures=[figure for figure in report.figures if figure is not report.lead_figure],
        broken=report.broken_parts,
        **runs_section(report),
        measurements=measurements,
        alarms=[RESTORE_ALARM] if is_restore_missing else [],
        works=works,
        provenance=provenance_lines(study_rows.outcomes),
        command=command,
        results=str(results),
    )
    write_json(directory / "summary.json", summary)


def build_report(
    study: Study,
    study_rows: StudyRows,
    directory: Path,
    also: Collection[str] = (),
    *,
    keep_going: bool = False,
) -> Report:
    """Build all tables, and draw and save all figures.

    Parameters
    ----------
    study : Study
    study_rows : StudyRows
    directory : Path
        Gets the folder ``figures/``.
    also : collection of str
        Suffixes of further files of every figure.
    keep_going : bool
        Whether a mistake only leaves a gap, with the reason.

    Raises
    ------
    InputError
        If tables or figures do not fit the results; lists all mistakes.
    """
    styles = SeriesStyles()  # a series has the same colour in all figures

    def make_table(name: str) -> ReportTable:
        report_phase(study.name, f"table {name}")
        spec = study.tables[name]
        place = study.place("tables", name)
        return build_table(name, spec, study_rows.rows_for(spec), study.reference, place)

    def make_figure(name: str) -> PageFigure:
        report_phase(study.name, f"figure {name}")
        return write_figure(study, name, study_rows, styles, directory / "figures", also)

    # 1. Without `keep_going`, make all parts, and raise one error with the mistakes of all.
    if not keep_going:
        parts = collect_errors(
            *(partial(make_table, name) for name in study.tables),
            *(partial(make_figure, name) for name in study.figures),
        )
        # in the order in which they were passed: tables, then figures
        return Report(
            study,
            study_rows,
            tables=parts[: len(study.tables)],
            figures=parts[len(study.tables) :],
        )
    # 2. With `keep_going`, the reason of each mistake takes the place of its part on the page.
    tables = [
        _make_or_explain("table", name, spec.title, make_table)
        for name, spec in study.tables.items()
    ]
    figures = [
        _make_or_explain("figure", name, spec.title, make_figure)
        for name, spec in study.figures.items()
    ]
    return Report(
        study,
        study_rows,
        tables=[part for part in tables if isinstance(part, ReportTable)],
        figures=[part for part in figures if isinstance(part, PageFigure)],
        broken_parts=[part for part in (*tables, *figures) if isinstance(part, BrokenPart)],
    )


def _make_or_explain(
    kind: str, name: str, title: str | None, make: Callable[[str], Part]
) -> Part | BrokenPart:
    """Return a table or figure of the page, or the reason why it cannot be made."""
    try:
        return make(name)
    except Exception as error:
        # A mistake of the study (`InputError`) explains itself; anything else is a defect, whose
        # traceback is needed.
        logger.warning("%s %s: %s", kind, name, error, exc_info=not isinstance(error, InputError))
        return BrokenPart(kind, name, title or name, sentence(error))


def answer_section(report: Report) -> dict[str, Any]:
    """Return the figure and the table that prove the answer, and all other tables."""
    answer = report.answer
    tables = [
        PageTable(table, layout(table), answer.routings if table.name == answer.table else ())
        for table in report.tables
    ]
    return {
        "lead_figure": report.lead_figure,
        "proof": [page_table for page_table in tables if page_table.table.name == answer.table],
        "tables": [page_table for page_table in tables if page_table.table.name != answer.table],
        "table_suffixes": list(FORMATS),
    }


def study_summary(report: Report) -> dict[str, Any]:
    """Return the content of ``summary.json``, which the page shows, too."""
    study, answer = report.study, report.answer
    sentences = summarize(report.study_rows, report.tables)
    publication = study.reference.source if study.reference else None
    return {
        "format": FORMAT,
        "study": study.name,
        "title": study.title,
        "question": study.headline.question,
        "finding": answer.sentence,
        "table": answer.table,
        "figure": report.lead_figure.name if report.lead_figure else "",
        "status": status_of(report.missing),
        "cpu_seconds": cpu_seconds(report.study_rows.outcomes),
        "losses": [missing_json(result) for result in report.missing],
        "sentences": [sentence for sentence in sentences if sentence != answer.sentence],
        "tables": [table.name for table in report.tables],
        "figures": list(report.drawn_figures),
        "broken": [part.sentence for part in report.broken_parts],
        "source": publication.model_dump(include=SOURCE_KEYS) if publication else None,
        "published": published_results(study, report.tables),
        "values": study_values(study, report.tables),
    }


def runs_section(report: Report) -> dict[str, Any]:
    """Return what ran, what has no result and why, and the verdicts of the deadlock checker."""
    study_rows, missing = report.study_rows, report.missing
    outcomes = [outcome for row_set in study_rows.job_row_sets for outcome in row_set.outcomes]
    return {
        "missing": [as_sentence(result.sentence) for result in missing if result.is_alarm],
        "unsupported": [as_sentence(result.sentence) for result in missing if not result.is_alarm],
        "missing_rows": missing_rows(study_rows),
        "ok": sum(outcome.status == OK for outcome in outcomes),
        "total": len(outcomes),
        "lists": list(run_lists(study_rows)),
        "simulated": bool(study_rows.simulations.records or study_rows.flows.records),
        "has_work": bool(study_rows.named_rows),
        "verdicts": verdict_counts(study_rows, pooled_parameters(report.study)),
    }


def run_lists(study_rows: StudyRows) -> dict[str, RowSet]:
    """Return the lists of all runs of the study, by file name."""
    lists: dict[str, RowSet] = {"runs.csv": study_rows.routes}
    if study_rows.simulations.records:
        lists["simulations.csv"] = study_rows.loads
    if study_rows.flows.records:
        lists["flows.csv"] = study_rows.flows
    if study_rows.benchmarks.records:
        lists["benchmarks.csv"] = study_rows.benchmarks
    return lists


def rows_csv(row_set: RowSet) -> str:
    """Return all rows as CSV with all columns, and the command of each row."""
    frame = row_set.frame
    first_columns = [*row_set.identity, "status", "reason", "nodes"]
    first_columns = [name for name in first_columns if name in frame]
    sorted_frame = frame[[*first_columns, *frame.columns.drop(first_columns)]]
    # Unlike in tables, numbers have up to 10 digits, whatever their column's decimals are ("").
    texts = pd.DataFrame(
        {
            name: [escape_cell(number_text("", value, digits=10)) for value in sorted_frame[name]]
            for name in sorted_frame.columns
        }
    )
    texts["command"] = [row_command(row_set, row) for row in range(len(frame))]
    return texts.to_csv(index=False, lineterminator="\n")
