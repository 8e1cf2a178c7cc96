"""All that a study's tables and figures may draw on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from routelab.artifacts.outcome import Outcome
from routelab.config import Figure, Table
from routelab.config.view_columns import named_columns
from routelab.config.views import BENCHMARKS, FLOWS, SIMULATED
from routelab.report.frames.bench_rows import BenchRecord, BenchRow, bench_rows
from routelab.report.frames.benchmarks import BenchFrames
from routelab.report.frames.runs import Frames, JobRecord
from routelab.report.frames.simulations import EngineFrames, EngineRecord
from routelab.report.frames.view import View

METRIC = "metric"
"""Column that tells figures of merit of a benchmark apart."""


class Views:
    """The rows of a study, by what they are.

    Parameters
    ----------
    runs : sequence of JobRecord
    simulated : sequence of EngineRecord
    flows : sequence of EngineRecord
    measured : sequence of BenchRecord
    """

    def __init__(
        self,
        runs: Sequence[JobRecord],
        simulated: Sequence[EngineRecord] = (),
        flows: Sequence[EngineRecord] = (),
        measured: Sequence[BenchRecord] = (),
    ) -> None:
        self.routes = Frames(runs)
        self._simulated = tuple(simulated)
        self._flows = tuple(flows)
        self._measured = tuple(measured)

    @cached_property
    def simulations(self) -> EngineFrames:
        """A row a simulation."""
        return EngineFrames(self._simulated, self.routes, "traffic")

    @cached_property
    def loads(self) -> EngineFrames:
        """A row an offered load of a simulation."""
        return EngineFrames(self._simulated, self.routes, "traffic", by_load=True)

    @cached_property
    def flows(self) -> EngineFrames:
        """A row a flow simulation."""
        return EngineFrames(self._flows, self.routes, "workload")

    @cached_property
    def _bench_rows(self) -> list[BenchRow]:
        return bench_rows(self._measured)

    @cached_property
    def benchmarks(self) -> BenchFrames:
        """A row a figure of merit of what was measured."""
        return BenchFrames(self._bench_rows, self.routes)

    @cached_property
    def merits(self) -> BenchFrames:
        """Of these, the figures that stand for a benchmark."""
        return BenchFrames([row for row in self._bench_rows if row.is_merit], self.routes)

    @cached_property
    def measurements(self) -> BenchFrames:
        """A row a benchmark under a routing."""
        first = {id(row.record): row for row in reversed(self.merits.rows)}
        return BenchFrames(list(reversed(first.values())), self.routes)

    @property
    def simulated(self) -> tuple[tuple[str, View], ...]:
        """What a simulation or measurement is called, and the rows, of the kinds that there are."""
        kinds: tuple[tuple[str, View], ...] = (
            ("simulation", self.simulations),
            ("flow simulation", self.flows),
            ("measurement", self.measurements),
        )
        return tuple((name, view) for name, view in kinds if view.records)

    def asked(self, spec: Table | Figure) -> View:
        """The rows that a table or figure is made from.

        Of benchmarks, if it says nothing of the metric, only what stands for each of them.
        """
        named = {column for _, column in named_columns(spec)}
        if spec.of in BENCHMARKS and METRIC in named:
            return self.benchmarks
        return self.of(spec.of)

    def of(self, what: str) -> View:
        """The rows that `of` names; of benchmarks, what stands for each of them."""
        if what in BENCHMARKS:
            return self.merits
        if what in FLOWS:
            return self.flows
        if what not in SIMULATED:
            return self.routes
        return self.simulations if what == "simulations" else self.loads

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of all jobs: tables, simulations, comparisons, networks and bounds."""
        routes = self.routes
        return (
            *routes.outcomes,
            *self.simulations.outcomes,
            *self.flows.outcomes,
            *(one.outcome for one in self.benchmarks.comparisons),
            *routes.topology_outcomes,
            *routes.bound_outcomes,
        )
