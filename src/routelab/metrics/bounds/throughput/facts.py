"""Facts of bounds of throughput, as JSON values, and what they say of a simulated load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any

from routelab.metrics.bounds.throughput.columns import COLUMNS
from routelab.metrics.bounds.throughput.search import ThroughputBound

THROUGHPUT_FIELDS = tuple(column.name for column in COLUMNS)
"""Keys of `throughput_facts`, in order."""


def throughput_numbers(bound: ThroughputBound) -> dict[str, Any]:
    """Return a bound as JSON values, without the weights."""
    gap = 100 * (bound.sustained / bound.attained - 1) if bound.attained > 0 else None
    return {
        "sustained_bound": bound.sustained,
        "sustained_attained": bound.attained,
        "sustained_gap": gap,
        "channel_bound": bound.channel if isfinite(bound.channel) else None,
        "terminal_bound": bound.terminal,
        "throughput_method": bound.method,
        "throughput_seconds": bound.seconds,
        "accepted": [
            {
                "load": accepted.load,
                "accepted_bound": accepted.value,
                "accepted_attained": accepted.attained,
                "start": float(accepted.start),
                "slope": float(accepted.slope),
            }
            for accepted in bound.accepted
        ],
    }


def throughput_facts(numbers: Sequence[Mapping[str, Any]], load: float | None) -> dict[str, Any]:
    """Return the bounds that hold for a simulated load, over all seeds of the traffic.

    A simulated load is saturated if the run of any seed is, so the smallest bound of all seeds
    holds for the sustained load. The simulated accepted load is a mean over the seeds, as is its
    bound.

    Parameters
    ----------
    numbers : sequence of mapping
        Results of `throughput_numbers`, one for each seed of the traffic.
    load : float or None
        Offered load; None for a simulation without one.

    Returns
    -------
    facts : dict
        Values by `THROUGHPUT_FIELDS`, or None.
    """
    if not numbers:
        return dict.fromkeys(THROUGHPUT_FIELDS)
    tightest = min(numbers, key=lambda bounds: float(bounds["sustained_bound"]))
    facts = {name: tightest.get(name) for name in THROUGHPUT_FIELDS}
    if not load:  # no offered load, so the bounds of the accepted load stay None
        return facts
    attained = [_attained_at(bounds["accepted"], load) for bounds in numbers]
    known = [value for value in attained if value is not None]
    return facts | {
        "accepted_bound": fmean(_accepted_bound_at(bounds["accepted"], load) for bounds in numbers),
        # a mean over some of the seeds would not belong to the bound
        "accepted_attained": fmean(known) if len(known) == len(numbers) else None,
    }


def traffic_seeds(settings: Any) -> tuple[int, ...]:
    """Return the seeds of the traffic of an engine: its `all_seeds`, else its `seed`, else 0."""
    seeds: tuple[int, ...] | None = getattr(settings, "all_seeds", None)
    return seeds if seeds is not None else (int(getattr(settings, "seed", 0)),)


def _accepted_bound_at(lines: Iterable[Mapping[str, Any]], load: float) -> float:
    """Return the smallest bound of the accepted load at an offered load.

    Each certificate, made for some load, proves the bound start + slope × load for every load.
    Without a certificate it is the offered load.
    """
    return min((float(line["start"]) + float(line["slope"]) * load for line in lines), default=load)


def _attained_at(lines: Iterable[Mapping[str, Any]], load: float) -> float | None:
    """Return what fractional routes deliver at exactly this load; None if it was not bounded."""
    attained = [float(line["accepted_attained"]) for line in lines if line["load"] == load]
    return attained[0] if attained else None
