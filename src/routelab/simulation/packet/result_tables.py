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
        sending_cycles, receiving_cycles = _cycles_of(runs, sends), _cycles_of(runs, receives)
        packets_sent = _sum(runs, lambda counts: counts.delivered)
        packets_received = _sum(runs, lambda counts: counts.received)
        received = _means(_sum(runs, lambda counts: counts.ejected), receiving_cycles)
        # 2. Latencies, if all seeds have them: a mean of the others would hide a saturated one.
        have_latency = all(run.latency is not None for run in runs)
        # 3. Endless traffic has no last arrival. `throughput` is the rate until the last arrival at
        #    the terminal: the flits of a mean run (rate * cycles) by the cycle of the arrival.
        has_end = runs[0].state in ("finished", "unfinished")
        last_arrival = np.max([run.counts.finished_at for run in runs], axis=0).tolist()
        cycles = _cycles(runs) / len(runs)
        return {
            "terminal": list(range(topology.num_terminals)),
            "name": [topology.terminal_name(t) for t in range(topology.num_terminals)],
            "switch": switches,
            "offered": _means(_sum(runs, lambda counts: counts.generated), sending_cycles),
            "accepted": _means(packets_sent * runs[0].settings.packet_flits, sending_cycles),
            "received": received,
            "latency_mean": _means(
                _sum(runs, lambda counts: counts.latency_by_source), packets_sent, have_latency
            ),
            "latency_mean_received": _means(
                _sum(runs, lambda counts: counts.latency_by_target), packets_received, have_latency
            ),
            # −1: nothing arrived
            "finished_at": [last if has_end and last >= 0 else None for last in last_arrival],
            "throughput": [
                rate * cycles / last if rate is not None and has_end and last > 0 else None
                for rate, last in zip(received, last_arrival, strict=True)
            ],
        }

    return _stack(header, points, columns)


def latency_table(points: Iterable[Point]) -> Columns:
    """Return the distributions of latencies and hops at each load, with the columns `LATENCIES`.

    Loads without a latency have hops only.
    """

    def columns(point: Point) -> Columns:
        """Return the columns of one load, kind after kind: latencies, then hops."""
        parts: Columns = {name: [] for name in LATENCIES[1:]}

        def add(kind: str, values: list[Any], counts: Int64Array) -> None:
            # A row has a value in the column of its kind, and None in those of other kinds.
            for name in _KINDS:
                parts[name] += values if name == kind else [None] * len(values)
            parts["count"] += counts.tolist()
            parts["share"] += (np.cumsum(counts) / max(counts.sum(), 1)).tolist()

        for kind in _latency_kinds(point):
            histograms = [getattr(run.counts, kind) for run in point.runs]
            cycles, counts = Histogram.merged(histograms).values()
            add(kind, cycles.tolist(), counts)
        hops = _sum(point.runs, lambda counts: counts.hops)
        add("hops", np.flatnonzero(hops).tolist(), hops[hops > 0])
        return parts

    return _stack(LATENCIES, points, columns)


def _latency_kinds(point: Point) -> Sequence[str]:
    """Return the kinds of latencies to report at a load.

    The message and the in-order latency of messages of one packet are the latency of the packet.
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
    """Concatenate the tables of all points, with their loads in the first column."""
    table: Columns = {name: [] for name in names}
    for point in points:
        part = columns(point)
        num_rows = len(part[names[1]])
        table["load"] += [point.load] * num_rows
        for name in names[1:]:
            table[name] += part[name]
    return table


def _sum(runs: Sequence[LoadResult], select: Callable[[Counts], Int64Array]) -> Int64Array:
    """Return the sum over runs of the counts that `select` returns."""
    total: Int64Array = np.sum([select(run.counts) for run in runs], axis=0)
    return total


def _cycles(runs: Sequence[LoadResult]) -> int:
    return sum(run.counts.cycles for run in runs)


def _cycles_of(runs: Sequence[LoadResult], takes_part: Sequence[NDArray[np.bool_]]) -> Int64Array:
    """Return the counted cycles of each terminal, over the runs in which it takes part."""
    # at least one cycle, because a sum of 0 marks terminals that take part in no run (`_means`)
    cycles: Int64Array = np.sum(
        [max(run.counts.cycles, 1) * part for run, part in zip(runs, takes_part, strict=True)],
        axis=0,
    )
    return cycles


def _means(sums: Int64Array, divisors: Int64Array, is_known: bool = True) -> list[float | None]:
    """Return the quotients; None where the divisor is 0, and everywhere unless `is_known`."""
    means: Float64Array = sums / np.maximum(divisors, 1)
    pairs = zip(means.tolist(), divisors.tolist(), strict=True)
    return [mean if is_known and divisor else None for mean, divisor in pairs]
