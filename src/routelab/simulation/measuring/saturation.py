"""The largest load that a network takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan

from routelab.simulation.measuring.intervals import Estimate
from routelab.simulation.measuring.result import Measured
from routelab.simulation.measuring.settings import SimulationSettings
from routelab.simulation.measuring.sweep import Make, Point, Recall, sweep

FIRST = (0.25, 0.5, 0.75, 1.0)
"""Loads that a search begins with, so that it sees more than the way of a bisection; not where as
many are known."""

GUESSES = 3
"""How often a search looks close to what was accepted; then it halves, so that it ends soon."""


@dataclass(frozen=True, eq=False)
class Saturation:
    """Where a network saturates.

    Attributes
    ----------
    load : float
        Largest load tried that is taken while all lower ones tried are; 0 if there is none. Taken
        is what is stationary, and what is undecided while surely all but ``tolerance`` arrives: of
        that, what surely arrives.
    bound : float
        Smallest load tried above it that is not; infinite if even load 1 is taken.
    accepted : Estimate or None
        Accepted load at `load`.
    most : Estimate
        Largest accepted load of all points, stationary or not.
    most_at : float
        Offered load where that was.
    points : tuple of Point
        All that was tried, by ascending load.
    text : str
        For people: what the search found and what it did not.
    """

    load: float
    bound: float
    accepted: Estimate | None
    most: Estimate
    most_at: float
    points: tuple[Point, ...]
    text: str


def saturation(
    make: Make,
    settings: SimulationSettings,
    known: tuple[Point, ...] = (),
    threads: int | None = None,
    heard: Callable[[Measured], None] | None = None,
    recall: Recall | None = None,
    limit: float = inf,
) -> Saturation:
    """Search the largest load that is taken, to ``settings.tolerance`` relative to it.

    A few loads first. Beyond saturation many networks go on accepting what they take at most, so
    the search looks below and above what is accepted at the smallest load that is not taken, one
    after the other, then halves what is left between that load and the largest that is. That a
    network which takes a load takes every lower one is not believed: the search stays below the
    *first* load that is not taken, and tells of stationary ones above it.

    Parameters
    ----------
    make, settings, threads, heard, recall
        As for `sweep`.
    known : tuple of Point, optional
        Loads that were measured with these settings already.
    limit : float
        A load above which some channel or terminal surely gets more than it can take: an
        undecided load above it is not taken. Where few destinations are full long before the
        others, as under `hotspot`, the mean over all terminals tells of it much later.

    Returns
    -------
    Saturation
        After at most ``settings.max_probes`` new loads.
    """
    points = {point.load: point for point in known}
    left = settings.max_probes

    def probe(*loads: float) -> None:
        nonlocal left
        new = [load for load in dict.fromkeys(loads) if load not in points][:left]
        left -= len(new)
        points.update((p.load, p) for p in sweep(make, settings, new, threads, heard, recall))

    if len(points) < len(FIRST):
        probe(*FIRST)
    guesses = GUESSES
    while left:
        low, bound = _bracket(points, settings.tolerance, limit)
        if bound > 1:
            if 1.0 in points:
                break
            probe(1.0)
            continue
        if bound - low <= settings.tolerance * bound:
            break
        load = (low + bound) / 2
        if guesses:
            guesses -= 1
            load = _guess(low, bound, points[bound].accepted.value, settings.tolerance)
        probe(round(load, 6))
    return _result(points, settings, limit)


def _guess(low: float, bound: float, accepted: float, tolerance: float) -> float:
    """A load close to what is accepted at `bound`, such that the next may end the search."""
    # nine tenths: rounding must not make the bracket wider than the tolerance
    part = 0.9 * tolerance
    below = min(accepted * (1 - part / 2), bound * (1 - part))
    above = max(accepted * (1 + part / 2), low * (1 + part))
    return below if below > low * (1 + tolerance / 4) else min(above, (low + bound) / 2)


def _bracket(points: dict[float, Point], tolerance: float, limit: float) -> tuple[float, float]:
    """The largest load that is taken below the first that is not, and that one."""
    low = 0.0
    for load in sorted(points):
        if not _taken(points[load], tolerance, limit):
            return low, load
        low = load
    return low, float("inf")


def _taken(point: Point, tolerance: float, limit: float) -> bool:
    """Whether a load is stationary, or so near saturation that the search need not tell.

    Close to saturation latencies take very long to settle. Where the backlog does not surely grow
    and surely all but `tolerance` of what is offered arrives, the mean over all terminals is told
    well enough, unless the load is above what some channel or terminal can take at all.
    """
    if point.state == "undecided":
        return point.load <= limit and _share(point) >= 1 - tolerance
    return point.state == "stationary"


def _share(point: Point) -> float:
    """The part of what was generated that surely arrives, at most 1; NaN if nobody knows."""
    offered = sum(run.offered for run in point.runs) / len(point.runs)
    share = point.accepted.low / offered if offered else nan
    return 1.0 if share > 1 else share


def _result(points: dict[float, Point], settings: SimulationSettings, limit: float) -> Saturation:
    low, bound = _bracket(points, settings.tolerance, limit)
    most = max(points.values(), key=lambda point: point.accepted.value)
    if bound > 1:
        text = "not saturated at any load up to 1"
    else:
        text = f"{_told(points, low, settings)}, {points[bound].state} at {bound:g}"
        if bound - low > settings.tolerance * bound:
            text += f"; max_probes={settings.max_probes} loads did not narrow it down further"
    above = [
        f"{load:g}"
        for load in sorted(points)
        if load > bound and points[load].state == "stationary"
    ]
    if above:
        text += f"; yet stationary at {', '.join(above)}: not monotonic in the load"
    return Saturation(
        load=_surely(points[low]) if low else 0.0,
        bound=bound,
        accepted=points[low].accepted if low else None,
        most=most.accepted,
        most_at=most.load,
        points=tuple(points[load] for load in sorted(points)),
        text=text,
    )


def _surely(point: Point) -> float:
    """Of a load that is taken, what surely is."""
    stationary = point.state == "stationary"
    return point.load if stationary else round(point.load * _share(point), 6)


def _told(points: dict[float, Point], low: float, settings: SimulationSettings) -> str:
    """How the largest load that is taken is."""
    if not low or points[low].state == "stationary":
        return f"stationary at load {low:g}"
    return (
        f"at load {low:g} surely all but tolerance={settings.tolerance} of it arrives, though "
        f"max_cycles={settings.max_cycles} did not suffice to call it stationary"
    )
