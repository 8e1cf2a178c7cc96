"""Random networks and random route tables on them, for property tests."""

from hypothesis import strategies as st

from routelab.api import Direction, RouteTable, Topology


@st.composite
def networks(draw, max_switches=7, speeds=((1,), (5,), (1, 4), (14, 25, 56))):
    """Directed multigraphs, connected or not, with 0 to 3 terminals a switch, some labelled.

    One of the tuples of `speeds` has the capacities of the channels.
    """
    size = draw(st.integers(1, max_switches))
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    channels = draw(st.lists(pair.filter(lambda ends: ends[0] != ends[1]), max_size=4 * size))
    if size == 1:
        channels = []
    at_switch = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any))
    labels = draw(st.sampled_from([(), ("+X", "-X")]))
    label = st.integers(-1, len(labels) - 1)
    speed = st.sampled_from(draw(st.sampled_from(speeds)))
    return Topology.create(
        num_switches=size,
        channel_source=[source for source, _ in channels],
        channel_target=[target for _, target in channels],
        terminal_switch=[s for s, count in enumerate(at_switch) for _ in range(count)],
        channel_direction=draw(st.lists(label, min_size=len(channels), max_size=len(channels))),
        channel_capacity=draw(st.lists(speed, min_size=len(channels), max_size=len(channels))),
        directions=[Direction(name, 0, 1 if name[0] == "+" else -1) for name in labels],
    )


def walk(topology, source, target, random):
    """Channels of a random way without a switch twice, or None if the search fails."""
    way, seen, here = [], {source}, source
    while here != target:
        onward = [
            c
            for c in range(topology.num_channels)
            if topology.channel_source[c] == here and int(topology.channel_target[c]) not in seen
        ]
        if not onward:
            return None
        way.append(random.choice(onward))
        here = int(topology.channel_target[way[-1]])
        seen.add(here)
    return way


def weighted_table(topology, weighted_paths, per_terminal=False, ascending=False):
    """A table from a function that returns the (weight, channels) of all paths of a pair.

    Of an `ascending` table, hop i is on virtual channel i.
    """
    pair_start, path_start, weights, hops, vcs = [0], [0], [], [], []
    targets = topology.terminal_switch if per_terminal else topology.endpoints
    for source in topology.endpoints.tolist():
        for target in targets.tolist():
            for weight, path in weighted_paths(source, target):
                hops += path
                vcs += range(len(path))
                path_start.append(len(hops))
                weights.append(weight)
            pair_start.append(len(weights))
    return RouteTable.create(
        topology,
        pair_start=pair_start,
        path_start=path_start,
        path_weight=weights,
        hop_channel=hops,
        hop_vc=vcs if ascending else None,
        per_terminal=per_terminal,
    )


@st.composite
def tables(draw, topologies=None, per_terminal=None):
    """Tables with none, one or several weighted paths a pair, not necessarily shortest.

    To switches or to terminals; `per_terminal` says which, if it matters.
    """
    topology = draw(networks() if topologies is None else topologies)
    random = draw(st.randoms(use_true_random=False))
    if per_terminal is None:
        per_terminal = draw(st.booleans())

    def weighted_ways(source, target):
        wanted = 1 if source == target else random.choice([0, 1, 1, 3])
        ways = [walk(topology, source, target, random) for _ in range(wanted)]
        ways = [way for way in ways if way is not None]
        total = len(ways) * (len(ways) + 1)
        return [(2 * number / total, way) for number, way in enumerate(ways, 1)]

    return weighted_table(topology, weighted_ways, per_terminal)
