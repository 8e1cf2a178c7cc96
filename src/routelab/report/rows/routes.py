"""Data frames of a study's route tables, for tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from routelab.api import InputError
from routelab.registry.columns import installed_columns
from routelab.report.rows.bounds import read_bound_outcomes, with_bounds
from routelab.report.rows.derivation import with_derived_columns
from routelab.report.rows.pending_jobs import fail_if_stale, read_or_pending
from routelab.report.rows.row_set import (
    OK,
    Record,
    RowSet,
    num_terminals,
    read_job_outcome,
    read_network_facts,
    with_bare_names,
)
from routelab.results.outcome import Outcome, read_outcome
from routelab.results.tables import further_columns, read_tuples

METRIC_COLUMNS = ["metric", "value", "unit", "better"]
TURN_COLUMNS = ["from", "switch", "to"]
CHANNEL_COLUMNS = ["channel", "source", "target", "direction", "load"]


@dataclass(frozen=True)
class RouteRecord(Record):
    """One run of a study: a routing on a topology.

    Attributes
    ----------
    survey_result : tuple of (Outcome, tuple) or None
        Outcome of a survey's run, which has no folder, and its metrics (name, value, unit,
        better).
    metrics : tuple of str
        Canonical names of all metrics, for commands; empty for the default metrics.
    metrics_directory : Path or None
        Folder of the table's measurements, unless nothing is measured.
    rules_bound, network_bound : Path or None
        Folders of the bounds of the run's rules and of the bare network, if they exist.
    any_length_bound : Path or None
        Folder of the bound for routes of any length, if the study asks for it.
    """

    survey_result: tuple[Outcome, tuple[tuple[str, float, str, str], ...]] | None = None
    metrics: tuple[str, ...] = ()
    metrics_directory: Path | None = None
    rules_bound: Path | None = None
    network_bound: Path | None = None
    any_length_bound: Path | None = None

    @property
    def bounds(self) -> tuple[Path, ...]:
        """Folders of all bounds."""
        folders = (self.network_bound, self.rules_bound, self.any_length_bound)
        return tuple(folder for folder in folders if folder is not None)


class RouteRows(RowSet):
    """Results of a study's runs (routings on topologies) as data frames.

    A run is up to two jobs: one makes the route table, and one measures further metrics of it.

    Parameters
    ----------
    records : sequence of RouteRecord
        The runs in the study's order; ``run`` in all frames is the position in it.

    Attributes
    ----------
    tables : dict of (str, str) to Outcome
        Outcomes of the jobs that make the tables, by topology and routing. In `outcomes`, a run
        has this outcome, too, or that of its measurement if this has no result at all.
    incomplete : dict of int to Outcome
        Outcomes of measurements in which some metrics have no numbers, by run.
    """

    def __init__(self, records: Sequence[RouteRecord]) -> None:
        self.records: tuple[RouteRecord, ...] = tuple(records)
        self.tables = {
            (record.topology, record.routing): _table_outcome(record) for record in self.records
        }
        outcomes: list[Outcome] = []
        self.incomplete: dict[int, Outcome] = {}
        for run, record in enumerate(self.records):
            table = self.tables[record.topology, record.routing]
            measured = _measured_outcome(record, table)
            # A measurement that failed for some metrics only has files with the numbers of the
            # others. Then the run has a result, and its outcome is that of the table.
            outcome = table if measured.status == OK or measured.files else measured
            if measured.status != OK and measured.files:
                self.incomplete[run] = measured
            outcomes.append(
                with_bounds(
                    outcome,
                    rules=record.rules_bound,
                    network=record.network_bound,
                    any_length=record.any_length_bound,
                )
            )
        self.outcomes = tuple(outcomes)
        self._channels: dict[int, pd.DataFrame] = {}

    @cached_property
    def topology_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the networks, each once, without unreadable ones."""
        outcomes = []
        for folder in dict.fromkeys(record.topology_directory for record in self.records):
            with suppress(InputError):
                outcomes.append(read_outcome(folder / "outcome.json"))
        return tuple(outcomes)

    @cached_property
    def bound_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the bounds, each once."""
        return tuple(
            read_bound_outcomes(folder for record in self.records for folder in record.bounds)
        )

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row per run and metric: ``run, topology, routing, metric, value, unit, better``."""
        rows = []
        for run, (record, outcome) in enumerate(zip(self.records, self.outcomes, strict=True)):
            if outcome.status != OK:
                continue
            lines: Sequence[tuple[Any, ...]]
            if record.survey_result is not None:
                _, lines = record.survey_result
            elif record.metrics_directory is not None:
                path = record.metrics_directory / "metrics.csv"
                lines = read_tuples(path, METRIC_COLUMNS, numbers={"value"})
            else:
                lines = ()
            rows += [(run, record.topology, record.routing, *line) for line in lines]
        return pd.DataFrame(rows, columns=["run", "topology", "routing", *METRIC_COLUMNS])

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per run, with or without a result; the index is ``run``.

        Columns: ``topology``, ``routing``, ``status``, ``reason``, ``nodes`` (terminals), every
        fact of the run and its network, and every metric. Parameters are ``topology.<parameter>``
        and ``routing.<parameter>``, and also have their bare name (the routing's, if any routing
        has a parameter of that name). `routelab.report.rows.derivation` adds further columns.
        """
        metrics: dict[int, dict[str, float]] = {}
        for run, metric, value in self.metrics[["run", "metric", "value"]].itertuples(index=False):
            metrics.setdefault(run, {})[metric] = value
        rows = []
        # the networks of a survey have no folders
        networks = read_network_facts(
            record for record in self.records if record.survey_result is None
        )
        for run, (record, outcome) in enumerate(zip(self.records, self.outcomes, strict=True)):
            # Of columns with one name, the last one stays.
            row = networks.get(record.topology_directory, {}) | metrics.get(run, {})
            row |= outcome.facts
            row |= {f"topology.{key}": text for key, text in record.topology_parameters.items()}
            row |= {f"routing.{key}": text for key, text in record.routing_parameters.items()}
            row |= {
                "topology": record.topology,
                "routing": record.routing,
                "status": outcome.status,
                "reason": self.incomplete.get(run, outcome).reason,
            }
            row["nodes"] = num_terminals(record, outcome)
            rows.append(row)
        columns = None if rows else ["topology", "routing", "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        # A metric without a number in any run has no column yet. If measurements are incomplete,
        # it gets an empty one, so that tables can show it.
        if self.incomplete:
            declared = installed_columns().of("routes")
            frame = frame.reindex(columns=list(dict.fromkeys([*frame.columns, *declared])))
        return with_derived_columns(with_bare_names(frame, ("routing", "topology")))

    @cached_property
    def better(self) -> dict[str, str]:
        """Preferred directions of metrics: ``"lower"`` or ``"higher"``."""
        directed = self.metrics[self.metrics["better"] != ""]
        return dict(zip(directed["metric"], directed["better"], strict=True))

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Return the channels of runs with their loads, or the turns that their rules prohibit.

        `of` is ``channels`` or ``turns``; the column ``run`` is the run of a channel or turn.
        """
        if of == "turns":
            return self._turns(runs)
        if of != "channels":
            raise InputError(f"{place}of: route tables have no {of}, only channels")
        return self.channels(runs)

    def _turns(self, runs: Iterable[int]) -> pd.DataFrame:
        """Return one row per run and prohibited turn: ``run, from, switch, to``."""
        lines = []
        for run in runs:
            path = self.records[run].directory / "turns.csv"
            # rules that are not defined by turns write no such file
            if path.is_file():
                lines += [(run, *line) for line in read_tuples(path, TURN_COLUMNS, ())]
        return pd.DataFrame(lines, columns=["run", *TURN_COLUMNS])

    def channels(self, runs: Iterable[int]) -> pd.DataFrame:
        """Return one row per run and channel: ``run, channel, source, target, direction, load``.

        The facts of rules about channels follow, with no value where a routing has no such rules.
        """
        frames = []
        for run in runs:
            if self.outcomes[run].status != OK:
                continue
            if self.records[run].survey_result is not None:
                raise InputError(
                    "a survey keeps no loads of single channels; show a column of its runs, or "
                    "use a separate study without 'survey'"
                )
            # Several figures show the channels of a run, whose files can be large: read them once.
            if run not in self._channels:
                path = self.records[run].directory / "channels.csv"
                rule_columns = further_columns(path, CHANNEL_COLUMNS)
                columns = [*CHANNEL_COLUMNS, *rule_columns]
                lines = read_tuples(path, columns, {"channel", "load", *rule_columns})
                # pictures use the numbers as indices of arrays, so none may be missing
                expected = self.outcomes[run].facts.get("channels", len(lines))
                if [line[0] for line in lines] != list(range(expected)):
                    raise InputError(
                        f"{path} is damaged: expected channels 0 to {expected - 1}, found "
                        f"{len(lines)} lines; remove its folder and run again"
                    )
                table = pd.DataFrame(lines, columns=columns)
                self._channels[run] = table.astype({"channel": int})
            frames.append(self._channels[run].assign(run=run))
        if not frames:
            return pd.DataFrame(columns=["run", *CHANNEL_COLUMNS])
        table = pd.concat(frames, ignore_index=True)
        return table[["run", *table.columns.drop("run")]]


def _table_outcome(record: RouteRecord) -> Outcome:
    """Return the outcome of the job that makes a table, or of its run in a survey."""
    if record.survey_result is not None:
        outcome, _ = record.survey_result
        return outcome
    return read_job_outcome("route", record)


def _measured_outcome(record: RouteRecord, table: Outcome) -> Outcome:
    """Return the outcome of the measurements of a table, or that of the table if there are none.

    There are none for a table without a result, in a survey, and if the study asks for no metrics.
    """
    if table.status != OK or record.survey_result or record.metrics_directory is None:
        return table
    names = record.topology_name, record.routing_name
    return fail_if_stale(read_or_pending(record.metrics_directory, "metrics", *names), table)
