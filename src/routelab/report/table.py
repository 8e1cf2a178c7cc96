"""Finished tables, before they are formatted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["row", "value", "reference", "low", "high", "runs"]


@dataclass(frozen=True)
class ReportColumn:
    """A column of a table.

    Attributes
    ----------
    name : str
        Key in rows, and heading in CSV files.
    role : str
        ``row``: identifies a row; ``value``; ``reference``: published number next to a value;
        ``low``, ``high``: ends of a value's range; ``runs``: number of runs of a row.
    of : str
        Name of the value column to which a reference or an end of a range belongs: ``max_load`` for
        ``max_load_low`` and ``paper_max_load``. Empty in other columns, and for a reference that
        the table has no value of ours for.
    by : str
        In a pivot, the name whose values the column shows, such as ``dor``; empty in other columns.
    pivoted : str
        In a pivot, the name that the column had before: ``max_load`` for ``max_load (dor)``;
        otherwise empty.
    """

    name: str
    role: Role
    of: str = ""
    by: str = ""
    pivoted: str = ""

    @property
    def source(self) -> str:
        """Name without that of a pivot, ``max_load`` for ``max_load (dor)``: decides the format."""
        return self.pivoted or self.name


@dataclass(frozen=True)
class ReportTable:
    """A finished table.

    Attributes
    ----------
    name, title : str
    columns : tuple of ReportColumn
    rows : tuple of dict
        Values by column name; None or NaN if missing.
    counts : bool
        Whether the table counts runs: each row is the number of runs with its values.
    averages : bool
        Whether values are means over runs.
    statistics : bool
        Whether values are statistics of many runs.
    notes : tuple of str
        Notes below the table, e.g. on runs without a result.
    of : str
        Kind of its rows, such as ``routes`` or ``simulations``.
    warnings : tuple of str
        Serious problems, shown above the table.
    better : mapping of str to str
        Preferred direction, ``lower`` or ``higher``, of the columns of the runs that a pivot shows.
        The best value of each row is bold.
    names_first : bool
        Whether the upper headings of a pivot are names and the lower ones values.
    """

    name: str
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[dict[str, Any], ...]
    counts: bool
    averages: bool
    statistics: bool
    notes: tuple[str, ...]
    of: str = "routes"
    warnings: tuple[str, ...] = ()
    better: Mapping[str, str] = field(default_factory=dict)
    names_first: bool = False

    def with_role(self, role: Role) -> list[ReportColumn]:
        """Return the columns with a role."""
        return [column for column in self.columns if column.role == role]
