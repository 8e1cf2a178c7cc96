"""The flow engine: run times of a program whose messages share the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from routelab.api.topology import Float64Array
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.layout import initial_state
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
    """A program that runs on a network step by step, with the parameters of `run_flows`.

    Parameters
    ----------
    recompute_all : bool
        Recompute the shares of all messages at every change, and not only those that it can affect.
        The results are equal, but slower, so this is for tests.
    """

    def __init__(
        self,
        schedule: Schedule,
        paths: Paths,
        machine: Machine,
        seed: int = 0,
        *,
        recompute_all: bool = False,
    ) -> None:
        self.schedule, self.paths, self.machine = schedule, paths, machine
        self._steady_rounds = num_steady_rounds(schedule)
        self._flow, self._bundle_paths = initial_state(
            schedule, paths, machine, seed, self._steady_rounds
        )
        self._flow.ints[at.S_RECOMPUTE_ALL] = recompute_all
        self.finished = False

    def run(self, max_steps: int = 2**62) -> bool:
        """Run up to `max_steps` time steps; return whether the program has ended.

        A time step is a time with events.

        Raises
        ------
        StuckError
            If no rank can continue.
        """
        from routelab.simulation.flow.kernels.loop import run_time_steps

        last_step = int(self._flow.ints[at.TIME_STEPS]) + max_steps
        # The kernel stops when arrays are full. Larger ones replace them, and it continues.
        while True:
            remaining_steps = last_step - int(self._flow.ints[at.TIME_STEPS])
            # 2**62 is as good as no limit; int64 must hold the sum of it and the steps so far
            status = run_time_steps(self._flow, min(remaining_steps, 2**62))
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
        # 1. Who waits for whom: the sender or the receiver of a message that has not arrived waits
        #    for the other. Free rows do not count; they still hold the state of their last message.
        in_transit = flow.messages["state"] & at.ARRIVED == 0
        in_transit[flow.free_messages[: flow.ints[at.NUM_FREE]]] = False
        peers: dict[int, set[int]] = {}
        for message in flow.messages[in_transit]:
            source, target, state = (int(message[name]) for name in ("source", "target", "state"))
            if state & at.SENDER_WAITS:
                peers.setdefault(source, set()).add(target)
            if state & at.RECEIVER_WAITS:
                peers.setdefault(target, set()).add(source)
        # 2. Where each rank is. It waits in an operation that has begun: that before its next one.
        for number, rank in enumerate(flow.ranks):
            tape_index, operation = int(rank["tape_index"]), int(rank["next_operation"]) - 1
            has_ended = tape_index == len(schedule.tape)
            if has_ended:
                continue
            block = int(schedule.tape[tape_index])
            yield WaitingRank(
                rank=number,
                kind=int(flow.operations["kind"][operation]),
                peers=tuple(sorted(peers.get(number, ()))),
                block=schedule.names[block],
                tape_index=tape_index,
                operation=operation - int(flow.block_start[block, number]),
                seconds=float(rank["clock"]),
            )

    def result(self) -> FlowRun:
        """Return the result of a program that has ended."""
        flow, schedule, bundle_paths = self._flow, self.schedule, self._bundle_paths
        topology = self.paths.topology
        # 1. Times at which ranks begin and end the timed part, and end the program.
        #    `rank_times` has an array by rank for each recorded index on the tape.
        rank_times = dict(zip(flow.timestamp_indices.tolist(), flow.timestamps, strict=True))
        timed_begin, timed_end = schedule.timed
        begin, end = rank_times[timed_begin], rank_times[timed_end]
        finish = rank_times[len(schedule.tape)]
        # 2. Rounds that were left out last as long as the steady ones, the last simulated ones.
        #    Once ranks wait for each other, rounds take equally long for all; until then, the mean
        #    over ranks stands for all of them.
        weight = np.zeros(at.PHASES)  # messages OUTSIDE the timed part do not count
        weight[at.TIMED] = weight[at.REPEATED] = 1.0
        if missing_rounds := schedule.total_rounds - schedule.rounds:
            steady_rounds = self._steady_rounds
            # the last entry of `round_start` is the end of the last simulated round
            steady_begin = int(schedule.round_start[-1 - steady_rounds])
            steady_end = int(schedule.round_start[-1])
            steady_seconds = float((rank_times[steady_end] - rank_times[steady_begin]).mean())
            missing_seconds = steady_seconds * missing_rounds / steady_rounds
            end, finish = end + missing_seconds, finish + missing_seconds
            # Steady rounds are the phase REPEATED. Each of their messages also stands for messages
            # of the missing rounds: with 5 steady and 10 missing rounds, for 2 more.
            weight[at.REPEATED] += missing_rounds / steady_rounds
        bundle_bytes, messages = flow.sent_bytes @ weight, flow.sent_messages @ weight
        # 3. Bytes by channel and terminal. Those between ranks of a terminal stay in its memory.
        source, target = bundle_paths.source, bundle_paths.target
        hop_bytes = np.repeat(bundle_bytes, np.diff(bundle_paths.hop_start))
        channel_bytes = _sum_by_group(
            bundle_paths.hop_channel, hop_bytes, num_groups=topology.num_channels
        )
        inside = source == target
        terminals = topology.num_terminals
        bandwidth = topology.channel_capacity * self.machine.link_bandwidth
        return FlowRun(
            topology=topology,
            begin=begin.copy(),
            end=end.copy(),
            finish=finish.copy(),
            seconds=float((end - begin).max()),
            messages=float(messages.sum()),
            bytes=float(bundle_bytes.sum()),
            channel_bytes=channel_bytes,
            injected_bytes=_sum_by_group(source[~inside], bundle_bytes[~inside], terminals),
            ejected_bytes=_sum_by_group(target[~inside], bundle_bytes[~inside], terminals),
            memory_bytes=_sum_by_group(source[inside], bundle_bytes[inside], terminals),
            pairs=PairBytes.summed(
                source.astype(np.int64), target.astype(np.int64), amount=bundle_bytes
            ),
            channel_seconds=channel_bytes / bandwidth,
            rounds=schedule.rounds,
            total_rounds=schedule.total_rounds,
            operations=schedule.operations,
            time_steps=int(flow.ints[at.TIME_STEPS]),
            share_computations=int(flow.ints[at.SHARE_COMPUTATIONS]),
            computed_shares=int(flow.ints[at.COMPUTED_SHARES]),
        )


def _sum_by_group(group: Any, values: Any, num_groups: int) -> Float64Array:
    """Return the sum of the values of each group; ``group[k]`` is the group of ``values[k]``."""
    # for empty arrays numpy returns counts instead of sums
    return np.bincount(group, weights=values, minlength=num_groups).astype(np.float64)


def more_messages(flow: at.FlowState) -> at.FlowState:
    """Return a state with twice the rows for messages, and with larger stacks and heaps of them."""
    old_size, ranks = len(flow.messages), len(flow.ranks)
    size = 2 * old_size
    messages = np.zeros(size, at.MESSAGE)
    messages[:old_size] = flow.messages
    # The new rows are free. They go on top of the stack, in falling order: the first of them is
    # taken first.
    free_messages = np.zeros(size, np.int32)
    num_free = int(flow.ints[at.NUM_FREE])
    free_messages[:num_free] = flow.free_messages[:num_free]
    free_messages[num_free : num_free + old_size] = np.arange(size - 1, old_size - 1, -1)
    flow.ints[at.NUM_FREE] = num_free + old_size
    # Every message and every rank has one event at most.
    time, event = np.zeros(size + ranks), np.zeros(size + ranks, np.int32)
    time[: old_size + ranks], event[: old_size + ranks] = flow.event_time, flow.event
    return flow._replace(
        messages=messages, free_messages=free_messages, event_time=time, event=event
    )


def larger_ring(flow: at.FlowState) -> at.FlowState:
    """Return a state with twice the ring, in which a send and its receive find each other."""
    message = flow.ring[flow.ring >= 0]  # those of which one end is posted
    ring = np.full(2 * len(flow.ring), -1, np.int32)
    # A message's index in the ring is its slot modulo the size, a power of two.
    ring[flow.messages["slot"][message] & (len(ring) - 1)] = message
    return flow._replace(ring=ring)
