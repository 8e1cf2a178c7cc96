"""Polarized and omnidimensional routes with an escape subnetwork, with and without failures."""

from __future__ import annotations

from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_low_diameter import EscapeRoutes, differing, omni_hops, places
from naive_polarized import PolarizedRoutes
from small_graphs import simple_networks

from routelab.api import Topology
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.walks import Candidate, Walk, Walker
from routelab.toolkit.families.escape_levels import escape_levels
from routelab.toolkit.families.graph_hops import switch_distances
from routelab_plugins.topology.hamming import Hamming

ADAPTIVE_CLASS, ESCAPE_CLASS = 1, 0


def reason(text: str, topology: Topology, vcs: int = 2) -> str | None:
    return Routing.from_name(text).supports(topology, vcs)


@st.composite
def damaged_hamming(draw) -> Topology:
    """Connected Hamming graphs with failed links and switches."""
    dims = draw(st.sampled_from([(3, 3), (2, 4), (2, 2, 3)]))
    network = Hamming(
        dims=dims,
        fail_links=draw(st.integers(0, 7)),
        fail_switches=draw(st.integers(0, 2)),
        seed=draw(st.integers(0, 99)),
    ).build()
    assume(network.num_switches > 1 and reason("omni-escape", network) is None)
    return network


def ends_of(draw, network: Topology) -> tuple[int, int]:
    switches = st.integers(0, network.num_switches - 1)
    source, target = draw(st.lists(switches, min_size=2, max_size=2, unique=True))
    return source, target


def random_walk(walker: Walker, source: int, target: int, rng: Random, share: float) -> Walk:
    """Send a packet past adaptive candidates without room; escapes always have room."""

    def blocked(candidate: Candidate) -> bool:
        return not candidate.escape and rng.random() < share

    return walker.walk(source, target, blocked)


def check_escapes(network: Topology, naive: EscapeRoutes, walk: Walk, source: int, target: int):
    """Compare the escapes of a walk with the definition; return the switches of the walk."""
    stops = [source, *(int(network.channel_target[hop.channel]) for hop in walk.hops)]
    across = False
    for here, offered, hop in zip(stops[:-1], walk.offers, walk.hops, strict=True):
        escapes = [candidate for candidate in offered if candidate.escape]
        there = {int(network.channel_target[candidate.channel]) for candidate in escapes}
        assert there == naive.offered(here, target, across)
        assert {candidate.vc for candidate in escapes} == {ESCAPE_CLASS}
        end = int(network.channel_target[hop.channel])
        across = hop.escape and naive.level[here] == naive.level[end]
    escaped = [hop.escape for hop in walk.hops]
    assert escaped == sorted(escaped)
    for offered, last in zip(walk.offers[1:], walk.hops, strict=False):
        assert not last.escape or all(candidate.escape for candidate in offered)
    return stops


@settings(max_examples=50, deadline=None)
@given(simple_networks())
def test_up_down_distances_agree_with_a_search(network) -> None:
    naive = EscapeRoutes(network)
    level, up_down = escape_levels(network, switch_distances(network))
    assert level.tolist() == naive.level
    size = range(network.num_switches)
    assert up_down.tolist() == [[naive.up_down(s, t) for s in size] for t in size]


@settings(max_examples=60, deadline=None)
@given(simple_networks(), st.sampled_from(["wait", "skip"]), st.integers(0, 10**6), st.data())
def test_polarized_escape_walks(network, blocked, seed, data) -> None:
    source, target = ends_of(data.draw, network)
    program = Routing.from_name(f"polarized-escape~blocked={blocked}").prepare(network, 2)
    rng = Random(seed)
    walk = random_walk(Walker(program, network, seed), source, target, rng, rng.random())
    assert walk.arrived
    stops = check_escapes(network, EscapeRoutes(network), walk, source, target)
    naive = PolarizedRoutes(network)
    for k, (here, offered) in enumerate(zip(stops[:-1], walk.offers, strict=True)):
        adaptive = [candidate for candidate in offered if not candidate.escape]
        assert {candidate.vc for candidate in adaptive} <= {ADAPTIVE_CLASS}
        if k == 0 or not walk.hops[k - 1].escape:
            there = {int(network.channel_target[candidate.channel]) for candidate in adaptive}
            assert there == set(naive.allowed(source, target, here))


