"""Rows of one kind, with their columns, for tables and figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.registry.names import without_parameters
from routelab.registry.suggest import did_you_mean
from routelab.report.rows.derivation import GROUPS, compare_runs, lies_between
from routelab.report.rows.pending_jobs import read_or_pending
from routelab.results.outcome import Outcome, read_outcome
from routelab.study import Between, Relative
from routelab.study.view_columns import setting_for

OK = "ok"


@dataclass(frozen=True)
class Record:
    """One job of a study, on a network and with a routing.

    Attributes
    ----------
    topology, routing : str
        Names in the study: an alias, otherwise the canonical name.
    topology_name, routing_name : str
        Canonical names, for commands.
    directory : Path
        The job's folder.
    topology_directory : Path
        ``results/<study>/topologies/<topology>``.
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

    def instance(self, kind: str) -> tuple[str, str, Mapping[str, Any]]:
        """Return name in the study, canonical name, and parameters of a plugin of the job.

        Parameters
        ----------
        kind : {"topology", "routing"}
            Kind of the plugin; subclasses may add kinds.
        """
        return (
            getattr(self, kind),
            getattr(self, f"{kind}_name"),
            getattr(self, f"{kind}_parameters"),
        )


class RowSet(ABC):
    """Rows of one kind, such as all simulations of a study, as data frames for tables and figures.

        job    one piece of work of the study, such as making a route table, with one outcome
        run    a routing on a topology, in some kinds of rows with traffic, a workload or a
               benchmark: one job, or a few
        row    a run, or one of several results of a run, such as that of an offered load

    The parameter or column ``run`` is the number of a row from 0, also if a run has several rows.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of plugins that a record names.
    records : sequence of Record
        Record of each row; several rows may share one.
    outcomes : sequence of Outcome
        Outcome of each row.
    """

    kinds: tuple[str, ...] = ("topology", "routing")
    records: Sequence[Record]
    outcomes: Sequence[Outcome]

    @property
    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """All rows, with or without a result; the index ``run`` is the number of the row."""

    @property
    @abstractmethod
    def better(self) -> Mapping[str, str]:
        """Preferred directions by column: ``"lower"`` or ``"higher"``."""

    @abstractmethod
    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Return the details of rows, in one data frame: what each row has many of.

        These are a line for each channel, terminal, packet, ... of each row. The column ``run`` is
        the number of the row that a line belongs to.

        Parameters
        ----------
        of : str
            Kind of details, such as ``channels``.
        runs : iterable of int
            Rows; a row without a result has no details.
        place : str
            Beginning of messages: the part of the study that asks for the details.

        Raises
        ------
        InputError
            If the rows have no details of this kind.
        """

    @property
    def identity(self) -> Sequence[str]:
        """Columns that identify a row, unless a table pools them."""
        return self.kinds

    def conditions(self, run: int) -> str:
        """Return the conditions of a row as text: all that identifies it but its routing.

        Rows with equal conditions can be compared; see `derivation.compare_runs`.
        """
        return self.records[run].topology_name

    def warnings(self, runs: Iterable[int]) -> list[str]:
        """Return sentences that readers of these rows must not overlook."""
        return []

    def notes(self, runs: Iterable[int]) -> list[str]:
        """Return sentences with more information on these rows."""
        return []

    @property
    def has_results(self) -> bool:
        """Whether any row has a result."""
        return any(outcome.status == OK for outcome in self.outcomes)

    def select(
        self,
        where: Mapping[str, Any] | None,
        pooled: Collection[str],
        place: str,
        relative: Relative | None = None,
    ) -> pd.DataFrame:
        """Return the rows that match `where`, with names without the `pooled` parameters.

        Networks, routings, traffic or workloads that differ in these parameters only get the same
        name, so that a table can group their rows: ``sssp~seed=1`` and ``sssp~seed=2`` become
        ``sssp``.

        Parameters
        ----------
        where : mapping or None
            Value, list of values, or limits, by column.
        pooled : collection of str
            Parameters, bare or qualified (``routing.seed``).
        place : str
            Beginning of messages: the part of the study that asks for the rows.
        relative : Relative, optional
            Compare rows with those of other routings. Then the result has a row for each pair, with
            the columns of `routelab.report.rows.derivation.compare_runs`.

        Raises
        ------
        InputError
            If a column does not exist.
        """
        frame = self.frame.copy()
        for kind in self.kinds:
            parameters = self._pooled_parameters(kind, pooled)
            # the name in the study (an alias, or the canonical name) and the canonical name
            study_and_canonical_names = [record.instance(kind)[:2] for record in self.records]
            # An alias stays: only canonical names have parameters.
            pooled_name = {
                (name, canonical): (
                    name if name != canonical else without_parameters(name, parameters)
                )
                for name, canonical in set(study_and_canonical_names)
            }
            frame[kind] = [pooled_name[names] for names in study_and_canonical_names]
        if relative is not None:
            # Only to raise an error with this place if the column does not exist or holds words.
            self.numbers(frame, relative.column, f"{place}relative: ")
            conditions = [self.conditions(run) for run in range(len(self.records))]
            frame = compare_runs(frame, relative, conditions, place, self.better)
        for column, condition in (where or {}).items():
            frame = filter_rows(frame, self.column(frame, column, f"{place}where: "), condition)
        return frame

    def column(
        self, frame: pd.DataFrame, name: str, place: str, other_names: Sequence[str] = ()
    ) -> pd.Series[Any]:
        """Return a column of `frame`, or an empty one if no row has results.

        Parameters
        ----------
        name : str
        place : str
            Beginning of messages: the part of the study that asks for the column.
        other_names : sequence of str
            Valid values of `name` that are not columns of `frame`, for the message.

        Raises
        ------
        InputError
            If rows have results and no such column.
        """
        if name in frame:
            return frame[name]
        # Many columns come from results: without any, nobody knows whether this one exists.
        if not self.has_results:
            return pd.Series(np.nan, index=frame.index, name=name)
        names = [*other_names, *map(str, frame.columns)]
        raise InputError(f"{place}no column {name!r}{_suggestion(name, names)}")

    def numbers(
        self, frame: pd.DataFrame, name: str, place: str, other_names: Sequence[str] = ()
    ) -> pd.Series[Any]:
        """Return a column of `frame` that must hold numbers, or an empty one if no row has results.

        Parameters
        ----------
        name : str
        place : str
            Beginning of messages: the part of the study that asks for the column.
        other_names : sequence of str
            Valid values of `name` that are not columns of `frame`, for the message.

        Raises
        ------
        InputError
            If the column does not exist or holds words.
        """
        values = self.column(frame, name, place, other_names)
        try:
            return pd.to_numeric(values)
        except (TypeError, ValueError):
            raise InputError(f"{place}column {name!r} holds words, numbers are needed") from None

    def require_parameter(self, name: str, place: str) -> None:
        """Raise an InputError if no row has a parameter of this name, bare or qualified.

        Parameters
        ----------
        name : str
            ``seed`` or ``routing.seed``.
        place : str
            Beginning of the message: the part of the study that names the parameter.
        """
        names: set[str] = set()
        for record in self.records:
            for kind in self.kinds:
                _, _, parameters = record.instance(kind)
                names.update(parameters)
                names.update(f"{kind}.{parameter}" for parameter in parameters)
        if name not in names:
            raise InputError(f"{place}no parameter {name!r}{_suggestion(name, sorted(names))}")

    def _pooled_parameters(self, kind: str, pooled: Collection[str]) -> set[str]:
        """Return the parameters of a kind of plugin among the `pooled` ones, by their bare names.

        A bare name stands for a parameter of any kind. But if a routing has a parameter of this
        name, it is that of the routing only, because the column of the bare name then has the
        values of the routing. Of ``seed`` and ``topology.dims``, the routing has ``seed``, and
        the topology ``dims`` and, unless a routing has a seed, ``seed``.
        """
        qualified = {key.removeprefix(f"{kind}.") for key in pooled if key.startswith(f"{kind}.")}
        qualifiers = tuple(f"{any_kind}." for any_kind in self.kinds)
        bare = {key for key in pooled if not key.startswith(qualifiers)}
        if kind != "routing":
            bare = {key for key in bare if f"routing.{key}" not in self.frame}
        return qualified | bare


def filter_rows(frame: pd.DataFrame, values: pd.Series[Any], condition: Any) -> pd.DataFrame:
    """Return the rows with this value, with one of a list, or within limits."""
    if isinstance(condition, Between):
        return frame[lies_between(values, condition)]
    choices = condition if isinstance(condition, (list, tuple)) else [condition]
    texts = {key_text(choice) for choice in choices}
    # An array, because the empty list would select no columns.
    return frame[np.array([key_text(value) in texts for value in values], dtype=bool)]


def read_job_outcome(kind: str, record: Record) -> Outcome:
    """Read the outcome of a record's job; if there is none, it is a `PendingOutcome`."""
    return read_or_pending(record.directory, kind, record.topology_name, record.routing_name)


