"""From the artifacts of a study's simulations to data frames that tables and figures draw on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome
from routelab.artifacts.tables import read_rows
from routelab.artifacts.topology_file import load_topology
from routelab.report.derived import add_derived
from routelab.report.frames import Frames
from routelab.report.network_picture import axis_name
from routelab.report.view import OK, Record, View, add_bare, outcome_of, terminals_of
from routelab.simulation.settings import SimulationSettings

CURVE = "curve.csv"
"""File of a simulation's folder with a row for each offered load."""

FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "channels": ("channels.csv", ("channel", "utilisation")),
    "terminals": ("terminals.csv", ("terminal", "received", "finished_at")),
    "latencies": ("latencies.csv", ("latency", "count")),
}
"""What rows are made of: the file, and the columns that it has at least."""

TEXTS = ("source", "target", "direction", "switch", "name")
"""Columns with names, which may look like numbers."""

THROUGHPUT = "terminal_throughput"
"""Of runs with messages to be finished: mean over terminals of what each got a cycle until it had
all, in flits."""

BETTER = {
    THROUGHPUT: "higher",
    "saturation_load": "higher",
    "accepted_load": "higher",
    "jain": "higher",
    "worst_share": "higher",
    "latency_mean": "lower",
    "latency_p99": "lower",
    "completion_cycles": "lower",
    "utilisation_max": "lower",
}


@dataclass(frozen=True)
class SimulationRecord(Record):
    """One simulation of a study: a routing on a topology under some traffic.

    Attributes
    ----------
    traffic, traffic_name : str
        As the study calls it, and its canonical name.
    traffic_parameters : mapping
        All parameters by name, defaults included.
    settings : SimulationSettings
    settings_id : str
        Name of the settings' folder: those that differ from the defaults.
    """

    traffic: str = ""
    traffic_name: str = ""
    traffic_parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: SimulationSettings = field(default_factory=SimulationSettings)
    settings_id: str = ""


class SimulationFrames(View):
    """Everything that a study's simulations wrote, as data frames.

    Parameters
    ----------
    records : sequence of SimulationRecord
        In the study's order.
    routes : Frames
        The study's tables; what is known of a routing's table stands beside its simulations.
    by_load : bool
        Whether a row is one offered load of a simulation; otherwise a simulation. One without a
        result is a row in any case.
    """

    kinds = ("topology", "routing", "traffic")

    def __init__(
        self, records: Sequence[SimulationRecord], routes: Frames, *, by_load: bool
    ) -> None:
        self.by_load = by_load
        self._routes = routes
        rows: list[tuple[SimulationRecord, Outcome, dict[str, Any]]] = []
        for record in records:
            outcome = outcome_of("simulation", record)
            curve = read_rows(record.directory / CURVE, ["load"]) if outcome.status == OK else []
            if not by_load:
                # a curve of a single point is about the whole simulation
                curve = [curve[0] if len(curve) == 1 else {}]
            rows += [(record, outcome, line) for line in curve or [{}]]
        self.records: tuple[SimulationRecord, ...] = tuple(record for record, _, _ in rows)
        self.outcomes = tuple(outcome for _, outcome, _ in rows)
        self._lines = tuple(line for _, _, line in rows)
        self._details: dict[tuple[str, Path], pd.DataFrame] = {}

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """The rows, whatever came of them; the index is ``run``.

        Columns: those of a curve; every fact; ``topology``, ``routing``, ``traffic``,
        ``simulation`` (the settings), ``status``, ``reason``, ``nodes``; `THROUGHPUT`; all
        parameters and settings, qualified and by their bare names; and what is known of the
        routing's table.
        """
        known = known_of_tables(self._routes)
        rows = [
            known.get((record.topology, record.routing), {}) | _row(record, outcome, line)
            for record, outcome, line in zip(self.records, self.outcomes, self._lines, strict=True)
        ]
        for run, row in enumerate(rows):
            if row["status"] == OK and self.records[run].settings.messages:
                row[THROUGHPUT] = float(self._detail("terminals", run)["throughput"].mean())
        columns = None if rows else [*self.identity, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        add_bare(frame, ("routing", "topology", "traffic", "simulation"))
        add_derived(frame)
        return frame

    @property
    def better(self) -> Mapping[str, str]:
        """What a simulation measures, and what is known of tables."""
        return {**self._routes.better, **BETTER}

    @property
    def identity(self) -> Sequence[str]:
        """Network, routing, traffic and settings, and the load if a row is one."""
        return (*self.kinds, "simulation", *(["load"] if self.by_load else []))

    def counterpart(self, run: int) -> str:
        """Network, traffic, settings and load."""
        record = self.records[run]
        names = record.topology_name, record.traffic_name, record.settings_id
        return " ".join([*names, str(self._lines[run].get("load", "")) if self.by_load else ""])

    def settings(self, run: int) -> SimulationSettings:
        """What a row was simulated with: of a single load, that one."""
        settings = self.records[run].settings
        if not self.by_load or settings.messages or "load" not in self._lines[run]:
            return settings
        alone = {"loads": (self._lines[run]["load"],), "find_saturation": False}
        return settings.model_copy(update=alone)

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Channels, terminals or packets by their latencies; see `View.details`."""
        frames = [
            self._detail(of, run).assign(run=run) for run in runs if self.outcomes[run].status == OK
        ]
        if not frames:
            return pd.DataFrame(columns=["run", *FILES[of][1]])
        return pd.concat(frames, ignore_index=True)

    def _detail(self, of: str, run: int) -> pd.DataFrame:
        record = self.records[run]
        name, needed = FILES[of]
        path = record.directory / name
        if (of, path) not in self._details:
            table = pd.DataFrame(read_rows(path, ["load", *needed], TEXTS))
            if of == "channels":
                table = placed(table, record)
            if of == "terminals" and record.settings.messages:
                table["throughput"] = _throughput(table, self._lines[run], record.settings)
            self._details[of, path] = table
        table = self._details[of, path]
        mine: pd.DataFrame = table[table["load"] == self._lines[run]["load"]]
        # the row has it, as all that is asked of a row
        return mine.drop(columns="load")


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


def _row(record: SimulationRecord, outcome: Outcome, line: dict[str, Any]) -> dict[str, Any]:
    settings = _settings(record.settings)
    # settings stand behind parameters of the same name, and have a name of their own
    told = {**outcome.facts, **line}
    row: dict[str, Any] = {key: value for key, value in told.items() if key not in settings}
    for kind in ("topology", "routing", "traffic"):
        parameters = getattr(record, f"{kind}_parameters")
        row |= {f"{kind}.{key}": text for key, text in parameters.items()}
    row |= {f"simulation.{key}": value for key, value in settings.items()}
    return row | {
        "topology": record.topology,
        "routing": record.routing,
        "traffic": record.traffic,
        "simulation": record.settings_id,
        "status": outcome.status,
        "reason": outcome.reason,
        "nodes": terminals_of(record, outcome),
    }


def _settings(settings: SimulationSettings) -> dict[str, Any]:
    """All settings; several loads as their text."""
    return {
        key: "+".join(map(str, value)) if isinstance(value, tuple) else value
        for key, value in settings.model_dump().items()
    }


def _throughput(
    terminals: pd.DataFrame, line: Mapping[str, Any], settings: SimulationSettings
) -> pd.Series[Any]:
    """Flits a cycle that each terminal got until its last arrived; nothing for silent ones."""
    received = pd.to_numeric(terminals["received"]) * (line["cycles"] / settings.seeds)
    throughput: pd.Series[Any] = received / pd.to_numeric(terminals["finished_at"])
    return throughput


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
