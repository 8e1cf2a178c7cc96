"""The metrics by their definitions, terminal by terminal, with nothing but loops."""

from itertools import pairwise, permutations


def routes(table):
    """For every ordered pair of different terminals its (weight, channels) paths."""
    topology = table.topology
    ends = topology.endpoints.tolist()
    found = {}
    for a, b in permutations(range(topology.num_terminals), 2):
        source, target = (int(topology.terminal_switch[t]) for t in (a, b))
        first = table.pair_start[ends.index(source) * len(ends) + ends.index(target)]
        found[a, b] = [
            (float(table.path_weight[first + k]), way)
            for k, way in enumerate(table.paths(source, target))
        ]
    return found


def channel_loads(table, pairs=None):
    loads = [0.0] * table.topology.num_channels
    for pair, ways in routes(table).items():
        for weight, way in ways:
            for channel in way:
                if pairs is None or pair in pairs:
                    loads[channel] += weight
    return loads


def distance(topology, source, target):
    """Hops of a shortest way, None if there is none: grow the set of reached switches."""
    reached, hops = {source}, 0
    links = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    while target not in reached:
        larger = reached | {t for s, t in links if s in reached}
        if larger == reached:
            return None
        reached, hops = larger, hops + 1
    return hops


def perfect_load(topology):
    total = 0
    for a, b in permutations(topology.terminal_switch.tolist(), 2):
        total += distance(topology, a, b) or 0
    return total / topology.num_channels if topology.num_channels else 0


def turns(topology, way):
    directions = [int(topology.channel_direction[c]) for c in way]
    return sum(a != b for a, b in pairwise(directions))


def mean(table, value):
    """Average `value(way)` over the terminal pairs that have a route."""
    joined = [ways for ways in routes(table).values() if ways]
    if not joined:
        return None
    return sum(weight * value(way) for ways in joined for weight, way in ways) / len(joined)


def phase_maxima(table, partner):
    """Maximum load of each phase p in which rank i sends to ``partner(i, p)``."""
    ranks = table.topology.num_terminals
    return [
        max(
            channel_loads(table, {(i, partner(i, phase)) for i in range(ranks)}),
            default=0,
        )
        for phase in range(1, ranks)
    ]


def destination_based(table):
    step = {}
    for (_, b), ways in routes(table).items():
        target = int(table.topology.terminal_switch[b])
        for _, way in ways:
            for channel in way:
                key = int(table.topology.channel_source[channel]), target
                if step.setdefault(key, channel) != channel:
                    return False
    return True


def shortest_ways(topology, source, target):
    """All shortest ways on the bare network, by extending all ways a hop at a time."""
    if distance(topology, source, target) is None:
        return []
    ways = [((), source)]
    for _ in range(distance(topology, source, target)):
        ways = [
            ((*way, c), int(topology.channel_target[c]))
            for way, here in ways
            for c in range(topology.num_channels)
            if topology.channel_source[c] == here
        ]
    return [way for way, here in ways if here == target]
