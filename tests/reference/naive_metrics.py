"""The metrics by their definitions, terminal by terminal, with nothing but loops."""

from fractions import Fraction
from itertools import pairwise, permutations


def routes(table):
    """For every ordered pair of different terminals its (weight, channels) paths."""
    topology = table.topology
    ends = sorted(set(topology.terminal_switch.tolist()))
    by_pair = {}
    for a, b in permutations(range(topology.num_terminals), 2):
        source, target = (int(topology.terminal_switch[t]) for t in (a, b))
        if table.per_terminal:
            pair = ends.index(source) * topology.num_terminals + b
        else:
            pair = ends.index(source) * len(ends) + ends.index(target)
        by_pair[a, b] = [
            (
                float(table.path_weight[k]),
                table.hop_channel[table.path_start[k] : table.path_start[k + 1]].tolist(),
            )
            for k in range(table.pair_start[pair], table.pair_start[pair + 1])
        ]
    return by_pair


def channel_loads(table, pairs=None):
    loads = [0.0] * table.topology.num_channels
    for pair, ways in routes(table).items():
        for weight, way in ways:
            for channel in way:
                if pairs is None or pair in pairs:
                    loads[channel] += weight
    return loads


def factors(topology):
    """How many times slower than the fastest each channel is."""
    capacities = [Fraction(capacity) for capacity in topology.channel_capacity.tolist()]
    return [max(capacities) / capacity for capacity in capacities]


def relative(topology, loads):
    return [load * factor for load, factor in zip(loads, factors(topology), strict=True)]


def total_capacity(topology):
    """In channels as fast as the fastest."""
    return sum(1 / factor for factor in factors(topology))


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
    return total / total_capacity(topology) if topology.num_channels else 0


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
            permutation_loads(table, [partner(i, phase) for i in range(ranks)]),
            default=0,
        )
        for phase in range(1, ranks)
    ]


def destination_based(table):
    step = {}
    for (_, b), ways in routes(table).items():
        target = b if table.per_terminal else int(table.topology.terminal_switch[b])
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


def permutation_loads(table, partner):
    """Relative load of every channel if each terminal i sends one message to ``partner[i]``."""
    return relative(table.topology, channel_loads(table, set(enumerate(partner))))


def worst_permutation(table):
    """Largest relative load over all permutations of the terminals, tried one by one."""
    known, worst = routes(table), 0
    for partner in permutations(range(table.topology.num_terminals)):
        loads = [0.0] * table.topology.num_channels
        for pair in enumerate(partner):
            for weight, way in known.get(pair, ()):
                for channel in way:
                    loads[channel] += weight
        worst = max([worst, *relative(table.topology, loads)])
    return worst


def pairing_bandwidth(table, pairs):
    """Mean over messages, sent all at once, of what the busiest channel leaves each of them."""
    known = routes(table)
    loads = [0.0] * table.topology.num_channels
    for pair in pairs:
        for weight, way in known[pair]:
            for channel in way:
                loads[channel] += weight
    loads = relative(table.topology, loads)
    shares = []
    for pair in pairs:
        on_the_way = [loads[channel] for _, way in known[pair] for channel in way]
        shares.append(1 / max([1, *on_the_way]) if known[pair] else 0)
    return sum(shares) / len(shares)


def traffic_loads(table, matrix):
    loads = [0.0] * table.topology.num_channels
    for (a, b), ways in routes(table).items():
        for weight, way in ways:
            for channel in way:
                loads[channel] += weight * matrix[a][b]
    return loads


def perfect_traffic_load(topology, matrix):
    total = 0
    for a, source in enumerate(topology.terminal_switch.tolist()):
        for b, target in enumerate(topology.terminal_switch.tolist()):
            total += matrix[a][b] * (distance(topology, source, target) or 0)
    return float(total / total_capacity(topology)) if topology.num_channels else 0
