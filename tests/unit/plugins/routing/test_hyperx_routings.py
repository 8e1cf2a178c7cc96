"""DimWAR and OmniWAR against their definitions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_low_diameter import differing, dimwar_hops, omni_hops, places

from routelab.api import Topology
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.traffic import OpenLoop
from routelab.testing.walks import Walk, Walker
from routelab.toolkit import build_grid
from routelab_plugins.topology.hamming import Hamming
from routelab_plugins.traffic.bit_complement import BitComplement

SHAPES = [(2,), (5,), (3, 3), (2, 4), (2, 2, 3)]


def hamming(dims: tuple[int, ...], **more) -> Topology:
    return Hamming(dims=dims, **more).build()


def reason(text: str, topology: Topology, vcs: int) -> str | None:
    return Routing.from_name(text).supports(topology, vcs)


def crowd(walker: Walker, rng: Random, flits: int) -> None:
    """Fill all buffers and outputs at random."""
    for channel in range(walker.topology.num_channels):
        walker.set_waiting_flits(channel, rng.randint(0, flits))
        for vc in range(walker.classes):
            walker.occupy(channel, vc, rng.randint(0, flits))


def switches(topology: Topology, walk: Walk, source: int) -> list[int]:
    return [source, *(int(topology.channel_target[hop.channel]) for hop in walk.hops)]


@st.composite
def trips(draw) -> tuple[Topology, int, int, Random]:
    """A network, source and target, and random numbers."""
    network = hamming(draw(st.sampled_from(SHAPES)), widths=(draw(st.integers(1, 2)),))
    ends = st.integers(0, network.num_switches - 1)
    source, target = draw(st.lists(ends, min_size=2, max_size=2, unique=True))
    return network, source, target, Random(draw(st.integers(0, 10**6)))


@settings(max_examples=40, deadline=None)
@given(trips())
def test_dimwar_offers_the_hops_of_the_definition(trip) -> None:
    network, source, target, rng = trip
    walker = Walker(Routing.from_name("dimwar").prepare(network, 2), network, rng.getrandbits(20))
    crowd(walker, rng, rng.randint(0, 9))
    walk = walker.walk(source, target)
    stops = switches(network, walk, source)
    assert walk.arrived
    assert len(walk.hops) <= 2 * len(places(network)[0])
    for k, offered in enumerate(walk.offers):
        expected = dimwar_hops(network, stops[k], target, stops[k - 1] if k else None)
        hops = {
            (int(network.channel_target[candidate.channel]), candidate.vc) for candidate in offered
        }
        assert hops == set(expected.items())


@settings(max_examples=40, deadline=None)
@given(trips(), st.integers(0, 4), st.booleans())
def test_omniwar_deroutes_while_classes_remain(trip, deroutes, capped) -> None:
    network, source, target, rng = trip
    place = places(network)
    dimensions, distance = len(place[0]), len(differing(place[source], place[target]))
    vcs = dimensions + deroutes + (rng.randint(0, 2) if capped else 0)
    text = f"omniwar~deroutes={deroutes}" if capped else "omniwar"
    walker = Walker(Routing.from_name(text).prepare(network, vcs), network, rng.getrandbits(20))
    crowd(walker, rng, rng.randint(0, 9))
    walk = walker.walk(source, target)
    stops = switches(network, walk, source)
    assert walk.arrived
    # all classes that minimal hops do not need serve deroutes, or as many as the cap
    first = dimensions - distance if capped else 0
    assert [hop.vc for hop in walk.hops] == list(range(first, first + len(walk.hops)))
    most, taken = deroutes + dimensions - distance - first, 0
    for k, offered in enumerate(walk.offers):
        expected = omni_hops(network, stops[k], target, taken < most)
        assert {int(network.channel_target[candidate.channel]) for candidate in offered} == expected
        before, after = (len(differing(place[stop], place[target])) for stop in stops[k : k + 2])
        taken += after == before
    assert taken <= most
    assert len(walk.hops) == distance + taken
    if capped:
        assert taken <= deroutes


@pytest.mark.parametrize(("text", "vcs"), [("dimwar", 2), ("omniwar", 5)])
def test_weights_are_congestion_times_the_hops_left(text, vcs) -> None:
    network = hamming((3, 4))
    program = Routing.from_name(text).prepare(network, vcs)
    place = places(network)
    for seed in range(30):
        rng = Random(seed)
        walker = Walker(program, network, seed)
        inside = [rng.randint(0, 5) for _ in range(network.num_channels)]
        crowd(walker, rng, 5)
        for channel, flits in enumerate(inside):
            walker.set_waiting_flits(channel, flits)
        walk = walker.walk(0, 11)
        for offered, taken in zip(walk.offers, walk.hops, strict=True):
            for candidate in offered:
                behind = walker.occupancy(candidate.channel, candidate.vc)
                end = int(network.channel_target[candidate.channel])
                hops = 1 + len(differing(place[end], place[11]))
                weight = (inside[candidate.channel] + behind + 1) * hops
                before = len(
                    differing(place[int(network.channel_source[candidate.channel])], place[11])
                )
                assert candidate.penalty == 2 * weight + (hops > before)
            assert taken.penalty == min(candidate.penalty for candidate in offered)


def test_other_networks_are_refused() -> None:
    for text in ("dimwar", "omniwar"):
        assert reason(text, hamming((3, 3)), 2) is None
        assert reason(text, load("topology", "hypercube~dims=3").build(), 3) is None
        torus = build_grid("torus", (4, 4), wrap=True)
        assert "has links to 2 of the 3 switches" in reason(text, torus, 9)
        assert "without failures" in reason(text, hamming((3, 3), fail_links=1), 9)
        assert "switches are missing" in reason(text, hamming((3, 3), fail_switches=1), 9)
        graph = load("topology", "random-regular~n=10,degree=3").build()
        assert "have no coordinates" in reason(text, graph, 9)
        dragonfly = load("topology", "dragonfly~h=1").build()
        assert "exactly one coordinate" in reason(text, dragonfly, 9)
    assert reason("dimwar", hamming((3, 3)), 1).endswith("raise vcs to 2")
    assert reason("omniwar", hamming((2, 2, 2)), 2).endswith("raise vcs to 3")
    assert reason("omniwar~deroutes=2", hamming((3, 3)), 3).endswith("raise vcs to 4")


@pytest.mark.parametrize("text", ["dimwar", "omniwar", "omniwar~deroutes=2"])
def test_bit_complement_is_accepted_up_to_the_bisection(text) -> None:
    # 32 terminals of each half send to the other half, over 4 rows of 2 x 2 channels
    bound = 4 * 2 * 2 / 32
    network, vcs = hamming((4, 4), terminals=4), 4
    options = SimulationSettings(vcs=vcs, speedup=2, output_buffer_flits=8, max_cycles=6400)
    simulation = Simulation(
        network,
        Routing.from_name(text).prepare(network, vcs),
        options.routers(),
        OpenLoop(BitComplement().demand(network, 0), 0.6),
        seed=1,
    )
    accepted = measure_simulation(simulation, options).accepted.value
    assert 0.96 * bound < accepted < 1.01 * bound
