"""All that a study's tables and figures may draw on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from routelab.artifacts.outcome import Outcome
from routelab.config.views import FLOWS, SIMULATED
from routelab.report.flows import FlowFrames, FlowRecord
from routelab.report.frames import Frames, JobRecord
from routelab.report.simulations import SimulationFrames, SimulationRecord
from routelab.report.view import View


class Views:
    """The rows of a study, by what they are.

    Parameters
    ----------
    runs : sequence of JobRecord
    simulated : sequence of SimulationRecord
    flows : sequence of FlowRecord
    """

    def __init__(
        self,
        runs: Sequence[JobRecord],
        simulated: Sequence[SimulationRecord] = (),
        flows: Sequence[FlowRecord] = (),
    ) -> None:
        self.routes = Frames(runs)
        self._simulated = tuple(simulated)
        self._flows = tuple(flows)

    @cached_property
    def simulations(self) -> SimulationFrames:
        """A row a simulation."""
        return SimulationFrames(self._simulated, self.routes, by_load=False)

    @cached_property
    def loads(self) -> SimulationFrames:
        """A row an offered load of a simulation."""
        return SimulationFrames(self._simulated, self.routes, by_load=True)

    @cached_property
    def flows(self) -> FlowFrames:
        """A row a flow simulation."""
        return FlowFrames(self._flows, self.routes)

    @property
    def simulated(self) -> tuple[tuple[str, View], ...]:
        """What a simulation is called, and the rows, of those kinds that there are."""
        kinds: tuple[tuple[str, View], ...] = (
            ("simulation", self.simulations),
            ("flow simulation", self.flows),
        )
        return tuple((name, view) for name, view in kinds if view.records)

    def of(self, what: str) -> View:
        """The rows that a table or figure asks for by its `of`."""
        if what in FLOWS:
            return self.flows
        if what not in SIMULATED:
            return self.routes
        return self.simulations if what == "simulations" else self.loads

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of all jobs: tables, simulations of both kinds, networks and bounds."""
        routes = self.routes
        return (
            *routes.outcomes,
            *self.simulations.outcomes,
            *self.flows.outcomes,
            *routes.topology_outcomes,
            *routes.bound_outcomes,
        )
