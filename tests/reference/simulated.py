"""Networks, tables, settings and traffic for tests of the packet engine and of its naive twin."""

from dataclasses import fields

import numpy as np
from hypothesis import strategies as st
from random_tables import networks, walk, weighted_table

from routelab.api import RouteTable, Topology
from routelab.api.traffic import Demand, Messages
from routelab.simulation.packet.counts import Histogram
from routelab.simulation.packet.router import Router
from routelab.toolkit import build_grid


def line(switches, **more):
    """Switches in a row, channel i from i to i + 1 and no way back."""
    more.setdefault("channel_source", np.arange(switches - 1))
    more.setdefault("channel_target", np.arange(1, switches))
    return Topology.create(num_switches=switches, **more)


def line_table(topology, vc=0):
    """The only routes on a line, all on one virtual channel."""
    count = topology.num_switches
    lengths = [[t - s if t >= s else -1 for t in range(count)] for s in range(count)]
    hops = [c for s in range(count) for t in range(s, count) for c in range(s, t)]
    return RouteTable.from_lengths(topology, lengths, hops, hop_vc=[vc] * len(hops))


def shortest_way(topology, source, target, random):
    """Channels of a random shortest way, or None."""
    start, channels = topology.incoming
    distance, front = {target: 0}, [target]
    while front:
        behind = []
        for switch in front:
            for c in channels[start[switch] : start[switch + 1]].tolist():
                before = int(topology.channel_source[c])
                if before not in distance:
                    distance[before] = distance[switch] + 1
                    behind.append(before)
        front = behind
    if source not in distance:
        return None
    way, here, (start, channels) = [], source, topology.outgoing
    while here != target:
        onward = [
            c
            for c in channels[start[here] : start[here + 1]].tolist()
            if distance.get(int(topology.channel_target[c]), -1) == distance[here] - 1
        ]
        way.append(random.choice(onward))
        here = int(topology.channel_target[way[-1]])
    return way


def layered_table(topology, find, most_paths=1, random=None, per_terminal=False):
    """A table of found ways, hop i on virtual channel i: no cycle of dependencies is possible."""

    def equal_ways(source, target):
        count = 1 if source == target or random is None else random.randint(1, most_paths)
        ways = [find(source, target) for _ in range(count)]
        ways = [way for way in ways if way is not None]
        return [(1 / len(ways), way) for way in ways]

    return weighted_table(topology, equal_ways, per_terminal, ascending=True)


@st.composite
def grids(draw):
    """Small tori and meshes, some with several terminals a switch, some with failed links."""
    return build_grid(
        "grid",
        draw(st.sampled_from([(4,), (5,), (3, 3), (4, 3), (3, 2, 2)])),
        draw(st.booleans()),
        terminals=draw(st.integers(1, 2)),
        fail_links=draw(st.integers(0, 2)),
        seed=draw(st.integers(0, 9)),
    )


@st.composite
def layered_tables(draw, most_paths=1):
    """Tables that cannot deadlock, of random networks (any ways) and grids (shortest ones).

    To switches or to terminals.
    """
    random = draw(st.randoms(use_true_random=False))
    search = draw(st.sampled_from([walk, shortest_way]))
    topology = draw(networks(max_switches=6, speeds=((1,),)) if search is walk else grids())
    return layered_table(
        topology,
        lambda s, t: search(topology, s, t, random),
        most_paths,
        random,
        per_terminal=draw(st.booleans()),
    )


@st.composite
def routers(draw, vcs=1, **fixed):
    """Settings with any delays, priorities and sizes; a buffer holds at least one packet."""
    flits = fixed.pop("packet_flits", None) or draw(st.integers(1, 4))
    queue = draw(st.sampled_from([0, 0, flits, 2 * flits + 1]))
    delay = st.integers(1, 4)
    drawn = {
        "vcs": vcs,
        "packet_flits": flits,
        "buffer_flits": draw(st.integers(flits, 4 * flits)),
        "switching": draw(st.sampled_from(["virtual-cut-through", "wormhole"])),
        "router_delay": draw(delay),
        "link_delay": draw(delay),
        "injection_delay": draw(delay),
        "ejection_delay": draw(delay),
        "credit_delay": draw(delay),
        "output_buffer_flits": queue,
        "speedup": draw(st.integers(1, 3)) if queue else 1,
        "priority": draw(st.sampled_from(["round-robin", "age", "random"])),
    }
    return Router(**(drawn | fixed))


def reachable_terminals(table):
    """For each terminal, the others that it has a route to."""
    topology = table.topology
    place = np.searchsorted(topology.endpoints, topology.terminal_switch)
    column = np.arange(topology.num_terminals) if table.per_terminal else place
    routed = np.diff(table.pair_start).reshape(len(topology.endpoints), -1) > 0
    return [
        [t for t in np.flatnonzero(routed[here][column]).tolist() if t != terminal]
        for terminal, here in enumerate(place)
    ]


def between(table, terminal, other):
    """What the table calls the way from a terminal to another: its switch and the destination."""
    switch = table.topology.terminal_switch.tolist()
    return switch[terminal], other if table.per_terminal else switch[other]


def reachable_demand(table):
    """Every terminal sends to those that it has a route to."""
    sets = reachable_terminals(table)
    sends = [t for t, others in enumerate(sets) if others]
    return Demand.create(
        rate=[float(bool(others)) for others in sets],
        part_start=np.concatenate(([0], np.cumsum([bool(others) for others in sets]))),
        part_share=np.ones(len(sends)),
        part_set=np.arange(len(sends)),
        set_start=np.concatenate(([0], np.cumsum([len(sets[t]) for t in sends]))),
        members=[other for t in sends for other in sets[t]],
        to_self=False,
        convention="to all that a route leads to",
    )


@st.composite
def messages_on(draw, table, most=6):
    """Up to `most` messages a terminal, to itself too, between terminals with a route."""
    start, targets = [0], []
    for t, others in enumerate(reachable_terminals(table)):
        targets += draw(st.lists(st.sampled_from([t, *others]), max_size=most))
        start.append(len(targets))
    return Messages.create(start, targets)


def messages_of(lists):
    """Messages from the targets of each terminal."""
    start = np.concatenate(([0], np.cumsum([len(targets) for targets in lists])))
    return Messages.create(start, [target for targets in lists for target in targets])


def numbers(counts):
    """Everything that was counted, as one list."""
    values = []
    for field in fields(counts):
        value = getattr(counts, field.name)
        if isinstance(value, Histogram):
            values += [*value.bins.tolist(), value.total, value.sum, value.maximum]
        else:
            values += np.ravel(value).tolist()
    return values
