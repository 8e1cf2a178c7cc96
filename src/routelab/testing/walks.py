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
"""Largest number of calls of hop for a packet that cannot move, if the program is asked again."""


@dataclass(frozen=True)
class Candidate:
    """A candidate of a hop function.

    Attributes
    ----------
    channel : int
    vc : int
        The class of virtual channels; those of phase 1 follow those of phase 0.
    penalty : int
    """

    channel: int
    vc: int
    penalty: int

    @property
    def escape(self) -> bool:
        """Whether the candidate is an escape."""
        return self.penalty >= ESCAPE


@dataclass(frozen=True)
class Walk:
    """The path of a packet.

    Attributes
    ----------
    hops : tuple of Candidate
        The candidates that it took.
    offers : tuple of tuple of Candidate
        All its candidates, hop by hop.
    waypoint : int
        −1 for none; the last one if hop changed it.
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
        self.classes = needed_classes(program)
        # compiled functions take writable arrays
        self.reals = program.reals.copy()
        run = run_tables(program, topology, self.classes, capacity=FREE)
        self.tables, self.queues, self._inside = run.tables, run.queues, run.buffers
        self._packets = np.zeros((1, PACKET_COLUMNS), np.int32)
        # rows of (channel, vc, penalty), which hop fills
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
        row = self._row(channel, vc)
        self.queues[row, CREDITS] = self.queues[row, CAPACITY] - flits

    def occupancy(self, channel: int, vc: int) -> int:
        """Return the flits in a buffer; see `occupy`."""
        row = self.queues[self._row(channel, vc)]
        return int(row[CAPACITY] - row[CREDITS])

    def keep_waiting(self, channel: int, flits: int) -> None:
        """Set how many flits wait for a channel inside the switch that it leaves.

        Raises
        ------
        ValueError
            If the program does not use these queues (`HopProgram.waiting`).
        """
        if not self.program.waiting:
            raise ValueError("the program has waiting=False, so waiting flits are not counted")
        self.queues[self._inside + self._number(channel), FRONT_FLITS] = flits

    def _number(self, channel: int) -> int:
        if not 0 <= channel < self.topology.num_channels:
            raise ValueError(f"channel {channel}: there are 0..{self.topology.num_channels - 1}")
        return channel

    def _row(self, channel: int, vc: int) -> int:
        if not 0 <= vc < self.classes:
            raise ValueError(f"class {vc}: there are 0..{self.classes - 1}")
        return self._number(channel) * self.classes + vc

    def walk(
        self,
        source: int,
        target: int,
        blocked: Callable[[Candidate], bool] = lambda candidate: False,
        *,
        terminals: tuple[int, int] | None = None,
    ) -> Walk:
        """Send a packet from switch to switch.

        Parameters
        ----------
        source, target : int
        blocked : function
            Whether a candidate has no room.
        terminals : tuple of int, optional
            Terminals that send and receive the packet (default: the first of each switch, −1 if
            it has none).
        """
        packet = self._packets[0]
        sender, receiver = ((*self.terminals_of(end), -1)[0] for end in (source, target))
        self._enter(source, target, terminals or (sender, receiver))
        max_hops = self.program.max_hops
        limit = 4 * self.topology.num_switches + 4 if max_hops is None else max_hops
        switch, arrival = source, Candidate(-1, -1, 0)
        hops: list[Candidate] = []
        offers: list[tuple[Candidate, ...]] = []
        while not self._is_there(switch):
            if packet[PHASE] == 0 and packet[WAYPOINT] == switch:
                self._pass_waypoint()
                arrival = Candidate(-1, -1, 0)
                continue
            candidates, chosen = self._decide(switch, arrival, blocked)
            offers.append(candidates)
            if chosen is None or len(hops) == limit:
                return Walk(tuple(hops), tuple(offers), int(packet[WAYPOINT]), False)
            hops.append(chosen)
            packet[HOPS] += 1
            switch, arrival = int(self.topology.channel_target[chosen.channel]), chosen
        return Walk(tuple(hops), tuple(offers), int(packet[WAYPOINT]), True)

    def terminals_of(self, switch: int) -> list[int]:
        """Return the terminals of a switch."""
        terminals: list[int] = np.flatnonzero(self.topology.terminal_switch == switch).tolist()
        return terminals

    def _enter(self, source: int, target: int, terminals: tuple[int, int]) -> None:
        """Inject a packet: fill its fields, and go to its waypoint first if there is one."""
        packet = self._packets[0]
        packet[:] = 0
        packet[[SOURCE, TARGET, DESTINATION]] = source, target, target
        packet[[SOURCE_TERMINAL, TARGET_TERMINAL]] = terminals
        packet[WAYPOINT] = -1
        if self.program.inject is not None and source != target:
            self._call_inject(self._random_bits())
        if packet[WAYPOINT] >= 0:
            packet[TARGET] = packet[WAYPOINT]

    def _call_inject(self, random_bits: Any) -> None:
        """Let the program's inject fill the packet's row.

        The candidates are scratch for calls of hop inside inject.
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
        """Let the program's hop fill `_candidates`; return how many there are."""
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

    def _is_there(self, switch: int) -> bool:
        packet = self._packets[0]
        on_the_way = packet[WAYPOINT] >= 0 and packet[PHASE] == 0
        return not on_the_way and switch == packet[DESTINATION]

    def _pass_waypoint(self) -> None:
        packet = self._packets[0]
        packet[PHASE], packet[TARGET] = 1, packet[DESTINATION]
        if not self.program.keeps_state:
            packet[STATE : STATE + STATES] = 0

    def _decide(
        self, switch: int, arrival: Candidate, blocked: Callable[[Candidate], bool]
    ) -> tuple[tuple[Candidate, ...], Candidate | None]:
        """Return the candidates of the last call of hop, and the one that is taken, if any."""
        candidates: tuple[Candidate, ...] = ()
        for _ in range(MOST_CALLS if self.program.again else 1):
            offers = self._offers(switch, arrival)
            if offers is None:
                break
            candidates = offers
            chosen = self._choice(candidates, blocked)
            if chosen is not None:
                return candidates, chosen
        return candidates, None

    def _offers(self, switch: int, arrival: Candidate) -> tuple[Candidate, ...] | None:
        """Return the candidates at a switch; None if hop sets an invalid waypoint."""
        packet = self._packets[0]
        # hop numbers the classes of one phase from 0, candidates those of both phases
        shift, waypoint = int(packet[PHASE]) * self.program.vc_classes, int(packet[WAYPOINT])
        vc_of_arrival = arrival.vc - shift if arrival.channel >= 0 else -1
        count = self._call_hop(switch, arrival.channel, vc_of_arrival, self._random_bits())
        if packet[WAYPOINT] != waypoint and not self._follows_waypoint(switch):
            return None
        rows = self._candidates[: max(count, 0)].tolist()
        return tuple(Candidate(channel, vc + shift, penalty) for channel, vc, penalty in rows)

    def _follows_waypoint(self, switch: int) -> bool:
        """Make the waypoint that hop has set or removed the target; return whether it is valid."""
        packet, program = self._packets[0], self.program
        waypoint = int(packet[WAYPOINT])
        target = waypoint if waypoint >= 0 else int(packet[DESTINATION])
        if program.phases < 2 or packet[PHASE] or target == switch:
            return False
        if not -1 <= waypoint < self.topology.num_switches:
            return False
        packet[TARGET] = target
        return True

    def _choice(
        self, candidates: tuple[Candidate, ...], blocked: Callable[[Candidate], bool]
    ) -> Candidate | None:
        """Return the candidate that the program's ranking prefers; None: the packet waits."""
        free = [candidate for candidate in candidates if not blocked(candidate)]
        if self.program.ranking == "room":
            return self._cheapest(free)
        cheapest = self._cheapest(candidates)
        if cheapest is None or not blocked(cheapest):
            return cheapest
        if self.program.ranking == "best":
            return None
        return self._cheapest([candidate for candidate in free if candidate.escape])

    def _cheapest(self, candidates: Sequence[Candidate]) -> Candidate | None:
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
