"""Naive twin of the packet engine: every cycle, every port, flit by flit, in plain Python.

Written from the record of the router model and from nothing else. What the record leaves open is
settled where it comes up, marked "settled:".
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from math import ceil

from naive_deadlock import ring_successors

from routelab.api.topology import Topology
from routelab.api.traffic import Messages
from routelab.kernels.hops import ESCAPE
from routelab.simulation.packet.router import Router


@dataclass(eq=False)
class Packet:
    """A packet; `hops` counts channels that its head was granted."""

    number: int
    message: int
    source: int
    target: int
    hops: int = 0
    phase: int = 0
    waypoint: int = -1
    injected_at: int = -1
    delivered_at: int = -1


@dataclass(eq=False)
class Port:
    """A channel, a terminal's way in (with buffers at the far end) or its way out (without).

    Flits of a (port, virtual channel) are promised, queued, flying, buffered, gone (sent on while
    their packet's tail is still there) or returning as credits. Of the packet at the front of
    each buffer, `choices` are the candidates, `ways` the (port, virtual channel) granted,
    `asked` the cycle of the first look, and `moved` the flits that went there. A channel with FIFOs
    keeps in `fifos` what waits for it, in `reserved` the flits of room that are taken in each, in
    `ahead` those whose credit is not yet taken, and in `link_vc` the virtual channel whose packet
    it sends (cut-through).
    """

    index: int
    kind: str
    delay: int
    credit_delay: int
    period: int
    vcs: int
    capacity: int
    channel: int = -1
    credits: list = field(init=False)
    promised: list = field(init=False)
    holder: list = field(init=False)
    gone: list = field(init=False)
    buffers: list = field(init=False)
    choices: list = field(init=False)
    ways: list = field(init=False)
    moved: list = field(init=False)
    granted_at: list = field(init=False)
    flying: deque = field(default_factory=deque)
    returning: deque = field(default_factory=deque)
    queue: deque = field(default_factory=deque)
    fifos: list = field(init=False)
    reserved: list = field(init=False)
    ahead: list = field(init=False)
    sent_room: list = field(default_factory=list)
    link_vc: int | None = None
    next_link_vc: int = 0
    owner: Packet | None = None
    sending: tuple | None = None
    moving: int | None = None
    next_vc: int = 0
    next_input: int = 0
    free_at: int = 0
    flits: list = field(init=False)

    def __post_init__(self):
        self.credits = [self.capacity] * self.vcs
        self.granted_at = [-1] * self.vcs
        self.promised, self.gone, self.flits, self.moved = ([0] * self.vcs for _ in range(4))
        self.holder, self.choices, self.ways = ([None] * self.vcs for _ in range(3))
        self.asked = [0] * self.vcs
        self.buffers, self.fifos = ([deque() for _ in range(self.vcs)] for _ in range(2))
        self.reserved, self.ahead = [0] * self.vcs, [0] * self.vcs

    def send(self, now, vc, packet, number):
        assert self.free_at <= now, "two flits of one link at a time"
        self.free_at = now + self.period
        self.flits[vc] += 1
        self.flying.append((now + self.delay, vc, packet, number))

    def accounted(self, vc):
        """Flits of room that are somewhere; the law says: as many as the capacity."""
        return (
            self.credits[vc]
            + self.promised[vc]
            + sum(entry[1] == vc for entry in self.flying)
            + len(self.buffers[vc])
            + self.gone[vc]
            + sum(count for _, back, count in self.returning if back == vc)
        )


class NaiveNetwork:
    """The network in cycle `now`; all messages are there from cycle 0 on."""

    def __init__(
        self, topology: Topology, routing, router: Router, messages: Messages, message_packets=1
    ):
        self.topology, self.routing, self.router = topology, routing, router
        self.length, self.vcs = router.packet_flits, router.vcs
        # settled: ways out have a queue where channels do
        self.queueing = router.output_buffer_flits > 0
        self.fifo_flits = router.output_buffer_flits // router.unit_flits * router.unit_flits
        self.wormhole = router.switching == "wormhole"
        assert not (self.wormhole and routing.bubble and self.length > 1), "not modelled"
        # buffers hold whole packets, under wormhole any flits
        piece = 1 if self.wormhole else self.length
        self.piece, self.capacity = piece, router.buffer_flits // piece * piece
        classes = routing.vc_classes * routing.phases
        share = [self.vcs // classes if routing.rest is None else 1] * classes
        if routing.rest is not None:
            share[routing.rest] = self.vcs - classes + 1
        assert min(share) >= 1
        first = [sum(share[:k]) for k in range(classes)]
        self.lanes = [list(range(f, f + n)) for f, n in zip(first, share, strict=True)]
        self.left = []
        self.after = ring_successors(topology) if routing.bubble else {}
        self.now = 0
        self._make_ports()
        self._make_packets(messages, message_packets)

    def _make_ports(self):
        topology, router = self.topology, self.router
        self.channels, self.ways_in, self.ways_out = [], [], []
        for c in range(topology.num_channels):
            delay, latency = router.link_delay, float(topology.channel_latency[c])
            if router.cycle_seconds > 0 and latency > 0:
                # settled: whole cycles, rounded up
                delay = max(1, ceil(latency / router.cycle_seconds - 1e-9))
            period = round(1 / float(topology.channel_capacity[c]))
            # settled: the way back for credits is longer by as much as the way there
            back = router.credit_delay + max(0, delay - router.link_delay)
            port = Port(c, "channel", delay, back, period, self.vcs, self.capacity, c)
            self.channels.append(port)
        for t in range(topology.num_terminals):
            back = router.credit_delay
            into = Port(t, "in", router.injection_delay, back, 1, self.vcs, self.capacity)
            self.ways_in.append(into)
            self.ways_out.append(Port(t, "out", router.ejection_delay, 0, 1, 1, 0))
        # settled: inputs of a switch are its channels in ascending order, then its terminals
        self.inputs = [[] for _ in range(topology.num_switches)]
        for c, switch in enumerate(topology.channel_target.tolist()):
            self.inputs[switch].append(self.channels[c])
        for t, switch in enumerate(topology.terminal_switch.tolist()):
            self.inputs[switch].append(self.ways_in[t])

    def _make_packets(self, messages, message_packets):
        self.packets, self.waiting = [], [deque() for _ in self.ways_in]
        for t in range(self.topology.num_terminals):
            for m in range(int(messages.start[t]), int(messages.start[t + 1])):
                for _ in range(message_packets):
                    packet = Packet(len(self.packets), m, t, int(messages.target[m]))
                    self.packets.append(packet)
                    self.waiting[t].append(packet)
        self.ejected_flits = 0

    def switch_of(self, terminal):
        return int(self.topology.terminal_switch[terminal])

    def units(self, flits):
        return flits // self.piece

    @property
    def finished(self):
        return all(packet.delivered_at >= 0 for packet in self.packets)

    def run(self, limit):
        """Cycles until all is delivered, at most `limit`; whether it is."""
        while self.now < limit and not self.finished:
            self.cycle()
        return self.finished

    def cycle(self):
        self._arrivals()
        for terminal in range(len(self.ways_in)):
            self._inject(terminal)
        for switch in range(self.topology.num_switches):
            self._ask(switch)
            for _ in range(self.router.speedup):
                self._allocate(switch)
        for out, vc in self.left:
            out.holder[vc] = None
        self.left.clear()
        for port in self.channels:
            self._take_from_fifo(port)
        for port in self.ways_out:
            if port.queue and port.free_at <= self.now:
                port.send(self.now, *port.queue.popleft())
        self._check_laws()
        self.now += 1

    def _arrivals(self):
        for port in self.channels:
            while port.sent_room and port.sent_room[0][0] <= self.now:
                port.reserved[port.sent_room.pop(0)[1]] -= self.piece
        for port in self.channels + self.ways_in:
            while port.returning and port.returning[0][0] <= self.now:
                _, vc, count = port.returning.popleft()
                port.credits[vc] += count
            while port.flying and port.flying[0][0] <= self.now:
                _, vc, packet, number = port.flying.popleft()
                port.buffers[vc].append((self.now + self.router.router_delay, packet, number))
        for port in self.ways_out:
            while port.flying and port.flying[0][0] <= self.now:
                _, _, packet, number = port.flying.popleft()
                self.ejected_flits += 1
                if number == self.length - 1:
                    packet.delivered_at = self.now

    def _take_from_fifo(self, port):
        """Send a flit of a FIFO; under cut-through whole packets, one behind the other."""
        if port.free_at > self.now:
            return
        if port.link_vc is None:
            able = [v for v in range(self.vcs) if port.fifos[v] and port.credits[v] >= self.piece]
            if not able:
                return
            if self.router.priority == "age":
                # settled: of one age, and here all are, the packet with the lowest virtual channel
                vc = able[0]
            else:
                vc = min(able, key=lambda v: (v < port.next_link_vc, v))
            port.next_link_vc = vc + 1
            self._take_room(port, vc)
            port.ahead[vc] -= self.piece
            port.link_vc, port.left = vc, self.piece
        vc = port.link_vc
        port.promised[vc] -= 1
        port.send(self.now, vc, *port.fifos[vc].popleft())
        port.left -= 1
        if not port.left:
            # settled: the room of a unit is free when all of it has left
            port.link_vc = None
            port.sent_room.append((port.free_at, vc))

    def _inject(self, terminal):
        """A terminal sends at most one flit; packets do not mix on its way in."""
        port = self.ways_in[terminal]
        if port.sending is None:
            # settled: a terminal takes the buffer with the most room, the first of several
            vc = max(range(self.vcs), key=lambda v: port.credits[v])
            if not self.waiting[terminal] or port.credits[vc] < self.piece:
                return
            packet = self.waiting[terminal].popleft()
            packet.injected_at = self.now
            # settled: a packet for its own switch makes no choices
            if self.switch_of(packet.source) != self.switch_of(packet.target):
                self.routing.start(packet, self)
            number = 0
        else:
            packet, vc, number = port.sending
        if self.wormhole or not number:
            if not port.credits[vc]:
                return
            self._take_room(port, vc)
        port.promised[vc] -= 1
        port.send(self.now, vc, packet, number)
        port.sending = (packet, vc, number + 1) if number < self.length - 1 else None

    def _take_room(self, port, vc):
        if port.kind != "out":
            port.credits[vc] -= self.piece
            port.promised[vc] += self.piece
            assert port.credits[vc] >= 0

    def _ask(self, switch):
        """Look the fronts of buffers up, before anything moves at their switch in this cycle."""
        for port in self.inputs[switch]:
            # settled: a port that still sends a packet on is not asked about another one
            if port.moving is not None:
                continue
            for vc in range(self.vcs):
                if not port.buffers[vc] or port.buffers[vc][0][0] > self.now:
                    continue
                _, packet, number = port.buffers[vc][0]
                if number == 0 and (port.choices[vc] is None or self.routing.again):
                    if port.choices[vc] is None:
                        port.asked[vc] = self.now
                    port.choices[vc] = self._look_up(packet, switch, port, vc)

    def waiting_flits(self, channel):
        """Flits at the switch that are to leave over a channel: queued for it, or decided."""
        out = self.channels[channel]
        flits = sum(map(len, out.fifos))
        for port in self.inputs[int(self.topology.channel_source[channel])]:
            for choices, way, moved in zip(port.choices, port.ways, port.moved, strict=True):
                if way is not None:
                    flits += (self.length - moved) * (way[0] is out)
                elif choices and (len(choices) == 1 or self.routing.ranking != "room"):
                    flits += self.length * (choices[0][0] is out)
        return flits

    def _allocate(self, switch):
        inputs = self.inputs[switch]
        # settled: an input that sends a packet on has nothing left for another one
        idle = [number for number, port in enumerate(inputs) if port.moving is None]
        taken = [port.ways[port.moving][0] for port in inputs if port.moving is not None]
        for port in inputs:
            if port.moving is not None:
                self._continue(port)
        proposals = defaultdict(list)
        for number in idle:
            port = inputs[number]
            wishes = []
            for vc in range(self.vcs):
                wish = self._wish(switch, port, vc)
                if wish is not None and wish[0] not in taken:
                    wishes.append((vc, *wish))
            if wishes:
                vc, out, out_vc = self._first(wishes, port.next_vc)
                proposals[id(out)].append((number, vc, out, out_vc))
        for rivals in proposals.values():
            out = rivals[0][2]
            number, vc, _, out_vc = self._first(rivals, out.next_input)
            # settled: round-robin moves on only where a proposal was taken
            inputs[number].next_vc, out.next_input = vc + 1, number + 1
            self._grant(inputs[number], vc, out, out_vc)

    def _first(self, entries, pointer):
        """Who goes first: entries begin with the number of a virtual channel or an input."""
        if self.router.priority == "age":
            # settled: of one age, and here all are, the one with the lowest number
            return min(entries, key=lambda e: e[0])
        return min(entries, key=lambda e: (e[0] < pointer, e[0]))

    def _wish(self, switch, port, vc):
        """The (port, virtual channel) that the front flit of a buffer can go to now, or None."""
        if not port.buffers[vc] or port.buffers[vc][0][0] > self.now:
            return None
        # settled: a virtual channel is granted something once a cycle, whatever the speed-up
        if port.granted_at[vc] == self.now:
            return None
        _, packet, number = port.buffers[vc][0]
        if number:
            way = port.ways[vc]
            return way if self._has_room(*way, 1, held_by=packet) else None
        if port.choices[vc] is None:
            port.choices[vc] = self._look_up(packet, switch, port, vc)
        best = None
        for out, options, penalty, need in port.choices[vc]:
            for out_vc in options:
                # settled: of the virtual channels of a class the one with the most room goes first
                cost = (penalty, self.occupied(out, out_vc))
                if self.routing.by_occupancy and out.kind == "channel":
                    cost = (penalty + self.units(self.occupied(out, out_vc)), 0)
                if self._has_room(out, out_vc, need) and (best is None or cost < best[0]):
                    best = (cost, out, out_vc)
        return best and best[1:]

    def _look_up(self, packet, switch, port, vc):
        """Candidates as (port, virtual channels that will do, penalty, flits of room needed)."""
        classes, lanes = self.routing.vc_classes, self.lanes
        name = next((k for k, vcs in enumerate(lanes) if vc in vcs), 0)
        if packet.waypoint == switch:
            packet.waypoint, packet.phase = -1, 1
        came = (port.channel, name - packet.phase * classes)
        if came[1] < 0:
            # settled: behind its waypoint a packet is as if injected there
            came = (-1, -1)
        if packet.waypoint < 0 and self.switch_of(packet.target) == switch:
            return [(self.ways_out[packet.target], [0], 0, 0)]
        if port.kind == "in":
            came = (-1, -1)
        candidates = []
        for channel, named, penalty in self.routing.candidates(packet, switch, *came, self):
            kind = named + packet.phase * classes
            options = lanes[kind]
            need = self.piece
            if kind in self.routing.bubble and channel in self.after:
                if self.after.get(port.channel) == channel and vc in options:
                    options = [vc]
                else:
                    need = 2 * self.length
            candidates.append((self.channels[channel], options, penalty, need, lanes[kind]))
        return [candidate[:4] for candidate in self._ranked(candidates, self.now - port.asked[vc])]

    def _ranked(self, candidates, waited):
        """The candidates that stand; the best one, if there is such, comes first at no cost."""
        if self.routing.ranking == "room":
            return candidates
        costs = [penalty for _, _, penalty, _, _ in candidates]
        if self.routing.by_occupancy:
            for k, (out, _, _, _, lanes) in enumerate(candidates):
                costs[k] += sum(self.units(self.occupied(out, vc)) for vc in lanes)
        best = costs.index(min(costs))
        stand = [(*candidates[best][:2], float("-inf"), *candidates[best][3:])]
        may_escape = waited >= min(500, self.routing.escape_wait * self.length)
        if self.routing.ranking == "best-or-escape" and (
            may_escape or candidates[best][2] >= ESCAPE
        ):
            stand += [
                candidate
                for k, candidate in enumerate(candidates)
                if k != best and candidate[2] >= ESCAPE
            ]
        return stand

    def occupied(self, out, vc):
        """Flits that wait at the output, and credits that are gone."""
        return out.ahead[vc] + self.capacity - out.credits[vc]

    def _has_room(self, out, vc, need, held_by=None):
        """Whether a head (or a flit of the packet that holds the virtual channel) can move."""
        if out.owner is not None or (out.kind != "out" and out.holder[vc] is not held_by):
            return False
        if out.kind == "channel" and self.queueing:
            return out.reserved[vc] + need <= self.fifo_flits
        if out.kind != "out" and out.credits[vc] < need:
            return False
        if self.queueing:
            # settled: the flit that leaves a queue in this cycle makes room in it
            leaving = bool(out.queue) and out.free_at <= self.now
            return len(out.queue) - leaving + self.piece <= self.router.output_buffer_flits
        return out.free_at <= self.now

    def _grant(self, port, vc, out, out_vc):
        _, packet, number = port.buffers[vc][0]
        port.granted_at[vc] = self.now
        if out.kind == "channel" and self.queueing:
            out.reserved[out_vc] += self.piece
            out.ahead[out_vc] += self.piece
        else:
            self._take_room(out, out_vc)
        if number == 0:
            port.ways[vc], port.choices[vc], port.moved[vc] = (out, out_vc), None, 0
            packet.hops += out.kind == "channel"
            if self.wormhole and self.length > 1 and out.kind != "out":
                # settled: nothing is held at a terminal's way out, packets may mix there
                out.holder[out_vc] = packet
            if not self.wormhole:
                port.moving, out.owner = vc, packet
        self._move(port, vc)

    def _continue(self, port):
        """The next flit of a packet that is on its way through the switch, if it is there."""
        vc = port.moving
        if not port.buffers[vc] or port.buffers[vc][0][0] > self.now:
            return
        out, _ = port.ways[vc]
        if self.queueing or out.free_at <= self.now:
            self._move(port, vc)

    def _move(self, port, vc):
        _, packet, number = port.buffers[vc].popleft()
        out, out_vc = port.ways[vc]
        if out.kind == "channel" and self.queueing:
            out.fifos[out_vc].append((packet, number))
        else:
            if out.kind != "out":
                out.promised[out_vc] -= 1
            if self.queueing:
                out.queue.append((out_vc, packet, number))
            else:
                out.send(self.now, out_vc, packet, number)
        port.gone[vc] += 1
        port.moved[vc] += 1
        last = number == self.length - 1
        if last or self.wormhole:
            back = (self.now + port.credit_delay, vc, port.gone[vc])
            port.returning.append(back)
            port.gone[vc] = 0
        if last:
            port.moving = out.owner = port.ways[vc] = None
            if out.kind != "out":
                # settled: free for others in the next cycle
                self.left.append((out, out_vc))

    def _check_laws(self):
        for port in self.channels + self.ways_in:
            for vc in range(self.vcs):
                assert port.accounted(vc) == self.capacity, "credits were lost or made"
        inside = 0
        for port in self.channels + self.ways_in + self.ways_out:
            inside += len(port.flying) + len(port.queue) + sum(map(len, port.buffers))
            inside += sum(map(len, port.fifos))
        waiting = sum(map(len, self.waiting)) * self.length
        for port in self.ways_in:
            waiting += self.length - port.sending[2] if port.sending else 0
        total = len(self.packets) * self.length
        assert waiting + inside + self.ejected_flits == total, "flits were lost or made"
