"""Tables of the counts at each offered load: channels, terminals, latencies.

A table maps names to columns of equal length. The counts of several seeds are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.api.topology import Float64Array, Int64Array
from routelab.simulation.packet.counts import Counts, Histogram
from routelab.simulation.packet.measurement.result import LoadResult, utilisation_of
from routelab.simulation.packet.measurement.sweep import Point

Columns = dict[str, list[Any]]

CHANNELS = ("load", "channel", "source", "target", "direction", "flits", "utilisation")
"""Columns of channels; `routelab.simulation.packet.columns` has their meanings."""

TERMINALS = (
    "load",
    "terminal",
    "name",
    "switch",
    "offered",
    "accepted",
    "received",
    "latency_mean",
    "latency_mean_received",
    "finished_at",
)
"""Columns of terminals; `routelab.simulation.packet.columns` has their meanings.

The ``name`` of a terminal without one is its number. ``throughput`` is only in runs with messages.
``finished_at`` has values only in such runs. Rates of several seeds are over the seeds in which the
terminal has something to send or to receive.
"""

LATENCIES = (
    "load",
    "latency",
    "network_latency",
    "message_latency",
    "in_order_latency",
    "hops",
    "count",
    "share",
)
"""Columns of latencies. Each row has a number of cycles (or of hops) in the column of its kind. It
also has the count of that value, and the share of all values of its kind that are not larger."""

_KINDS = ("latency", "network_latency", "message_latency", "in_order_latency", "hops")


def packet_channel_table(points: Iterable[Point], topology: Topology) -> Columns:
    """Return the counts of each channel at each load, with the columns `CHANNELS`."""
    names = topology.switch_names
    labels: Columns = {
        "channel": list(range(topology.num_channels)),
        "source": [names[switch] for switch in topology.channel_source],
        "target": [names[switch] for switch in topology.channel_target],
        "direction": [
            topology.directions[d].name if d >= 0 else "" for d in topology.channel_direction
        ],
    }

    def columns(point: Point) -> Columns:
        flits = _sum(point.runs, lambda counts: counts.channel_flits)
        utilisation = utilisation_of(flits, _cycles(point.runs), topology)
        return {**labels, "flits": flits.tolist(), "utilisation": utilisation.tolist()}

    return _stack(CHANNELS, points, columns)


def terminal_table(
    points: Sequence[Point],
    topology: Topology,
    senders_and_receivers: Callable[[int], tuple[NDArray[np.bool_], NDArray[np.bool_]]],
) -> Columns:
    """Return the service of each terminal at each load, with the columns `TERMINALS`.

    `senders_and_receivers` returns for a seed whether each terminal sends, and whether it receives.
    """
    names = topology.switch_names
    switches = [names[switch] for switch in topology.terminal_switch]

    header: Sequence[str] = TERMINALS
    if any(run.settings.messages for point in points for run in point.runs):
        header = (*TERMINALS, "throughput")

    def columns(point: Point) -> Columns:
        """Return the columns of one load, over all its seeds."""
        runs = point.runs
        # 1. Sums over the seeds, and for each terminal the cycles of the seeds with which it sends
        #    or receives.
        sends, receives = zip(*(senders_and_receivers(run.seed) for run in runs), strict=True)
        sending_cycles = _active_cycles(runs, sends)
        receiving_cycles = _active_cycles(runs, receives)
        packets_sent = _sum(runs, lambda counts: counts.delivered)
        packets_received = _sum(runs, lambda counts: counts.received)
        received = _means(_sum(runs, lambda counts: counts.ejected), receiving_cycles)
        # 2. Latencies, if all seeds have them: a mean of the others would hide that one saturated.
        have_latency = all(run.latency is not None for run in runs)
        latency_sum_sent = _sum(runs, lambda counts: counts.latency_by_source)
        latency_sum_received = _sum(runs, lambda counts: counts.latency_by_target)
        # 3. Endless traffic has no last arrival. `throughput` is the rate until the last arrival at
        #    the terminal. `received` is the rate in all cycles of a run, so a run of mean length
        #    brought received * mean_cycles flits; they are divided by the cycle of the arrival.
        has_end = runs[0].state in ("finished", "unfinished")
        last_arrival = np.max([run.counts.finished_at for run in runs], axis=0).tolist()
        mean_cycles = _cycles(runs) / len(runs)
        return {
            "terminal": list(range(topology.num_terminals)),
            "name": [topology.terminal_name(t) for t in range(topology.num_terminals)],
            "switch": switches,
            "offered": _means(_sum(runs, lambda counts: counts.generated), sending_cycles),
            "accepted": _means(packets_sent * runs[0].settings.packet_flits, sending_cycles),
            "received": received,
            "latency_mean": _means(latency_sum_sent, packets_sent, is_known=have_latency),
            "latency_mean_received": _means(
                latency_sum_received, packets_received, is_known=have_latency
            ),
            # −1: nothing arrived
            "finished_at": [last if has_end and last >= 0 else None for last in last_arrival],
            "throughput": [
                rate * mean_cycles / last if rate is not None and has_end and last > 0 else None
                for rate, last in zip(received, last_arrival, strict=True)
            ],
        }

    return _stack(header, points, columns)


def latency_table(points: Iterable[Point]) -> Columns:
    """Return the distributions of latencies and hops at each load, with the columns `LATENCIES`.

    Loads without a latency, such as saturated ones, have rows of hops only.
    """

    def columns(point: Point) -> Columns:
        """Return the columns of one load, kind after kind: latencies, then hops."""
        table: Columns = {name: [] for name in LATENCIES[1:]}  # without the load

        def append_rows(kind: str, values: list[Any], counts: Int64Array) -> None:
            # A row has a value in the column of its kind, and None in those of other kinds.
            for name in _KINDS:
                table[name] += values if name == kind else [None] * len(values)
            table["count"] += counts.tolist()
            table["share"] += (np.cumsum(counts) / max(counts.sum(), 1)).tolist()

        for kind in _latency_kinds(point):
            histograms = [getattr(run.counts, kind) for run in point.runs]
            cycles, counts = Histogram.merged(histograms).values()
            append_rows(kind, cycles.tolist(), counts)
        hops = np.flatnonzero(point.hops)
        append_rows("hops", hops.tolist(), point.hops[hops])
        return table

    return _stack(LATENCIES, points, columns)


def _latency_kinds(point: Point) -> Sequence[str]:
    """Return the kinds of latencies to report at a load: none unless all its runs have latencies.

    Messages of one packet have no rows of their own: their message and in-order latencies are the
    latency of the packet.
    """
    settings = point.runs[0].settings
    if any(run.latency is None for run in point.runs):
        return ()
    if settings.message_packets == 1:
        return ("latency", "network_latency")
    if settings.in_order:
        return ("latency", "network_latency", "message_latency", "in_order_latency")
    return ("latency", "network_latency", "message_latency")


def _stack(
    names: Sequence[str], points: Iterable[Point], columns: Callable[[Point], Columns]
) -> Columns:
    """Concatenate the tables of all points, with their loads in the first column.

    `names` are the columns of the result, the first of which is ``load``. `columns` returns the
    others for one point; columns that are not in `names` are left out.
    """
    table: Columns = {name: [] for name in names}
    for point in points:
        point_table = columns(point)
        num_rows = len(point_table[names[1]])
        table["load"] += [point.load] * num_rows
        for name in names[1:]:
            table[name] += point_table[name]
    return table


def _sum(runs: Sequence[LoadResult], select: Callable[[Counts], Int64Array]) -> Int64Array:
    """Return the sum over runs of the counts that `select` returns."""
    total: Int64Array = np.sum([select(run.counts) for run in runs], axis=0)
    return total


def _cycles(runs: Sequence[LoadResult]) -> int:
    """Return the counted cycles of all runs together."""
    return sum(run.counts.cycles for run in runs)


def _active_cycles(
    runs: Sequence[LoadResult], is_active: Sequence[NDArray[np.bool_]]
) -> Int64Array:
    """Return for each terminal the counted cycles of the runs in which it is active.

    `is_active` has an array by terminal for each run.
    """
    cycles = np.zeros(len(is_active[0]), np.int64)
    for run, active in zip(runs, is_active, strict=True):
        # at least one cycle, because a sum of 0 marks terminals that are active in no run
        # (`_means`)
        cycles[active] += max(run.counts.cycles, 1)
    return cycles


def _means(sums: Int64Array, divisors: Int64Array, is_known: bool = True) -> list[float | None]:
    """Return sums / divisors; None where the divisor is 0, and everywhere unless `is_known`."""
    means: Float64Array = sums / np.maximum(divisors, 1)
    pairs = zip(means.tolist(), divisors.tolist(), strict=True)
    return [mean if is_known and divisor else None for mean, divisor in pairs]
