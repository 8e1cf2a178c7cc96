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
    """The rows of a study, by kind: routes, simulations, loads, flows and benchmarks.

    Parameters
    ----------
    runs : sequence of RouteRecord
        Routings on topologies.
    simulations, flows : sequence of SimulationRecord
        Packet simulations of traffic, and flow simulations of workloads.
    measurements : sequence of BenchmarkRecord
        Benchmarks under routings.

    Attributes
    ----------
    routes : RouteRows
        One row for each routing on a topology.
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
        """One row for the main figure (or each size of it) of a benchmark under a routing."""
        return BenchmarkRows([row for row in self._bench_rows if row.is_merit], self.routes)

    @cached_property
    def measurements(self) -> BenchmarkRows:
        """Exactly one row for each benchmark under a routing: the first of its main figure."""
        # a main figure may have a row for each message size
        first_rows: dict[int, BenchRow] = {}
        for row in self.merits.rows:
            first_rows.setdefault(id(row.record), row)
        return BenchmarkRows(list(first_rows.values()), self.routes)

    @property
    def named_rows(self) -> tuple[tuple[str, RowSet], ...]:
        """Rows of simulations and measurements, each kind with its noun; without empty kinds."""
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
        """Return the rows that a table or figure shows.

        Rows of benchmarks are those of their main figures of merit. If the table or figure names
        the column ``metric``, such as to choose one with ``where``, it gets those of all figures.
        """
        columns = {column for _, column in named_columns(spec)}
        if spec.of in BENCHMARKS and METRIC in columns:
            return self.benchmarks
        return self.by_kind(spec.of)

    def by_kind(self, kind: str) -> RowSet:
        """Return the rows of a kind, such as ``loads``; for a kind of details, the rows with these.

        `kind` is a value of ``of`` in a study; ``channels``, for example, are details of ``loads``.
        Benchmarks have rows of their main figures of merit.
        """
        if kind in BENCHMARKS:
            return self.merits
        if kind in FLOWS:
            return self.flows
        if kind not in SIMULATED:
            return self.routes
        # loads, or details that each load has, such as its channels
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
