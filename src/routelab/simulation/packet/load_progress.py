"""Progress of the runs of a simulation, which run in threads."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from routelab._runtime.progress import WAITING, report_phase
from routelab.simulation.packet.measurement.result import LoadResult
from routelab.simulation.packet.measurement.settings import SimulationSettings


class LoadProgress:
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
            report_phase(self.task(load), WAITING)

    def task(self, load: float) -> str:
        """Return the name of the task of a load: one of the settings, or of the search."""
        if not load:  # messages to finish
            return "messages"
        if load not in self._loads:
            return f"load {load:g} (search)"
        return f"load {load:g} ({self._loads.index(load) + 1} of {len(self._loads)})"

    def report(self, load: float, seed: int, progress: str) -> None:
        """Report the progress of a run."""
        report_phase(self.task(load), f"seed {seed}: {progress}" if self._seeds > 1 else progress)

    def finish(self, measured: LoadResult) -> None:
        """Report that a run has ended; the task of its load ends with the last seed."""
        with self._lock:
            self._ended[measured.load] += 1
            all_ended = self._ended[measured.load] == self._seeds
        report_phase(self.task(measured.load), measured.text, ended=all_ended)
