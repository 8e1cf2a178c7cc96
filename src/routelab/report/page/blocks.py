"""Tables and figures as a page shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from routelab.report.figures.drawing import save_drawing, write_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.omissions import absent_series
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import SeriesStyles
from routelab.report.page.compared_runs import ROUTING
from routelab.report.page.index_page import MAX_SVG
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table import ReportTable
from routelab.report.table_formats import Layout
from routelab.study import Study


@dataclass(frozen=True)
class PageTable:
    """A table on the page."""

    table: ReportTable
    layout: Layout
    compared: Collection[str] = ()

    @property
    def marked_rows(self) -> set[int]:
        """Positions of the rows of routings that the answer compares; empty if that is all rows."""
        compared_flags = [str(row.get(ROUTING)) in self.compared for row in self.table.rows]
        return (
            set()
            if all(compared_flags)
            else {at for at, is_compared in enumerate(compared_flags) if is_compared}
        )

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

    The page shows the file with the suffix, so that its tooltips appear if it has some. The notes
    list series without a value. See `Drawing` for the turns and cycles, and for pictures that suit
    white pages only.
    """

    name: str
    title: str
    description: str = ""
    notes: Sequence[str] = ()
    turns: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    cycles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    on_paper: bool = False
    suffix: str = "svg"
    has_tooltips: bool = False

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of the files that the page links."""
        return (*dict.fromkeys(("svg", self.suffix)), "csv")


def pooled_parameters(study: Study) -> list[str]:
    """Return the parameters that any table of the study pools."""
    return list(dict.fromkeys(key for table in study.tables.values() for key in table.over))


def write_figure(
    study: Study,
    name: str,
    study_rows: StudyRows,
    styles: SeriesStyles,
    directory: Path,
    also: Collection[str] = (),
) -> PageFigure:
    """Draw and save a figure; by default it pools the same parameters as the tables.

    The page needs the SVG, or for a large one the PNG, and the CSV; `also` has further suffixes.
    """
    spec, place = study.figures[name], study.place("figures", name)
    pooled = list(spec.over) if "over" in spec.model_fields_set else pooled_parameters(study)
    request = FigureRequest(spec, study_rows.rows_for(spec), pooled, place, styles, study.reference)
    drawing = draw_figure(request)
    notes = absent_series(request, drawing.data if drawing else None)
    title = spec.title or name
    if drawing is None:
        return PageFigure(name, title, notes=notes)
    save_drawing(drawing, directory, name, {"svg", "csv", *also})
    is_small = (directory / f"{name}.svg").stat().st_size <= MAX_SVG
    if not is_small:
        write_drawing(drawing, directory / f"{name}.png")
    return PageFigure(
        name,
        title,
        drawing.description,
        notes,
        drawing.turns,
        drawing.cycles,
        drawing.on_paper or not is_small,
        "svg" if is_small else "png",
        bool(drawing.tooltips) and is_small,
    )
