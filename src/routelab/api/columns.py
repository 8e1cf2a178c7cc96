"""Columns: the numbers and words that a result has, declared where they are produced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from routelab.api.errors import PluginError

Better = Literal["lower", "higher", ""]
"""Preferred direction of a value; empty: none."""

Pooling = Literal["mean", "all-mean", "max", "min", "sum"]
"""How the values of several seeds become one.

``mean`` is over the runs that have a value; ``all-mean`` is missing if one of the runs has none.
"""

Rows = Literal[
    "routes",
    "simulations",
    "loads",
    "channels",
    "terminals",
    "latencies",
    "flows",
    "flow-channels",
    "flow-ranks",
    "benchmarks",
]
"""What a row of a table is: the values of `of` in a study."""

Place = Literal["evaluate", "evaluate-all", "simulate"]
"""Where a column is shown: in the table for people, or in CSV and JSON, of these commands."""


COUNTS = frozenset(("routes", "pairs", "hops", "turns", "links", "messages"))
"""Units of counts: a heading says what is counted."""


@dataclass(frozen=True)
class Column:
    """A column of results.

    Attributes
    ----------
    name : str
        As studies, tables and CSV files have it.
    meaning : str
        One or more sentences for the reference page, without a full stop at the end.
    heading : str
        Name for people, without the unit; by default the name with spaces for underscores.
    unit : str
    better : {"lower", "higher", ""}
    seeds : {"mean", "all-mean", "max", "min", "sum"}
        See `Pooling`.
    of : tuple of str
        The rows that have it; see `Rows`.
    needs : str
        What a study must ask for: a setting that must be on (``find_saturation``), or a key of the
        study (``bound``). Empty: nothing.
    shown : tuple of str
        See `Place`.
    decimals : int or None
        Digits after the point; None: four significant digits.
    group : str
        Heading of the reference page that it stands under; by default that of its producer.
    """

    name: str
    meaning: str
    heading: str = ""
    unit: str = ""
    better: Better = ""
    seeds: Pooling = "mean"
    of: tuple[Rows, ...] = ("routes",)
    needs: str = ""
    shown: tuple[Place, ...] = ()
    decimals: int | None = None
    group: str = ""

    def __post_init__(self) -> None:
        """Refuse what tables could not use.

        Raises
        ------
        PluginError
            Naming the column and what is wrong.
        """
        wrong = []
        if not self.name.replace(".", "_").isidentifier():
            wrong.append("the name is not letters, digits and underscores")
        if not self.meaning or self.meaning.endswith("."):
            wrong.append("the meaning is missing or ends with a full stop")
        if self.better not in get_args(Better):
            wrong.append(f"better is {self.better!r}, expected 'lower', 'higher' or ''")
        if self.seeds not in get_args(Pooling):
            wrong.append(f"seeds is {self.seeds!r}, expected {', '.join(get_args(Pooling))}")
        if not self.of or not set(self.of) <= set(get_args(Rows)):
            wrong.append(f"of is {self.of!r}, expected some of {', '.join(get_args(Rows))}")
        if not set(self.shown) <= set(get_args(Place)):
            wrong.append(f"shown is {self.shown!r}, expected some of {', '.join(get_args(Place))}")
        if wrong:
            raise PluginError(f"column {self.name!r}: {'; '.join(wrong)}")

    @property
    def label(self) -> str:
        """Name for people: the heading, or the name with spaces; and the unit, except of counts."""
        heading = self.heading or self.name.replace("_", " ")
        if not self.unit or self.unit in COUNTS or self.unit in heading.split():
            return heading
        return f"{heading} ({self.unit})"
