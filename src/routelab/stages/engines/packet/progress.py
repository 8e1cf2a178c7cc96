"""How far the runs of a simulation are, told while they run in threads."""

from __future__ import annotations

import time
from collections import Counter
from threading import Lock

from routelab._progress import WAITING, tell
from routelab.api import Demand, Topology
from routelab.simulation.counts import Blocked, Counts, Sample
from routelab.simulation.engine import Simulation
from routelab.simulation.measure import Simulated
from routelab.simulation.measured import Measured
from routelab.simulation.no_route import why_blocked
from routelab.simulation.settings import SimulationSettings

SECONDS = 0.5
"""Between two pieces of news of a run."""


class Watch:
    """Tells of the runs of a simulation: a task a load.

    Parameters
    ----------
    settings : SimulationSettings
    """

    def __init__(self, settings: SimulationSettings) -> None:
        self._loads = () if settings.messages else settings.loads
        self._seeds = settings.seeds
        self._ended: Counter[float] = Counter()
        self._lock = Lock()

    def begin(self) -> None:
        """Tell of all loads that are known to come."""
        for load in self._loads:
            tell(self.task(load), WAITING)

    def task(self, load: float) -> str:
        """What people know the runs at a load by."""
        if not load:
            return "messages"
        if load not in self._loads:
            return f"load {load:g} (search)"
        return f"load {load:g} ({self._loads.index(load) + 1} of {len(self._loads)})"

    def follow(self, simulation: Simulation) -> Simulated:
        """The same simulation, which tells how far it is, and why it cannot go on."""
        seed = f"seed {simulation.seed}: " if self._seeds > 1 else ""
        return _Followed(simulation, self.task(simulation.load), seed)

    def ended(self, measured: Measured) -> None:
        """Tell that a run has ended."""
        with self._lock:
            self._ended[measured.load] += 1
            over = self._ended[measured.load] == self._seeds
        tell(self.task(measured.load), measured.text, ended=over)


class _Followed:
    """A simulation whose user hears how many cycles it has run."""

    def __init__(self, simulation: Simulation, task: str, prefix: str) -> None:
        self._simulation, self._task, self._prefix = simulation, task, prefix
        self.topology: Topology = simulation.topology
        self.demand: Demand | None = simulation.demand
        self.load, self.seed = simulation.load, simulation.seed
        self._phase = "warm-up" if simulation.demand is not None else "running"
        self._cycles = 0
        self._told = 0.0

    @property
    def finished(self) -> bool:
        return self._simulation.finished

    def run(self, cycles: int) -> Sample:
        sample = self._simulation.run(cycles)
        self._cycles += sample.cycles
        if time.monotonic() - self._told > SECONDS:
            self._told = time.monotonic()
            tell(self._task, f"{self._prefix}{self._phase}, {self._cycles} cycles")
        return sample

    def reset(self) -> None:
        self._phase, self._cycles = "measuring", 0
        self._simulation.reset()

    def counts(self) -> Counts:
        return self._simulation.counts()

    def blocked(self) -> Blocked | None:
        return why_blocked(self._simulation)
