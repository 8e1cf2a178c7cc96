"""The flow model in plain Python: every rank a generator, all shares anew at every event.

Written from docs/concepts/flows.md; knows nothing of heaps, bundles, rings or tapes of slots.
"""

import math
from dataclasses import dataclass, field

from simulated import between

from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND

CLOSE = 1e-12


@dataclass(eq=False)
class Message:
    source: int
    target: int
    bytes: float
    resources: list
    delay: float
    eager: bool
    sent_at: float | None = None
    ready_at: float | None = None
    started: bool = False
    left: float = 0.0
    done: bool = False


@dataclass
class Outcome:
    marks: dict = field(default_factory=dict)  # (rank, place on the tape) -> seconds
    resource_bytes: dict = field(default_factory=dict)
    messages: int = 0
    stuck: list = field(default_factory=list)


def fair_rates(flows, capacity):
    """Progressive filling: raise all rates together, fix those that a full resource holds."""
    left = dict(capacity)
    rates = {}
    open_ = list(flows)
    while open_:
        shares = {}
        for flow in open_:
            for resource in flow.resources:
                shares[resource] = shares.get(resource, 0) + 1
        level, full = min((left[r] / count, r) for r, count in shares.items())
        for flow in [flow for flow in open_ if full in flow.resources]:
            rates[flow] = level
            open_.remove(flow)
            for resource in flow.resources:
                left[resource] -= level
    return rates


def mixed(word):
    mask = 2**64 - 1
    z = (word + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


class Network:
    """Resources by name, and the path of a message."""

    def __init__(self, paths, machine, seed):
        self.paths, self.machine, self.seed = paths, machine, seed
        topology = paths.topology
        self.capacity = {
            ("channel", c): machine.link_bandwidth * float(topology.channel_capacity[c])
            for c in range(topology.num_channels)
        }
        for name, bandwidth in (
            ("in", machine.injection_bandwidth),
            ("out", machine.ejection_bandwidth),
            ("memory", machine.memory_bandwidth),
        ):
            for terminal in range(topology.num_terminals):
                self.capacity[name, terminal] = bandwidth or math.inf

    def way(self, source, target, place, number):
        """Resources without those that have no limit, all of them, and the latency."""
        ends = [int(self.paths.terminal[rank]) for rank in (source, target)]
        if ends[0] == ends[1]:
            crossed, delay = [("memory", ends[0])], self.machine.memory_latency
        else:
            table = self.paths.table
            pair = table.pair(*between(table, *ends))
            choices = table.paths(*between(table, *ends))
            weights = table.path_weight[table.pair_start[pair] : table.pair_start[pair + 1]]
            point = (mixed(mixed((place << 32) + number) ^ self.seed) >> 11) * 2.0**-53
            which, upto = 0, float(weights[0])
            while which + 1 < len(choices) and upto <= point:
                which += 1
                upto += float(weights[which])
            hops = choices[which]
            crossed = [("in", ends[0]), *(("channel", c) for c in hops), ("out", ends[1])]
            delay = self.machine.latency + len(hops) * self.machine.hop_latency
        limited = [resource for resource in crossed if self.capacity[resource] < math.inf]
        return limited, crossed, delay


class Naive:
    def __init__(self, schedule, paths, machine, seed=0):
        self.schedule, self.machine = schedule, machine
        self.network = Network(paths, machine, seed)
        self.outcome = Outcome()
        self.now = 0.0
        self.messages = {}  # by place on the tape and receive
        self.flows, self.coming = [], []

    def run(self):
        sleeping = dict.fromkeys(range(self.schedule.ranks), 0.0)
        waiting = {}
        processes = {rank: self.process(rank) for rank in sleeping}
        while True:
            moved = True
            while moved:
                moved = False
                due = [r for r, t in sleeping.items() if t <= self.now * (1 + CLOSE)]
                due += [r for r, happened in waiting.items() if happened()]
                for rank in due:
                    moved = True
                    sleeping.pop(rank, None)
                    waiting.pop(rank, None)
                    step = next(processes[rank], None)
                    if isinstance(step, float):
                        sleeping[rank] = self.now + step
                    elif step is not None:
                        waiting[rank] = step
                for entry in [e for e in self.coming if e[0] <= self.now * (1 + CLOSE)]:
                    moved = True
                    self.coming.remove(entry)
                    message = entry[1]
                    message.left = message.bytes
                    message.done = message.bytes == 0 or not message.resources
                    if not message.done:
                        self.flows.append(message)
            rates = fair_rates(self.flows, self.network.capacity)
            times = [*sleeping.values(), *(time for time, _ in self.coming)]
            times += [self.now + flow.left / rates[flow] for flow in self.flows]
            if not times:
                self.outcome.stuck = sorted(waiting)
                return self.outcome
            then = min(times)
            for flow in list(self.flows):
                flow.left -= rates[flow] * (then - self.now)
                if flow.left / rates[flow] <= CLOSE * then:
                    flow.done = True
                    self.flows.remove(flow)
            self.now = then

    def message(self, place, block, send):
        """The message of a send, made by whichever end comes first."""
        key = place, int(block.receive_of[send])
        if key not in self.messages:
            source, target = int(block.rank_of()[send]), int(block.peer[send])
            resources, crossed, delay = self.network.way(source, target, place, send)
            amount = float(block.amount[send])
            eager = amount <= self.machine.eager_bytes
            message = Message(source, target, amount, resources, delay, eager)
            self.messages[key] = message
            self.outcome.messages += 1
            for resource in crossed:
                total = self.outcome.resource_bytes
                total[resource] = total.get(resource, 0.0) + amount
        return self.messages[key]

    def begin_if_it_can(self, message):
        if message.started or message.sent_at is None:
            return
        if message.eager:
            latencies = 1
        elif message.ready_at is not None:
            latencies = 2 if self.machine.handshake else 1
        else:
            return
        message.started = True
        self.coming.append((self.now + latencies * message.delay, message))

    def process(self, rank):
        machine, tape = self.machine, self.schedule.tape.tolist()
        for place, number in enumerate(tape):
            self.outcome.marks[rank, place] = self.now
            block = self.schedule.blocks[number]
            sends = {int(r): s for s, r in enumerate(block.receive_of) if r >= 0}
            open_ = []
            for k in range(int(block.start[rank]), int(block.start[rank + 1])):
                kind, amount = int(block.kind[k]), float(block.amount[k])
                awaited = []
                if kind == COMPUTE:
                    yield amount / machine.compute_rate if machine.compute_rate else 0.0
                elif kind in (SEND, ISEND):
                    yield float(machine.overhead)
                    message = self.message(place, block, k)
                    message.sent_at = self.now
                    self.begin_if_it_can(message)
                    (awaited if kind == SEND else open_).append((message, False))
                elif kind in (RECV, IRECV):
                    message = self.message(place, block, sends[k])
                    message.ready_at = self.now
                    self.begin_if_it_can(message)
                    (awaited if kind == RECV else open_).append((message, True))
                elif block.peer[k] == ALL:
                    awaited, open_ = open_, []
                else:
                    awaited = [open_.pop(int(block.peer[k]))]
                # a buffered send is over for its sender when it has been begun
                awaited = [(m, receives) for m, receives in awaited if receives or not m.eager]
                while awaited:
                    there = [entry for entry in awaited if entry[0].done]
                    if not there:
                        yield lambda some=tuple(awaited): any(m.done for m, _ in some)
                        continue
                    awaited.remove(there[0])
                    if there[0][1]:
                        yield float(machine.overhead)
        self.outcome.marks[rank, len(tape)] = self.now
