"""All that a study's tables and figures may draw on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from routelab.artifacts.outcome import Outcome
from routelab.config.views import SIMULATED
from routelab.report.frames import Frames, JobRecord
from routelab.report.simulations import SimulationFrames, SimulationRecord
from routelab.report.view import View


class Views:
    """The rows of a study, by what they are.

    Parameters
    ----------
    runs : sequence of JobRecord
    simulated : sequence of SimulationRecord
    """

    def __init__(
        self, runs: Sequence[JobRecord], simulated: Sequence[SimulationRecord] = ()
    ) -> None:
        self.routes = Frames(runs)
        self._simulated = tuple(simulated)

    @cached_property
    def simulations(self) -> SimulationFrames:
        """A row a simulation."""
        return SimulationFrames(self._simulated, self.routes, by_load=False)

    @cached_property
    def loads(self) -> SimulationFrames:
        """A row an offered load of a simulation."""
        return SimulationFrames(self._simulated, self.routes, by_load=True)

    def of(self, what: str) -> View:
        """The rows that a table or figure asks for by its `of`."""
        if what not in SIMULATED:
            return self.routes
        return self.simulations if what == "simulations" else self.loads

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of all jobs: tables, simulations, networks and bounds."""
        routes = self.routes
        return (
            *routes.outcomes,
            *self.simulations.outcomes,
            *routes.topology_outcomes,
            *routes.bound_outcomes,
        )
