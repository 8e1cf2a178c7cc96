"""Tables and figures of a study."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from routelab.api.columns import Rows
from routelab.study.entries import Scalar, Scalars, StudyPart

Pooling: TypeAlias = Annotated[
    dict[str, Literal["median", "range", "mean"]],
    Field(
        description="Parameters whose runs are pooled, each by the lower median, the median with "
        "its range, or the mean (the mean of true and false is a share)"
    ),
]


class Between(StudyPart):
    """Numbers between a smallest and a largest one."""

    min: float | None = Field(default=None, description="Least number")
    max: float | None = Field(default=None, description="Greatest number")

    @model_validator(mode="after")
    def _require_limit(self) -> Between:
        if self.min is None and self.max is None:
            raise ValueError("add min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"no value is between {self.min:g} and {self.max:g}")
        return self


def _filter_form(value: Any) -> str:
    """Return the branch of the union in `Filter` that a value belongs to."""
    if isinstance(value, (dict, Between)):
        return "<between>"
    return "<list>" if isinstance(value, list) else "<scalar>"


Filter: TypeAlias = Annotated[
    dict[
        str,
        Annotated[
            Annotated[Between, Tag("<between>")]
            | Annotated[list[Scalar], Tag("<list>")]
            | Annotated[Scalar, Tag("<scalar>")],
            Discriminator(_filter_form),
        ],
    ],
    Field(
        description="Rows to keep: for each column a value, a list of values, or the least and "
        "greatest number (`{min: 2, max: 64}`)"
    ),
]


class Relative(StudyPart):
    """Compare each run with that of another routing on the same network."""

    to: Scalars = Field(description="Routing to compare with; several make separate rows for each")
    column: str = Field(description="Column to compare")
    median: bool = Field(
        default=False,
        description="Compare with the lower median of all runs of the other routing on the "
        "network, and keep these runs",
    )

    @property
    def routings(self) -> list[str]:
        """Return the other routings."""
        return [str(name) for name in (self.to if isinstance(self.to, list) else [self.to])]


Statistic: TypeAlias = Literal[
    "mean", "median", "min", "max", "sum", "share", "total", "argmin", "argmax"
]
STATISTICS: tuple[str, ...] = get_args(Statistic)
_STATISTICS = Field(
    description="Statistic over all runs of a row: mean, median, min, max or sum; share (of runs "
    "with a true value); total (ratio or gain of the sums); argmin and argmax (networks with the "
    "least and the greatest value)"
)


class Beside(StudyPart):
    """Published numbers next to ours."""

    reference: str = Field(description="CSV file of the cited reference")
    on: list[str] = Field(
        min_length=1, description="Columns that match our rows with those of the file"
    )
    prefix: str = Field(default="paper_", description="Prefix for the names of the file's columns")
    columns: list[str] = Field(default=[], description="Columns of the file to show (default: all)")
    not_reproducible: str | None = Field(
        default=None,
        description="Why this table cannot reproduce the published numbers; shown below the table",
    )


class Pivot(StudyPart):
    """Columns made of the rows that differ in one column only, such as one for each routing."""

    by: str = Field(description="Column whose values become columns")
    value: str | Annotated[list[str], Field(min_length=1)] = Field(
        description="Column to show in these columns, or several; the best of each row is bold"
    )
    groups: Literal["values", "names"] = Field(
        default="values",
        description="Upper headings: `values` with the names below them, or `names` "
        "with the values below them",
    )

    @property
    def values(self) -> list[str]:
        """Columns to show for each name."""
        return self.value if isinstance(self.value, list) else [self.value]


_LOAD_DETAILS = ("channels", "terminals", "latencies")
"""Values of `of` with many rows for each load of a simulation."""
SIMULATED = ("simulations", "loads", *_LOAD_DETAILS)
"""Values of `of` that only a study with traffic has."""
FLOWS = ("flows", "flow-channels", "flow-ranks", "flow-pairs")
"""Values of `of` that only a study with workloads has."""
BENCHMARKS = ("benchmarks",)
"""Values of `of` that only a study with benchmarks has."""
DETAILS = (*_LOAD_DETAILS, *FLOWS[1:])
"""Values of `of` with many rows per simulation of packets or flows."""


class Table(StudyPart):
    """A table of the report: values of runs, or statistics of many."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"anyOf": [{"required": ["values"]}, {"required": ["pivot"]}]},
                {"required": ["statistics"]},
            ]
        }
    )

    title: str | None = Field(default=None, description="Caption; the table's name by default")
    of: Literal["routes", "simulations", "loads", "flows", "benchmarks"] = Field(
        default="routes",
        description="Kind of row, such as routes (a routing on a network), simulations, loads, "
        "flows (workloads) or benchmarks",
    )
    rows: list[str] = Field(min_length=1, description="Columns that identify a row")
    values: list[str] = Field(default=[], description="Columns to show")
    pivot: Pivot | None = Field(
        default=None,
        description="Add a column after the values for each value of another column, such as "
        "each routing",
    )
    statistics: Annotated[dict[str, list[Statistic]], _STATISTICS] = {}
    relative: Relative | None = Field(
        default=None, description="Adds columns that compare runs with those of another routing"
    )
    over: Pooling = {}
    where: Filter = {}
    beside: Beside | None = Field(
        default=None, description="Published numbers to show next to ours"
    )
    count: bool = Field(
        default=False,
        description="Count runs: `rows` and `values` identify a row, and `runs` is the count",
    )
    names: dict[str, str] = Field(
        default={},
        description="Additional column names in this table, each with the column it stands for",
    )
    runs: bool = Field(default=True, description="Show the number of runs in each pooled row")

    @model_validator(mode="after")
    def _check_keys(self) -> Table:
        """Refuse keys that contradict each other."""
        if bool(self.values or self.pivot) == bool(self.statistics):
            raise ValueError("a table needs either values or statistics")
        if self.pivot and self.count:
            raise ValueError("pivot cannot be combined with count")
        if self.pivot and self.pivot.by in self.rows:
            raise ValueError(f"pivot.by is {self.pivot.by}, which is also in rows")
        columns = [*self.values, *self.pivot.values] if self.pivot else []
        if len(set(columns)) < len(columns):
            raise ValueError("pivot.value names a column twice, or one that is in values")
        if self.statistics and (self.count or "mean" in self.over.values()):
            raise ValueError("statistics cannot be combined with count or with means in over")
        if self.count and self.beside:
            raise ValueError("count cannot be combined with beside")
        row_columns = {*self.rows, self.pivot.by} if self.pivot else set(self.rows)
        if self.beside and (other_columns := set(self.beside.on) - row_columns):
            names = ", ".join(sorted(other_columns))
            raise ValueError(f"beside.on names {names}, which is not in rows")
        return self


