"""The flow engine: when the ranks of a program end, with messages that share the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from routelab.api import InputError
from routelab.api.topology import Float64Array, Int64Array
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.layout import lay_out
from routelab.simulation.flow.machine import Machine
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.result import (
    FlowRun,
    Waiting,
    Work,
    extrapolated,
    last_half,
    stuck,
)
from routelab.simulation.flow.schedule import Schedule


def run_flows(schedule: Schedule, paths: Paths, machine: Machine, seed: int = 0) -> FlowRun:
    """Run a program on a network.

    Parameters
    ----------
    schedule : Schedule
    paths : Paths
        Routes, and where the ranks are.
    machine : Machine
    seed : int
        Of the paths that messages take where the table has several.

    Raises
    ------
    InputError
        If there are more or fewer ranks than places, a pair of ranks that talk has no route, or
        the seed is negative.
    StuckError
        If the ranks come to wait for each other (an `InputError`).
    """
    simulation = FlowSimulation(schedule, paths, machine, seed)
    simulation.run()
    return simulation.result()


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Bundles of messages that flow at one moment.

    Attributes
    ----------
    count : int64 array, shape (F,)
        Messages.
    rate : float64 array, shape (F,)
        Bytes per second of each message.
    resources : list of int arrays
        What each crosses.
    capacity : float64 array, shape (R,)
        Of all resources, in bytes per second.
    """

    count: Int64Array
    rate: Float64Array
    resources: list[Int64Array]
    capacity: Float64Array


