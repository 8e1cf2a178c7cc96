"""Fat trees: the definition by digits, closed forms, parallel links."""

from collections import Counter
from itertools import combinations, product
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import check_links, distances, graph_of, mean_distance, same

from routelab.api import InputError
from routelab_plugins.topology.fat_tree import FatTree


def tree_by_digits(m, w, p):
    """Naive twin: labels (level, digits a_h … a_(i+1) b_i … b_1); links change one digit.

    Returns a counter of links between (level, index), where the index reads the digits in mixed
    radix.
    """
    height = len(m)

    def radices(level):
        return tuple(w[j] if j < level else m[j] for j in reversed(range(height)))

    def place(level, digits):
        index = 0
        for digit, radix in zip(digits, radices(level), strict=True):
            index = index * radix + digit
        return level - 1, index

    links = Counter()
    for level in range(1, height):
        changed = height - 1 - level
        lows = product(*map(range, radices(level)))
        for low, b in product(lows, range(w[level])):
            high = (*low[:changed], b, *low[changed + 1 :])
            links[place(level, low), place(level + 1, high)] += p[level]
    return links


@st.composite
def shapes(draw):
    height = draw(st.integers(2, 4))
    numbers = st.lists(st.integers(1, 3), min_size=height - 1, max_size=height - 1)
    down = (draw(st.integers(1, 3)), *draw(numbers))
    return down, (1, *draw(numbers)), (1, *draw(numbers))


@given(shapes())
def test_it_is_the_tree_of_the_definition(shape):
    m, w, p = shape
    topology = FatTree(down=m, up=w, parallel=p).build()
    places = list(map(tuple, topology.coordinates.tolist()))
    links = Counter(tuple(sorted((places[a], places[b]))) for a, b in graph_of(topology).edges())
    assert links == tree_by_digits(m, w, p)
    facts, height = topology.attributes, len(m)
    # Öhring et al.: a node of level i is in one of prod(m above i) subtrees with prod(w) roots
    levels = [prod(m[i:]) * prod(w[:i]) for i in range(1, height + 1)]
    assert facts["switches_of_levels"] == levels
    assert np.bincount(topology.coordinates[:, 0]).tolist() == levels
    cables = Counter(low[0] for low, _ in links.elements())
    assert list(facts["cables"].values()) == [cables[level] for level in range(height - 1)]
    check_links(topology)
    ends = topology.endpoints
    assert (topology.coordinates[ends, 0] == 0).all()
    assert len(ends) == prod(m[1:])
    assert topology.num_terminals == prod(m)
    if len(ends) > 1:
        hops = distances(topology)[np.ix_(ends, ends)]
        assert facts["leaf_diameter"] == hops.max()
        assert facts["leaf_mean_distance"] == pytest.approx(mean_distance(hops))
    else:
        assert "leaf_diameter" not in facts


@given(shapes())
def test_ports_to_children_come_first(shape):
    m, w, p = shape
    topology = FatTree(down=m, up=w, parallel=p).build()
    level, index = topology.coordinates.T
    source, target, port = topology.channel_source, topology.channel_target, topology.source_port
    for channel in range(topology.num_channels):
        first, second = source[channel], target[channel]
        here = level[first]
        children = m[here] * p[here] if here else 0
        if level[second] > here:
            below = prod(w[: here + 1])
            parent = index[second] // below % w[here + 1]
            assert (port[channel] - children) // p[here + 1] == parent
        else:
            child = index[second] // prod(w[:here]) % m[here]
            assert port[channel] < children
            assert port[channel] // p[here] == child


@pytest.mark.parametrize(("k", "levels"), [(2, 2), (2, 4), (3, 3), (4, 2), (4, 3)])
def test_k_ary_n_trees(k, levels):
    # Petrini and Vanneschi: k^n processing nodes, n k^(n - 1) switches with 2k links each
    topology = FatTree(k=k, levels=levels).build()
    assert topology.num_terminals == k**levels
    assert topology.num_switches == levels * k ** (levels - 1)
    radix = np.bincount(topology.channel_source) + topology.terminals_per_switch
    root = topology.coordinates[:, 0] == levels - 1
    assert (radix[~root] == 2 * k).all()
    assert (radix[root] == k).all()
    other = FatTree(down=(k,) * levels, up=(1, *[k] * (levels - 1))).build()
    assert same(topology, other)


