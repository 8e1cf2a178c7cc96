"""From the artifacts of a study's runs to data frames that tables and figures draw on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome, read_outcome
from routelab.artifacts.tables import read_csv
from routelab.config import Between, Relative
from routelab.registry.suggest import did_you_mean
from routelab.report.bounds import bound_outcomes, with_bounds
from routelab.report.derived import GROUPS, add_compared, add_derived, lies_between
from routelab.report.labels import without_parameters

OK = "ok"
METRIC_COLUMNS = ["metric", "value", "unit", "better"]
CHANNEL_COLUMNS = ["channel", "source", "target", "direction", "load"]


@dataclass(frozen=True)
class JobRecord:
    """One run of a study: a routing on a topology.

    Attributes
    ----------
    topology, routing : str
        As the study calls them: an alias, otherwise the canonical name.
    topology_name, routing_name : str
        Canonical names, for commands.
    directory : Path
        ``results/routes/<topology>/<routing>``.
    topology_directory : Path
        ``results/topologies/<topology>``.
    topology_parameters, routing_parameters : mapping
        All parameters by name, defaults included; numbers, words or name text (``4x2x2``).
    kept : tuple of (Outcome, tuple) or None
        Of a survey's run, which has no folder: what came of it, and what its metrics measured
        (name, value, unit, better).
    metrics : tuple of str
        Canonical names of all metrics, for commands; empty where the usual ones are measured.
    rules_bound, network_bound : Path or None
        Folders of the bounds of the run's rules and of the bare network, where there are any.
    """

    topology: str
    routing: str
    topology_name: str
    routing_name: str
    directory: Path
    topology_directory: Path
    topology_parameters: Mapping[str, Any] = field(default_factory=dict)
    routing_parameters: Mapping[str, Any] = field(default_factory=dict)
    kept: tuple[Outcome, tuple[tuple[str, float, str, str], ...]] | None = None
    metrics: tuple[str, ...] = ()
    rules_bound: Path | None = None
    network_bound: Path | None = None


class Frames:
    """Everything that a study's runs wrote, as data frames.

    Parameters
    ----------
    records : sequence of JobRecord
        The runs in the study's order; ``run`` in all frames is the position in it.
    """

    def __init__(self, records: Sequence[JobRecord]) -> None:
        self.records = tuple(records)
        self.outcomes = tuple(
            with_bounds(_outcome(record), record.rules_bound, record.network_bound)
            for record in self.records
        )
        self._channels: dict[int, pd.DataFrame] = {}

    @cached_property
    def topology_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the networks, each once; those that cannot be read are left out."""
        outcomes = []
        for folder in dict.fromkeys(record.topology_directory for record in self.records):
            with suppress(InputError):
                outcomes.append(read_outcome(folder / "outcome.json"))
        return tuple(outcomes)

    @cached_property
    def bound_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the bounds, each once."""
        folders = ((record.network_bound, record.rules_bound) for record in self.records)
        return tuple(bound_outcomes(folder for pair in folders for folder in pair))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row a run and metric: ``run, topology, routing, metric, value, unit, better``."""
        rows = []
        for run, (record, outcome) in enumerate(zip(self.records, self.outcomes, strict=True)):
            if outcome.status != OK:
                continue
            lines: Sequence[tuple[Any, ...]]
            if record.kept is not None:
                lines = record.kept[1]
            else:
                lines = read_csv(record.directory / "metrics.csv", METRIC_COLUMNS, {"value"})
            rows += [(run, record.topology, record.routing, *line) for line in lines]
        return pd.DataFrame(rows, columns=["run", "topology", "routing", *METRIC_COLUMNS])

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row a run, whatever came of it; the index is ``run``.

        Columns: ``topology``, ``routing``, ``status``, ``reason``, ``nodes`` (terminals), every
        fact and metric, ``topology.<parameter>``, ``routing.<parameter>`` and parameters by their
        bare name (the routing's, where any routing has one of that name), and what
        `routelab.report.derived` makes of them.
        """
        measured: dict[int, dict[str, float]] = {}
        for run, metric, value in self.metrics[["run", "metric", "value"]].itertuples(index=False):
            measured.setdefault(run, {})[metric] = value
        rows = []
        for run, (record, outcome) in enumerate(zip(self.records, self.outcomes, strict=True)):
            row: dict[str, Any] = measured.get(run, {}) | dict(outcome.facts)
            row |= {f"topology.{key}": text for key, text in record.topology_parameters.items()}
            row |= {f"routing.{key}": text for key, text in record.routing_parameters.items()}
            row |= {
                "topology": record.topology,
                "routing": record.routing,
                "status": outcome.status,
                "reason": outcome.reason,
            }
            row["nodes"] = outcome.facts.get("terminals", self._terminals(record))
            rows.append(row)
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"))
        for kind in ("routing", "topology"):
            for column in [name for name in frame.columns if name.startswith(f"{kind}.")]:
                bare = column.removeprefix(f"{kind}.")
                if bare not in frame:
                    frame[bare] = frame[column]
        add_derived(frame)
        return frame

    @cached_property
    def better(self) -> dict[str, str]:
        """Metrics of which less, or more, is better: ``"lower"`` or ``"higher"``."""
        known = self.metrics[self.metrics["better"] != ""]
        return dict(zip(known["metric"], known["better"], strict=True))

    @property
    def any_ok(self) -> bool:
        """Whether any run has results."""
        return any(outcome.status == OK for outcome in self.outcomes)

    def channels(self, runs: Iterable[int]) -> pd.DataFrame:
        """One row a run and channel: ``run, channel, source, target, direction, load``."""
        frames = []
        for run in runs:
            if self.outcomes[run].status != OK:
                continue
            if self.records[run].kept is not None:
                raise InputError(
                    "a survey keeps no loads of single channels; show a column of its runs, or "
                    "make this a study of its own without 'survey'"
                )
            if run not in self._channels:
                path = self.records[run].directory / "channels.csv"
                lines = read_csv(path, CHANNEL_COLUMNS, {"channel", "load"})
                expected = self.outcomes[run].facts.get("channels", len(lines))
                if [line[0] for line in lines] != list(range(expected)):
                    raise InputError(
                        f"{path} is damaged: expected channels 0 to {expected - 1}, found "
                        f"{len(lines)} lines; remove its folder and run again"
                    )
                table = pd.DataFrame(lines, columns=CHANNEL_COLUMNS)
                self._channels[run] = table.astype({"channel": int})
            frames.append(self._channels[run].assign(run=run))
        if not frames:
            return pd.DataFrame(columns=["run", *CHANNEL_COLUMNS])
        return pd.concat(frames, ignore_index=True)[["run", *CHANNEL_COLUMNS]]

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
            and rows have the columns that `routelab.report.derived.add_compared` tells.

        Raises
        ------
        InputError
            If a column does not exist.
        """
        frame = self.jobs.copy()
        for kind in ("topology", "routing"):
            mine = self._pooled_of(kind, pooled)
            names = {(getattr(r, kind), getattr(r, f"{kind}_name")) for r in self.records}
            short = {
                (label, name): label if label != name else without_parameters(name, mine)
                for label, name in names
            }
            frame[kind] = [
                short[getattr(record, kind), getattr(record, f"{kind}_name")]
                for record in self.records
            ]
        if relative is not None:
            self.numbers(frame, relative.column, f"{place}relative: ")
            networks = [record.topology_name for record in self.records]
            frame = add_compared(frame, relative, networks, place)
        for column, wanted in (where or {}).items():
            values = self.column(frame, column, f"{place}where: ")
            if isinstance(wanted, Between):
                frame = frame[lies_between(values, wanted)]
                continue
            choices = wanted if isinstance(wanted, (list, tuple)) else [wanted]
            texts = {key_text(choice) for choice in choices}
            # of no rows, a plain list would choose no columns
            frame = frame[np.array([key_text(value) in texts for value in values], dtype=bool)]
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
            for kind in ("topology", "routing")
            for parameter in getattr(record, f"{kind}_parameters")
        }
        known |= {parameter.partition(".")[2] for parameter in known}
        if name not in known:
            raise InputError(f"{place}no parameter {name!r}{_mend(name, sorted(known))}")

    def _pooled_of(self, kind: str, pooled: Collection[str]) -> set[str]:
        """Parameters of routings, or of topologies, among the `pooled` ones."""
        mine = {key.removeprefix(f"{kind}.") for key in pooled if key.startswith(f"{kind}.")}
        bare = {key for key in pooled if not key.startswith(("routing.", "topology."))}
        if kind == "topology":
            bare = {key for key in bare if f"routing.{key}" not in self.jobs}
        return mine | bare

    def _terminals(self, record: JobRecord) -> float:
        """Terminals of a run that failed, from its topology's outcome."""
        path = record.topology_directory / "outcome.json"
        if not path.is_file():
            return np.nan
        return float(read_outcome(path).facts.get("terminals", np.nan))


def _outcome(record: JobRecord) -> Outcome:
    """What came of a run; a missing or unreadable outcome is a failure with that reason."""
    if record.kept is not None:
        return record.kept[0]
    path = record.directory / "outcome.json"
    try:
        return read_outcome(path)
    except (InputError, OSError) as error:
        return Outcome(
            kind="route",
            topology=record.topology_name,
            routing=record.routing_name,
            status="failed",
            reason=f"no outcome: {error}",
            facts={},
            provenance={},
        )


def _mend(word: str, known: Sequence[str]) -> str:
    return did_you_mean(word, known) or f"; there are {', '.join(known) or 'none'}"


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
