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
"""Attributes of a `Column` whose values must be texts."""


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
        Preferred direction; empty if there is none.
    seeds : {"mean", "all-mean", "max", "min", "sum"}
        How the values of several seeds become one. Two differ if a run has no value: ``mean``
        leaves it out, ``all-mean`` then has no value either.
    of : tuple of str
        Kinds of rows that have the column, such as ``routes`` (a row for each routing of a
        network) or ``channels`` (a row for each channel).
    needs : str
        Condition for the column: a setting that must be on (``find_saturation``) or a key of the
        study (``bound``). Empty: no condition.
    shown : tuple of str
        Where commands show the column: ``evaluate`` and ``simulate`` are the tables that these
        commands print, ``evaluate-all`` is the CSV output of `routelab evaluate`.
    decimals : int or None
        Digits after the decimal point (default: four significant digits).
    nominal : bool
        Whether the values number groups, such as segments: 1 is the first group, and 0 means that
        the row is in none. Pictures of networks give neighbouring groups different colours.
    group : str
        Section of the reference page.
    bound_of : str
        Name of another column of the same rows, if this column is a bound of it: no value can be
        better than this one. ``lower_bound_rules`` is a bound of ``max_load``.
    gap_of : str
        Name of another column of the same rows, if this column is the distance of its values from
        their bound: ``gap`` is ``max_load`` minus its lower bound. Rows to which no bound applies
        have no value.
    problem : str
        What is wrong with the declaration, and where it is; empty if nothing is. A wrong column
        raises no error, because then its whole module, with all its plugins, could not be imported.
        The registry refuses the plugin instead.

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
        if problems := self._type_problems() or self._value_problems():
            # The call stack is the declaration (2), the generated __init__ (1), this method (0).
            declaration = sys._getframe(2)
            file, line = declaration.f_code.co_filename, declaration.f_lineno
            text = f"column {self.name!r} in {file}, line {line}: {'; '.join(problems)}"
            # the dataclass is frozen
            object.__setattr__(self, "problem", text)

    def _type_problems(self) -> list[str]:
        """List the values that should be a text or a tuple of texts and are not."""
        problems = [
            f"{name} is {value!r}, expected a text"
            for name in _TEXTS
            if not isinstance(value := getattr(self, name), str)
        ]
        for name in ("of", "shown"):
            texts = getattr(self, name)
            if not isinstance(texts, tuple | list) or not all(isinstance(t, str) for t in texts):
                problems.append(f"{name} is {texts!r}, expected a tuple of texts")
        return problems

    def _value_problems(self) -> list[str]:
        """List what is wrong with values of the right types."""
        problems = []
        # words of letters, digits and underscores, which dots may separate
        if not re.fullmatch(r"\w+(\.\w+)*", self.name):
            problems.append("the name must consist of letters, digits and underscores")
        if not self.meaning or self.meaning.endswith("."):
            problems.append("the meaning is missing or ends with a full stop")
        if self.better not in get_args(Better):
            problems.append(f"better is {self.better!r}, expected 'lower', 'higher' or ''")
        if self.seeds not in get_args(Pooling):
            problems.append(f"seeds is {self.seeds!r}, expected {', '.join(get_args(Pooling))}")
        if not self.of or not set(self.of) <= set(get_args(Rows)):
            problems.append(f"of is {self.of!r}, expected some of {', '.join(get_args(Rows))}")
        if not set(self.shown) <= set(get_args(Place)):
            problems.append(
                f"shown is {self.shown!r}, expected some of {', '.join(get_args(Place))}"
            )
        return problems

    @property
    def heading_parts(self) -> tuple[str, str]:
        """Heading (or name with spaces) and unit.

        The unit is empty if the heading has it as a word: heading ``routes``, unit ``routes``.
        """
        heading = self.heading or self.name.replace("_", " ")
        return heading, "" if self.unit in heading.split() else self.unit

    @property
    def label(self) -> str:
        """Name in reports: heading and unit, as ``latency (cycles)``; see `heading_parts`."""
        heading, unit = self.heading_parts
        return f"{heading} ({unit})" if unit else heading
