"""Routings for any network on all families of docs/concepts/networks.md."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hop_cases import distances
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import networks

from routelab.api import needed_classes
from routelab.api.hops import program_digest
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.walks import Walker

PAGE = Path(__file__).parents[4] / "docs/concepts/networks.md"
NETWORKS = [
    "random-regular~n=16,degree=4,terminals=2",
    "hypercube~dims=4",
    "hamming~dims=3x3,widths=1x2",
    "dragonfly~h=1,p=2",
    "megafly",
    "slim-fly~q=3,terminals=1",
    "polarfly~q=3",
    "fat-tree~down=2x2x2,up=1x2x1,parallel=1x1x2",
]
ROUTINGS = [
    "valiant~base=minimal",
    "ugal~base=minimal",
    "ugal~base=minimal,mode=global",
    "par",
    "ksp",
    "ksp-ugal",
    "all-paths",
]


def test_all_families_of_the_page_are_here() -> None:
    described = set(re.findall(r"`([a-z-]+)`", PAGE.read_text("utf-8")))
    families = {entry.key for entry in installed_catalogue().entries("topology")} & described
    assert families == {text.split("~")[0] for text in NETWORKS}


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return load("topology", request.param).build()


@pytest.mark.parametrize("text", ROUTINGS)
def test_packets_arrive_on_every_network(network, text) -> None:
    vcs = 16
    assert Routing.from_name(text).supports(network, vcs) is None
    program = Routing.from_name(text).prepare(network, vcs)
    walker, least = Walker(program, network, seed=2), distances(network)
    ends = network.endpoints.tolist()
    longest = max(least[a][b] for a in ends for b in ends)
    rng = np.random.default_rng(1)
    for _ in range(60):
        source, target = rng.choice(ends, size=2, replace=False).tolist()
        walk = walker.walk(source, target)
        assert walk.arrived
        stops = [source, walk.waypoint, target] if walk.waypoint >= 0 else [source, target]
        shortest = sum(least[a][b] for a, b in pairwise(stops))
        if text.startswith("valiant"):
            assert walk.waypoint in ends
            assert len(walk.hops) == shortest
        elif text == "all-paths":
            assert least[source][target] <= len(walk.hops) <= longest
        elif text != "ksp":
            # nothing waits, so that no detour pays
            assert walk.waypoint == -1
            assert len(walk.hops) == shortest


@settings(max_examples=25, deadline=None)
@given(networks(), st.sampled_from([text for text in ROUTINGS if text != "ksp"]))
def test_they_are_proven_on_random_networks(topology, text) -> None:
    """With as many virtual channels as they need, and with one less they refuse."""
    part = Routing.from_name(text)
    assert part.supports(topology, 32) is None
    needed = needed_classes(part.prepare(topology, 32))
    verdict = check_hop_routing(part, topology, needed)
    assert verdict.proven, verdict.reason
    assert needed <= 2 or "raise vcs to" in part.supports(topology, needed - 1)


@pytest.mark.parametrize("routing", ["valiant", "ugal"])
@pytest.mark.parametrize(
    ("network", "base"),
    [
        ("torus~dims=4x3", "dimension-order"),
        ("mesh~dims=3x3", "dimension-order"),
        ("dragonfly~h=1", "dragonfly-minimal"),
        ("hypercube~dims=3", "minimal"),
        ("random-regular~n=12,degree=3", "minimal"),
    ],
)
def test_the_base_is_the_usual_one_of_the_network(routing, network, base) -> None:
    topology = load("topology", network).build()
    implicit, explicit = (Routing.from_name(text) for text in (routing, f"{routing}~base={base}"))
    vcs = next(vcs for vcs in range(1, 33) if explicit.supports(topology, vcs) is None)
    assert implicit.supports(topology, vcs) is None
    assert vcs == 1 or implicit.supports(topology, vcs - 1) is not None
    programs = [part.prepare(topology, vcs) for part in (implicit, explicit)]
    assert program_digest(programs[0]) == program_digest(programs[1])
    assert check_hop_routing(implicit, topology, vcs).proven
