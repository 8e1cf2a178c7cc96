"""Data frames of a study's simulations, for tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from routelab.report.rows.bounds import read_throughput_outcome, throughput_bounds
from routelab.report.rows.derivation import with_derived_columns
from routelab.report.rows.pending_jobs import fail_if_stale
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.row_set import (
    OK,
    Record,
    RowSet,
    num_terminals,
    read_job_outcome,
    read_network_facts,
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
    def instance(self, kind: str) -> tuple[str, str, Mapping[str, Any]]:
        if kind == self.engine.work:
            return self.work, self.work_name, self.work_parameters
        return super().instance(kind)

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
        self._settings_kind = KEYS[work]  # "simulation" or "flow"
        self._routes = routes
        rows: list[tuple[SimulationRecord, Outcome, dict[str, Any]]] = []
        for record in records:
            table = routes.tables.get((record.topology, record.routing))
            outcome = fail_if_stale(read_job_outcome(self._settings_kind, record), table)
            loads = self._read_loads(record, outcome)
            # {}: one row for the whole simulation, which is not about one load
            rows += [(record, outcome, load) for load in loads or [{}]]
        self.records: tuple[SimulationRecord, ...] = tuple(record for record, _, _ in rows)
        self.outcomes = tuple(outcome for _, outcome, _ in rows)
        self._loads = tuple(load for _, _, load in rows)
        self._details: dict[tuple[str, Path], pd.DataFrame] = {}

    def _read_loads(self, record: SimulationRecord, outcome: Outcome) -> list[dict[str, Any]]:
        """Return the columns of each offered load that gives a row.

        The list is empty if one row without a load stands for the simulation: it has no result or
        no loads, or it has several loads and rows are simulations.
        """
        if outcome.status != OK or not record.columns("loads"):
            return []
        loads = read_rows(record.directory / TABLES[self.work]["loads"], needed=["load"])
        # A simulation of a single load is one row in any case, and has the columns of this load.
        return loads if self.by_load or len(loads) == 1 else []

    @cached_property
    def _throughput(self) -> dict[Path, Outcome]:
        folders = [record.throughput for record in self.records]
        return {
            folder: read_throughput_outcome(folder)
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
    def frame(self) -> pd.DataFrame:
        """All rows, with or without a result; the index is ``run``.

        Columns: those of a load; every fact; ``topology``, ``routing``, ``traffic`` or
        ``workload``, ``engine``, ``simulation`` or ``flow`` (the settings), ``status``,
        ``reason``, ``nodes``; of workloads ``program``, the name without parameters; all
        parameters and settings, qualified and by their bare names; and the facts of the
        network and of the routing's table.
        """
        facts = table_facts(self._routes)
        networks = read_network_facts(self.records)
        rows = [
            networks.get(record.topology_directory, {})
            | facts.get((record.topology, record.routing), {})
            | self._own_columns(record, outcome, load)
            for record, outcome, load in zip(self.records, self.outcomes, self._loads, strict=True)
        ]
        columns = None if rows else [*self.identity, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        return with_derived_columns(
            with_bare_names(frame, ("routing", "topology", self.work, self._settings_kind))
        )

    def _own_columns(
        self, record: SimulationRecord, outcome: Outcome, load: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the columns of a row without those of its network and its table.

        `load` has the columns of the offered load; it is empty if the row is not about one.
        """
        # A result keeps the settings that it was computed with: defaults may have changed since.
        settings = effective_settings(record.engine, outcome.provenance.get("settings", {}))
        row: dict[str, Any] = {**outcome.facts, **load}
        if record.throughput is not None:
            bound = self._throughput[record.throughput]
            seeds = traffic_seeds(record.engine.parameters)
            row |= throughput_bounds(bound, seeds, row.get("load"))
        if self.work == "workload":
            # Flow engines return facts with the names of settings. They have the values that were
            # used, such as the machine's link bandwidth if the setting is empty.
            settings = {key: row.get(key, value) for key, value in settings.items()}
            row["program"] = parse_name(record.work_name).key
        else:
            # A fact with the name of a setting is left out: it would keep `with_bare_names` from
            # giving the bare name to a parameter or to the setting.
            row = {key: value for key, value in row.items() if key not in settings}
        for kind in self.kinds:
            _, _, parameters = record.instance(kind)
            row |= {f"{kind}.{key}": text for key, text in parameters.items()}
        row |= {f"{self._settings_kind}.{key}": value for key, value in settings.items()}
        return row | {
            "topology": record.topology,
            "routing": record.routing,
            self.work: record.work,
            "engine": record.engine.name,
            self._settings_kind: record.settings_id,
            "status": outcome.status,
            "reason": outcome.reason,
            "nodes": num_terminals(record, outcome),
        }

    @property
    def better(self) -> Mapping[str, str]:
        """Preferred directions that the engines declare, and those of tables' columns."""
        row_kinds = {FACTS[self.work], "loads"}
        directions = {
            column.name: column.better
            for record in self.records
            for column in record.engine.columns
            if column.better and row_kinds & set(column.of)
        }
        return {**self._routes.better, **directions}

    @property
    def identity(self) -> Sequence[str]:
        """Columns of network, routing, work and settings, and of the load if rows are loads."""
        return (*self.kinds, self._settings_kind, *(["load"] if self.by_load else []))

    def conditions(self, run: int) -> str:
        """Return network, work, settings and load as text; see `RowSet.conditions`."""
        record = self.records[run]
        names = [record.topology_name, record.work_name, record.settings_id]
        load = self._loads[run].get("load", "") if self.by_load else ""
        return " ".join([*names, str(load)])

    def engine(self, run: int) -> EnginePlugin:
        """Return the engine that computes a row, for the command that repeats it.

        For a row of one load, it simulates this load only, and does not search for saturation.
        """
        engine, load = self.records[run].engine, self._loads[run].get("load")
        fields = type(engine.parameters).model_fields
        if not (self.by_load and load and "loads" in fields):
            return engine
        only_load = {"loads": (load,), "find_saturation": False}
        # an engine may have no search for saturation
        update = {name: value for name, value in only_load.items() if name in fields}
        return type(engine)(engine.parameters.model_copy(update=update))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Return the lines of a table that the engines wrote, such as their channels.

        The column ``run`` is the number of the row that a line belongs to. Rows without a result,
        or of an engine without this table, have no lines.
        """
        # "channels" of flow simulations are in the table "flow-channels"
        of = of if of in TABLES[self.work] else f"flow-{of}"
        frames = [
            self._read_details(of, run).assign(run=run)
            for run in runs
            if self.outcomes[run].status == OK and self.records[run].columns(of)
        ]
        if not frames:
            names = [column.name for record in self.records for column in record.columns(of)]
            return pd.DataFrame(columns=["run", *dict.fromkeys(names)])
        return pd.concat(frames, ignore_index=True)

    def _read_details(self, of: str, run: int) -> pd.DataFrame:
        """Return the lines of the table `of` that belong to a row, such as one for each channel.

        If the table has lines for each offered load, these are the lines of the row's load. The
        table of a simulation is read once for all of its rows.
        """
        record = self.records[run]
        path = record.directory / TABLES[self.work][of]
        names = [column.name for column in record.columns(of)]
        if (of, path) not in self._details:
            # The first column besides the load identifies a line, such as the channel. These two
            # columns must be in the file.
            key_column = next(name for name in names if name != "load")
            needed = [name for name in ("load", key_column) if name in names]
            table = pd.DataFrame(read_rows(path, needed, TEXTS))
            if of in LOCATED_ROWS and "channel" in table:
                table = add_coordinates(table, record)
            self._details[of, path] = table
        table = self._details[of, path]
        if "load" not in names:
            return table
        load_lines: pd.DataFrame = table[table["load"] == self._loads[run]["load"]]
        # The load is a column of the row already.
        return load_lines.drop(columns="load")


def effective_settings(engine: EnginePlugin, used_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a result by name, as values of a table's cells.

    They are the settings in its provenance (`used_settings`), and the engine's for all others.
    Lists become texts like ``0.1+0.5``. Used settings that the engine no longer has are left out.
    """
    settings = {}
    for key, value in engine.parameters.model_dump().items():
        setting = used_settings.get(key, value)
        is_list = isinstance(setting, tuple | list)
        settings[key] = "+".join(map(str, setting)) if is_list else setting
    return settings


