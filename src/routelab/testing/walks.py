"""Single packets through a hop-by-hop program, without the packet engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from routelab.api import HopProgram, Topology, needed_classes, run_tables
from routelab.kernels.hops import (
    CAPACITY,
    CREDITS,
    DESTINATION,
    ESCAPE,
    FRONT_FLITS,
    HOPS,
    PACKET_COLUMNS,
    PHASE,
    SOURCE,
    SOURCE_TERMINAL,
    STATE,
    STATES,
    TARGET,
    TARGET_TERMINAL,
    WAYPOINT,
    RandomWord,
)

FREE = 64
"""Flits that a buffer of a walker's network holds; all of them are free before `Walker.occupy`."""
PACKET = 0
"""Row of the walker's only packet."""
MOST_CALLS = 64
"""Largest number of calls of hop for a packet that cannot move, if the program has `again=True`."""


@dataclass(frozen=True)
class Candidate:
    """A hop that a hop function offers to a packet.

    Attributes
    ----------
    channel : int
    vc : int
        Number of the class of virtual channels, over both phases. A packet with a waypoint is in
        phase 0 on the way to it and in phase 1 behind it. With 2 classes in each phase, class 1 of
        phase 1 is number 3.
    penalty : int
        Cost of the candidate, by which the program's ranking chooses. `ESCAPE` or more marks an
        escape, which is taken only if no other candidate can be taken.
    """

    channel: int
    vc: int
    penalty: int

    @property
    def escape(self) -> bool:
        """Whether the candidate is an escape."""
        return self.penalty >= ESCAPE


_NO_ARRIVAL = Candidate(channel=-1, vc=-1, penalty=0)
"""The arrival of a packet at its source and at its waypoint, where hop gets no channel."""


@dataclass(frozen=True)
class Walk:
    """The path of a packet.

    Attributes
    ----------
    hops : tuple of Candidate
        The candidates that it took.
    offers : tuple of tuple of Candidate
        All its candidates at each switch, in the order of `hops`; then those at the switch where it
        could not move, if it did not arrive.
    waypoint : int
        The switch that the packet had to visit first, as inject or the last call of hop set it; −1
        for none.
    arrived : bool
        False if the packet could not move, took too many hops, or got an invalid waypoint.
    """

    hops: tuple[Candidate, ...]
    offers: tuple[tuple[Candidate, ...], ...]
    waypoint: int
    arrived: bool

    @property
    def channels(self) -> list[int]:
        """The channels of the path."""
        return [hop.channel for hop in self.hops]


