"""The page of a study, readable offline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path

import pandas as pd

from routelab._progress import tell
from routelab.api import Plugin
from routelab.artifacts.json_files import write_json
from routelab.artifacts.missing_results import status_text
from routelab.artifacts.outcome import Outcome
from routelab.config import Study
from routelab.registry.requirements import collect_errors
from routelab.report.figures.drawing import SUFFIXES, save_drawing
from routelab.report.figures.inline import InlinePicture
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.omissions import absent_series
from routelab.report.figures.styles import Looks
from routelab.report.frames.bench_rows import BenchRecord
from routelab.report.frames.runs import Frames, JobRecord
from routelab.report.frames.simulations import EngineFrames, EngineRecord
from routelab.report.frames.view import OK, View
from routelab.report.frames.views import Views
from routelab.report.labels import number_text
from routelab.report.page.card import FORMAT, SOURCE_KEYS, published_results, status_of
from routelab.report.page.citations import cited_works
from routelab.report.page.commands import (
    bound_command,
    row_command,
    study_command,
    throughput_command,
)
from routelab.report.page.compared_runs import ROUTING
from routelab.report.page.headline import find_answer
from routelab.report.page.measurements import RESTORE_ALARM, page_comparisons
from routelab.report.page.missing import as_sentence, loss_json, losses_of
from routelab.report.page.provenance import cpu_seconds, provenance_lines
from routelab.report.page.render import write_page, write_text
from routelab.report.page.summary import summarize, verdicts
from routelab.report.page.versions import write_versions
from routelab.report.table import ReportTable
from routelab.report.table_formats import FORMATS, Layout, layout
from routelab.report.tables import build_table
from routelab.toolkit.csv_cells import escape_cell

WORK = ("work", "benchmark")
"""Attributes of records with the work of a job, except for route tables."""
MAX_SVG = 1_000_000
"""Largest SVG file that a page shows, in bytes; PNG is shown instead of larger ones."""


@dataclass(frozen=True)
class PageTable:
    """A table on the page."""

    table: ReportTable
    layout: Layout
    compared: Collection[str] = ()

    @property
    def marked_rows(self) -> set[int]:
        """Positions of the rows of routings that the answer compares; empty if that is all rows."""
        shown = [str(row.get(ROUTING)) in self.compared for row in self.table.rows]
        return set() if all(shown) else {at for at, is_compared in enumerate(shown) if is_compared}

    @property
    def marked_columns(self) -> set[int]:
        """Positions of the columns of routings that the answer compares."""
        upper = [group.text for group in self.layout.groups for _ in range(group.span)]
        lower = [heading.text for heading in self.layout.headings or ()]
        pairs = zip_longest(upper, lower)
        return {at for at, names in enumerate(pairs) if not set(names).isdisjoint(self.compared)}

    @property
    def has_reference(self) -> bool:
        """Whether the table has published numbers beside ours."""
        return any(cell.relation for row in self.layout.rows for cell in row)

    @property
    def has_pooled_rows(self) -> bool:
        """Whether a row can represent several runs."""
        return any(column.role == "runs" for column in self.table.columns)


@dataclass(frozen=True)
class PageFigure:
    """A figure on the page; the description is empty if no data could be drawn.

    The page shows the file with the suffix, unless the picture is part of it (`inline`). The notes
    list series without a value. See `Drawing` for the turns and for pictures that suit white pages
    only.
    """

    name: str
    title: str
    description: str = ""
    inline: InlinePicture | None = None
    notes: Sequence[str] = ()
    turns: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    on_paper: bool = False
    suffix: str = "svg"


def write_study_report(
    study: Study,
    jobs: Sequence[JobRecord],
    results: Path,
    directory: Path,
    plugins: Sequence[Plugin] = (),
    simulations: Sequence[EngineRecord] = (),
    flows: Sequence[EngineRecord] = (),
    benchmarks: Sequence[BenchRecord] = (),
) -> None:
    """Write a study's tables, figures and page.

    Parameters
    ----------
    study : config.Study
    jobs : sequence of JobRecord
        All route tables of the study, in its order, with or without a result.
    results : Path
        Folder of all results; messages and the page use paths below it.
    directory : Path
        Gets ``index.html``, ``summary.json``, ``runs.csv``, ``simulations.csv``, ``flows.csv``,
        ``benchmarks.csv``, ``tables/``, ``figures/``, ``versions.json`` and ``SHA256SUMS``.
    plugins : sequence of Plugin
        Plugins of the study; the page lists their citations.
    simulations : sequence of EngineRecord
        All packet simulations of the study, with or without a result.
    flows : sequence of EngineRecord
        All flow simulations of the study.
    benchmarks : sequence of BenchRecord
        All benchmarks in its comparisons.

    Raises
    ------
    InputError
        If tables or figures do not fit the results; lists all mistakes.
    """
    tell(study.name, "results")
    views = Views(jobs, simulations, flows, benchmarks)
    looks = Looks()
    parts = collect_errors(
        *(partial(_build_table, study, name, views) for name in study.tables),
        *(
            partial(_write_figure, study, name, views, looks, directory / "figures")
            for name in study.figures
        ),
    )
    tables: list[ReportTable] = parts[: len(study.tables)]
    figures: list[PageFigure] = parts[len(study.tables) :]

    tell(study.name, "pages")
    for table in tables:
        for suffix, text_of in FORMATS.items():
            write_text(directory / "tables" / f"{table.name}.{suffix}", text_of(table))
    lists = _lists(views)
    for name, view in lists.items():
        write_text(directory / name, _rows_csv(view))
    command = study_command(study.path, benchmarks)
    write_versions(study, command, views.outcomes, plugins, directory)
    measurements = page_comparisons(views.benchmarks, directory)
    works = cited_works(study.reference, plugins, views.benchmarks.versions)
    pooled = _pooled_parameters(study)
    losses = losses_of(study.name, views)
    of_views = [(table, views.view_for(study.tables[table.name])) for table in tables]
    answer = find_answer(study, views, of_views, losses)
    lead = _lead_figure(study, figures)
    source = study.reference.source if study.reference else None
    summary = {
        "format": FORMAT,
        "study": study.name,
        "title": study.title,
        "question": study.headline.question,
        "finding": answer.sentence,
        "table": answer.table,
        "figure": lead.name if lead else "",
        "status": status_of(losses),
        "cpu_seconds": cpu_seconds(views.outcomes),
        "losses": [loss_json(loss) for loss in losses],
        "sentences": [one for one in summarize(views, tables) if one != answer.sentence],
        "tables": [table.name for table in tables],
        "figures": [figure.name for figure in figures if figure.description],
        "source": source and source.model_dump(include=SOURCE_KEYS),
        "published": published_results(study, tables),
    }
    page_tables = [
        PageTable(table, layout(table), answer.routings if table.name == answer.table else ())
        for table, _ in of_views
    ]
    write_page(
        "study.html.j2",
        directory / "index.html",
        study=study,
        source=source,
        summary=summary,
        proof=[shown for shown in page_tables if shown.table.name == answer.table],
        tables=[shown for shown in page_tables if shown.table.name != answer.table],
        lead=lead,
        figures=[figure for figure in figures if figure is not lead],
        table_suffixes=list(FORMATS),
        figure_suffixes=SUFFIXES,
        missing=[as_sentence(loss.sentence) for loss in losses if loss.is_alarm],
        unsupported=[as_sentence(loss.sentence) for loss in losses if not loss.is_alarm],
        lost=[
            *_missing_results(views),
            *_missing_bounds(views.routes),
            *_missing_throughput(views.simulations),
        ],
        ok=sum(outcome.status == OK for view in _rows(views) for outcome in view.outcomes),
        total=sum(len(view.records) for view in _rows(views)),
        lists=list(lists),
        simulated=bool(views.simulations.records or views.flows.records),
        worked=bool(views.named_views),
        measurements=measurements,
        alarms=[RESTORE_ALARM] if any(RESTORE_ALARM in one.alarms for one in measurements) else [],
        verdicts=verdicts(views, pooled),
        works=works,
        provenance=provenance_lines(views.outcomes),
        command=command,
        results=str(results),
    )
    write_json(directory / "summary.json", summary)


def _lead_figure(study: Study, figures: Sequence[PageFigure]) -> PageFigure | None:
    """Return the figure below the answer: the headline's, or the first one."""
    drawn = [figure for figure in figures if figure.description]
    named = [figure for figure in drawn if figure.name == study.headline.figure]
    return next(iter(named or drawn), None)


