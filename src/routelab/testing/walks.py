"""Single packets through a hop-by-hop program, without the packet engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from routelab.api import HopProgram, Topology, needed_classes, run_tables
from routelab.kernels.hops import (
    CAPACITY,
    CREDITS,
    DESTINATION,
    ESCAPE,
    HOPS,
    PACKET_COLUMNS,
    PHASE,
    SOURCE,
    STATE,
    STATES,
    TARGET,
    WAYPOINT,
)

FREE = 64
"""Units in a buffer of a walker's network; all of them are free unless its queues are changed."""


@dataclass(frozen=True)
class Candidate:
    """What a hop function offers.

    Attributes
    ----------
    channel : int
    vc : int
        The class of virtual channel, those of phase 1 behind those of phase 0.
    penalty : int
    """

    channel: int
    vc: int
    penalty: int

    @property
    def escape(self) -> bool:
        """Whether it counts as an escape."""
        return self.penalty >= ESCAPE


@dataclass(frozen=True)
class Walk:
    """The way of a packet.

    Attributes
    ----------
    hops : tuple of Candidate
        Those that it took.
    offers : tuple of tuple of Candidate
        All that it had, hop by hop.
    waypoint : int
        −1 for none.
    arrived : bool
        False if all candidates were blocked, there was none, or it took too many hops.
    """

    hops: tuple[Candidate, ...]
    offers: tuple[tuple[Candidate, ...], ...]
    waypoint: int
    arrived: bool

    @property
    def channels(self) -> list[int]:
        """Channels of the way."""
        return [hop.channel for hop in self.hops]


class Walker:
    """A program on a network in which nobody else is.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    seed : int
        Of the random words that functions get, and of the choice among equal candidates.

    Attributes
    ----------
    queues : int32 array
        Every class of virtual channel is one buffer of `FREE` units; lower its CREDITS to make it
        look occupied: row ``channel * classes + class``.
    """

    def __init__(self, program: HopProgram, topology: Topology, seed: int = 0) -> None:
        self.program, self.topology = program, topology
        self.random = Random(seed)
        self.classes = needed_classes(program)
        # compiled functions take arrays that may be written to
        self.reals = program.reals.copy()
        self.tables, self.queues, _ = run_tables(program, topology, self.classes, capacity=FREE)
        self._packets = np.zeros((1, PACKET_COLUMNS), np.int32)
        self._out = np.zeros((program.candidates, 3), np.int32)

    def walk(
        self,
        source: int,
        target: int,
        blocked: Callable[[Candidate], bool] = lambda candidate: False,
    ) -> Walk:
        """Send a packet from switch to switch.

        Parameters
        ----------
        source, target : int
        blocked : function
            Candidates that cannot be taken.
        """
        self._inject(source, target)
        packet = self._packets[0]
        waypoint = int(packet[WAYPOINT])
        most = self.program.max_hops
        limit = 4 * self.topology.num_switches + 4 if most is None else most
        here, last = source, Candidate(-1, -1, 0)
        hops: list[Candidate] = []
        offers: list[tuple[Candidate, ...]] = []
        while not self._is_there(here):
            if packet[PHASE] == 0 and packet[WAYPOINT] == here:
                self._pass_waypoint()
                last = Candidate(-1, -1, 0)
                continue
            offered = self._offers(here, last)
            offers.append(offered)
            chosen = self._choice([one for one in offered if not blocked(one)])
            if chosen is None or len(hops) == limit:
                return Walk(tuple(hops), tuple(offers), waypoint, False)
            hops.append(chosen)
            packet[HOPS] += 1
            here, last = int(self.topology.channel_target[chosen.channel]), chosen
        return Walk(tuple(hops), tuple(offers), waypoint, True)

    def _inject(self, source: int, target: int) -> None:
        packet = self._packets[0]
        packet[:] = 0
        packet[[SOURCE, TARGET, DESTINATION]] = source, target, target
        packet[WAYPOINT] = -1
        if self.program.inject is not None and source != target:
            self.program.inject(
                self.tables,
                self.reals,
                self._packets,
                0,
                self.queues,
                self.program.hop,
                self._word(),
                self._out,
            )
        if packet[WAYPOINT] >= 0:
            packet[TARGET] = packet[WAYPOINT]

    def _is_there(self, here: int) -> bool:
        packet = self._packets[0]
        on_the_way = packet[WAYPOINT] >= 0 and packet[PHASE] == 0
        return not on_the_way and here == packet[DESTINATION]

    def _pass_waypoint(self) -> None:
        packet = self._packets[0]
        packet[PHASE], packet[TARGET] = 1, packet[DESTINATION]
        packet[STATE : STATE + STATES] = 0

    def _offers(self, here: int, last: Candidate) -> tuple[Candidate, ...]:
        shift = int(self._packets[0, PHASE]) * self.program.vc_classes
        came_by = last.vc - shift if last.channel >= 0 else -1
        count = self.program.hop(
            self.tables,
            self._packets,
            0,
            self.queues,
            here,
            last.channel,
            came_by,
            self._word(),
            self._out,
        )
        rows = self._out[:count].tolist()
        return tuple(Candidate(channel, vc + shift, penalty) for channel, vc, penalty in rows)

    def _choice(self, free: list[Candidate]) -> Candidate | None:
        if not free:
            return None
        costs = [self._cost(candidate) for candidate in free]
        least = min(costs)
        best = [one for one, cost in zip(free, costs, strict=True) if cost == least]
        return self.random.choice(best)

    def _cost(self, candidate: Candidate) -> int:
        if not self.program.by_occupancy:
            return candidate.penalty
        row = self.queues[candidate.channel * self.classes + candidate.vc]
        return candidate.penalty + int(row[CAPACITY] - row[CREDITS])

    def _word(self) -> np.uint64:
        return np.uint64(self.random.getrandbits(64))
