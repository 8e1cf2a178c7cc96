"""Search of the largest load that a network sustains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan

from routelab.simulation.measuring.intervals import Estimate
from routelab.simulation.measuring.result import LoadResult
from routelab.simulation.measuring.settings import SimulationSettings
from routelab.simulation.measuring.sweep import Make, Point, Recall, sweep_loads

FIRST = (0.25, 0.5, 0.75, 1.0)
"""Initial loads of a search, so that it tries more than a bisection would; omitted if as many
loads are known."""

GUESSES = 3
"""Number of probes close to the accepted load; then the search bisects, so that it ends soon."""


@dataclass(frozen=True, eq=False)
class Saturation:
    """Load at which a network saturates.

    Attributes
    ----------
    load : float
        Largest sustained load below which all tried loads are sustained; 0 if none is. A load is
        sustained if it is stationary, or if it is undecided and at least 1 − ``tolerance`` of it
        certainly arrives; of an undecided load, only the part that certainly arrives counts.
    bound : float
        Smallest tried load above it that is not sustained; infinite if even load 1 is sustained.
    accepted : Estimate or None
        Accepted load at `load`.
    most : Estimate
        Largest accepted load of all points, stationary or not.
    most_at : float
        Offered load of `most`.
    points : tuple of Point
        All tried loads, ascending.
    text : str
        Summary of the search.
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
    on_result: Callable[[LoadResult], None] | None = None,
    recall: Recall | None = None,
    limit: float = inf,
) -> Saturation:
    """Search the largest sustained load, with the relative precision ``settings.tolerance``.

    The search tries a few loads first. Beyond saturation many networks still accept their largest
    load. So the search looks at the smallest load that is not sustained, and tries loads slightly
    below and above what the network accepts there. Then it bisects between the smallest load that
    is not sustained and the largest sustained one. It does not assume that all loads below a
    sustained one are sustained: it stays below the *first* load that is not, and reports stationary
    ones above it.

    Parameters
    ----------
    make, settings, threads, on_result, recall
        As for `sweep_loads`.
    known : tuple of Point, optional
        Earlier measurements with these settings.
    limit : float
        A load above which some channel or terminal certainly gets more than it can accept: an
        undecided load above it is not sustained. If few destinations are full long before the
        others, as under `hotspot`, the mean over all terminals reacts much later.

    Returns
    -------
    Saturation
        Result after at most ``settings.max_probes`` new loads.
    """
    points = {point.load: point for point in known}
    left = settings.max_probes

    def probe(*loads: float) -> None:
        nonlocal left
        new = [load for load in dict.fromkeys(loads) if load not in points][:left]
        left -= len(new)
        points.update(
            (p.load, p) for p in sweep_loads(make, settings, new, threads, on_result, recall)
        )

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
    """Return a load near the accepted one at `bound`, such that the next may end the search."""
    # nine tenths, so that rounding does not make the bracket wider than the tolerance
    part = 0.9 * tolerance
    below = min(accepted * (1 - part / 2), bound * (1 - part))
    above = max(accepted * (1 + part / 2), low * (1 + part))
    return below if below > low * (1 + tolerance / 4) else min(above, (low + bound) / 2)


def _bracket(points: dict[float, Point], tolerance: float, limit: float) -> tuple[float, float]:
    """Return the largest sustained load below the first that is not, and that one."""
    low = 0.0
    for load in sorted(points):
        if not _is_sustained(points[load], tolerance, limit):
            return low, load
        low = load
    return low, float("inf")


def _is_sustained(point: Point, tolerance: float, limit: float) -> bool:
    """Return whether a load is sustained: stationary, or undecided and close to saturation.

    Close to saturation latencies take very long to settle. The mean over all terminals is precise
    enough if the backlog does not certainly grow and at least 1 − `tolerance` of the offered load
    certainly arrives. It is not if the load exceeds the capacity of some channel or terminal.
    """
    if point.state == "undecided":
        return point.load <= limit and _share(point) >= 1 - tolerance
    return point.state == "stationary"


def _share(point: Point) -> float:
    """Return the share of generated flits that certainly arrives, at most 1; NaN if unknown."""
    offered = sum(run.offered for run in point.runs) / len(point.runs)
    share = point.accepted.low / offered if offered else nan
    return 1.0 if share > 1 else share


def _result(points: dict[float, Point], settings: SimulationSettings, limit: float) -> Saturation:
    low, bound = _bracket(points, settings.tolerance, limit)
    most = max(points.values(), key=lambda point: point.accepted.value)
    if bound > 1:
        text = "not saturated at any load up to 1"
    else:
        text = f"{_summary(points, low, settings)}, {points[bound].state} at {bound:g}"
        if bound - low > settings.tolerance * bound:
            text += f"; max_probes={settings.max_probes} loads did not narrow it down further"
    above = [
        f"{load:g}"
        for load in sorted(points)
        if load > bound and points[load].state == "stationary"
    ]
    if above:
        text += f"; but stationary at {', '.join(above)}: not monotonic in the load"
    return Saturation(
        load=_certain_load(points[low]) if low else 0.0,
        bound=bound,
        accepted=points[low].accepted if low else None,
        most=most.accepted,
        most_at=most.load,
        points=tuple(points[load] for load in sorted(points)),
        text=text,
    )


def _certain_load(point: Point) -> float:
    """Return the part of a sustained load that certainly arrives."""
    stationary = point.state == "stationary"
    return point.load if stationary else round(point.load * _share(point), 6)


def _summary(points: dict[float, Point], low: float, settings: SimulationSettings) -> str:
    """Describe the largest sustained load."""
    if not low or points[low].state == "stationary":
        return f"stationary at load {low:g}"
    return (
        f"at load {low:g} certainly all but tolerance={settings.tolerance} of it arrives, although "
        f"max_cycles={settings.max_cycles} did not suffice to call it stationary"
    )
