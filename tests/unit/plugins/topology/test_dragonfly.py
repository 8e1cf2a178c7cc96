"""Dragonflies: closed forms, links between groups, arrangements against their formulas."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import check_links, distances, graph_of, same

from routelab.api import InputError
from routelab.toolkit.families.global_links import global_links
from routelab_plugins.topology.dragonfly import Dragonfly

ARRANGEMENTS = ("palmtree", "consecutive", "random")


def global_ports(topology):
    """Map (group, switch, global port) to the same of the other end, for all global links."""
    a = topology.attributes["a"]
    cables = {}
    for c in range(topology.num_channels):
        source, target = int(topology.channel_source[c]), int(topology.channel_target[c])
        if source // a != target // a:
            ends = [(source, topology.source_port[c]), (target, topology.target_port[c])]
            here, there = [(s // a, s % a, int(port) - (a - 1)) for s, port in ends]
            cables[here] = there
    return cables


def between_groups(topology):
    """Number of links between each pair of groups."""
    a = topology.attributes["a"]
    pairs = (tuple(sorted((s // a, t // a))) for s, t in graph_of(topology).edges())
    return Counter(pair for pair in pairs if pair[0] != pair[1])


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("h", [1, 2, 3])
def test_the_balanced_dragonfly(h, arrangement):
    # Kim et al.: a = 2p = 2h, g = ah + 1 groups, N = ap(ah + 1) terminals
    topology = Dragonfly(h=h, arrangement=arrangement).build()
    a, groups = 2 * h, 2 * h * h + 1
    assert topology.num_switches == a * groups
    assert topology.num_terminals == a * h * groups
    assert (topology.terminals_per_switch == h).all()
    assert (np.bincount(topology.channel_source) == a - 1 + h).all()
    assert topology.attributes["cables"] == {
        "local": groups * a * (a - 1) // 2,
        "global": groups * (groups - 1) // 2,
    }
    assert set(between_groups(topology).values()) == {1}
    assert topology.attributes["links_between_groups"] == [1]
    check_links(topology)
    assert topology.attributes["diameter"] == distances(topology).max() == 3


def test_the_example_of_the_polarized_paper():
    # Camarero, Martinez, Beivide, figure 1(b): 72 servers, switches of radix 7
    topology = Dragonfly().build()
    assert topology.num_terminals == 72
    assert topology.num_switches == 36
    radix = np.bincount(topology.channel_source) + topology.terminals_per_switch
    assert (radix == 7).all()
    assert topology.attributes["groups"] == 9
    assert topology.switch_names[14] == "g3.s2"
    assert topology.coordinates[14].tolist() == [3, 2]


@st.composite
def shapes(draw):
    a, h = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    return a, h, draw(st.integers(2, a * h + 1).filter(lambda g: a * g <= 80))


@given(shapes(), st.sampled_from(ARRANGEMENTS), st.integers(0, 9))
def test_all_groups_have_the_declared_links(shape, arrangement, seed):
    a, h, groups = shape
    values = {"a": a, "h": h, "p": 1, "groups": groups, "arrangement": arrangement, "seed": seed}
    topology = Dragonfly(**values).build()
    facts = topology.attributes
    least, most = min(facts["links_between_groups"]), max(facts["links_between_groups"])
    counts = between_groups(topology)
    assert set(counts) == set(combinations(range(groups), 2))
    assert {min(counts.values()), max(counts.values())} == {least, most}
    # as equal as possible
    assert least == a * h // (groups - 1)
    assert most - least <= 1
    unused = facts.get("unused_ports_of_a_group", 0)
    assert unused == (a * h * groups) % 2
    assert sum(counts.values()) == facts["cables"]["global"] == groups * (a * h - unused) // 2
    degrees = np.bincount(topology.channel_source, minlength=a * groups).reshape(groups, a)
    assert (degrees.sum(axis=1) == a * (a - 1 + h) - unused).all()
    assert degrees.max() <= a - 1 + h
    check_links(topology, contiguous=not unused)
    hops = distances(topology)
    if "diameter" in facts:
        assert hops.max() == facts["diameter"]
    else:
        assert hops.max() <= facts["diameter_at_most"] == 3
    again = Dragonfly(**values).build()
    assert same(topology, again)


@pytest.mark.parametrize(("a", "h"), [(4, 2), (3, 1), (2, 3), (5, 2)])
def test_consecutive_ports(a, h):
    # Camarero, Vallejo, Beivide: vertex i in group j is connected for k = 0 ... h-1 with vertex
    # floor((j-1)/h) of group g = ih + k if g < j, and with vertex floor(j/h) of group g+1 otherwise
    topology = Dragonfly(a=a, h=h, arrangement="consecutive").build()
    for (j, i, k), (group, vertex, _) in global_ports(topology).items():
        g = i * h + k
        assert (group, vertex) == ((g, (j - 1) // h) if g < j else (g + 1, j // h))


@pytest.mark.parametrize(
    ("a", "h", "groups"), [(4, 2, 9), (3, 1, 4), (2, 3, 7), (4, 2, 5), (6, 2, 4)]
)
def test_palmtree_ports(a, h, groups):
    # port q of group g leads to group g - q - 1, and to port ah - 1 - q there; with m = groups - 1
    # dividing ah, rounds of m ports repeat that
    topology = Dragonfly(a=a, h=h, groups=groups, arrangement="palmtree").build()
    assert (a * h) % (groups - 1) == 0
    ports = global_ports(topology)
    assert len(ports) == groups * a * h
    for (g, i, k), (group, vertex, port) in ports.items():
        q = i * h + k
        assert group == (g - q % (groups - 1) - 1) % groups
        assert vertex * h + port == a * h - 1 - q


def test_the_palmtree_looks_the_same_from_every_group():
    links = global_links(7, 10, "palmtree", 0)
    ends = {tuple(zip(g, p, strict=True)) for g, p in zip(links.group, links.port, strict=True)}
    assert len(ends) == 7 * 10 // 2
    turned = {tuple(((g + 1) % 7, p) for g, p in end) for end in ends}
    assert set(map(frozenset, turned)) == set(map(frozenset, ends))


def test_random_arrangements_depend_on_the_seed_and_use_all_ports_alike():
    first, second = (Dragonfly(arrangement="random", seed=seed).build() for seed in (0, 1))
    assert not same(first, second)
    # group 1 is equally often behind each of the eight ports of group 0
    seen = Counter()
    for seed in range(400):
        links = global_links(9, 8, "random", seed)
        here = (links.group == [0, 1]).all(axis=1)
        seen[int(links.port[here][0, 0])] += 1
    assert set(seen) == set(range(8))
    # chi-squared with 7 degrees of freedom: exceeds 29.9 once in 10,000
    assert sum((count - 50) ** 2 / 50 for count in seen.values()) < 29.9


def test_a_random_arrangement_does_not_depend_on_the_failures():
    whole = Dragonfly(arrangement="random", seed=3).build()
    damaged = Dragonfly(arrangement="random", seed=3, fail_links=5).build()
    lost = {tuple(name.split("-")) for name in damaged.failed_links}
    assert len(lost) == 5

    def names(topology):
        names = topology.switch_names
        return {(names[a], names[b]) for a, b in graph_of(topology).edges()}

    assert names(whole) - names(damaged) == lost
    assert "diameter" not in damaged.attributes
    assert damaged.attributes["groups"] == 9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"groups": 12},
            r"groups=12 is more than a·h \+ 1 = 9: .* use groups=9, a=6 or h=3",
        ),
        ({"h": 1, "a": 1, "groups": 3}, "use groups=2, a=2 or h=2"),
        ({"h": 300}, "the limits are 1,000,000 switches"),
        ({"fail_links": 91}, "91 links cannot fail"),
    ],
)
def test_impossible_networks_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Dragonfly(**values).build()