@settings(max_examples=60, deadline=None)
@given(
    damaged_hamming(),
    st.sampled_from(["wait", "skip"]),
    st.sampled_from([None, 0, 1, 3]),
    st.integers(0, 10**6),
    st.data(),
)
def test_omni_escape_walks(network, blocked, deroutes, seed, data) -> None:
    source, target = ends_of(data.draw, network)
    given_one = "" if deroutes is None else f",deroutes={deroutes}"
    program = Routing.from_name(f"omni-escape~blocked={blocked},penalty=0{given_one}").prepare(
        network, 2
    )
    rng = Random(seed)
    walk = random_walk(Walker(program, network, seed), source, target, rng, rng.random())
    assert walk.arrived
    stops = check_escapes(network, EscapeRoutes(network), walk, source, target)
    place = places(network)
    most, taken = len(place[0]) if deroutes is None else deroutes, 0
    for k, (here, offered) in enumerate(zip(stops[:-1], walk.offers, strict=True)):
        adaptive = [candidate for candidate in offered if not candidate.escape]
        assert {candidate.vc for candidate in adaptive} <= {ADAPTIVE_CLASS}
        if k == 0 or not walk.hops[k - 1].escape:
            there = {int(network.channel_target[candidate.channel]) for candidate in adaptive}
            assert there == omni_hops(network, here, target, taken < most)
        before, after = (len(differing(place[stop], place[target])) for stop in stops[k : k + 2])
        taken += after == before and not walk.hops[k].escape
    assert taken <= most


def test_penalties_are_in_flits() -> None:
    network = Hamming(dims=(4, 4)).build()
    walker = Walker(Routing.from_name("omni-escape~penalty=7").prepare(network, 2), network)
    place = places(network)
    (offered,) = walker.walk(0, 1).offers
    for candidate in offered:
        end = int(network.channel_target[candidate.channel])
        if not candidate.escape:
            assert candidate.penalty == 7 * (end != 1)
    assert differing(place[0], place[1]) == [1]
    assert sum(not candidate.escape for candidate in offered) == 3
    mesh = NETWORKS["petersen"]()
    walker = Walker(Routing.from_name("polarized-escape~p1=3,p0=5").prepare(mesh, 2), mesh)
    naive = PolarizedRoutes(mesh)
    for target in range(1, 10):
        for candidate in walker.walk(0, target).offers[0]:
            if not candidate.escape:
                there = int(mesh.channel_target[candidate.channel])
                assert candidate.penalty == (5, 3, 0)[naive.gain(0, target, 0, there)]


@settings(max_examples=15, deadline=None)
@given(simple_networks(), st.sampled_from(["wait", "skip"]))
def test_the_checker_proves_it_on_any_connected_network(network, blocked) -> None:
    part = Routing.from_name(f"polarized-escape~blocked={blocked}")
    for switching in ("virtual-cut-through", "wormhole"):
        verdict = check_hop_routing(part, network, 2, switching=switching)
        assert (verdict.proof, verdict.proven) == ("duato", True)


@settings(max_examples=8, deadline=None)
@given(damaged_hamming())
def test_the_checker_proves_omni_escape_with_failures(network) -> None:
    part = Routing.from_name("omni-escape~deroutes=1")
    for switching in ("virtual-cut-through", "wormhole"):
        assert check_hop_routing(part, network, 2, switching=switching).proven


def test_networks_without_routes_are_refused() -> None:
    for name in ("two-components", "no-channels"):
        assert "no path" in reason("polarized-escape", NETWORKS[name]())
    assert "both directions" in reason("polarized-escape", NETWORKS["one-way-ring"]())
    assert reason("polarized-escape", NETWORKS["failed-torus"]()) is None
    assert reason("polarized-escape", NETWORKS["mesh"](), 1).endswith("raise vcs to 2")
    assert "needs a Hamming graph" in reason("omni-escape", NETWORKS["petersen"]())
    assert "has links to 1 of the 2" in reason("omni-escape", NETWORKS["mesh"]())
    assert reason("omni-escape", load("topology", "hypercube~dims=3,fail_links=2").build()) is None
    cut = Hamming(dims=(2, 2)).build()
    cut = cut.without(channels=cut.links[[0, 3]].reshape(-1).tolist())
    assert "no path" in reason("omni-escape", cut)
    assert reason("omni-escape", Hamming(dims=(2, 2)).build(), 1).endswith("raise vcs to 2")
