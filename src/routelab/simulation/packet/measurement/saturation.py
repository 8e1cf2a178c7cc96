"""Search for the saturation load of a network.

A network *sustains* a load if it delivers what its terminals offer (`_is_sustained`). The search
keeps a bracket: `high` is the smallest tried load that is not sustained, and `low` the largest one
below it. The search ends when the bracket is narrower than the tolerance.

1. Try a few loads, so that there is a bracket.
2. Try loads next to what the network accepts at `high`: beyond saturation, many networks still
   accept their largest load.
3. Bisect.

Not every load below a sustained one need be sustained. So the search stays below the *first* load
that is not, and reports stationary loads above it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan

from routelab.simulation.packet.measurement.intervals import Estimate
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.measurement.sweep import Point

FIRST_LOADS = (0.25, 0.5, 0.75, 1.0)
"""Loads of step 1; left out if as many loads are known."""

GUESSES = 3
"""Largest number of loads in step 2; then the search bisects, so that it ends soon."""


@dataclass(frozen=True, eq=False)
class Saturation:
    """The load at which a network saturates.

    Attributes
    ----------
    load : float
        `low` at the end of the search, 0 if no load is sustained. If that load is undecided, only
        the part of it that certainly arrives.
    bound : float
        `high` at the end of the search; above 1 if the network sustains load 1.
    accepted : Estimate or None
        Accepted load at `low`.
    throughput : Estimate
        Largest accepted load of all points.
    throughput_at : float
        Offered load of `throughput`.
    points : tuple of Point
        All tried loads, ascending.
    text : str
        Summary of the search.
    """

    load: float
    bound: float
    accepted: Estimate | None
    throughput: Estimate
    throughput_at: float
    points: tuple[Point, ...]
    text: str


def find_saturation(
    measure: Callable[[Sequence[float]], list[Point]],
    settings: SimulationSettings,
    known: Sequence[Point] = (),
    limit: float = inf,
) -> Saturation:
    """Find the saturation load, up to the relative precision ``settings.tolerance``.

    Parameters
    ----------
    measure : callable
        Measures the points at some offered loads. It is called for at most
        ``settings.max_probes`` loads in all.
    settings : SimulationSettings
    known : sequence of Point
        Points that were measured before.
    limit : float
        Load above which some channel or terminal certainly gets more than it can carry. Above it,
        undecided loads are not sustained: the mean over all terminals may show a saturated terminal
        much later, for example under hotspot traffic.
    """
    points = {point.load: point for point in known}
    budget = settings.max_probes
    guesses = GUESSES

    def try_loads(*loads: float) -> None:
        nonlocal budget
        untried = [load for load in dict.fromkeys(loads) if load not in points][:budget]
        budget -= len(untried)
        points.update((point.load, point) for point in measure(untried))

    if len(points) < len(FIRST_LOADS):
        try_loads(*FIRST_LOADS)
    while budget:
        low, high = _bracket(points, settings.tolerance, limit)
        if high > 1 and 1.0 not in points:
            try_loads(1.0)
        elif high > 1 or _is_narrow(low, high, settings.tolerance):
            break
        elif guesses:  # step 2
            guesses -= 1
            accepted = points[high].accepted.value
            try_loads(_round(_load_near(accepted, low, high, settings.tolerance)))
        else:  # step 3
            try_loads(_round((low + high) / 2))
    return _summarize(points, settings, limit)


def _bracket(points: dict[float, Point], tolerance: float, limit: float) -> tuple[float, float]:
    """Return `low` and `high`; `high` is infinite if all points are sustained."""
    low = 0.0
    for load, point in sorted(points.items()):
        if not _is_sustained(point, tolerance, limit):
            return low, load
        low = load
    return low, inf


def _is_narrow(low: float, high: float, tolerance: float) -> bool:
    """Return whether a bracket is narrow enough, or has no load of six decimals inside.

    Loads are rounded to 1e-6, so a bracket of two neighbours is 1e-6 wide, but for rounding errors.
    """
    return high - low <= max(tolerance * high, 1.5e-6)


def _is_sustained(point: Point, tolerance: float, limit: float) -> bool:
    """Return whether the network sustains a load.

    Close to saturation, latencies take very long to become stationary. There the accepted load
    decides: at least 1 − `tolerance` of the offered load must certainly arrive.
    """
    if point.state == "undecided":
        return point.load <= limit and _delivered_share(point) >= 1 - tolerance
    return point.state == "stationary"


def _delivered_share(point: Point) -> float:
    """Return the share of the generated flits that certainly arrives, at most 1; NaN if unknown."""
    offered = sum(run.offered for run in point.runs) / len(point.runs)
    share = point.accepted.low / offered if offered else nan
    # not `min`, which may turn NaN into 1
    return 1.0 if share > 1 else share


def _load_near(accepted: float, low: float, high: float, tolerance: float) -> float:
    """Return a load just below or above `accepted`, with which the next bracket may be the last.

    First a load just below it, which should be sustained. When `low` is there, a load just above
    it, which should not be. The two are less than `tolerance` apart.
    """
    # nine tenths of the tolerance: a bracket of exactly its width could be too wide by rounding
    step = 0.9 * tolerance
    # Half a step below or above what is accepted; if that is within a step of `high` or `low`, a
    # whole step from this end, so that one more load may suffice.
    below = min(accepted * (1 - step / 2), high * (1 - step))
    above = max(accepted * (1 + step / 2), low * (1 + step))
    if below > low * (1 + tolerance / 4):
        return below
    # `low` is already just below what is accepted; never go past the middle
    return min(above, (low + high) / 2)


def _round(load: float) -> float:
    """Return a load rounded to six decimals."""
    return round(load, 6)


def _summarize(
    points: dict[float, Point], settings: SimulationSettings, limit: float
) -> Saturation:
    """Return the saturation that the measured points show.

    Undecided loads above `limit` are not sustained (`find_saturation`).
    """
    low, high = _bracket(points, settings.tolerance, limit)
    highest = max(points.values(), key=lambda point: point.accepted.value)
    load = low
    # An undecided load counts as sustained if almost all of it arrives. Report the part that does.
    if low and points[low].state != "stationary":
        load = _round(low * _delivered_share(points[low]))
    return Saturation(
        load=load,
        bound=high,
        accepted=points[low].accepted if low else None,
        throughput=highest.accepted,
        throughput_at=highest.load,
        points=tuple(point for _, point in sorted(points.items())),
        text=_describe(points, low, high, settings),
    )


def _describe(
    points: dict[float, Point], low: float, high: float, settings: SimulationSettings
) -> str:
    """Return a text on the bracket, whether it is narrow enough, and stationary loads above it."""
    if high > 1:
        return "not saturated at any load up to 1"
    if not low or points[low].state == "stationary":
        text = f"stationary at load {low:g}"
    else:
        text = (
            f"at load {low:g} certainly all but tolerance={settings.tolerance} of it arrives, "
            f"although max_cycles={settings.max_cycles} did not suffice to call it stationary"
        )
    text += f", {points[high].state} at {high:g}"
    if not _is_narrow(low, high, settings.tolerance):
        text += f"; max_probes={settings.max_probes} loads did not narrow it down further"
    stationary_above = [
        f"{load:g}"
        for load, point in sorted(points.items())
        if load > high and point.state == "stationary"
    ]
    if stationary_above:
        text += f"; but stationary at {', '.join(stationary_above)}: not monotonic in the load"
    return text
