"""The flow engine: run times of a program whose messages share the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from routelab.api.topology import Float64Array
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.layout import lay_out
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.result import (
    FlowRun,
    PairBytes,
    WaitingRank,
    num_steady_rounds,
    stuck_error,
)
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.machine import Machine


def run_flows(schedule: Schedule, paths: Paths, machine: Machine, seed: int = 0) -> FlowRun:
    """Run a program on a network.

    Parameters
    ----------
    schedule : Schedule
    paths : Paths
        Routes and the terminals of the ranks.
    machine : Machine
    seed : int
        Seed of the choice among several paths of a pair.

    Raises
    ------
    InputError
        If communicating ranks have no route.
    StuckError
        If all remaining ranks wait for each other (an `InputError`).
    """
    simulation = FlowSimulation(schedule, paths, machine, seed)
    simulation.run()
    return simulation.result()


class FlowSimulation:
    """A running program; see `run_flows`.

    Parameters
    ----------
    full : bool
        Recompute all shares at every change, and not only those that it can affect. The results are
        equal, but slower.
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
        self.schedule, self.paths, self.machine = schedule, paths, machine
        self._steady_rounds = num_steady_rounds(schedule)
        self._flow, self._ways = lay_out(schedule, paths, machine, seed, self._steady_rounds)
        self._flow.ints[at.S_FULL] = full
        self.finished = False

    def run(self, max_steps: int = 2**62) -> bool:
        """Run so many time steps at most, times with events; return whether the program has ended.

        Raises
        ------
        StuckError
            If no rank can continue.
        """
        from routelab.simulation.flow.kernels.loop import run_time_steps

        last_step = int(self._flow.ints[at.TIME_STEPS]) + max_steps
        while True:
            status = run_time_steps(
                self._flow, min(last_step - int(self._flow.ints[at.TIME_STEPS]), 2**62)
            )
            if status == at.FULL_MESSAGES:
                self._flow = more_messages(self._flow)
            elif status == at.FULL_RING:
                self._flow = larger_ring(self._flow)
            elif status == at.STUCK:
                raise stuck_error(tuple(self._waiting_ranks()), self.schedule.ranks)
            else:
                self.finished = status == at.FINISHED
                return self.finished

    @property
    def now(self) -> float:
        """Seconds since the start of the program."""
        return float(self._flow.reals[at.NOW])

    def _waiting_ranks(self) -> Iterator[WaitingRank]:
        """Yield each rank that has not ended, with its operation and the ranks it waits for."""
        flow, schedule = self._flow, self.schedule
        # 1. Who waits for whom: an end of a message that has not arrived waits for the other one. A
        #    free row still holds the state of its last message.
        in_transit = flow.messages["state"] & at.DONE == 0
        in_transit[flow.free[: flow.ints[at.FREE]]] = False
        peers: dict[int, set[int]] = {}
        for message in flow.messages[in_transit]:
            source, target, state = (int(message[name]) for name in ("source", "target", "state"))
            if state & at.SENDER_WAITS:
                peers.setdefault(source, set()).add(target)
            if state & at.RECEIVER_WAITS:
                peers.setdefault(target, set()).add(source)
        # 2. Where each rank is: its next operation is the one after that in which it waits.
        for number, rank in enumerate(flow.ranks):
            place, operation = int(rank["place"]), int(rank["operation"]) - 1
            if place == len(schedule.tape):
                continue
            block = int(schedule.tape[place])
            yield WaitingRank(
                rank=number,
                kind=int(flow.operations["kind"][operation]),
                peers=tuple(sorted(peers.get(number, ()))),
                block=schedule.names[block],
                place=place,
                operation=operation - int(flow.block_start[block, number]),
                seconds=float(rank["clock"]),
            )

    def result(self) -> FlowRun:
        """Return the result of a program that has ended."""
        flow, schedule, ways = self._flow, self.schedule, self._ways
        topology = self.paths.topology
        # 1. Times at which ranks begin and end the timed part, and end the program.
        places = flow.timestamp_places.tolist()
        time_at = dict(zip(places, flow.timestamps, strict=True))
        begin, end = (time_at[place] for place in schedule.timed)
        finish = time_at[len(schedule.tape)]
        # 2. Rounds that were left out last as long as the steady ones, the last simulated ones.
        #    Once ranks wait for each other, rounds take equally long for all; before that, the mean
        #    over ranks equals this time.
        weight = np.zeros(3)
        weight[at.TIMED] = weight[at.REPEATED] = 1.0
        if missing_rounds := schedule.total_rounds - schedule.rounds:
            steady_rounds = self._steady_rounds
            first_place, end_place = schedule.round_start[[-1 - steady_rounds, -1]].tolist()
            steady_seconds = float((time_at[end_place] - time_at[first_place]).mean())
            missing_seconds = steady_seconds * missing_rounds / steady_rounds
            end, finish = end + missing_seconds, finish + missing_seconds
            # The steady rounds are the part REPEATED, so a message of theirs also stands for its
            # share of those in the rounds that were left out.
            weight[at.REPEATED] += missing_rounds / steady_rounds
        sent, messages = flow.sent_bytes @ weight, flow.sent @ weight
        # 3. Bytes by channel and terminal. Those between ranks of a terminal stay in its memory.
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
            pairs=PairBytes.summed(
                ways.source.astype(np.int64), ways.target.astype(np.int64), sent
            ),
            channel_seconds=channel_bytes / bandwidth,
            rounds=schedule.rounds,
            total_rounds=schedule.total_rounds,
            operations=schedule.operations,
            time_steps=int(flow.ints[at.TIME_STEPS]),
            share_computations=int(flow.ints[at.SHARE_COMPUTATIONS]),
            computed_shares=int(flow.ints[at.COMPUTED_SHARES]),
        )


def _sums(groups: Any, values: Any, size: int) -> Float64Array:
    # for empty arrays numpy returns counts instead of sums
    return np.bincount(groups, weights=values, minlength=size).astype(np.float64)


def more_messages(flow: at.FlowState) -> at.FlowState:
    """Double the room for messages in transit."""
    count_before, ranks = len(flow.messages), len(flow.ranks)
    messages = np.zeros(2 * count_before, at.MESSAGE)
    messages[:count_before] = flow.messages
    free = np.zeros(2 * count_before, np.int32)
    count = int(flow.ints[at.FREE])
    free[:count] = flow.free[:count]
    free[count : count + count_before] = np.arange(2 * count_before - 1, count_before - 1, -1)
    flow.ints[at.FREE] = count + count_before
    time, event = np.zeros(2 * count_before + ranks), np.zeros(2 * count_before + ranks, np.int32)
    time[: count_before + ranks], event[: count_before + ranks] = flow.event_time, flow.event
    return flow._replace(messages=messages, free=free, event_time=time, event=event)


def larger_ring(flow: at.FlowState) -> at.FlowState:
    """Double the room for messages of the blocks that ranks work on."""
    ring_before = flow.ring
    used = np.flatnonzero(ring_before >= 0)
    # A message's place in the ring is its slot modulo the size, a power of two.
    ring = np.full(2 * len(ring_before), -1, np.int32)
    ring[flow.messages["slot"][ring_before[used]] & (len(ring) - 1)] = ring_before[used]
    return flow._replace(ring=ring)
