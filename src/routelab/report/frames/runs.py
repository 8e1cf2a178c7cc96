"""From the artifacts of a study's runs to data frames that tables and figures draw on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome, read_outcome
from routelab.artifacts.tables import read_tuples
from routelab.report.frames.bounds import bound_outcomes, with_bounds
from routelab.report.frames.derivation import add_derived
from routelab.report.frames.view import OK, Record, View, add_bare, outcome_of, terminals_of

METRIC_COLUMNS = ["metric", "value", "unit", "better"]
CHANNEL_COLUMNS = ["channel", "source", "target", "direction", "load"]


@dataclass(frozen=True)
class JobRecord(Record):
    """One run of a study: a routing on a topology.

    Attributes
    ----------
    kept : tuple of (Outcome, tuple) or None
        Of a survey's run, which has no folder: what came of it, and what its metrics measured
        (name, value, unit, better).
    metrics : tuple of str
        Canonical names of all metrics, for commands; empty where the usual ones are measured.
    rules_bound, network_bound : Path or None
        Folders of the bounds of the run's rules and of the bare network, where there are any.
    """

    kept: tuple[Outcome, tuple[tuple[str, float, str, str], ...]] | None = None
    metrics: tuple[str, ...] = ()
    rules_bound: Path | None = None
    network_bound: Path | None = None


class Frames(View):
    """Everything that a study's runs wrote, as data frames.

    Parameters
    ----------
    records : sequence of JobRecord
        The runs in the study's order; ``run`` in all frames is the position in it.
    """

    def __init__(self, records: Sequence[JobRecord]) -> None:
        self.records: tuple[JobRecord, ...] = tuple(records)
        self.outcomes = tuple(
            with_bounds(
                record.kept[0] if record.kept else outcome_of("route", record),
                record.rules_bound,
                record.network_bound,
            )
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
                lines = read_tuples(record.directory / "metrics.csv", METRIC_COLUMNS, {"value"})
            rows += [(run, record.topology, record.routing, *line) for line in lines]
        return pd.DataFrame(rows, columns=["run", "topology", "routing", *METRIC_COLUMNS])

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row a run, whatever came of it; the index is ``run``.

        Columns: ``topology``, ``routing``, ``status``, ``reason``, ``nodes`` (terminals), every
        fact and metric, ``topology.<parameter>``, ``routing.<parameter>`` and parameters by their
        bare name (the routing's, where any routing has one of that name), and what
        `routelab.report.frames.derivation` makes of them.
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
            row["nodes"] = terminals_of(record, outcome)
            rows.append(row)
        columns = None if rows else ["topology", "routing", "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        add_bare(frame, ("routing", "topology"))
        add_derived(frame)
        return frame

    @cached_property
    def better(self) -> dict[str, str]:
        """Metrics of which less, or more, is better: ``"lower"`` or ``"higher"``."""
        known = self.metrics[self.metrics["better"] != ""]
        return dict(zip(known["metric"], known["better"], strict=True))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Channels with their loads; see `View.details`."""
        if of != "channels":
            raise InputError(f"{place}of: route tables have no {of}, only channels")
        return self.channels(runs)

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
                lines = read_tuples(path, CHANNEL_COLUMNS, {"channel", "load"})
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
