"""Data frames of a study's measurements, for tables and figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
from typing_extensions import override

from routelab.api import InputError
from routelab.report.rows.bench_rows import KINDS, BenchmarkRecord, BenchRow
from routelab.report.rows.columns import BENCHMARKS
from routelab.report.rows.comparison_files import ComparisonFiles
from routelab.report.rows.derivation import IMPROVEMENT, with_derived_columns
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.row_set import OK, RowSet, with_bare_names
from routelab.report.rows.simulations import table_facts
from routelab.study import Relative

SINGLE = "benchmark-runs"
"""Details of rows: the value of every run except warm-up runs."""

COLUMNS = ("median", "mean", "cov_percent", "ci_low", "ci_high", "runs", "failed", "failures")
"""Columns of measurements that data frames without rows have, too."""

BETTER = {column.name: column.better for column in BENCHMARKS if column.better}
"""Preferred directions that do not depend on the figure of merit, by column."""

OF_A_METRIC = ("median", "mean", "ci_low", "ci_high", "predicted")
"""Columns in the unit of the metric; its preferred direction applies to them."""

SWITCH_WARNING = (
    "The fabric was not switched: routings were not applied, and differences between them are "
    "noise."
)


class BenchmarkRows(RowSet):
    """Figures of merit of a study's benchmarks, as data frames.

    Parameters
    ----------
    rows : sequence of BenchRow
        In the study's order.
    routes : RouteRows
        The study's tables; rows also have the facts of their routing's table.
    """

    kinds = KINDS

    def __init__(self, rows: Sequence[BenchRow], routes: RouteRows) -> None:
        self._routes = routes
        self.rows = tuple(rows)
        self.records: tuple[BenchmarkRecord, ...] = tuple(row.record for row in rows)
        self.outcomes = tuple(row.outcome for row in rows)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows, with or without a result; the index is ``run``.

        Columns: see `routelab plugins columns`; all parameters and settings, qualified and by their
        bare names; and the facts of the routing's table, if the runs used the present one.
        """
        facts, tables = table_facts(self._routes), self._routes.tables
        rows = []
        for row in self.rows:
            pair = row.record.topology, row.record.routing
            table_digest = tables[pair].provenance.get("digest") if pair in tables else None
            # facts of a table that was computed anew after the runs do not describe them
            is_same_table = row.files.may_have_used(row.record.routing, table_digest)
            table_columns = facts.get(pair, {}) if is_same_table else {}
            rows.append(table_columns | row.values)
        columns = None if rows else [*self.identity, *COLUMNS, "status", "reason", "nodes"]
        frame = pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="run"), columns=columns)
        return with_derived_columns(
            with_bare_names(frame, ("routing", "topology", "benchmark", "bench"))
        )

    @property
    def better(self) -> Mapping[str, str]:
        """Preferred directions by column.

        The columns `OF_A_METRIC` have the direction of the figures of merit if all rows agree in
        it: none if the rows have latencies (lower) and rates (higher).
        """
        directions = {**self._routes.better, **BETTER}
        merit_directions = {str(row.values["better"]) for row in self.rows} - {""}
        if len(merit_directions) == 1:
            directions |= dict.fromkeys(OF_A_METRIC, merit_directions.pop())
        return directions

    @property
    def identity(self) -> Sequence[str]:
        """Columns of network, routing, benchmark, settings, metric and message size."""
        return (*self.kinds, "bench", "metric", "size")

    def conditions(self, run: int) -> str:
        """Return network, benchmark, settings, metric and message size as text."""
        record, values = self.records[run], self.rows[run].values
        names = record.topology_name, record.benchmark_name, record.settings_id
        return " ".join((*names, values["metric"], str(values["size"])))

    @override
    def select(
        self,
        where: Mapping[str, Any] | None,
        pooled: Collection[str],
        place: str,
        relative: Relative | None = None,
    ) -> pd.DataFrame:
        """Return the rows that match `where`; refuse to compare figures of different directions.

        A comparison with another routing (`relative`) takes one preferred direction for all rows,
        so latencies and rates cannot be in one. The parameters are those of `RowSet.select`.
        """
        if relative is not None and relative.column in OF_A_METRIC:
            rows = super().select(where, pooled, place)
            if len(set(rows["better"]) - {""}) > 1:
                raise InputError(
                    f"{place}relative: of some figures less is better, of others more; choose a "
                    f"'metric' with 'where', or show '{IMPROVEMENT}', which needs no 'relative'"
                )
        return super().select(where, pooled, place, relative)

    def details(self, of: str, runs: Iterable[int], place: str) -> pd.DataFrame:
        """Return the values of single runs, one per line: columns ``run``, ``round``, ``value``.

        ``run`` is the number of the row. There is one kind of details only, so `of` is not read.
        """
        lines = [
            (run, round_number, value)
            for run in runs
            for round_number, value in self.rows[run].sample.items()
        ]
        return pd.DataFrame(lines, columns=["run", "round", "value"])

    def warnings(self, runs: Iterable[int]) -> list[str]:
        """Return a warning if routings of some comparisons were not applied."""
        unapplied = [
            row.record
            for row in map(self.rows.__getitem__, runs)
            if row.values["applied"] in ("no", "partly")
        ]
        comparisons = dict.fromkeys(
            f"{record.topology} ({record.settings_id})" for record in unapplied
        )
        if not comparisons:
            return []
        return [f"{SWITCH_WARNING} This applies to: {', '.join(comparisons)}."]

    def notes(self, runs: Iterable[int]) -> list[str]:
        """Return a sentence on each benchmark under a routing some of whose runs failed."""
        # The figures of a benchmark share its failures: each sentence once.
        sentences: dict[str, None] = {}
        for row in map(self.rows.__getitem__, runs):
            values = row.values
            if row.outcome.status == OK and values["failed"]:
                total = values["runs"] + values["failed"]
                sentence = (
                    f"Of {total} runs of {row.record.benchmark} with {row.record.routing} on "
                    f"{row.record.topology}, {values['failed']} gave no figures "
                    f"({values['failures']})"
                )
                sentences[sentence] = None
        return list(sentences)

    @property
    def versions(self) -> dict[str, list[str]]:
        """Versions of benchmarks that ran, as they print them, by the plugin's name."""
        versions_of: dict[str, set[str]] = {}
        for row in self.rows:
            # a row has its versions separated by semicolons; the text is empty if none is known
            row_versions = {version for version in row.values["version"].split("; ") if version}
            versions_of.setdefault(row.values["program"], set()).update(row_versions)
        return {
            name: sorted(versions, key=_version_key)
            for name, versions in versions_of.items()
            if versions
        }

    @property
    def comparisons(self) -> list[ComparisonFiles]:
        """The files of all comparisons of the rows, each once."""
        return list({row.record.directory: row.files for row in self.rows}.values())


def _version_key(version: str) -> list[tuple[int, str]]:
    """Order versions by their numbers: 5.10 after 5.9."""
    return [(int(part) if part.isdecimal() else -1, part) for part in version.split(".")]