class Walker:
    """A program on an otherwise empty network.

    Every class of virtual channels is one buffer of `FREE` flits, and packets have one flit.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    seed : int
        Seed of the random bits for functions, and of the choice among equal candidates.
    """

    def __init__(self, program: HopProgram, topology: Topology, seed: int = 0) -> None:
        self.program, self.topology = program, topology
        self.random = Random(seed)
        # one virtual channel for each class, so a class is a buffer
        self.classes = needed_classes(program)
        # compiled functions take writable arrays
        self.reals = program.reals.copy()
        run = run_tables(program, topology, self.classes, capacity=FREE)
        # A row of queues for the buffer of each channel and class. Behind these rows, if the
        # program reads waiting flits: a row for each channel, and one for the cycle.
        self.tables, self.queues, self._first_waiting_row = run.tables, run.queues, run.buffers
        self._packets = np.zeros((1, PACKET_COLUMNS), np.int32)
        # rows of (channel, class of the current phase, penalty), which hop fills
        self._candidates = np.zeros((program.candidates, 3), np.int32)

    def occupy(self, channel: int, vc: int, flits: int) -> None:
        """Set how many flits functions find in a buffer.

        Parameters
        ----------
        channel : int
        vc : int
            Class of virtual channels; those of phase 1 follow those of phase 0.
        flits : int
            Any number, even above `FREE`; it blocks no candidate.
        """
        row = self._queue_row(channel, vc)
        # credits are the free flits, which the helpers of functions subtract from the capacity
        self.queues[row, CREDITS] = self.queues[row, CAPACITY] - flits

    def occupancy(self, channel: int, vc: int) -> int:
        """Return the number of flits that `occupy` has put into a buffer."""
        row = self.queues[self._queue_row(channel, vc)]
        return int(row[CAPACITY] - row[CREDITS])

    def set_waiting_flits(self, channel: int, flits: int) -> None:
        """Set how many flits wait for a channel inside the switch that it leaves.

        Raises
        ------
        ValueError
            If the program does not use these queues (`HopProgram.waiting`).
        """
        if not self.program.waiting:
            raise ValueError("the program has waiting=False, so waiting flits are not counted")
        self.queues[self._first_waiting_row + self._require_channel(channel), FRONT_FLITS] = flits

    def _require_channel(self, channel: int) -> int:
        if not 0 <= channel < self.topology.num_channels:
            raise ValueError(f"channel {channel}: there are 0..{self.topology.num_channels - 1}")
        return channel

    def _queue_row(self, channel: int, vc: int) -> int:
        if not 0 <= vc < self.classes:
            raise ValueError(f"class {vc}: there are 0..{self.classes - 1}")
        return self._require_channel(channel) * self.classes + vc

    def walk(
        self,
        source: int,
        target: int,
        blocked: Callable[[Candidate], bool] = lambda candidate: False,
        *,
        terminals: tuple[int, int] | None = None,
    ) -> Walk:
        """Send a packet from one switch to another, and return its path.

        Parameters
        ----------
        source, target : int
            Switches.
        blocked : function
            Returns whether a candidate has no room (default: all have room).
        terminals : tuple of int, optional
            Terminals that send and receive the packet (default: the first of each switch, −1 if
            it has none).
        """
        # 1. Inject the packet.
        packet = self._packets[PACKET]
        if terminals is None:
            sender, receiver = (next(iter(self.terminals_of(end)), -1) for end in (source, target))
            terminals = sender, receiver
        self._inject_packet(source, target, terminals)

        # 2. Move it from switch to switch. A program without a limit may send it around forever, so
        #    such a walk ends after about four hops for each switch of the network.
        max_hops = self.program.max_hops
        limit = 4 * self.topology.num_switches + 4 if max_hops is None else max_hops
        switch, arrival = source, _NO_ARRIVAL
        hops: list[Candidate] = []
        offers: list[tuple[Candidate, ...]] = []
        while not self._has_arrived(switch):
            if packet[PHASE] == 0 and packet[WAYPOINT] == switch:
                self._begin_phase_1()
                arrival = _NO_ARRIVAL
                # Examine the loop's condition again: the waypoint may be the destination.
                continue
            candidates, chosen = self._choose_hop(switch, arrival, blocked)
            offers.append(candidates)
            if chosen is None or len(hops) == limit:
                return Walk(tuple(hops), tuple(offers), int(packet[WAYPOINT]), arrived=False)
            hops.append(chosen)
            packet[HOPS] += 1
            switch, arrival = int(self.topology.channel_target[chosen.channel]), chosen
        return Walk(tuple(hops), tuple(offers), int(packet[WAYPOINT]), arrived=True)

    def terminals_of(self, switch: int) -> list[int]:
        """Return the terminals of a switch."""
        terminals: list[int] = np.flatnonzero(self.topology.terminal_switch == switch).tolist()
        return terminals

    def _inject_packet(self, source: int, target: int, terminals: tuple[int, int]) -> None:
        """Fill the packet's row; its target is the waypoint that inject sets, if it sets one."""
        packet = self._packets[PACKET]
        packet[:] = 0
        packet[[SOURCE, TARGET, DESTINATION]] = source, target, target
        packet[[SOURCE_TERMINAL, TARGET_TERMINAL]] = terminals
        packet[WAYPOINT] = -1
        # The engine, too, calls inject only for packets to another switch.
        if self.program.inject is not None and source != target:
            self._call_inject(self._random_bits())
        if packet[WAYPOINT] >= 0:
            packet[TARGET] = packet[WAYPOINT]

    def _call_inject(self, random_bits: Any) -> None:
        """Let the program's inject change the packet's row, such as set a waypoint.

        The arguments are those of `INJECT`. It gets hop and room for candidates, because it may
        call hop to compare the candidates at several switches.
        """
        self.program.inject(
            self.tables,
            self.reals,
            self._packets,
            PACKET,
            self.queues,
            self.program.hop,
            random_bits,
            self._candidates,
        )

    def _call_hop(self, switch: int, channel: int, vc: int, random_bits: Any) -> int:
        """Let the program's hop write to the first rows of `_candidates`; return their number.

        The arguments are those of `HOP`. `channel` and `vc` (a class of the current phase) are
        those over which the packet came to `switch`, both −1 for `_NO_ARRIVAL`.
        """
        count: int = self.program.hop(
            self.tables,
            self._packets,
            PACKET,
            self.queues,
            switch,
            channel,
            vc,
            random_bits,
            self._candidates,
        )
        return count

    def _has_arrived(self, switch: int) -> bool:
        """Whether the packet is at its destination and has no waypoint still to visit."""
        packet = self._packets[PACKET]
        waypoint_ahead = packet[WAYPOINT] >= 0 and packet[PHASE] == 0
        return not waypoint_ahead and switch == packet[DESTINATION]

    def _begin_phase_1(self) -> None:
        """Send the packet from its waypoint on to its destination."""
        packet = self._packets[PACKET]
        packet[PHASE], packet[TARGET] = 1, packet[DESTINATION]
        if not self.program.keeps_state:
            packet[STATE : STATE + STATES] = 0

    def _choose_hop(
        self, switch: int, arrival: Candidate, blocked: Callable[[Candidate], bool]
    ) -> tuple[tuple[Candidate, ...], Candidate | None]:
        """Return the candidates of the last call of hop, and the candidate that the packet takes.

        The second is None if the packet cannot move, or if hop set an invalid waypoint.
        """
        candidates: tuple[Candidate, ...] = ()
        # With `again`, the engine calls hop anew while a packet waits. Each call gets new random
        # bits, so it may offer other candidates, of which one may have room.
        for _ in range(MOST_CALLS if self.program.again else 1):
            offered = self._call_for_candidates(switch, arrival)
            if offered is None:  # an invalid waypoint
                break
            candidates = offered
            chosen = self._choose(candidates, blocked)
            if chosen is not None:
                return candidates, chosen
        return candidates, None

    def _call_for_candidates(self, switch: int, arrival: Candidate) -> tuple[Candidate, ...] | None:
        """Call hop once at a switch and return its candidates; None if it set an invalid waypoint.

        Parameters
        ----------
        switch : int
        arrival : Candidate
            The hop over which the packet came to the switch.
        """
        packet = self._packets[PACKET]
        # hop counts the classes of the current phase from 0; a Candidate counts those of both
        # phases. With 2 classes in each phase, class 1 of hop in phase 1 is class 3 of a Candidate.
        first_class = int(packet[PHASE]) * self.program.vc_classes
        waypoint_before = int(packet[WAYPOINT])
        # The arrival, if any, is of the current phase, because a phase begins without one.
        arrival_vc = arrival.vc - first_class if arrival.channel >= 0 else -1
        count = self._call_hop(switch, arrival.channel, arrival_vc, self._random_bits())
        if packet[WAYPOINT] != waypoint_before and not self._aim_at_waypoint(switch):
            return None
        # A faulty hop may return a negative count, with which a slice would count from the end.
        rows = self._candidates[: max(count, 0)].tolist()
        return tuple(Candidate(channel, vc + first_class, penalty) for channel, vc, penalty in rows)

    def _aim_at_waypoint(self, switch: int) -> bool:
        """Set TARGET to the waypoint that hop has just set, or to the destination if it removed it.

        Return False, and leave TARGET as it is, if hop must not set or remove the waypoint now.
        """
        packet = self._packets[PACKET]
        waypoint = int(packet[WAYPOINT])
        target = waypoint if waypoint >= 0 else int(packet[DESTINATION])
        # There is no waypoint in a program of one phase, and no second one behind the first.
        if self.program.phases < 2 or packet[PHASE] != 0:
            return False
        # A packet that is at its target needs no next hop. But the packet takes one of the
        # candidates that this call has written with the waypoint, and so would leave its target.
        if target == switch:
            return False
        # −1 removes the waypoint; anything else must be a switch.
        if not -1 <= waypoint < self.topology.num_switches:
            return False
        packet[TARGET] = target
        return True

    def _choose(
        self, candidates: tuple[Candidate, ...], blocked: Callable[[Candidate], bool]
    ) -> Candidate | None:
        """Return the candidate that the program's ranking prefers; None: the packet waits."""
        free = [candidate for candidate in candidates if not blocked(candidate)]
        # "room" takes the cheapest candidate with room.
        if self.program.ranking == "room":
            return self._draw_cheapest(free)
        # "best" and "best-or-escape" take the cheapest of all candidates if it has room.
        cheapest = self._draw_cheapest(candidates)
        if cheapest is None or not blocked(cheapest):
            return cheapest
        # Without room, "best" waits for it, and "best-or-escape" takes an escape with room.
        if self.program.ranking == "best":
            return None
        return self._draw_cheapest([candidate for candidate in free if candidate.escape])

    def _draw_cheapest(self, candidates: Sequence[Candidate]) -> Candidate | None:
        """Return one of the candidates of least cost, drawn at random; None without candidates."""
        if not candidates:
            return None
        costs = [self._cost(candidate) for candidate in candidates]
        least = min(costs)
        cheapest = [offer for offer, cost in zip(candidates, costs, strict=True) if cost == least]
        return self.random.choice(cheapest)

    def _cost(self, candidate: Candidate) -> int:
        if not self.program.by_occupancy:
            return candidate.penalty
        return candidate.penalty + self.occupancy(candidate.channel, candidate.vc)

    def _random_bits(self) -> RandomWord:
        return RandomWord(np.uint64(self.random.getrandbits(64)))
