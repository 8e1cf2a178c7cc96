"""The headline of a study: its question, and the comparison that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from routelab.study.entries import Scalars, StudyPart
from routelab.study.errors import suggestion
from routelab.study.views import Figure, Filter, Table


class Headline(StudyPart):
    """The question of a study, and the comparison of routings that answers it."""

    question: str | None = Field(
        default=None, description="Question that the study answers, shown above the answer"
    )
    table: str | None = Field(
        default=None, description="Table with the answer; the first table by default"
    )
    figure: str | None = Field(
        default=None,
        description="Figure below the answer; by default the first that shows the value",
    )
    value: str | None = Field(
        default=None,
        description="Column of the table to compare; without it, the answer counts proven tables",
    )
    name: str | None = Field(
        default=None, description="Words for the value in the answer; its heading by default"
    )
    better: Literal["lower", "higher"] | None = Field(
        default=None, description="Preferred direction of the value, if its column has none"
    )
    compare: Scalars | None = Field(
        default=None,
        description="Routing of the answer, or several to choose the best from; all by default",
    )
    baseline: str | None = Field(
        default=None,
        description="Routing to compare with; by default the one in `relative` of the table",
    )
    where: Filter = {}

    @property
    def routings(self) -> list[str]:
        """Return the routings of `compare`."""
        names = self.compare if isinstance(self.compare, list) else [self.compare]
        return [str(name) for name in names if name is not None]


def statistic_columns(table: Table) -> dict[str, str]:
    """Return the columns with statistics of a table, each with the column that it summarizes."""
    return {
        f"{column}_{statistic}": column
        for column, statistics in table.statistics.items()
        for statistic in statistics
    }


def headline_mistakes(
    headline: Headline, tables: Mapping[str, Table], figures: Mapping[str, Figure]
) -> Iterator[tuple[str, str]]:
    """Yield the keys of a headline that do not fit the study, each with the mistake."""
    # 1. Its figure and its table exist. A headline that names no table takes the first one; without
    #    any table, nothing else can be checked.
    if headline.figure is not None and headline.figure not in figures:
        fix = suggestion(headline.figure, figures)
        yield "figure", f"the study has no figure {headline.figure!r}{fix}"
    name = next(iter(tables), None) if headline.table is None else headline.table
    if name is None:
        return
    if name not in tables:
        yield "table", f"the study has no table {name!r}{suggestion(name, tables)}"
        return

    # 2. The table has the column `value`, and `where` names columns that identify its rows. With a
    #    pivot, its column `by` identifies values, too.
    table = tables[name]
    pivot_keys, pivot_values = ([table.pivot.by], table.pivot.values) if table.pivot else ([], [])
    columns = [*table.values, *statistic_columns(table), *pivot_values]
    if headline.value is not None and headline.value not in columns:
        fix = suggestion(headline.value, columns)
        yield "value", f"table {name!r} has no value {headline.value!r}{fix}"
    yield from _comparison_mistakes(headline, table, name)
    keys = [*table.rows, *pivot_keys]
    for column in headline.where:
        if column not in keys:
            fix = suggestion(column, keys)
            yield "where", f"{column!r} does not identify rows of table {name!r}{fix}"

    # 3. A value needs a baseline: that of the headline, or the only routing of `relative`. The
    #    other keys of a comparison need a value.
    if headline.value is None:
        for key in ("compare", "baseline", "name", "better", "where"):
            if key in headline.model_fields_set:
                yield key, "needs the key 'value', the column to compare"
    elif headline.baseline is None and not (table.relative and len(table.relative.routings) == 1):
        yield "value", "name the routing to compare with: add 'baseline: ROUTING'"
    # 4. The rows name their routing, unless there is only one to compare. Nothing is required of
    #    the first table if the headline does not name it: a study without a headline has it, too.
    if "routing" not in keys and len(headline.routings) != 1 and headline.table is not None:
        yield "table", f"the rows of table {name!r} have no routing; name a table with one"


def _comparison_mistakes(headline: Headline, table: Table, name: str) -> Iterator[tuple[str, str]]:
    """Find a value or baseline that does not fit the key `relative` of its table.

    With `relative` for the column `time`, the table compares each run with that of another routing:
    `time_ratio`, `time_gain` and `improvement_percent`. Its other columns are plain values, which
    the headline compares itself.
    """
    relative, baseline = table.relative, headline.baseline
    if relative is None or headline.value is None:
        return
    # the value may be a statistic of a column, such as time_ratio_mean of time_ratio
    column = statistic_columns(table).get(headline.value, headline.value)
    ratio = f"{relative.column}_ratio"
    is_comparison = column in ("improvement_percent", f"{relative.column}_gain", ratio)
    # 1. A plain value: the table must also have rows of the baseline. Without `median`, `relative`
    #    has no rows that compare a routing with itself. A headline without a baseline takes the
    #    only routing of `relative`.
    if not is_comparison:
        if baseline in (None, *relative.routings) and not relative.median:
            problem = (
                f"table {name!r} has no rows of the routing to compare with, as 'relative' is set"
            )
            yield "value", f"{problem}; compare {ratio!r}, or in another table"
    # 2. A comparison with the routings of `relative`: the baseline must be one of them.
    elif baseline is not None and baseline not in relative.routings:
        fix = suggestion(baseline, relative.routings)
        yield "baseline", f"{headline.value!r} does not compare with {baseline!r}{fix}"
    # 3. A comparison with several routings: there must be rows for each.
    elif len(relative.routings) > 1 and "relative_to" not in table.rows:
        problem = f"the rows of table {name!r} mix several routings to compare with"
        yield "value", f"{problem}; add 'relative_to' to 'rows'"
