"""From the artifacts of a study's simulations to data frames that tables and figures draw on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from routelab.api import Column, EnginePlugin, InputError
from routelab.api.engine import FACTS, TABLES, Work
from routelab.artifacts.outcome import Outcome
from routelab.artifacts.tables import read_rows
from routelab.artifacts.topology_file import load_topology
from routelab.config.view_columns import KEYS
from routelab.registry.names import parse_name
from routelab.report.frames.derivation import add_derived
from routelab.report.frames.runs import Frames
from routelab.report.frames.view import OK, Record, View, add_bare, outcome_of, terminals_of
from routelab.report.network_picture import axis_name

TEXTS = ("source", "target", "direction", "switch", "name")
"""Columns with names, which may look like numbers."""

PLACED = ("channels", "flow-channels")
"""Rows with a place on the network."""


@dataclass(frozen=True, kw_only=True)
class EngineRecord(Record):
    """One simulation of a study: traffic or a workload on a topology with a routing.

    Attributes
    ----------
    work, work_name : str
        As the study calls traffic or workload, and its canonical name.
    work_parameters : mapping
        All parameters by name, defaults included.
    engine : EnginePlugin
        Its parameters are the settings.
    settings_id : str
        Name of the settings' folder: those that differ from the defaults.
    """

    work: str
    work_name: str
    work_parameters: Mapping[str, Any] = field(default_factory=dict)
    engine: EnginePlugin
    settings_id: str

    def part(self, kind: str) -> tuple[str, str, Mapping[str, Any]]:
        """See `Record.part`."""
        if kind == self.engine.work:
            return self.work, self.work_name, self.work_parameters
        return super().part(kind)

    def columns(self, of: str) -> list[Column]:
        """The columns that the engine declares of rows of a sort."""
        return [column for column in self.engine.columns if of in column.of]


class EngineFrames(View):
    """Everything that a study's simulations wrote, as data frames.

    Parameters
    ----------
    records : sequence of EngineRecord
        In the study's order.
    routes : Frames
        The study's tables; what is known of a routing's table stands beside its simulations.
    work : {"traffic", "workload"}
        What was run.
    by_load : bool
        Whether a row is one offered load of a simulation; otherwise a simulation. One without a
        result, or by an engine that has no loads, is a row in any case.
    """

    def __init__(
        self,
        records: Sequence[EngineRecord],
        routes: Frames,
        work: Work,
        *,
        by_load: bool = False,
    ) -> None:
        self.work, self.by_load = work, by_load
        self.kinds = ("topology", "routing", work)
        self._key = KEYS[work]
        self._routes = routes
        rows: list[tuple[EngineRecord, Outcome, dict[str, Any]]] = []
        for record in records:
            outcome = outcome_of(self._key, record)
            lines = list(self._lines_of(record, outcome))
            rows += [(record, outcome, line) for line in lines or [{}]]
        self.records: tuple[EngineRecord, ...] = tuple(record for record, _, _ in rows)
        self.outcomes = tuple(outcome for _, outcome, _ in rows)
        self._lines = tuple(line for _, _, line in rows)
        self._details: dict[tuple[str, Path], pd.DataFrame] = {}

    def _lines_of(self, record: EngineRecord, outcome: Outcome) -> Iterator[dict[str, Any]]:
        """The rows of a simulation: its loads, or one."""
        if outcome.status != OK or not record.columns("loads"):
            return
        curve = read_rows(record.directory / TABLES[self.work]["loads"], ["load"])
        # a curve of a single point is about the whole simulation
        if self.by_load or len(curve) == 1:
            yield from curve

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """The rows, whatever came of them; the index is ``run``.

        Columns: those of a load; every fact; ``topology``, ``routing``, ``traffic`` or
        ``workload``, ``engine``, ``simulation`` or ``flow`` (the settings), ``status``,
        ``reason``, ``nodes``; of workloads ``program``, the name without parameters; all
        parameters and settings, qualified and by their bare names; and what is known of the
        routing's table.
        """
        known = known_of_tables(self._routes)
        rows = [
            known.get((record.topology, record.routing), {}) | self._row(record, outcome, line)
            for record, outcome, line in zip(self.records, self.outcomes, self._lines, strict=True)
        ]
        columns = None if rows else [*self.identity, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        add_bare(frame, ("routing", "topology", self.work, self._key))
        add_derived(frame)
        return frame

    def _row(
        self, record: EngineRecord, outcome: Outcome, line: Mapping[str, Any]
    ) -> dict[str, Any]:
        settings = settings_of(record.engine)
        row: dict[str, Any] = {**outcome.facts, **line}
        if self.work == "workload":
            # the facts have what the machine and the job came to be
            settings = {key: row.get(key, value) for key, value in settings.items()}
            row["program"] = parse_name(record.work_name).key
        else:
            # settings stand behind parameters of the same name, and have a name of their own
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
        """What the engines declare, and what is known of tables."""
        rows = {FACTS[self.work], "loads"}
        declared = {
            column.name: column.better
            for record in self.records
            for column in record.engine.columns
            if column.better and rows & set(column.of)
        }
        return {**self._routes.better, **declared}

    @property
    def identity(self) -> Sequence[str]:
        """Network, routing, work and settings, and the load if a row is one."""
        return (*self.kinds, self._key, *(["load"] if self.by_load else []))

    def counterpart(self, run: int) -> str:
        """Network, work, settings and load."""
        record = self.records[run]
        names = [record.topology_name, record.work_name, record.settings_id]
        return " ".join([*names, str(self._lines[run].get("load", "")) if self.by_load else ""])

    def engine(self, run: int) -> EnginePlugin:
        """What a row was simulated with: of a single load, that one."""
        engine = self.records[run].engine
        alone = {"loads": (self._lines[run].get("load"),), "find_saturation": False}
        fields = type(engine.parameters).model_fields
        if not (self.by_load and self._lines[run].get("load") and "loads" in fields):
            return engine
        update = {name: value for name, value in alone.items() if name in fields}
        return type(engine)(engine.parameters.model_copy(update=update))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Lines of another table of the engines; see `View.details`."""
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
        record = self.records[run]
        path = record.directory / TABLES[self.work][of]
        declared = [column.name for column in record.columns(of)]
        if (of, path) not in self._details:
            needed = [name for name in ("load", _first(declared)) if name in declared]
            table = pd.DataFrame(read_rows(path, needed, TEXTS))
            if of in PLACED and "channel" in table:
                table = placed(table, record)
            self._details[of, path] = table
        table = self._details[of, path]
        if "load" not in declared:
            return table
        mine: pd.DataFrame = table[table["load"] == self._lines[run]["load"]]
        # the row has it, as all that is asked of a row
        return mine.drop(columns="load")


