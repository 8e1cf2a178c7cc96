"""All rows of a study, for tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from routelab.report.rows.bench_rows import BenchmarkRecord, BenchRow, bench_rows
from routelab.report.rows.benchmarks import BenchmarkRows
from routelab.report.rows.routes import RouteRecord, RouteRows
from routelab.report.rows.row_set import RowSet
from routelab.report.rows.simulations import SimulationRecord, SimulationRows
from routelab.results.outcome import Outcome
from routelab.study import Figure, Table
from routelab.study.view_columns import named_columns
from routelab.study.views import BENCHMARKS, FLOWS, SIMULATED

METRIC = "metric"
"""Column with the name of a figure of merit."""


class StudyRows:
    """The rows of a study, by kind.

    Parameters
    ----------
    runs : sequence of RouteRecord
    simulations : sequence of SimulationRecord
    flows : sequence of SimulationRecord
    measurements : sequence of BenchmarkRecord
    """

    def __init__(
        self,
        runs: Sequence[RouteRecord],
        simulations: Sequence[SimulationRecord] = (),
        flows: Sequence[SimulationRecord] = (),
        measurements: Sequence[BenchmarkRecord] = (),
    ) -> None:
        self.routes = RouteRows(runs)
        self._simulation_records = tuple(simulations)
        self._flow_records = tuple(flows)
        self._bench_records = tuple(measurements)

    @cached_property
    def simulations(self) -> SimulationRows:
        """One row for each simulation."""
        return SimulationRows(self._simulation_records, self.routes, "traffic")

    @cached_property
    def loads(self) -> SimulationRows:
        """One row for each offered load of a simulation."""
        return SimulationRows(self._simulation_records, self.routes, "traffic", by_load=True)

    @cached_property
    def flows(self) -> SimulationRows:
        """One row for each flow simulation."""
        return SimulationRows(self._flow_records, self.routes, "workload")

    @cached_property
    def _bench_rows(self) -> list[BenchRow]:
        return bench_rows(self._bench_records)

    @cached_property
    def benchmarks(self) -> BenchmarkRows:
        """One row for each figure of merit of a benchmark under a routing."""
        return BenchmarkRows(self._bench_rows, self.routes)

    @cached_property
    def merits(self) -> BenchmarkRows:
        """The main figures of benchmarks among these rows."""
        return BenchmarkRows([row for row in self._bench_rows if row.is_merit], self.routes)

    @cached_property
    def measurements(self) -> BenchmarkRows:
        """One row for each benchmark under a routing."""
        # A main figure may have a row for each message size: take the first one.
        first_rows: dict[int, BenchRow] = {}
        for row in self.merits.rows:
            first_rows.setdefault(id(row.record), row)
        return BenchmarkRows(list(first_rows.values()), self.routes)

    @property
    def named_rows(self) -> tuple[tuple[str, RowSet], ...]:
        """Nouns and rows of simulations and measurements, without empty kinds."""
        kinds: tuple[tuple[str, RowSet], ...] = (
            ("simulation", self.simulations),
            ("flow simulation", self.flows),
            ("measurement", self.measurements),
        )
        return tuple((name, row_set) for name, row_set in kinds if row_set.records)

    @property
    def job_row_sets(self) -> tuple[RowSet, ...]:
        """Rows that contain each job of the study once."""
        return (self.routes, *(row_set for _, row_set in self.named_rows))

    def rows_for(self, spec: Table | Figure) -> RowSet:
        """Return the rows for a table or figure.

        Unless it uses the column metric, rows of benchmarks are their main figures only.
        """
        columns = {column for _, column in named_columns(spec)}
        if spec.of in BENCHMARKS and METRIC in columns:
            return self.benchmarks
        return self.by_kind(spec.of)

    def by_kind(self, kind: str) -> RowSet:
        """Return the rows of a kind, as `of` in a study; of benchmarks, their main figures."""
        if kind in BENCHMARKS:
            return self.merits
        if kind in FLOWS:
            return self.flows
        if kind not in SIMULATED:
            return self.routes
        # All other kinds are lines of loads, such as their channels.
        return self.simulations if kind == "simulations" else self.loads

    @property
    def bound_outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the bounds of tables and of throughput, each once."""
        return (*self.routes.bound_outcomes, *self.simulations.throughput_outcomes)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of all jobs: tables, simulations, comparisons, networks and bounds."""
        routes = self.routes
        return (
            *routes.outcomes,
            *self.simulations.outcomes,
            *self.flows.outcomes,
            *(comparison.outcome for comparison in self.benchmarks.comparisons),
            *routes.topology_outcomes,
            *self.bound_outcomes,
        )