class FlowSimulation:
    """A program that runs; see `run_flows`.

    Parameters
    ----------
    full : bool
        Compute all shares anew at every change, and not only those that it can reach. The same
        numbers, slowly.
    """

    def __init__(
        self,
        schedule: Schedule,
        paths: Paths,
        machine: Machine,
        seed: int = 0,
        *,
        full: bool = False,
    ) -> None:
        if schedule.ranks != paths.ranks:
            raise InputError(
                f"placement: {paths.ranks} ranks are placed, the program has {schedule.ranks}"
            )
        if not 0 <= seed < 2**63:
            raise InputError(f"seed is {seed}, expected a number from 0 to 2^63 - 1")
        self.schedule, self.paths, self.machine = schedule, paths, machine
        self._half = last_half(schedule)
        self._flow, self._ways = lay_out(schedule, paths, machine, seed, self._half)
        self._flow.ints[at.S_FULL] = full
        self.finished = False

    def run(self, moments: int = 2**62) -> bool:
        """Run so many moments at most; whether the program has ended.

        Raises
        ------
        StuckError
            If nothing can happen any more.
        """
        from routelab.simulation.flow.kernels.loop import advance

        last = int(self._flow.ints[at.MOMENTS]) + moments
        while True:
            why = advance(self._flow, min(last - int(self._flow.ints[at.MOMENTS]), 2**62))
            if why == at.FULL_MESSAGES:
                self._flow = more_messages(self._flow)
            elif why == at.FULL_RING:
                self._flow = larger_ring(self._flow)
            elif why == at.STUCK:
                raise stuck(tuple(self._waiting()), self.schedule.ranks)
            else:
                self.finished = why == at.FINISHED
                return self.finished

    @property
    def now(self) -> float:
        """Seconds since the program began."""
        return float(self._flow.reals[at.NOW])

    def snapshot(self) -> Snapshot:
        """What flows now."""
        flow = self._flow
        bundles = flow.bundles[flow.bundles["count"] > 0]
        return Snapshot(
            count=bundles["count"].astype(np.int64),
            rate=bundles["rate"].copy(),
            resources=[
                flow.crossings["resource"][one["first"] :][: one["crossings"]].astype(np.int64)
                for one in bundles
            ],
            capacity=flow.resources["capacity"].copy(),
        )

    def _waiting(self) -> Iterator[Waiting]:
        flow, schedule = self._flow, self.schedule
        over = set(flow.free[: flow.ints[at.FREE]].tolist())
        over |= set(np.flatnonzero(flow.messages["state"] & at.DONE).tolist())
        peers: dict[int, set[int]] = {}
        for number, one in enumerate(flow.messages):
            if number in over:
                continue
            source, target, state = int(one["source"]), int(one["target"]), int(one["state"])
            if state & at.SENDER_WAITS:
                peers.setdefault(source, set()).add(target)
            if state & at.RECEIVER_WAITS:
                peers.setdefault(target, set()).add(source)
        for number, rank in enumerate(flow.ranks):
            place, last = int(rank["place"]), int(rank["operation"]) - 1
            if place == len(schedule.tape):
                continue
            block = int(schedule.tape[place])
            yield Waiting(
                rank=number,
                kind=int(flow.operations["kind"][last]),
                peers=tuple(sorted(peers.get(number, ()))),
                block=schedule.names[block],
                place=place,
                operation=last - int(flow.block_start[block, number]),
                seconds=float(rank["clock"]),
            )

    def result(self) -> FlowRun:
        """What was found, once the program has ended."""
        flow, schedule, ways = self._flow, self.schedule, self._ways
        topology = self.paths.topology
        missing = schedule.rounds_of - schedule.rounds
        marked = {int(place): flow.marked[k] for k, place in enumerate(flow.marks)}
        begin, end = (marked[place] for place in schedule.timed)
        finish = marked[len(schedule.tape)]
        if missing:
            first, behind = schedule.round_start[-1 - self._half], schedule.round_start[-1]
            span = np.array([marked[int(first)], marked[int(behind)]])
            more = extrapolated(span, schedule.rounds, schedule.rounds_of, self._half)
            end, finish = end + more, finish + more
        scale = np.array([0.0, 1.0, 1.0 + (missing / self._half if missing else 0.0)])
        sent, messages = flow.sent_bytes @ scale, flow.sent @ scale
        hops = np.diff(ways.hop_start)
        channel_bytes = _sums(ways.hop_channel, np.repeat(sent, hops), topology.num_channels)
        inside = ways.source == ways.target
        terminals = topology.num_terminals
        bandwidth = topology.channel_capacity * self.machine.link_bandwidth
        return FlowRun(
            topology=topology,
            begin=begin.copy(),
            end=end.copy(),
            finish=finish.copy(),
            seconds=float((end - begin).max()),
            messages=float(messages.sum()),
            bytes=float(sent.sum()),
            channel_bytes=channel_bytes,
            injected_bytes=_sums(ways.source[~inside], sent[~inside], terminals),
            ejected_bytes=_sums(ways.target[~inside], sent[~inside], terminals),
            memory_bytes=_sums(ways.source[inside], sent[inside], terminals),
            channel_seconds=channel_bytes / bandwidth,
            rounds=schedule.rounds,
            rounds_of=schedule.rounds_of,
            operations=schedule.operations,
            work=Work(*(int(flow.ints[which]) for which in (at.MOMENTS, at.SHARINGS, at.SHARED))),
        )


def _sums(places: Any, values: Any, size: int) -> Float64Array:
    # numpy counts instead of adding up where there is nothing
    return np.bincount(places, weights=values, minlength=size).astype(np.float64)


def more_messages(flow: at.Flow) -> at.Flow:
    """Twice as many messages under way."""
    old, ranks = len(flow.messages), len(flow.ranks)
    messages = np.zeros(2 * old, at.MESSAGE)
    messages[:old] = flow.messages
    free = np.zeros(2 * old, np.int32)
    count = int(flow.ints[at.FREE])
    free[:count] = flow.free[:count]
    free[count : count + old] = np.arange(2 * old - 1, old - 1, -1)
    flow.ints[at.FREE] = count + old
    time, event = np.zeros(2 * old + ranks), np.zeros(2 * old + ranks, np.int32)
    time[: old + ranks], event[: old + ranks] = flow.event_time, flow.event
    return flow._replace(messages=messages, free=free, event_time=time, event=event)


def larger_ring(flow: at.Flow) -> at.Flow:
    """Room for the messages of twice as many blocks that ranks are at."""
    old = flow.ring
    made = np.flatnonzero(old >= 0)
    ring = np.full(2 * len(old), -1, np.int32)
    ring[flow.messages["slot"][old[made]] & (len(ring) - 1)] = old[made]
    return flow._replace(ring=ring)
