"""Laws of networks with two channels for each link, and facts counted with networkx."""

from itertools import combinations

import networkx as nx
import numpy as np


def graph_of(topology):
    """The links as a multigraph of switches."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(topology.num_switches))
    for out, _ in topology.links.tolist():
        source, target = int(topology.channel_source[out]), int(topology.channel_target[out])
        graph.add_edge(source, target)
    return graph


def check_links(topology, *, contiguous=True):
    """Every link has two channels with the same ports, and no port has two links."""
    links = topology.links
    assert (links >= 0).all()
    out, back = links.T
    assert (topology.channel_source[out] == topology.channel_target[back]).all()
    assert (topology.channel_target[out] == topology.channel_source[back]).all()
    assert (topology.source_port[out] == topology.target_port[back]).all()
    assert (topology.target_port[out] == topology.source_port[back]).all()
    for switch in range(topology.num_switches):
        ports = topology.source_port[topology.channel_source == switch].tolist()
        assert len(set(ports)) == len(ports)
        assert min(ports) >= 0
        if contiguous:
            assert sorted(ports) == list(range(len(ports)))


def distances(topology):
    """Hops between all switches, as a matrix."""
    lengths = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph_of(topology))))
    count = topology.num_switches
    return np.array([[lengths[a][b] for b in range(count)] for a in range(count)])


def mean_distance(hops):
    """Mean over the ordered pairs of different switches."""
    return hops.sum() / (len(hops) * (len(hops) - 1))


def bisection_links(topology):
    """Fewest links between two halves of the switches, by trying all halves."""
    count = topology.num_switches
    ends = [(a, b) for a, b in graph_of(topology).edges()]
    halves = (set(half) for half in combinations(range(1, count), count // 2))
    return min(sum((a in half) != (b in half) for a, b in ends) for half in halves)


def same(topology, other):
    """Whether two networks agree in names, channels, ports and terminals."""
    return topology.switch_names == other.switch_names and all(
        np.array_equal(getattr(topology, name), getattr(other, name))
        for name in ("channel_source", "channel_target", "source_port", "target_port")
    )
