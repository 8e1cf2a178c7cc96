"""Hierarchical minimal routes of Dragonflies, and how they differ from shortest paths."""

from __future__ import annotations

from itertools import permutations

import pytest
from hop_cases import distances
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_low_diameter import hierarchical_routes, places

from routelab.api import Topology
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.walks import Walk, Walker
from routelab_plugins.topology.dragonfly import Dragonfly

SHAPES = [
    {"h": 1},
    {"h": 2, "a": 2},
    {"h": 2, "groups": 4},
    {"h": 1, "a": 3, "groups": 3, "arrangement": "random", "seed": 3},
    {"h": 3, "a": 1},
    {"h": 2, "a": 3, "groups": 5, "arrangement": "consecutive"},
]
"""Some have several links between two groups, one has groups of one switch."""
READINGS = ["dragonfly-minimal", "dragonfly-minimal~links=random"]


def switches(topology: Topology, walk: Walk, source: int) -> tuple[int, ...]:
    return (source, *(int(topology.channel_target[hop.channel]) for hop in walk.hops))


def offered_routes(walker: Walker, source: int, target: int) -> set[tuple[int, ...]]:
    """Routes of many walks."""
    return {switches(walker.topology, walker.walk(source, target), source) for _ in range(60)}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SHAPES), st.sampled_from(READINGS), st.data())
def test_routes_are_those_of_the_definition(shape, text, data) -> None:
    network = Dragonfly(**shape).build()
    walker = Walker(Routing.from_name(text).prepare(network, 2), network, seed=1)
    ends = st.integers(0, network.num_switches - 1)
    source, target = data.draw(st.lists(ends, min_size=2, max_size=2, unique=True))
    assert offered_routes(walker, source, target) == hierarchical_routes(network, source, target)


@pytest.mark.parametrize("text", READINGS)
def test_local_hops_change_the_class_and_global_hops_take_either(text) -> None:
    network = Dragonfly(h=2, groups=4).build()
    walker = Walker(Routing.from_name(text).prepare(network, 2), network)
    place = places(network)
    for source, target in permutations(range(network.num_switches), 2):
        walk = walker.walk(source, target)
        assert walk.arrived
        for hop, offered in zip(walk.hops, walk.offers, strict=True):
            a = int(network.channel_source[hop.channel])
            b = int(network.channel_target[hop.channel])
            if place[a][0] != place[b][0]:
                assert {other.vc for other in offered if other.channel == hop.channel} == {0, 1}
            else:
                assert hop.vc == (place[a][0] == place[target][0])
            if text != "dragonfly-minimal":
                assert len({other.channel for other in offered}) == 1


def test_the_emptier_of_several_links_is_taken() -> None:
    network = Dragonfly(h=2, groups=5).build()
    walker = Walker(Routing.from_name("dragonfly-minimal").prepare(network, 2), network)
    target = next(t for t in range(1, 20) if len(hierarchical_routes(network, 0, t)) > 1)
    free, *busy = sorted({candidate.channel for candidate in walker.walk(0, target).offers[0]})
    for channel in busy:
        for vc in range(2):
            walker.occupy(channel, vc, 5)
    assert busy
    assert {walker.walk(0, target).channels[0] for _ in range(20)} == {free}


def test_shortest_paths_lead_through_a_third_group_and_these_do_not() -> None:
    """Adversarial +1 between switches of equal index, on the balanced Dragonfly of h = 2."""
    network = Dragonfly(h=2).build()
    place, hops = places(network), distances(network)
    at = {where: switch for switch, where in enumerate(place)}
    shortest = Walker(Routing.from_name("minimal").prepare(network, 3), network)
    direct = Walker(Routing.from_name("dragonfly-minimal").prepare(network, 3), network)
    shortened = 0
    for (group, index), source in at.items():
        target = at[(group + 1) % 9, index]
        graph = offered_routes(shortest, source, target)
        hierarchical = offered_routes(direct, source, target)
        assert {len(route) - 1 for route in graph} == {hops[source][target]}
        assert {len({place[s][0] for s in route}) for route in hierarchical} == {2}
        if {len(route) for route in hierarchical} == {4} and hops[source][target] == 2:
            assert {len({place[s][0] for s in route}) for route in graph} == {3}
            shortened += 1
    # those with index 1 or 2, in all nine groups
    assert shortened == 18


@pytest.mark.parametrize("text", READINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_checker_proves_them(shape, text) -> None:
    network, part = Dragonfly(**shape).build(), Routing.from_name(text)
    for switching in ("virtual-cut-through", "wormhole"):
        verdict = check_hop_routing(part, network, 2, switching=switching)
        assert (verdict.proof, verdict.proven) == ("acyclic", True)


def test_other_networks_are_refused() -> None:
    def reason(topology: Topology, vcs: int = 2) -> str | None:
        return Routing.from_name("dragonfly-minimal").supports(topology, vcs)

    assert reason(Dragonfly(h=2).build()) is None
    assert reason(Dragonfly(h=2).build(), 1).endswith("raise vcs to 2")
    hamming = load("topology", "hamming~dims=3x3").build()
    assert reason(hamming) == "needs a Dragonfly, this network is of family hamming"
    whole = Dragonfly(h=2).build()
    place = whole.coordinates[:, 0]
    local = place[whole.channel_source] == place[whole.channel_target]
    for kind, text in ((local, "complete groups"), (~local, "no direct link from group")):
        channel = int(kind.nonzero()[0][0])
        pair = next(link for link in whole.links.tolist() if channel in link)
        assert text in reason(whole.without(channels=pair))
    # with several links between groups, one may fail
    several = Dragonfly(h=2, groups=3).build()
    groups = several.coordinates[:, 0]
    apart = groups[several.channel_source] != groups[several.channel_target]
    channel = int(apart.nonzero()[0][0])
    pair = next(link for link in several.links.tolist() if channel in link)
    assert reason(several.without(channels=pair)) is None
