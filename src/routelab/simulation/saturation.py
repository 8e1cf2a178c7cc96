"""The largest load that a network takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from routelab.simulation.intervals import Estimate
from routelab.simulation.measured import Measured
from routelab.simulation.settings import SimulationSettings
from routelab.simulation.sweep import Make, Point, Recall, sweep

FIRST = (0.25, 0.5, 0.75, 1.0)
"""Loads that every search begins with, so that it sees more than the way of a bisection."""


@dataclass(frozen=True, eq=False)
class Saturation:
    """Where a network saturates.

    Attributes
    ----------
    load : float
        Largest load tried that is stationary while all lower ones tried are; 0 if there is none.
    bound : float
        Smallest load tried above it that is not; infinite if even load 1 is stationary.
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
) -> Saturation:
    """Search the largest load that is stationary, to ``settings.tolerance`` relative to it.

    A few loads first, then on both sides of what the network accepts at load 1, then halving
    between the largest stationary load and the smallest other one. That a network which takes a
    load takes every lower one is not believed: the search stays below the *first* load that is
    not stationary, and tells of stationary ones above it.

    Parameters
    ----------
    make, settings, threads, heard, recall
        As for `sweep`.
    known : tuple of Point, optional
        Loads that were measured with these settings already.

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

    probe(*FIRST)
    low, bound = _bracket(points)
    if bound <= 1:
        accepted = points[1.0].accepted.value
        near = (round(accepted * (1 - d), 6) for d in (settings.tolerance, -settings.tolerance))
        probe(*(load for load in near if low < load < bound))
    while left:
        low, bound = _bracket(points)
        if bound > 1 or bound - low <= settings.tolerance * bound:
            break
        probe(round((low + bound) / 2, 6))
    return _result(points, settings)


def _bracket(points: dict[float, Point]) -> tuple[float, float]:
    """The largest stationary load below the first that is not, and that one."""
    low = 0.0
    for load in sorted(points):
        if points[load].state != "stationary":
            return low, load
        low = load
    return low, float("inf")


def _result(points: dict[float, Point], settings: SimulationSettings) -> Saturation:
    low, bound = _bracket(points)
    most = max(points.values(), key=lambda point: point.accepted.value)
    if bound > 1:
        text = "not saturated at any load up to 1"
    else:
        text = f"stationary at load {low:g}, {points[bound].state} at {bound:g}"
        if bound - low > settings.tolerance * bound:
            text += f"; max_probes={settings.max_probes} loads did not narrow it down further"
    above = [f"{load:g}" for load in sorted(points) if load > bound and _stationary(points[load])]
    if above:
        text += f"; yet stationary at {', '.join(above)}: not monotonic in the load"
    return Saturation(
        load=low,
        bound=bound,
        accepted=points[low].accepted if low else None,
        most=most.accepted,
        most_at=most.load,
        points=tuple(points[load] for load in sorted(points)),
        text=text,
    )


def _stationary(point: Point) -> bool:
    return point.state == "stationary"
