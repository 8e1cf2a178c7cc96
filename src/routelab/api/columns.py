"""Columns of results, declared by the code that produces them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Literal, get_args

Better = Literal["lower", "higher", ""]
"""Preferred direction of a value; empty if there is none."""

Pooling = Literal["mean", "all-mean", "max", "min", "sum"]
"""How the values of several seeds are combined.

``mean`` is over the runs that have a value; ``all-mean`` is missing if any run has none.
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
    "flow-pairs",
    "benchmarks",
]
"""Kinds of rows: the values of `of` in a study."""

Place = Literal["evaluate", "evaluate-all", "simulate"]
"""Where a column is shown.

``evaluate`` and ``simulate`` are the tables of these commands; ``evaluate-all`` is the CSV output
of `routelab evaluate`.
"""


COUNTS = frozenset(("routes", "pairs", "hops", "turns", "links", "messages"))
"""Units of counts: a value is shown without them on a terminal."""


_TEXTS = ("name", "meaning", "heading", "unit", "needs", "group", "bound_of", "gap_of")
"""Attributes of a `Column` that are any text."""


@dataclass(frozen=True)
class Column:
    """A column of results.

    Attributes
    ----------
    name : str
        Name in studies, tables and CSV files.
    meaning : str
        Text for the reference page: begins in lower case, without a full stop at the end.
    heading : str
        Name in reports, without the unit (default: the name, with spaces instead of underscores).
    unit : str
    better : {"lower", "higher", ""}
    seeds : {"mean", "all-mean", "max", "min", "sum"}
        See `Pooling`.
    of : tuple of str
        Rows that have the column; see `Rows`.
    needs : str
        Condition for the column: a setting that must be on (``find_saturation``) or a key of the
        study (``bound``). Empty: no condition.
    shown : tuple of str
        See `Place`.
    decimals : int or None
        Digits after the decimal point (default: four significant digits).
    nominal : bool
        Whether positive integers are names of groups, and 0 is none of them. Pictures of networks
        give neighbouring groups different colours.
    group : str
        Section of the reference page.
    bound_of : str
        Column of the same rows that this one bounds: a value that is proven to be the best
        possible one.
    gap_of : str
        Column of the same rows whose distance from its bound this one is. It is empty in rows to
        which no bound applies.
    problem : str
        What is wrong with the declaration, and where it is. It is refused where the plugin is
        loaded, so that the other plugins of its module can be used.

    Examples
    --------
    >>> from routelab.api import Column
    >>> Column("detour", "hops beyond the shortest", unit="hops", better="lower").name
    'detour'
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
    nominal: bool = False
    group: str = ""
    bound_of: str = ""
    gap_of: str = ""
    problem: str = field(default="", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the declaration."""
        if wrong := self._wrong_types() or self._wrong_values():
            place = sys._getframe(2)  # behind the generated __init__
            text = f"column {self.name!r} in {place.f_code.co_filename}, line {place.f_lineno}"
            object.__setattr__(self, "problem", f"{text}: {'; '.join(wrong)}")

    def _wrong_types(self) -> list[str]:
        """Return which values are no texts or tuples of texts."""
        values = {name: getattr(self, name) for name in (*_TEXTS, "of", "shown")}
        wrong = [
            f"{name} is {values[name]!r}, expected a text"
            for name in _TEXTS
            if not isinstance(values[name], str)
        ]
        return wrong + [
            f"{name} is {values[name]!r}, expected a tuple of texts"
            for name in ("of", "shown")
            if not isinstance(values[name], tuple | list)
            or not all(isinstance(text, str) for text in values[name])
        ]

    def _wrong_values(self) -> list[str]:
        """Return what is wrong with values of the right types."""
        wrong = []
        if not re.fullmatch(r"\w+(\.\w+)*", self.name):
            wrong.append("the name must consist of letters, digits and underscores")
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
        return wrong

    @property
    def heading_parts(self) -> tuple[str, str]:
        """Heading, or name with spaces, and the unit; it is empty if the heading says it."""
        heading = self.heading or self.name.replace("_", " ")
        named = self.unit in heading.split()
        return heading, "" if named else self.unit

    @property
    def label(self) -> str:
        """Name in reports: heading with the unit in brackets, unless the heading says it."""
        heading, unit = self.heading_parts
        return f"{heading} ({unit})" if unit else heading