_AXIS_KEYS = {"log", "mark"}
_FIGURE_KEYS: dict[str, tuple[set[str], set[str]]] = {
    "ecdf": ({"x"}, {"hue", "col", "log"}),
    "histogram": ({"x"}, {"hue", "col", "lines"}),
    "line": ({"x", "y"}, {"hue", "col", *_AXIS_KEYS}),
    "curve": ({"x", "y"}, {"hue", "col", *_AXIS_KEYS}),
    "ranked": ({"y"}, {"hue", "col", *_AXIS_KEYS}),
    "scatter": ({"x", "y"}, {"hue", "col", "front", *_AXIS_KEYS}),
    "bar": ({"x", "y"}, {"hue", "col", "mark", "statistic"}),
    "box": ({"x", "y"}, {"hue", "col", *_AXIS_KEYS}),
    "improvement": ({"x", "y"}, {"hue", "col", "mark", "beside", "names"}),
    "bound": ({"x", "y", "bound"}, {"hue", "col", "mark", "beside", "names"}),
    "heat": ({"x", "y", "colour"}, {"col"}),
    "network": ({"colour"}, {"turns"}),
}
"""For each kind of figure: the keys that it needs, and others that it may have."""
_KEYS_OF_PAIRS: tuple[set[str], set[str]] = ({"colour"}, {"col"})
"""The same for a heat map of pairs of terminals, whose axes are sender and receiver."""
_KEYS_OF_ANY_KIND = {"kind", "title", "of", "relative", "over", "where"}
_WITH_CHANNELS = ("routes", "channels", "flow-channels")
"""Values of `of` with locations on a network."""
PAIRS = "flow-pairs"
"""Value of `of` with pairs of terminals."""
_KINDS_WITH_DETAILS = {"ecdf", "histogram", "ranked", "box", "heat", "network"}
"""Kinds of figure that show channels, terminals or packets; the others show runs."""