def table_facts(routes: RouteRows) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the columns of each route table, by topology and routing.

    Simulations and measurements show them beside their own columns. A parameter such as
    ``routing.seed`` is among them, but not its copy ``seed``.
    """
    # The caller copies parameters to their bare names later, with `with_bare_names`. This leaves a
    # column that exists already as it is. So with a column ``seed`` of the tables, rows whose
    # routing has no table would have no seed.
    frame = routes.frame
    bare_copies = []
    for column in frame.columns:
        kind, dot, bare_name = column.partition(".")
        is_parameter = dot and kind in routes.kinds
        # a column with other values is no copy of the parameter, such as a fact of the same name
        if is_parameter and bare_name in frame and frame[column].equals(frame[bare_name]):
            bare_copies.append(bare_name)
    frame = frame.drop(columns=bare_copies)
    return {
        (row["topology"], row["routing"]): {str(key): value for key, value in row.items()}
        for row in frame.to_dict("records")
    }


def add_coordinates(channels: pd.DataFrame, record: Record) -> pd.DataFrame:
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
    coordinates = topology.coordinates[topology.channel_source[numbers]]
    names = [f"at_{coordinate_name(topology, axis)}" for axis in range(coordinates.shape[1])]
    return channels.assign(**{name: coordinates[:, axis] for axis, name in enumerate(names)})
