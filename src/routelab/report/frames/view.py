"""What tables and figures draw on: rows of one sort, with their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome, read_outcome
from routelab.config import Between, Relative
from routelab.config.view_columns import setting_for
from routelab.registry.suggest import did_you_mean
from routelab.report.frames.derivation import GROUPS, add_compared, lies_between
from routelab.report.frames.pending import outcome_in
from routelab.report.labels import without_parameters

OK = "ok"


@dataclass(frozen=True)
class Record:
    """One job of a study, on a network and with a routing.

    Attributes
    ----------
    topology, routing : str
        As the study calls them: an alias, otherwise the canonical name.
    topology_name, routing_name : str
        Canonical names, for commands.
    directory : Path
        Where the job wrote.
    topology_directory : Path
        ``results/topologies/<topology>``.
    topology_parameters, routing_parameters : mapping
        All parameters by name, defaults included; numbers, words or name text (``4x2x2``).
    """

    topology: str
    routing: str
    topology_name: str
    routing_name: str
    directory: Path
    topology_directory: Path
    topology_parameters: Mapping[str, Any] = field(default_factory=dict)
    routing_parameters: Mapping[str, Any] = field(default_factory=dict)

    def part(self, kind: str) -> tuple[str, str, Mapping[str, Any]]:
        """Label in the study, canonical name, and parameters of the plugin of a kind."""
        return (
            getattr(self, kind),
            getattr(self, f"{kind}_name"),
            getattr(self, f"{kind}_parameters"),
        )


class View(ABC):
    """Rows of one sort.

    Attributes
    ----------
    kinds : tuple of str
        Plugins that a record names.
    records : sequence of Record
        Of every row, by its number; several rows may have one.
    outcomes : sequence of Outcome
        Of every record of a row.
    """

    kinds: tuple[str, ...] = ("topology", "routing")
    records: Sequence[Record]
    outcomes: Sequence[Outcome]

    @property
    @abstractmethod
    def jobs(self) -> pd.DataFrame:
        """The rows; the index, ``run``, numbers them."""

    @property
    @abstractmethod
    def better(self) -> Mapping[str, str]:
        """Columns of which less, or more, is better: ``"lower"`` or ``"higher"``."""

    @abstractmethod
    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """What rows are made of: a line a channel, say, with the row as ``run``.

        Parameters
        ----------
        of : str
            What the lines are.
        runs : iterable of int
            Rows; those without a result have none.
        place : str
            What asks, to begin messages with.

        Raises
        ------
        InputError
            If the rows have no such lines.
        """

    @property
    def identity(self) -> Sequence[str]:
        """Columns of which a row of a table has one value each, unless it pools them."""
        return self.kinds

    def counterpart(self, run: int) -> str:
        """What a row shares with those of other routings that it may be compared with."""
        return self.records[run].topology_name

    def warnings(self, runs: Iterable[int]) -> list[str]:
        """What a reader of numbers of these rows must not overlook; a sentence each."""
        return []

    def notes(self, runs: Iterable[int]) -> list[str]:
        """What a reader of numbers of these rows may want to know; a sentence each."""
        return []

    @property
    def any_ok(self) -> bool:
        """Whether any run has results."""
        return any(outcome.status == OK for outcome in self.outcomes)

    def select(
        self,
        where: Mapping[str, Any] | None,
        pooled: Collection[str],
        place: str,
        relative: Relative | None = None,
    ) -> pd.DataFrame:
        """The runs that match `where`; runs that differ in `pooled` only have one name.

        Parameters
        ----------
        where : mapping or None
            Column to a value, a list of values, or limits.
        pooled : collection of str
            Parameters, bare or qualified (``routing.seed``).
        place : str
            What asks, to begin messages with.
        relative : Relative, optional
            Compare runs with those of other routings; then a run has a row for each of these,
            and rows have the columns that `routelab.report.frames.derivation.add_compared` tells.

        Raises
        ------
        InputError
            If a column does not exist.
        """
        frame = self.jobs.copy()
        for kind in self.kinds:
            mine = self._pooled_of(kind, pooled)
            names = [record.part(kind)[:2] for record in self.records]
            short = {
                (label, name): label if label != name else without_parameters(name, mine)
                for label, name in set(names)
            }
            frame[kind] = [short[pair] for pair in names]
        if relative is not None:
            self.numbers(frame, relative.column, f"{place}relative: ")
            others = [self.counterpart(run) for run in range(len(self.records))]
            frame = add_compared(frame, relative, others, place, self.better)
        for column, wanted in (where or {}).items():
            frame = keep(frame, self.column(frame, column, f"{place}where: "), wanted)
        return frame

    def column(self, frame: pd.DataFrame, name: str, place: str) -> pd.Series[Any]:
        """A column of `frame`; empty where no run has results, so that none can have it.

        Raises
        ------
        InputError
            If there are results and no such column.
        """
        if name in frame:
            return frame[name]
        if not self.any_ok:
            return pd.Series(np.nan, index=frame.index, name=name)
        known = [str(column) for column in frame.columns]
        raise InputError(f"{place}no column {name!r}{_mend(name, known)}")

    def numbers(
        self, frame: pd.DataFrame, name: str, place: str, also: Sequence[str] = ()
    ) -> pd.Series[Any]:
        """A column of `frame` that holds numbers; see `column`.

        Parameters
        ----------
        also : sequence of str
            What `name` may be besides a column, for the message.

        Raises
        ------
        InputError
            If there is no such column or it holds words.
        """
        if name not in frame and self.any_ok:
            known = [*also, *map(str, frame.columns)]
            raise InputError(f"{place}no column {name!r}{_mend(name, known)}")
        values = self.column(frame, name, place)
        try:
            return pd.to_numeric(values)
        except (TypeError, ValueError):
            raise InputError(f"{place}column {name!r} holds words, numbers are needed") from None

    def parameter(self, name: str, place: str) -> None:
        """Make sure that some run has a parameter of this name, bare or qualified.

        Raises
        ------
        InputError
            If none has.
        """
        known = {
            f"{kind}.{parameter}"
            for record in self.records
            for kind in self.kinds
            for parameter in record.part(kind)[2]
        }
        known |= {parameter.partition(".")[2] for parameter in known}
        if name not in known:
            raise InputError(f"{place}no parameter {name!r}{_mend(name, sorted(known))}")

    def _pooled_of(self, kind: str, pooled: Collection[str]) -> set[str]:
        """Parameters of routings, or of another kind, among the `pooled` ones."""
        mine = {key.removeprefix(f"{kind}.") for key in pooled if key.startswith(f"{kind}.")}
        bare = {key for key in pooled if not key.startswith(tuple(f"{one}." for one in self.kinds))}
        if kind != "routing":
            bare = {key for key in bare if f"routing.{key}" not in self.jobs}
        return mine | bare


def keep(frame: pd.DataFrame, values: pd.Series[Any], wanted: Any) -> pd.DataFrame:
    """The rows of which the value is wanted: a value, one of a list, or within limits."""
    if isinstance(wanted, Between):
        return frame[lies_between(values, wanted)]
    choices = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    texts = {key_text(choice) for choice in choices}
    # of no rows, a plain list would choose no columns
    return frame[np.array([key_text(value) in texts for value in values], dtype=bool)]


def outcome_of(kind: str, record: Record) -> Outcome:
    """Read the outcome of a job; see `outcome_in` for jobs without one."""
    return outcome_in(record.directory, kind, record.topology_name, record.routing_name)


def terminals_of(record: Record, outcome: Outcome) -> float:
    """Terminals of a job's network, from the network's outcome where the job has no result."""
    if "terminals" in outcome.facts:
        return float(outcome.facts["terminals"])
    path = record.topology_directory / "outcome.json"
    if not path.is_file():
        return np.nan
    return float(read_outcome(path).facts.get("terminals", np.nan))


def add_bare(frame: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Columns of parameters, ``<kind>.<name>``, by their bare name too; the first kind's first."""
    for kind in kinds:
        for column in [name for name in frame.columns if name.startswith(f"{kind}.")]:
            bare = column.removeprefix(f"{kind}.")
            if bare not in frame:
                frame[bare] = frame[column]


def _mend(word: str, known: Sequence[str]) -> str:
    setting = setting_for(word)
    if setting:
        return f"; it needs {setting}"
    # a parameter has its bare name, too
    short = [name for name in known if "." not in name]
    return did_you_mean(word, known) or f"; there are {', '.join(short) or 'none'}"


def key_text(value: Any) -> str:
    """A value for comparing and joining: ``32``, ``32.0`` and ``"32"`` are the same."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return "" if value is None or value is pd.NA or value != value else str(value)


def in_order(texts: Iterable[str]) -> list[str]:
    """Distinct texts: ascending if all are numbers (nothing comes last), else as they come.

    The `GROUPS` of comparisons have their own order.
    """
    distinct = list(dict.fromkeys(texts))
    if set(distinct) <= set(GROUPS):
        return [group for group in GROUPS if group in distinct]
    try:
        return sorted(distinct, key=lambda text: float(text) if text else float("inf"))
    except ValueError:
        return distinct


def lower_median(values: Sequence[Any]) -> Any:
    """The lower median of `values`, which must not be empty: a value that is among them."""
    return sorted(values)[(len(values) - 1) // 2]
