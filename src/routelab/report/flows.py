"""From the artifacts of a study's flow simulations to frames that tables and figures draw on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from routelab.artifacts.outcome import Outcome
from routelab.artifacts.tables import read_rows
from routelab.registry.names import parse_name
from routelab.report.derived import add_derived
from routelab.report.frames import Frames
from routelab.report.simulations import TEXTS, known_of_tables, placed
from routelab.report.view import OK, Record, View, add_bare, outcome_of, terminals_of
from routelab.simulation.flow_settings import FlowSettings

FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "channels": ("channels.csv", ("channel", "bytes", "seconds", "share")),
    "ranks": ("ranks.csv", ("rank", "timed_s")),
}
"""What rows are made of: the file, and the columns that it has at least."""

BETTER = {
    "mops": "higher",
    "timed_s": "lower",
    "completion_time_s": "lower",
    "bottleneck_share": "lower",
}


@dataclass(frozen=True)
class FlowRecord(Record):
    """One flow simulation of a study: a workload on a topology with a routing.

    Attributes
    ----------
    workload, workload_name : str
        As the study calls it, and its canonical name.
    workload_parameters : mapping
        All parameters by name, defaults included.
    settings : FlowSettings
    settings_id : str
        Name of the settings' folder: those that differ from the defaults.
    """

    workload: str = ""
    workload_name: str = ""
    workload_parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: FlowSettings = field(default_factory=FlowSettings)
    settings_id: str = ""


class FlowFrames(View):
    """Everything that a study's flow simulations wrote, as data frames.

    Parameters
    ----------
    records : sequence of FlowRecord
        In the study's order.
    routes : Frames
        The study's tables; what is known of a routing's table stands beside its simulations.
    """

    kinds = ("topology", "routing", "workload")

    def __init__(self, records: Sequence[FlowRecord], routes: Frames) -> None:
        self._routes = routes
        self.records: tuple[FlowRecord, ...] = tuple(records)
        self.outcomes = tuple(outcome_of("flow", record) for record in self.records)
        self._details: dict[Path, pd.DataFrame] = {}

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row a simulation, whatever came of it; the index is ``run``.

        Columns: every fact; ``topology``, ``routing``, ``workload``, ``program`` (the workload
        without its parameters), ``flow`` (the settings), ``status``, ``reason``, ``nodes``; all
        parameters and settings, qualified and by their bare names; and what is known of the
        routing's table.
        """
        known = known_of_tables(self._routes)
        rows = [
            known.get((record.topology, record.routing), {}) | _row(record, outcome)
            for record, outcome in zip(self.records, self.outcomes, strict=True)
        ]
        columns = None if rows else [*self.identity, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        add_bare(frame, ("routing", "topology", "workload", "flow"))
        add_derived(frame)
        return frame

    @property
    def better(self) -> Mapping[str, str]:
        """What a simulation finds, and what is known of tables."""
        return {**self._routes.better, **BETTER}

    @property
    def identity(self) -> Sequence[str]:
        """Network, routing, workload and settings."""
        return (*self.kinds, "flow")

    def counterpart(self, run: int) -> str:
        """Network, workload and settings."""
        record = self.records[run]
        return " ".join((record.topology_name, record.workload_name, record.settings_id))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Channels or ranks; see `View.details`."""
        of = of.removeprefix("flow-")
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
        if path not in self._details:
            table = pd.DataFrame(read_rows(path, needed, TEXTS))
            self._details[path] = placed(table, record) if of == "channels" else table
        return self._details[path]


def _row(record: FlowRecord, outcome: Outcome) -> dict[str, Any]:
    settings = record.settings.model_dump()
    # of the machine the facts have what was not changed, and of the job how many ranks there are
    row: dict[str, Any] = dict(outcome.facts)
    for kind in FlowFrames.kinds:
        parameters = getattr(record, f"{kind}_parameters")
        row |= {f"{kind}.{key}": text for key, text in parameters.items()}
    row |= {f"flow.{key}": row.get(key, value) for key, value in settings.items()}
    return row | {
        "topology": record.topology,
        "routing": record.routing,
        "workload": record.workload,
        "program": parse_name(record.workload_name).key,
        "flow": record.settings_id,
        "status": outcome.status,
        "reason": outcome.reason,
        "nodes": terminals_of(record, outcome),
    }
