"""Tables and figures of a study."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from routelab.api.columns import Rows
from routelab.config.entries import Scalar, Scalars, StudyPart

Pooling: TypeAlias = Annotated[
    dict[str, Literal["median", "range", "mean"]],
    Field(
        description="Parameters whose runs are pooled: to the lower median, with the range too, or "
        "to the mean, which of what is true (1) or not (0) is a share"
    ),
]


class Between(StudyPart):
    """Numbers between a smallest and a largest one."""

    min: float | None = Field(default=None, description="Least number")
    max: float | None = Field(default=None, description="Greatest number")

    @model_validator(mode="after")
    def _bounded(self) -> Between:
        if self.min is None and self.max is None:
            raise ValueError("say min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"nothing lies between {self.min:g} and {self.max:g}")
        return self


def _filter_form(value: Any) -> str:
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
        description="Columns with the value, the values, or the least and greatest number "
        "(`{min: 2, max: 64}`) of the rows to keep"
    ),
]


class Relative(StudyPart):
    """Compare each run with that of another routing on the same network."""

    to: Scalars = Field(description="The other routing, or several: each makes rows of its own")
    column: str = Field(description="What is compared; the greater the worse")
    median: bool = Field(
        default=False,
        description="Compare with the median (of an even number the worse one) of all runs of the "
        "other routing on the network, and keep these",
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
    description="Of all runs of a row: mean, median, min, max or sum of the values; the share of "
    "runs for which it is true; the total of ratios or gains, that of the sums; argmin and argmax, "
    "the networks with the least and the greatest value"
)


class Beside(StudyPart):
    """Published numbers next to ours."""

    reference: str = Field(description="A CSV file of the reference that the study cites")
    on: list[str] = Field(min_length=1, description="Columns that match our rows with theirs")
    prefix: str = Field(default="paper_", description="Put before the names of their columns")
    columns: list[str] = Field(default=[], description="Those to show; all by default")


_SEEN = ("channels", "terminals", "latencies")
"""Detailed rows of a simulation at one load."""
SIMULATED = ("simulations", "loads", *_SEEN)
"""Values of `of` that only a study with traffic has."""
FLOWS = ("flows", "flow-channels", "flow-ranks")
"""Values of `of` that only a study with workloads has."""
BENCHMARKS = ("benchmarks",)
"""Values of `of` that only a study with benchmarks has."""
DETAILS = (*_SEEN, *FLOWS[1:])
"""Values of `of` with many rows per simulation of packets or flows."""


class Table(StudyPart):
    """A table of the report: values of runs, or statistics of many."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["values"]}, {"required": ["statistics"]}]}
    )

    title: str | None = Field(default=None, description="Caption; the table's name by default")
    of: Literal["routes", "simulations", "loads", "flows", "benchmarks"] = Field(
        default="routes",
        description="What a run is: a routing on a network; a simulation of it; one offered load "
        "of a simulation; a workload that was run on it; or what a benchmark measured on a cluster",
    )
    rows: list[str] = Field(min_length=1, description="Columns that identify a row")
    values: list[str] = Field(default=[], description="Columns to show")
    statistics: Annotated[dict[str, list[Statistic]], _STATISTICS] = {}
    relative: Relative | None = Field(
        default=None, description="Adds columns that compare runs with those of another routing"
    )
    over: Pooling = {}
    where: Filter = {}
    beside: Beside | None = Field(
        default=None, description="Published numbers to stand beside ours"
    )
    count: bool = Field(
        default=False, description="Rows and values identify a row together; `runs` counts"
    )
    names: dict[str, str] = Field(
        default={}, description="Further names of columns for this table, each with the column"
    )
    runs: bool = Field(default=True, description="Tell how many runs a pooled row stands for")

    @model_validator(mode="after")
    def _fits_together(self) -> Table:
        if bool(self.values) == bool(self.statistics):
            raise ValueError("a table has values or statistics")
        if self.statistics and (self.count or "mean" in self.over.values()):
            raise ValueError("a table of statistics has no count, and pools to no mean")
        if self.count and self.beside:
            raise ValueError("a table that counts runs has nothing to stand beside")
        if self.beside and (foreign := set(self.beside.on) - set(self.rows)):
            raise ValueError(f"beside.on names {', '.join(sorted(foreign))}, not among the rows")
        return self