@pytest.mark.parametrize(
    ("down", "up", "parallel"),
    [
        ("2x2", "1x2", "1x1"),
        ("2x2x2", "1x2x2", "1x1x1"),
        ("2x2x2x2", "1x2x2x2", "1x1x1x1"),
        ("4x4", "1x4", "1x1"),
        ("4x6", "1x2", "1x2"),
        ("2x3x2", "1x2x3", "1x1x1"),
        ("2x2x2", "1x2x1", "1x1x2"),
        ("4x4", "1x2", "1x1"),
        ("4x3", "1x4", "1x1"),
    ],
)
def test_bisection_of_leaves(down, up, parallel):
    topology = FatTree(down=down, up=up, parallel=parallel).build()
    leaves = topology.endpoints.tolist()
    known = topology.attributes.get("leaf_bisection_links")
    # as many links up as down below the roots, and an even number of subtrees
    m, w, p = ([int(n) for n in text.split("x")] for text in (down, up, parallel))
    balanced = all(w[i + 1] * p[i + 1] == m[i] * p[i] for i in range(len(m) - 1))
    assert (known is not None) == (balanced and m[-1] % 2 == 0)
    if known is not None:
        halves = combinations(leaves[1:], len(leaves) // 2)
        assert min(cut_links(topology, set(half)) for half in halves) == known


def cut_links(topology, half):
    """Fewest links between some leaves and the others, by maximum flow."""
    graph = nx.DiGraph()
    for a, b in graph_of(topology).edges():
        for tail, head in ((a, b), (b, a)):
            before = graph.get_edge_data(tail, head, {"capacity": 0})["capacity"]
            graph.add_edge(tail, head, capacity=before + 1)
    for leaf in topology.endpoints.tolist():
        graph.add_edge(*(("s", leaf) if leaf in half else (leaf, "t")))
    return nx.maximum_flow_value(graph, "s", "t")


def test_names_coordinates_and_terminals():
    topology = FatTree(down="3x2x2", up="1x2x1", parallel="1x1x2", terminals=5).build()
    assert topology.switch_names == (
        *("l0.0", "l0.1", "l0.2", "l0.3", "l1.0", "l1.1", "l1.2", "l1.3", "l2.0", "l2.1"),
    )
    assert topology.coordinates[7].tolist() == [1, 3]
    assert topology.terminals_per_switch.tolist() == [5] * 4 + [0] * 6
    # l1.3 is in the second subtree: ports 0 and 1 to its leaves, 2 and 3 both to l2.1
    out = topology.channel_source == 7
    assert topology.channel_target[out].tolist() == [2, 3, 9, 9]
    assert topology.source_port[out].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 4, "down": "4x4", "up": "1x4"}, "use either k and levels"),
        ({"down": "4x4"}, "down has 2 numbers and up has 0"),
        ({"down": "4x4x2", "up": "1x2"}, "down has 3 numbers and up has 2"),
        ({"down": "4", "up": "1"}, r"single level .* down=4x2 with up=1x1$"),
        ({"down": "4x4", "up": "2x4"}, r"up=2x4 must begin with 1.* up=1x4$"),
        ({"parallel": "2x1x1"}, r"parallel=2x1x1 must begin with 1.* parallel=1x1x1$"),
        ({"parallel": "2"}, r"parallel=2 needs 3 numbers.* such as 1x1x2$"),
        ({"down": "4x0", "up": "1x2"}, r"down=4x0 has a number below 1; use down=4x1$"),
        ({"down": "10001x2", "up": "1x1"}, r"10,001 terminals at each leaf; the limit is 10,000$"),
        ({"k": 100, "levels": 5}, "500,000,000 switches and 40,000,000,000 links; the limits are"),
    ],
)
def test_impossible_trees_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        FatTree(**values).build()