class Figure(StudyPart):
    """A figure of the report."""

    kind: Literal[
        "ecdf",
        "histogram",
        "line",
        "curve",
        "ranked",
        "scatter",
        "bar",
        "box",
        "improvement",
        "bound",
        "heat",
        "network",
    ] = Field(
        description="Kind of figure. Distributions: ecdf or histogram (share of channels with at "
        "most a value, or with each value), ranked (values in descending order), bar (a "
        "statistic of runs) or box (their spread). Relations: line, curve (with intervals; "
        "without latencies of saturated loads), scatter (a point per run) or heat (a coloured "
        "field for each x and y, with numbers if rows are runs; or for each pair of terminals). "
        "A drawing: network. "
        "Comparisons: improvement (paired, with intervals) or bound (a value, its bound and the "
        "gap)"
    )
    of: Rows = Field(
        default="routes",
        description="Kind of row that is drawn, such as routes (routings on networks), "
        "simulations, loads, channels, terminals, latencies, flows (workloads) or benchmarks",
    )
    title: str | None = Field(default=None, description="Caption; the figure's name by default")
    x: str | None = Field(default=None, description="Column along the horizontal axis")
    y: str | None = Field(default=None, description="Column along the vertical axis")
    # `hue` divides the rows into series, each with a colour. `colour` is the value itself, drawn as
    # the colour of a field or channel. No kind of figure has both.
    hue: str | None = Field(default=None, description="Column that determines the colour")
    col: str | None = Field(default=None, description="Column that determines the panel")
    colour: str | None = Field(
        default=None,
        description="Column that determines the colour of fields (heat), or of "
        "channels (network): an amount, or group numbers",
    )
    bound: str | None = Field(
        default=None, description="Column with the bound of the column on the vertical axis (bound)"
    )
    beside: Beside | None = Field(
        default=None,
        description="Published numbers of the column on the vertical axis, drawn as marks (bound, "
        "improvement)",
    )
    names: dict[str, str] = Field(
        default={},
        description="Columns of the published numbers with another name here, each with the column "
        "it stands for (with `beside`)",
    )
    front: bool = Field(
        default=False,
        description="Draw the Pareto front of the points, in the preferred directions (scatter)",
    )
    turns: bool = Field(
        default=False,
        description="Mark and list the turns that the rules of the routing prohibit (network)",
    )
    statistic: Literal["mean", "median", "min", "max", "sum", "share", "total"] | None = Field(
        default=None, description="Statistic of the runs of a bar (default: the mean)"
    )
    log: list[Literal["x", "y"]] = Field(default=[], description="Axes with a logarithmic scale")
    mark: float | None = Field(
        default=None, description="Value on the vertical axis to mark with a horizontal line"
    )
    lines: list[float] = Field(
        default=[],
        description="Values on the horizontal axis of a histogram to mark with vertical lines",
    )
    relative: Relative | None = Field(
        default=None, description="Adds columns that compare runs with those of another routing"
    )
    over: Pooling = {}
    where: Filter = {}

    @model_validator(mode="after")
    def _check_keys_of_kind(self) -> Figure:
        """Refuse keys that the kind of figure lacks or does not use."""
        is_of_pairs = self.kind == "heat" and self.of == PAIRS
        needed, allowed = _KEYS_OF_PAIRS if is_of_pairs else _FIGURE_KEYS[self.kind]
        kind = f"{self.kind} of {PAIRS}" if is_of_pairs else self.kind
        values = {
            key: getattr(self, key) for key in type(self).model_fields.keys() - _KEYS_OF_ANY_KIND
        }
        # The defaults of these keys are None, an empty list or mapping, and False. A key that the
        # study sets to its default is no mistake. `is`: 0 == False, but `mark: 0` is given.
        given_keys = {
            key
            for key, value in values.items()
            if value is not None and value is not False and value not in ([], {})
        }
        if missing := needed - given_keys:
            raise ValueError(f"a figure of kind {kind} needs {', '.join(sorted(missing))}")
        if unused := given_keys - needed - allowed:
            raise ValueError(f"a figure of kind {kind} does not use {', '.join(sorted(unused))}")
        if self.kind == "heat" and self.colour in (self.x, self.y):
            raise ValueError(
                f"colour: {self.colour!r} is an axis already; name a column of numbers"
            )
        if self.of in DETAILS and self.kind not in _KINDS_WITH_DETAILS:
            raise ValueError(f"a figure of kind {self.kind} cannot show rows of {self.of}")
        if self.kind == "network" and self.of not in _WITH_CHANNELS:
            raise ValueError(f"a figure of kind {self.kind} shows channels; set 'of: channels'")
        if self.turns and self.of != "routes":
            raise ValueError("turns are marked in pictures of route tables; drop 'turns' or 'of'")
        if self.kind != "line" and "mean" in self.over.values():
            raise ValueError(f"a figure of kind {self.kind} has no mean; pool to the median")
        return self
