"""The figure below the answer of a study."""

from __future__ import annotations

from collections.abc import Collection

from routelab.report.rows.derivation import IMPROVEMENT
from routelab.study import Between, Figure, Relative, Study
from routelab.study.headline import statistic_columns
from routelab.study.views import Filter


def lead_figure(study: Study, table_name: str, drawn: Collection[str]) -> str:
    """Return the name of the figure below the answer; empty if none is drawn.

    It is the headline's figure, or the first of these:

    1. a figure of the column that the answer compares, with rows of the same kind;
    2. a figure of the column that it derives from, or that derives from it: ``max_load`` and
       ``max_load_gain``;
    3. a figure of these columns that has rows of another kind, or leaves out those of the answer;
    4. any figure with rows of the same kind;
    5. the first figure.

    Parameters
    ----------
    study : Study
    table_name : str
        Table that proves the answer; empty if none does.
    drawn : collection of str
        Names of the figures with data, in the order of the study.
    """
    declared = study.headline.figure
    if declared is not None and declared in drawn:
        return declared
    if table_name not in study.tables:
        return next(iter(drawn), "")
    ranks = {name: _rank(study, table_name, study.figures[name]) for name in drawn}
    return min(ranks, key=ranks.__getitem__, default="")  # of equal ranks, the first figure


def _rank(study: Study, table_name: str, figure: Figure) -> int:
    """Return the number of the first rule of `lead_figure` that selects a figure."""
    table, value = study.tables[table_name], study.headline.value
    has_same_rows = figure.of == table.of
    if value is not None:
        # the column of the runs: without its statistic, and without another name in the table
        source = statistic_columns(table).get(value, value)
        column = table.names.get(source, source)
        shown_columns = [name for name in (figure.x, figure.y, figure.colour) if name is not None]
        # without their comparison: `max_load` for `max_load_gain`
        shown_bases = {_base_column(name, figure.relative) for name in shown_columns}
        if _base_column(column, table.relative) in shown_bases:
            if not has_same_rows or _are_disjoint(figure.where, study.headline.where):
                return 3
            return 1 if column in shown_columns else 2
    return 4 if has_same_rows else 5


def _base_column(column: str, relative: Relative | None) -> str:
    """Return ``max_load`` for the columns that compare it, such as ``max_load_gain``.

    Columns that no comparison makes are returned as they are.
    """
    if relative is None:
        return column
    derived = (IMPROVEMENT, f"{relative.column}_ratio", f"{relative.column}_gain")
    return relative.column if column in derived else column


def _are_disjoint(first: Filter, second: Filter) -> bool:
    """Return whether no row passes both filters, as they keep different values of a column.

    Ranges (`Between`) are not compared.
    """
    for column in first.keys() & second.keys():
        conditions = first[column], second[column]
        if not any(isinstance(condition, Between) for condition in conditions):
            first_values, second_values = (
                condition if isinstance(condition, list) else [condition]
                for condition in conditions
            )
            if set(map(str, first_values)).isdisjoint(map(str, second_values)):
                return True
    return False
