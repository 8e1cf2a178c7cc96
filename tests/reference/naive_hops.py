"""Routing for the naive router: lists of hops, or the compiled functions of a program."""

from __future__ import annotations

import random

import numpy as np

from routelab.api.hops import HopProgram, run_tables
from routelab.api.topology import Topology
from routelab.kernels import hops as abi


class ListedRoutes:
    """Routing by lists: (source switch, destination) to hops as (channel, class).

    Destinations are switches, or terminals with `per_terminal`.
    """

    phases = 1
    by_occupancy, rest = False, None
    ranking, again, escape_wait = "room", False, 0

    def __init__(self, routes, classes=1, bubble=(), per_terminal=False):
        self.routes, self.vc_classes, self.bubble = routes, classes, bubble
        self.per_terminal = per_terminal

    def start(self, packet, twin):
        packet.waypoint = -1

    def candidates(self, packet, switch, channel, vc, twin):
        target = packet.target if self.per_terminal else twin.switch_of(packet.target)
        ends = twin.switch_of(packet.source), target
        return [(*self.routes[ends][packet.hops], 0)]


class CompiledRoutes:
    """Routing by the compiled functions of a `HopProgram`."""

    def __init__(self, program: HopProgram, topology: Topology, vcs: int, packets: int):
        self.program, self.vcs = program, vcs
        self.phases, self.vc_classes = program.phases, program.vc_classes
        self.by_occupancy, self.rest = program.by_occupancy, program.rest
        self.bubble = program.bubble
        self.ranking, self.again = program.ranking, program.again
        self.escape_wait = program.escape_wait
        self.made = None
        self.topology = topology
        self.rows = np.zeros((packets, abi.PACKET_COLUMNS), dtype=np.int32)
        self.out = np.zeros((program.candidates, 3), dtype=np.int32)
        self.rng = random.Random(0)

    def _look(self, twin, switch):
        """Run-time tables, and rows of queues as they are now, of channels that leave a switch."""
        capacity = twin.units(twin.capacity)
        if self.made is None:
            unit, packet = twin.piece, twin.length
            self.made = run_tables(
                self.program,
                self.topology,
                self.vcs,
                capacity=capacity,
                unit_flits=unit,
                packet_flits=packet,
            )
        tables, queues, buffers = self.made
        starts, leaving = self.topology.outgoing
        for channel in leaving[starts[switch] : starts[switch + 1]].tolist():
            port = twin.channels[channel]
            for vc in range(self.vcs):
                free = capacity - twin.units(twin.occupied(port, vc))
                queues[channel * self.vcs + vc, abi.CREDITS] = free
            if self.program.waiting:
                queues[buffers + channel, abi.FRONT_FLITS] = twin.waiting_flits(channel)
        return tables, queues

    def start(self, packet, twin):
        row = self.rows[packet.number]
        source, target = twin.switch_of(packet.source), twin.switch_of(packet.target)
        tables, queues = self._look(twin, source)
        row[[abi.SOURCE, abi.TARGET, abi.DESTINATION, abi.WAYPOINT]] = source, target, target, -1
        row[[abi.SOURCE_TERMINAL, abi.TARGET_TERMINAL]] = packet.source, packet.target
        if self.program.inject is not None:
            bits = abi.RandomWord(np.uint64(self.rng.getrandbits(64)))
            self.program.inject(
                tables,
                self.program.reals.copy(),
                self.rows,
                packet.number,
                queues,
                self.program.hop,
                bits,
                self.out,
            )
        packet.waypoint = int(row[abi.WAYPOINT])

    def candidates(self, packet, switch, channel, vc, twin):
        tables, queues = self._look(twin, switch)
        row = self.rows[packet.number]
        if packet.phase != row[abi.PHASE] and not self.program.keeps_state:
            row[abi.STATE : abi.STATE + abi.STATES] = 0
        ahead = twin.switch_of(packet.target) if packet.waypoint < 0 else packet.waypoint
        row[[abi.TARGET, abi.PHASE, abi.HOPS]] = ahead, packet.phase, packet.hops
        bits = abi.RandomWord(np.uint64(self.rng.getrandbits(64)))
        count = self.program.hop(
            tables, self.rows, packet.number, queues, switch, channel, vc, bits, self.out
        )
        if packet.phase == 0:
            packet.waypoint = int(row[abi.WAYPOINT])
        return self.out[:count].tolist()
