"""Simulations at several loads and with several seeds, and the load that saturates a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from routelab.simulation.measuring.intervals import Estimate, pooled
from routelab.simulation.measuring.measure import Simulated, measure
from routelab.simulation.measuring.result import LATENCY_FACTS, Measured, State, interval
from routelab.simulation.measuring.settings import SimulationSettings
from routelab.simulation.packet.columns import POOLING
from routelab.toolkit.parallel import allowed_threads

Make = Callable[[float, int], Simulated]
"""A fresh simulation at an offered load with a seed; called in threads."""

Recall = Callable[[float, int], Measured | None]
"""What was measured before at an offered load with a seed; called in threads."""

_GRAVEST: tuple[State, ...] = (
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
    runs : tuple of Measured
        One a seed.
    """

    load: float
    runs: tuple[Measured, ...]

    @property
    def state(self) -> State:
        """The gravest of the runs'."""
        return min((run.state for run in self.runs), key=_GRAVEST.index)

    @property
    def accepted(self) -> Estimate:
        """Accepted load: mean of the runs, its error from theirs."""
        return pooled([run.accepted for run in self.runs])

    @property
    def latency(self) -> Estimate | None:
        """Mean latency; None unless every run has one."""
        return self._of_latency("mean")

    @property
    def latency_p99(self) -> Estimate | None:
        """99th percentile of the latency: mean of the runs' own; None unless every run has one."""
        return self._of_latency("p99")

    def _of_latency(self, part: str) -> Estimate | None:
        found = [getattr(run.latency, part) for run in self.runs if run.latency]
        return pooled(found) if len(found) == len(self.runs) else None

    def facts(self) -> dict[str, Any]:
        """Flat numbers and words; of a single run all of its own.

        Of several runs: estimates pooled, other numbers as `POOLING` has it.
        """
        each = [run.facts() for run in self.runs]
        if len(each) == 1:
            return each[0]
        found: dict[str, Any] = {}
        for name in each[0]:
            found[name] = _joined(name, [facts[name] for facts in each])
        told = next(run for run in self.runs if run.state == self.state)
        state = {"state": self.state, "saturated": told.saturated, "text": told.text}
        worst = min(self.runs, key=lambda run: run.worst.share)
        served = {"worst_terminal": worst.worst.terminal, "worst_share": worst.worst.share}
        pools = interval("accepted_load", self.accepted)
        if self.latency is None:
            pools |= dict.fromkeys(LATENCY_FACTS)
        else:
            for part in ("mean", "p50", "p95", "p99"):
                pools |= interval(f"latency_{part}", self._of_latency(part))
        # a mean of equal loads may miss them by the last digit
        same = {"load": self.load, "seed": self.runs[0].seed}
        return found | state | served | pools | same


def _joined(name: str, values: Sequence[Any]) -> Any:
    """The value of several runs, as the column declares; None for words."""
    known = [value for value in values if value is not None]
    if not known or isinstance(known[0], (str, bool)):
        return None
    match POOLING.get(name):
        case "sum":
            return sum(known)
        case "max":
            return max(known)
        case "min":
            return min(known)
        case "all-mean" if len(known) < len(values):
            return None
    return sum(known) / len(known)


def sweep(
    make: Make,
    settings: SimulationSettings,
    loads: Iterable[float] | None = None,
    threads: int | None = None,
    heard: Callable[[Measured], None] | None = None,
    recall: Recall | None = None,
) -> list[Point]:
    """Measure at several loads, with every seed, in threads.

    Parameters
    ----------
    make : callable
        ``make(load, seed)``: a simulation, with these settings. With messages to be finished it is
        called with load 0.
    settings : SimulationSettings
    loads : iterable of float, optional
        By default those of the settings.
    threads : int, optional
        By default as many as this process may use. The numbers do not depend on it.
    heard : callable, optional
        Called with every run that has ended, in the thread that it ran in.
    recall : callable, optional
        Knows runs of the same kind that ended before: these are not made again.

    Returns
    -------
    list of Point
        In the order of the loads; a single one where messages are to be finished.
    """
    wanted = (0.0,) if settings.messages else tuple(settings.loads if loads is None else loads)
    tasks = [(load, seed) for load in wanted for seed in settings.all_seeds]

    def one(task: tuple[float, int]) -> Measured:
        found = None if recall is None else recall(*task)
        if found is None:
            found = measure(make(*task), settings)
        if heard is not None:
            heard(found)
        return found

    with ThreadPoolExecutor(threads or allowed_threads()) as pool:
        found = list(pool.map(one, tasks))
    seeds = settings.seeds
    return [Point(load, tuple(found[k * seeds : (k + 1) * seeds])) for k, load in enumerate(wanted)]
