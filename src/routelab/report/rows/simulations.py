"""Data frames of a study's simulations, for tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from typing_extensions import override

from routelab.api import Column, EnginePlugin, InputError
from routelab.api.engine import FACTS, TABLES, Work
from routelab.metrics.bounds.throughput.facts import traffic_seeds
from routelab.registry.names import parse_name
from routelab.report.rows.bounds import throughput_of, throughput_outcome
from routelab.report.rows.derivation import with_derived_columns
from routelab.report.rows.pending_jobs import outcome_on_table
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.row_set import (
    OK,
    Record,
    RowSet,
    facts_of_networks,
    outcome_of,
    terminals_of,
    with_bare_names,
)
from routelab.results.outcome import Outcome
from routelab.results.tables import read_rows
from routelab.routing.topology_file import load_topology
from routelab.study.view_columns import KEYS
from routelab.toolkit.families.groups import coordinate_name

TEXTS = ("source", "target", "direction", "switch", "name")
"""Columns with names, which must not be read as numbers."""

LOCATED_ROWS = ("channels", "flow-channels")
"""Kinds of rows with a location on the network."""


@dataclass(frozen=True, kw_only=True)
class SimulationRecord(Record):
    """One simulation of a study: traffic or a workload on a topology with a routing.

    Attributes
    ----------
    work, work_name : str
        Name of traffic or workload in the study, and canonical name.
    work_parameters : mapping
        All parameters by name, defaults included.
    engine : EnginePlugin
        Its parameters are the settings.
    settings_id : str
        Name of the settings' folder: the settings that differ from the defaults.
    throughput : Path or None
        Folder of the bounds for any routing; None if the study asks for none.
    """

    work: str
    work_name: str
    work_parameters: Mapping[str, Any] = field(default_factory=dict)
    engine: EnginePlugin
    settings_id: str
    throughput: Path | None = None

    @override
    def part(self, kind: str) -> tuple[str, str, Mapping[str, Any]]:
        if kind == self.engine.work:
            return self.work, self.work_name, self.work_parameters
        return super().part(kind)

    def columns(self, of: str) -> list[Column]:
        """Return the columns that the engine declares for a kind of rows."""
        return [column for column in self.engine.columns if of in column.of]


class SimulationRows(RowSet):
    """Results of a study's simulations as data frames.

    Parameters
    ----------
    records : sequence of SimulationRecord
        In the study's order.
    routes : RouteRows
        The study's tables; rows also have the facts of their routing's table.
    work : {"traffic", "workload"}
        Kind of work that was simulated.
    by_load : bool
        Whether each offered load of a simulation is a row, instead of each simulation. A
        simulation without a result, or by an engine without loads, is always one row.
    """

    def __init__(
        self,
        records: Sequence[SimulationRecord],
        routes: RouteRows,
        work: Work,
        *,
        by_load: bool = False,
    ) -> None:
        self.work, self.by_load = work, by_load
        self.kinds = ("topology", "routing", work)
        self._key = KEYS[work]
        self._routes = routes
        rows: list[tuple[SimulationRecord, Outcome, dict[str, Any]]] = []
        for record in records:
            table = routes.tables.get((record.topology, record.routing))
            outcome = outcome_on_table(outcome_of(self._key, record), table)
            lines = list(self._lines_of(record, outcome))
            rows += [(record, outcome, line) for line in lines or [{}]]
        self.records: tuple[SimulationRecord, ...] = tuple(record for record, _, _ in rows)
        self.outcomes = tuple(outcome for _, outcome, _ in rows)
        self._lines = tuple(line for _, _, line in rows)
        self._details: dict[tuple[str, Path], pd.DataFrame] = {}

    def _lines_of(self, record: SimulationRecord, outcome: Outcome) -> Iterator[dict[str, Any]]:
        """Iterate over the rows of a simulation: its loads, or a single row."""
        if outcome.status != OK or not record.columns("loads"):
            return
        curve = read_rows(record.directory / TABLES[self.work]["loads"], ["load"])
        # a curve with a single point describes the whole simulation
        if self.by_load or len(curve) == 1:
            yield from curve

    @cached_property
    def _throughput(self) -> dict[Path, Outcome]:
        folders = [record.throughput for record in self.records]
        return {
            folder: throughput_outcome(folder)
            for folder in dict.fromkeys(folders)
            if folder is not None
        }

    @property
    def throughput_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the bounds for any routing, each once."""
        return tuple(self._throughput.values())

    def throughput_outcome(self, run: int) -> Outcome | None:
        """Return the outcome of the bounds for any routing; None if the study asks for none."""
        folder = self.records[run].throughput
        return None if folder is None else self._throughput[folder]

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """All rows, with or without a result; the index is ``run``.

        Columns: those of a load; every fact; ``topology``, ``routing``, ``traffic`` or
        ``workload``, ``engine``, ``simulation`` or ``flow`` (the settings), ``status``,
        ``reason``, ``nodes``; of workloads ``program``, the name without parameters; all
        parameters and settings, qualified and by their bare names; and the facts of the
        network and of the routing's table.
        """
        facts = table_facts(self._routes)
        networks = facts_of_networks(self.records)
        rows = [
            networks.get(record.topology_directory, {})
            | facts.get((record.topology, record.routing), {})
            | self._row(record, outcome, line)
            for record, outcome, line in zip(self.records, self.outcomes, self._lines, strict=True)
        ]
        columns = None if rows else [*self.identity, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        return with_derived_columns(
            with_bare_names(frame, ("routing", "topology", self.work, self._key))
        )

    def _row(
        self, record: SimulationRecord, outcome: Outcome, line: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the row's own columns; `line` has those of its offered load, or is empty."""
        # results may be older than a default: they have the settings that they ran with
        settings = settings_of(record.engine, outcome.provenance.get("settings", {}))
        row: dict[str, Any] = {**outcome.facts, **line}
        if record.throughput is not None:
            bound = self._throughput[record.throughput]
            row |= throughput_of(bound, traffic_seeds(record.engine.parameters), row.get("load"))
        if self.work == "workload":
            # facts have the resolved machine and job
            settings = {key: row.get(key, value) for key, value in settings.items()}
            row["program"] = parse_name(record.work_name).key
        else:
            # no facts named like a setting: their bare name goes to a parameter first, and then to
            # the setting (`with_bare_names`)
            row = {key: value for key, value in row.items() if key not in settings}
        for kind in self.kinds:
            row |= {f"{kind}.{key}": text for key, text in record.part(kind)[2].items()}
        row |= {f"{self._key}.{key}": value for key, value in settings.items()}
        return row | {
            "topology": record.topology,
            "routing": record.routing,
            self.work: record.work,
            "engine": record.engine.name,
            self._key: record.settings_id,
            "status": outcome.status,
            "reason": outcome.reason,
            "nodes": terminals_of(record, outcome),
        }

    @property
    def better(self) -> Mapping[str, str]:
        """Preferred directions that the engines declare, and those of tables' columns."""
        rows = {FACTS[self.work], "loads"}
        directions = {
            column.name: column.better
            for record in self.records
            for column in record.engine.columns
            if column.better and rows & set(column.of)
        }
        return {**self._routes.better, **directions}

    @property
    def identity(self) -> Sequence[str]:
        """Columns of network, routing, work and settings, and of the load if rows are loads."""
        return (*self.kinds, self._key, *(["load"] if self.by_load else []))

    def counterpart(self, run: int) -> str:
        """Return network, work, settings and load as text."""
        record = self.records[run]
        names = [record.topology_name, record.work_name, record.settings_id]
        return " ".join([*names, str(self._lines[run].get("load", "")) if self.by_load else ""])

    def engine(self, run: int) -> EnginePlugin:
        """Return the engine of a row; for a row of one load, the engine with only this load."""
        engine = self.records[run].engine
        alone = {"loads": (self._lines[run].get("load"),), "find_saturation": False}
        fields = type(engine.parameters).model_fields
        if not (self.by_load and self._lines[run].get("load") and "loads" in fields):
            return engine
        update = {name: value for name, value in alone.items() if name in fields}
        return type(engine)(engine.parameters.model_copy(update=update))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Return lines of another table of the engines; see `RowSet.details`."""
        of = of if of in TABLES[self.work] else f"flow-{of}"
        frames = [
            self._detail(of, run).assign(run=run)
            for run in runs
            if self.outcomes[run].status == OK and self.records[run].columns(of)
        ]
        if not frames:
            names = [column.name for record in self.records for column in record.columns(of)]
            return pd.DataFrame(columns=["run", *dict.fromkeys(names)])
        return pd.concat(frames, ignore_index=True)

    def _detail(self, of: str, run: int) -> pd.DataFrame:
        """Return the lines of one row in table `of`; if they have a load, those with the row's."""
        record = self.records[run]
        path = record.directory / TABLES[self.work][of]
        names = [column.name for column in record.columns(of)]
        if (of, path) not in self._details:
            columns = [name for name in ("load", _first(names)) if name in names]
            table = pd.DataFrame(read_rows(path, columns, TEXTS))
            if of in LOCATED_ROWS and "channel" in table:
                table = add_places(table, record)
            self._details[of, path] = table
        table = self._details[of, path]
        if "load" not in names:
            return table
        load_lines: pd.DataFrame = table[table["load"] == self._lines[run]["load"]]
        # this column is part of the row
        return load_lines.drop(columns="load")


def _first(names: Sequence[str]) -> str:
    """Return the column that identifies a line."""
    return next(name for name in names if name != "load")


def settings_of(engine: EnginePlugin, used_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings, lists as text; those that a result was computed with come first."""
    settings = {**engine.parameters.model_dump(), **used_settings}
    return {
        key: "+".join(map(str, settings[key]))
        if isinstance(settings[key], tuple | list)
        else settings[key]
        for key in engine.parameters.model_dump()
    }


def table_facts(routes: RouteRows) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the facts of the routings' tables, by topology and routing."""
    frame = routes.jobs
    # without bare names of parameters: rows without a table would lack them
    copies = [
        bare
        for kind, dot, bare in (name.partition(".") for name in frame.columns)
        if dot and kind in routes.kinds and bare in frame
        if frame[f"{kind}.{bare}"].equals(frame[bare])
    ]
    frame = frame.drop(columns=copies)
    return {
        (row["topology"], row["routing"]): {str(key): value for key, value in row.items()}
        for row in frame.to_dict("records")
    }


def add_places(channels: pd.DataFrame, record: Record) -> pd.DataFrame:
    """Return channels with the coordinates of their source switches, if the network has any.

    Raises
    ------
    InputError
        If the network has no such channel.
    """
    topology = load_topology(record.topology_directory / "topology.npz")
    numbers = channels["channel"].to_numpy(int)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < topology.num_channels):
        raise InputError(
            f"{record.directory / 'channels.csv'} is damaged: it has channel {numbers.max()}, but "
            f"the network has {topology.num_channels}; remove its folder and run again"
        )
    if topology.coordinates is None:
        return channels
    places = topology.coordinates[topology.channel_source[numbers]]
    names = [f"at_{coordinate_name(topology, i)}" for i in range(places.shape[1])]
    return channels.assign(**{name: places[:, i] for i, name in enumerate(names)})