def _pooled_parameters(study: Study) -> list[str]:
    """Return the parameters that any table of the study pools."""
    return list(dict.fromkeys(key for table in study.tables.values() for key in table.over))


def _build_table(study: Study, name: str, views: Views) -> ReportTable:
    tell(study.name, f"table {name}")
    spec, place = study.tables[name], study.place("tables", name)
    return build_table(name, spec, views.view_for(spec), study.reference, place)


def _write_figure(
    study: Study, name: str, views: Views, looks: Looks, directory: Path
) -> PageFigure:
    """Draw and save a figure; by default it pools the same parameters as the tables."""
    tell(study.name, f"figure {name}")
    spec, place = study.figures[name], study.place("figures", name)
    pooled = list(spec.over) if "over" in spec.model_fields_set else _pooled_parameters(study)
    view = views.view_for(spec)
    drawing = draw_figure(spec, view, pooled, place, looks, study.reference)
    notes = absent_series(spec, view, pooled, place, drawing.data if drawing else None)
    title = spec.title or name
    if drawing is None:
        return PageFigure(name, title, notes=notes)
    save_drawing(drawing, directory, name)
    is_small = (directory / f"{name}.svg").stat().st_size <= MAX_SVG
    return PageFigure(
        name,
        title,
        drawing.description,
        drawing.inline,
        notes,
        drawing.turns,
        drawing.on_paper,
        "svg" if is_small else "png",
    )


