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
    """A table on the page.

    `compared` are the routings that the answer compares, whose rows and columns are marked; empty
    if the answer is not from this table.
    """

    table: ReportTable
    layout: Layout
    compared: Collection[str] = ()

    @property
    def marked_rows(self) -> set[int]:
        """Positions of the rows of routings that the answer compares."""
        compared_rows = {
            position
            for position, row in enumerate(self.table.rows)
            if str(row.get(ROUTING)) in self.compared
        }
        # marks on all rows would distinguish none
        return compared_rows if len(compared_rows) < len(self.table.rows) else set()

    @property
    def marked_columns(self) -> set[int]:
        """Positions of the columns of routings that the answer compares."""
        # A pivot has its names in either line of headings. An upper heading spans several columns,
        # and a table with one line has no lower ones.
        upper = [group.text for group in self.layout.groups for _ in range(group.span)]
        lower = [heading.text for heading in self.layout.headings or ()]
        return {
            position
            for position, headings in enumerate(zip_longest(upper, lower))
            if not set(headings).isdisjoint(self.compared)
        }

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
    """A figure on the page.

    Attributes
    ----------
    name, title : str
    description : str
        Text alternative to the picture; empty if no data could be drawn.
    notes : sequence of str
        Sentences on series without a value.
    turns : mapping
        In pictures of networks: a row of texts for each turn that is marked in a panel, by title of
        the panel.
    cycles : mapping
        In pictures of networks: steps of the cycle that refutes the deadlock freedom of a route
        table, by title of the panel.
    on_paper : bool
        Whether the colours of the picture suit white pages only.
    suffix : str
        Suffix of the file that the page shows: ``svg``, or ``png`` for a large picture.
    has_tooltips : bool
        Whether the shown file has tooltips; only SVG can.
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
    more_suffixes: Collection[str] = (),
) -> PageFigure:
    """Draw and save a figure; return what the page shows of it.

    It is saved as SVG and CSV, as PNG if the SVG is too large for the page, and with
    `more_suffixes`.
    """
    spec = study.figures[name]
    # A figure that declares no `over` pools the same parameters as the tables. An empty `over`
    # pools none.
    pooled = list(spec.over) if "over" in spec.model_fields_set else pooled_parameters(study)
    request = FigureRequest(
        spec,
        study_rows.rows_for(spec),
        pooled=pooled,
        place=study.place("figures", name),
        styles=styles,
        reference=study.reference,
    )
    drawing = draw_figure(request)
    notes = absent_series(request, drawing.data if drawing else None)
    title = spec.title or name
    if drawing is None:  # no data
        return PageFigure(name, title, notes=notes)
    save_drawing(drawing, directory, name, {"svg", "csv", *more_suffixes})
    # For a large SVG the page shows a PNG, whose colours suit white pages only.
    is_small = (directory / f"{name}.svg").stat().st_size <= MAX_SVG
    if not is_small:
        write_drawing(drawing, directory / f"{name}.png")
    return PageFigure(
        name,
        title,
        description=drawing.description,
        notes=notes,
        turns=drawing.turns,
        cycles=drawing.cycles,
        on_paper=drawing.on_paper or not is_small,
        suffix="svg" if is_small else "png",
        has_tooltips=bool(drawing.tooltips) and is_small,
    )