def _first(names: Sequence[str]) -> str:
    """The column that says what a line is."""
    return next(name for name in names if name != "load")


def settings_of(engine: EnginePlugin) -> dict[str, Any]:
    """All settings; lists as their text."""
    return {
        key: "+".join(map(str, value)) if isinstance(value, tuple) else value
        for key, value in engine.parameters.model_dump().items()
    }


def known_of_tables(routes: Frames) -> dict[tuple[str, str], dict[str, Any]]:
    """What is known of the routings' tables, by topology and routing."""
    frame = routes.jobs
    # without the bare names of parameters: rows without a table would be left without them
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


def placed(channels: pd.DataFrame, record: Record) -> pd.DataFrame:
    """Channels with the place of the switch that each leaves, in networks with coordinates.

    Raises
    ------
    InputError
        If the network has no such channel.
    """
    topology = load_topology(record.topology_directory / "topology.npz")
    numbers = channels["channel"].to_numpy(int)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < topology.num_channels):
        raise InputError(
            f"{record.directory / 'channels.csv'} is damaged: it has channel {numbers.max()}, the "
            f"network has {topology.num_channels}; remove its folder and run again"
        )
    if topology.coordinates is None:
        return channels
    places = topology.coordinates[topology.channel_source[numbers]]
    names = [f"at_{axis_name(topology, i)}" for i in range(places.shape[1])]
    return channels.assign(**{name: places[:, i] for i, name in enumerate(names)})
