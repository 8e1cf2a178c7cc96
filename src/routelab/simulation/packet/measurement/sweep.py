"""Simulations at several loads and with several seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.packet.columns import POOLING
from routelab.simulation.packet.measurement.intervals import Estimate, pool
from routelab.simulation.packet.measurement.measure import PacketSimulation, measure_simulation
from routelab.simulation.packet.measurement.result import LATENCY_FACTS, LoadResult, State, interval
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.toolkit.parallel import allowed_threads

Make = Callable[[float, int], PacketSimulation]
"""Function that makes a simulation at an offered load with a seed; called in threads."""

FindResult = Callable[[float, int], LoadResult | None]
"""Function that returns an earlier result at an offered load with a seed; called in threads."""

_BY_GRAVITY: tuple[State, ...] = (
    "deadlock",
    "livelock",
    "no-route",
    "saturated",
    "undecided",
    "unfinished",
    "stationary",
    "finished",
)


@dataclass(frozen=True, eq=False)
class Point:
    """All runs at one offered load.

    Attributes
    ----------
    load : float
    runs : tuple of LoadResult
        One per seed.
    """

    load: float
    runs: tuple[LoadResult, ...]

    @property
    def state(self) -> State:
        """The most serious state of the runs."""
        return min((run.state for run in self.runs), key=_BY_GRAVITY.index)

    @property
    def accepted(self) -> Estimate:
        """Accepted load: mean of the runs, with the error from their errors."""
        return pool([run.accepted for run in self.runs])

    @property
    def hops(self) -> Int64Array:
        """Packets by number of hops, over all runs."""
        # the array of a run ends at its largest number
        length = max(len(run.hops) for run in self.runs)
        total: Int64Array = np.sum(
            [np.pad(run.hops, (0, length - len(run.hops))) for run in self.runs], axis=0
        )
        return total

    @property
    def latency(self) -> Estimate | None:
        """Mean latency; None unless every run has one."""
        return self._mean_latency("mean")

    @property
    def latency_p99(self) -> Estimate | None:
        """99th percentile of the latency: mean over the runs; None unless every run has one."""
        return self._mean_latency("p99")

    def _mean_latency(self, part: str) -> Estimate | None:
        """Return a field of `Latency`, averaged over the runs; None unless every run has one."""
        estimates = [getattr(run.latency, part) for run in self.runs if run.latency]
        return pool(estimates) if len(estimates) == len(self.runs) else None

    def facts(self) -> dict[str, Any]:
        """Return the columns of the load; for a single run, those of `LoadResult.facts`.

        For several runs, estimates are pooled, and columns declare how to combine other numbers;
        ``seed`` is None.
        """
        rows = [run.facts() for run in self.runs]
        if len(rows) == 1:
            return rows[0]
        # 1. All columns as they declare; steps 2 and 3 replace some.
        values: dict[str, Any] = {}
        for name in rows[0]:
            values[name] = _combine(name, [facts[name] for facts in rows])
        # 2. State and text of the gravest run, and the worst-served terminal of the run in which
        #    it is served worst: its share is the smallest, or with `messages`, where the share is
        #    its last arrival relative to the mean of the run, the largest.
        gravest = next(run for run in self.runs if run.state == self.state)
        state = {"state": self.state, "saturated": gravest.saturated, "text": gravest.text}
        candidates = [run.worst for run in self.runs if run.worst.terminal >= 0]
        choose = max if self.runs[0].settings.messages else min
        worst = choose(candidates, key=lambda worst: worst.share, default=self.runs[0].worst)
        # 3. Estimates, with the errors of all runs. If some run has no latency, there is no pooled
        #    one: all facts about latencies are None.
        estimates = interval("accepted_load", self.accepted)
        if self.latency is None:
            estimates |= dict.fromkeys(LATENCY_FACTS)
        else:
            for part in ("mean", "p50", "p95", "p99"):
                estimates |= interval(f"latency_{part}", self._mean_latency(part))
        # the load itself: a mean of equal loads may differ from it in the last digit
        shared = {"load": self.load, "seed": None, "seeds": len(rows)}
        return values | state | worst.facts() | estimates | shared


def _combine(name: str, values: Sequence[Any]) -> Any:
    """Combine values of several runs as the column declares; return None for words and flags.

    Runs without a value are left out, unless the column needs all (``all-mean``).
    """
    defined = [value for value in values if value is not None]
    if not defined or isinstance(defined[0], (str, bool)):
        return None
    match POOLING.get(name):
        case "sum":
            return sum(defined)
        case "max":
            return max(defined)
        case "min":
            return min(defined)
        case "all-mean" if len(defined) < len(values):
            return None
    return sum(defined) / len(defined)


def sweep_loads(
    make: Make,
    settings: SimulationSettings,
    loads: Iterable[float] | None = None,
    threads: int | None = None,
    on_result: Callable[[LoadResult], None] | None = None,
    find_result: FindResult | None = None,
    on_progress: Callable[[float, int, str], None] | None = None,
) -> list[Point]:
    """Measure at several loads, with every seed, in threads.

    Parameters
    ----------
    make : callable
        ``make(load, seed)`` returns a simulation with these settings; the load is 0 in a run with
        messages to finish.
    settings : SimulationSettings
    loads : iterable of float, optional
        Default: those of the settings.
    threads : int, optional
        Default: as many as this process may use. The results do not depend on it.
    on_result : callable, optional
        Called with the result of every run, in its thread.
    find_result : callable, optional
        Returns earlier results, whose runs are not repeated.
    on_progress : callable, optional
        Called at intervals with load, seed and progress of a run, in its thread.

    Returns
    -------
    list of Point
        In the order of the loads; a single one in a run with messages to finish.
    """
    offered_loads = (
        (0.0,) if settings.messages else tuple(settings.loads if loads is None else loads)
    )
    tasks = [(load, seed) for load in offered_loads for seed in settings.all_seeds]

    def run_task(task: tuple[float, int]) -> LoadResult:
        result = None if find_result is None else find_result(*task)
        if result is None:
            report = None if on_progress is None else partial(on_progress, *task)
            result = measure_simulation(make(*task), settings, report)
        if on_result is not None:
            on_result(result)
        return result

    with ThreadPoolExecutor(threads or allowed_threads()) as executor:
        results = list(executor.map(run_task, tasks))
    # results are in the order of `tasks`: all seeds of the first load, then of the second …
    num_seeds = settings.seeds
    return [
        Point(load, tuple(results[k * num_seeds : (k + 1) * num_seeds]))
        for k, load in enumerate(offered_loads)
    ]
