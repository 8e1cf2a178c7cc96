"""Naive twins of the deadlock checker: sets and networkx instead of arrays and kernels."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from itertools import pairwise

import networkx as nx

from routelab.api import RouteTable, Topology

Resource = tuple[int, int]


def hops_of_paths(table: RouteTable) -> list[list[Resource]]:
    hops = list(zip(table.hop_channel.tolist(), table.hop_vc.tolist(), strict=True))
    return [hops[first:last] for first, last in pairwise(table.path_start.tolist())]


def dependencies(table: RouteTable) -> set[tuple[Resource, Resource]]:
    return {pair for path in hops_of_paths(table) for pair in pairwise(path)}


def ring_successors(topology: Topology) -> dict[int, int]:
    """Successor of each channel of a ring claim that holds: one strong, 1-regular digraph."""
    claims = defaultdict(list)
    for channel, claim in enumerate(topology.channel_ring.tolist()):
        if claim >= 0:
            claims[claim].append(channel)
    after = {}
    for channels in claims.values():
        graph = nx.MultiDiGraph()
        for channel in channels:
            ends = int(topology.channel_source[channel]), int(topology.channel_target[channel])
            graph.add_edge(*ends, key=channel)
        regular = all(graph.in_degree(switch) == graph.out_degree(switch) == 1 for switch in graph)
        if regular and nx.is_strongly_connected(graph):
            for _, target, channel in graph.edges(keys=True):
                after[channel] = next(key for _, _, key in graph.out_edges(target, keys=True))
    return after


def is_continuation(after: dict[int, int], a: Resource, b: Resource) -> bool:
    return a[1] == b[1] and after.get(a[0]) == b[0]


def proven(table: RouteTable, flow_control: str) -> bool:
    """The criterion as it is worded: look at whole components, not at single dependencies."""
    after = ring_successors(table.topology) if flow_control == "bubble" else {}
    graph = nx.DiGraph(dependencies(table))
    for component in nx.strongly_connected_components(graph):
        first = min(component)
        if len(component) == 1 and not graph.has_edge(first, first):
            continue
        ring, here = set(), first
        while here[0] in after and here not in ring:
            ring.add(here)
            here = (after[here[0]], here[1])
        if here != first or not component <= ring:
            return False
    return True


def proven_if_continuations_are_ignored(table: RouteTable) -> bool:
    """The wrong rule: drop every continuation along a ring and ask for an acyclic rest."""
    after = ring_successors(table.topology)
    rest = [pair for pair in dependencies(table) if not is_continuation(after, *pair)]
    return nx.is_directed_acyclic_graph(nx.DiGraph(rest))


def shortest_cycle_length(table: RouteTable, flow_control: str) -> int:
    """Hops of the shortest cycle of dependencies that is more than one complete ring."""
    after = ring_successors(table.topology) if flow_control == "bubble" else {}
    edges = dependencies(table)
    graph = nx.DiGraph(edges)
    return min(
        nx.shortest_path_length(graph, b, a) + 1
        for a, b in edges
        if not is_continuation(after, a, b) and nx.has_path(graph, b, a)
    )


class BubbleNetwork:
    """Packets that hop from buffer to buffer in random order, under bubble flow control or not.

    A packet enters a complete ring only with two free slots and moves everywhere else with one;
    without `bubble` it always moves with one.
    """

    def __init__(self, table: RouteTable, *, bubble: bool, slots: int = 2, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.routes = [path for path in hops_of_paths(table) if path]
        self.after = ring_successors(table.topology) if bubble else {}
        self.slots = slots
        self.buffers: dict[Resource, deque[list[Resource]]] = defaultdict(deque)

    def free(self, resource: Resource, behind: Resource | None) -> bool:
        enters = resource[0] in self.after and not (
            behind is not None and is_continuation(self.after, behind, resource)
        )
        room = self.slots - len(self.buffers[resource])
        return room >= (2 if enters else 1)

    def inject(self) -> None:
        """One packet of a random route, if there is room; a packet is its remaining hops."""
        route = self.rng.choice(self.routes)
        if self.free(route[0], None):
            self.buffers[route[0]].append(route[1:])

    def advance(self, resource: Resource) -> bool:
        packet = self.buffers[resource][0]
        if packet and not self.free(packet[0], resource):
            return False
        self.buffers[resource].popleft()
        if packet:
            self.buffers[packet[0]].append(packet[1:])
        return True

    def sweep(self) -> bool:
        """Try the head of every buffer once; whether anything moved."""
        holding = [resource for resource, queue in self.buffers.items() if queue]
        self.rng.shuffle(holding)
        return sum(self.advance(resource) for resource in holding) > 0

    def deadlocks(self, steps: int) -> bool:
        """Inject as much as fits for some steps, then stop and see whether the network drains."""
        for _ in range(steps):
            for _ in range(len(self.routes) // 4 + 4):
                self.inject()
            self.sweep()
        while self.sweep():
            pass
        return any(self.buffers.values())


def reaches_deadlock(table: RouteTable, most_states: int = 3000) -> bool | None:
    """Search all states of the buffers for one whose packets can never move again.

    Each channel has the flow control and the size of buffer that the network declares. A packet
    that goes on in its ring, all of whose channels need not keep the bubble, needs room for one.

    Returns
    -------
    bool or None
        None if there are more than `most_states` states.
    """
    network = table.topology
    after = ring_successors(network)
    routes = [tuple(path) for path in hops_of_paths(table) if path]
    resources = sorted({hop for route in routes for hop in route})
    place = {resource: number for number, resource in enumerate(resources)}

    def has_room(state, resource, behind=None):
        channel = resource[0]
        goes_on = behind is not None and is_continuation(after, behind, resource)
        needed = 2 if network.channel_bubble[channel] == 1 and not goes_on else 1
        return network.channel_buffer[channel] - len(state[place[resource]]) >= needed

    def put(state, resource, packet):
        number = place[resource]
        return (*state[:number], (*state[number], packet), *state[number + 1 :])

    def moves(state):
        for number, queue in enumerate(state):
            if not queue:
                continue
            hops = queue[0]
            rest = (*state[:number], queue[1:], *state[number + 1 :])
            if not hops:
                yield rest
            elif has_room(state, hops[0], resources[number]):
                yield put(rest, hops[0], hops[1:])

    begin = ((),) * len(resources)
    seen, waiting = {begin}, [begin]
    while waiting:
        state = waiting.pop()
        following = list(moves(state))
        if any(state) and not following:
            return True
        following += [put(state, r[0], r[1:]) for r in set(routes) if has_room(state, r[0])]
        new = set(following) - seen
        seen |= new
        waiting += new
        if len(seen) > most_states:
            return None
    return False
