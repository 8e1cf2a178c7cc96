"""Progress of the runs of a simulation, which run in threads."""

from __future__ import annotations

import time
from collections import Counter
from threading import Lock

from routelab._progress import WAITING, tell
from routelab.api import Topology
from routelab.simulation.measuring.measure import PacketSimulation
from routelab.simulation.measuring.result import LoadResult
from routelab.simulation.measuring.settings import SimulationSettings
from routelab.simulation.packet.counts import Blockage, Counts, CycleCounts
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.traffic import OpenLoop

SECONDS = 0.5
"""Time between two progress messages of a run."""


class Watch:
    """Reports the runs of a simulation, with one task per load.

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
        """Report all loads that are known in advance."""
        for load in self._loads:
            tell(self.task(load), WAITING)

    def task(self, load: float) -> str:
        """Return the name of the task of a load."""
        if not load:
            return "messages"
        if load not in self._loads:
            return f"load {load:g} (search)"
        return f"load {load:g} ({self._loads.index(load) + 1} of {len(self._loads)})"

    def follow(self, simulation: Simulation) -> PacketSimulation:
        """Wrap a simulation so that it reports its progress and why it is blocked."""
        seed = f"seed {simulation.seed}: " if self._seeds > 1 else ""
        return _Reporter(simulation, self.task(simulation.traffic.load), seed)

    def finish(self, measured: LoadResult) -> None:
        """Report that a run has ended."""
        with self._lock:
            self._ended[measured.load] += 1
            over = self._ended[measured.load] == self._seeds
        tell(self.task(measured.load), measured.text, ended=over)


class _Reporter:
    """A simulation that reports how many cycles it has run."""

    def __init__(self, simulation: Simulation, task: str, prefix: str) -> None:
        self._simulation, self._task, self._prefix = simulation, task, prefix
        self.topology: Topology = simulation.topology
        self.traffic, self.seed = simulation.traffic, simulation.seed
        self._phase = "warm-up" if isinstance(simulation.traffic, OpenLoop) else "running"
        self._cycles = 0
        self._reported = 0.0

    @property
    def finished(self) -> bool:
        return self._simulation.finished

    def run(self, cycles: int) -> CycleCounts:
        sample = self._simulation.run(cycles)
        self._cycles += sample.cycles
        if time.monotonic() - self._reported > SECONDS:
            self._reported = time.monotonic()
            tell(self._task, f"{self._prefix}{self._phase}, {self._cycles} cycles")
        return sample

    def reset(self) -> None:
        self._phase, self._cycles = "measuring", 0
        self._simulation.reset()

    def counts(self) -> Counts:
        return self._simulation.counts()

    def blocked(self) -> Blockage | None:
        return self._simulation.blocked()