def num_terminals(record: Record, outcome: Outcome) -> float:
    """Return the number of terminals of a job's network; NaN if it is not known.

    It is in the outcome of a job with a result, otherwise in that of the network.
    """
    if "terminals" in outcome.facts:
        return float(outcome.facts["terminals"])
    path = record.topology_directory / "outcome.json"
    if not path.is_file():
        return np.nan
    return float(read_outcome(path).facts.get("terminals", np.nan))


def read_network_facts(records: Iterable[Record]) -> dict[Path, dict[str, Any]]:
    """Read the facts of the networks of some jobs, by folder; leave out unreadable outcomes."""
    facts = {}
    for folder in {record.topology_directory for record in records}:
        with suppress(InputError):
            facts[folder] = dict(read_outcome(folder / "outcome.json").facts)
    return facts


def with_bare_names(frame: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """Return `frame` with further columns: a parameter ``routing.seed`` is also ``seed``.

    A column that has the bare name already stays as it is. If several kinds have a parameter of
    this name, the first of `kinds` gives the column.
    """
    frame = frame.copy()
    for kind in kinds:
        for column in [name for name in frame.columns if name.startswith(f"{kind}.")]:
            bare = column.removeprefix(f"{kind}.")
            if bare not in frame:
                frame[bare] = frame[column]
    return frame


def _suggestion(word: str, names: Sequence[str]) -> str:
    setting = setting_for(word)
    if setting:
        return f"; it needs {setting}"
    # A list of all names has qualified parameters by their bare names only.
    bare_names = [name for name in names if "." not in name]
    return did_you_mean(word, names) or f"; there are {', '.join(bare_names) or 'none'}"


def key_text(value: Any) -> str:
    """Return a value as a key: ``32``, ``32.0`` and ``"32"`` give the same text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # NaN differs from itself; the comparison of `pd.NA` has no truth value
    is_nan = value is not pd.NA and value != value
    return "" if value is None or value is pd.NA or is_nan else str(value)


def sort_texts(texts: Iterable[str]) -> list[str]:
    """Return distinct texts: ascending if all are numbers (empty last), else in given order.

    The words of a comparison are always in the order less, equal, greater.
    """
    distinct = list(dict.fromkeys(texts))
    if set(distinct) <= set(GROUPS):
        return [group for group in GROUPS if group in distinct]
    try:
        return sorted(distinct, key=lambda text: float(text) if text else float("inf"))
    except ValueError:
        return distinct