def _missing_results(views: Views) -> list[dict[str, str]]:
    """Return jobs without a result, with the reason and the command that reproduces it."""
    return [
        {
            "routing": record.routing,
            "topology": record.topology,
            "work": next((getattr(record, kind) for kind in WORK if hasattr(record, kind)), ""),
            **_status_fields(outcome),
            "command": row_command(view, run),
        }
        for view in _rows(views)
        for run, (record, outcome) in enumerate(zip(view.records, view.outcomes, strict=True))
        if outcome.status != OK
    ]


def _missing_bounds(routes: Frames) -> list[dict[str, str]]:
    """Return bounds without a result; the command prints the bounds of one of their tables."""
    owners: dict[Path, JobRecord] = {}
    for record in routes.records:
        for folder in (record.network_bound, record.rules_bound):
            if folder is not None:
                owners.setdefault(folder, record)
    return [
        {
            "routing": _bound_name(record, folder, outcome),
            "topology": record.topology,
            "work": "",
            **_status_fields(outcome),
            "command": bound_command(record),
        }
        for (folder, record), outcome in zip(owners.items(), routes.bound_outcomes, strict=True)
        if outcome.status != OK
    ]


def _missing_throughput(simulations: EngineFrames) -> list[dict[str, str]]:
    """Return bounds for any routing without a result."""
    owners = {
        record.throughput: record for record in simulations.records if record.throughput is not None
    }
    return [
        {
            "routing": "bound for any routing",
            "topology": record.topology,
            "work": record.work,
            **_status_fields(outcome),
            "command": throughput_command(record, outcome),
        }
        for record, outcome in zip(owners.values(), simulations.throughput_outcomes, strict=True)
        if outcome.status != OK
    ]


def _bound_name(record: JobRecord, folder: Path, outcome: Outcome) -> str:
    of_rules = folder == record.rules_bound
    return f"bound of the rules {outcome.routing}" if of_rules else "bound of the network"


def _status_fields(outcome: Outcome) -> dict[str, str]:
    return {
        "status": outcome.status,
        "status_text": status_text(outcome.status, outcome.reason),
        "reason": outcome.reason,
    }


def _rows(views: Views) -> list[View]:
    """Return views that contain each job of the study once."""
    return [views.routes, *(view for _, view in views.named_views)]


def _lists(views: Views) -> dict[str, View]:
    """Return views with all rows of the study, by file name."""
    lists: dict[str, View] = {"runs.csv": views.routes}
    if views.simulations.records:
        lists["simulations.csv"] = views.loads
    if views.flows.records:
        lists["flows.csv"] = views.flows
    if views.benchmarks.records:
        lists["benchmarks.csv"] = views.benchmarks
    return lists


def _rows_csv(view: View) -> str:
    """Return all rows as CSV with all columns, and the command of each row."""
    jobs = view.jobs
    first = [*view.identity, "status", "reason", "nodes"]
    first = [name for name in first if name in jobs]
    sorted_jobs = jobs[[*first, *jobs.columns.drop(first)]]
    texts = pd.DataFrame(
        {
            column: [escape_cell(number_text("", value, 10)) for value in sorted_jobs[column]]
            for column in sorted_jobs.columns
        }
    )
    texts["command"] = [row_command(view, run) for run in range(len(jobs))]
    return texts.to_csv(index=False, lineterminator="\n")