_AXES = {"log", "mark"}
_FIGURE_KEYS: dict[str, tuple[set[str], set[str]]] = {
    "ecdf": ({"x"}, {"hue", "col", "log"}),
    "histogram": ({"x"}, {"hue", "col", "lines"}),
    "line": ({"x", "y"}, {"hue", "col", *_AXES}),
    "curve": ({"x", "y"}, {"hue", "col", *_AXES}),
    "ranked": ({"y"}, {"hue", "col", *_AXES}),
    "scatter": ({"x", "y"}, {"hue", "col", *_AXES}),
    "bar": ({"x", "y"}, {"hue", "col", "mark", "statistic"}),
    "box": ({"x", "y"}, {"hue", "col", *_AXES}),
    "heat": ({"x", "y", "colour"}, {"col"}),
    "network": ({"colour"}, set()),
}
"""Keys that each kind of figure needs, and those that it may have."""
_ANY_KIND = {"kind", "title", "of", "relative", "over", "where"}
_WITH_CHANNELS = ("routes", "channels", "flow-channels")
"""Values of `of` with locations on a network."""
_OF_DETAILS = {"ecdf", "histogram", "ranked", "box", "heat", "network"}
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
        "heat",
        "network",
    ] = Field(
        description="Shares of channels with at most a value (ecdf) or with each value "
        "(histogram), a value over another (line; curve, with its "
        "interval and without latencies of saturated loads; scatter, a point a run), values in "
        "descending order (ranked), a statistic of many runs (bar), their spread (box), a mean "
        "in each field of a grid (heat), or the network drawn"
    )
    of: Rows = Field(
        default="routes",
        description="What is drawn: routings on networks, simulations of them, single offered "
        "loads; what a simulation has seen at such a load: its channels, its terminals, or its "
        "packets by their latencies and hops; workloads that were run; their channels, or their "
        "ranks; or what benchmarks measured on a cluster",
    )
    title: str | None = Field(default=None, description="Caption; the figure's name by default")
    x: str | None = Field(default=None, description="Column along the horizontal axis")
    y: str | None = Field(default=None, description="Column along the vertical axis")
    hue: str | None = Field(default=None, description="Column that tells colours apart")
    col: str | None = Field(default=None, description="Column that tells panels apart")
    colour: str | None = Field(
        default=None, description="Column that channels are coloured by (network)"
    )
    statistic: Literal["mean", "median", "min", "max", "sum", "share", "total"] | None = Field(
        default=None, description="What a bar shows of its runs; the mean by default"
    )
    log: list[Literal["x", "y"]] = Field(default=[], description="Axes with a logarithmic scale")
    mark: float | None = Field(
        default=None, description="Value on the vertical axis at which a line is drawn across"
    )
    lines: list[float] = Field(
        default=[], description="Values on the horizontal axis of a histogram to mark with lines"
    )
    relative: Relative | None = Field(
        default=None, description="Adds columns that compare runs with those of another routing"
    )
    over: Pooling = {}
    where: Filter = {}

    @model_validator(mode="after")
    def _keys_of_the_kind(self) -> Figure:
        needed, allowed = _FIGURE_KEYS[self.kind]
        given = {
            key
            for key in type(self).model_fields.keys() - _ANY_KIND
            if getattr(self, key) not in (None, [])
        }
        if missing := needed - given:
            raise ValueError(f"a figure of kind {self.kind} needs {', '.join(sorted(missing))}")
        if foreign := given - needed - allowed:
            raise ValueError(
                f"a figure of kind {self.kind} does not use {', '.join(sorted(foreign))}"
            )
        if self.of in DETAILS and self.kind not in _OF_DETAILS:
            raise ValueError(f"a figure of kind {self.kind} shows runs, and nothing of {self.of}")
        if self.kind in ("heat", "network") and self.of not in _WITH_CHANNELS:
            raise ValueError(f"a figure of kind {self.kind} shows channels; say 'of: channels'")
        if self.kind != "line" and "mean" in self.over.values():
            raise ValueError(f"a figure of kind {self.kind} has no mean; pool to the median")
        return self
