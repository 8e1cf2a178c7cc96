"""docs/concepts/hop-by-hop.md as a reader uses it: its algorithm works, is proven and simulated."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from routelab.api import HopRoutingPlugin, Topology
from routelab.api.traffic import Demand
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.registry.catalogue import installed_catalogue
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid

# the page builds on built-in routings
pytestmark = pytest.mark.slow

GUIDE = Path(__file__).parents[2] / "docs/concepts/hop-by-hop.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    # importing it runs what the page says of its examples, too
    (folder / "hop_index_example.py").write_text("\n\n".join(BLOCKS))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("hop_index_example")


@pytest.mark.parametrize("network", ["petersen", "parallel-links", "mesh", "several-terminals"])
def test_its_algorithm_is_minimal_and_proven_on_any_network(example, network) -> None:
    topology: Topology = NETWORKS[network]()
    plugin: HopRoutingPlugin = example.HopIndex()
    assert plugin.supports(topology, 8) is None
    verdict = check_hop_routing(plugin, topology, 8)
    assert verdict.status == "proven", verdict.reason
    assert verdict.proof == "acyclic"
    program = plugin.prepare(topology, 8)
    walker = Walker(program, topology)
    distance = example.HopIndex()._distances(topology)
    for target, row in enumerate(distance.tolist()):
        for source, hops in enumerate(row):
            assert len(walker.walk(source, target).hops) == hops


def test_its_algorithm_says_where_it_does_not_apply(example) -> None:
    plugin = example.HopIndex()
    torus = build_grid("torus", (4, 4), wrap=True)
    assert plugin.supports(torus, 3) == "needs 4 virtual channels; available: 3"
    assert (
        plugin.supports(NETWORKS["two-components"](), 3) == "needs a route between any two switches"
    )


def test_its_detour_leads_by_way_of_any_switch(example) -> None:
    plugin, torus = example.Detour(), build_grid("torus", (3, 3), wrap=True)
    assert plugin.supports(torus, 3) == (
        "on each half of the route: needs 2 virtual channels; available: 1"
    )
    assert plugin.supports(torus, 4) is None
    verdict = check_hop_routing(plugin, torus, 4)
    assert verdict.status == "proven", verdict.reason
    assert verdict.proof == "acyclic"
    walker = Walker(plugin.prepare(torus, 4), torus, seed=1)
    distance = plugin._distances(torus)
    lengths = {len(walker.walk(0, 1).hops) for _ in range(200)}
    assert lengths == {int(distance[0, by] + distance[by, 1]) for by in range(9)}


def test_its_algorithm_moves_packets_in_the_engine(example) -> None:
    torus = build_grid("torus", (4, 4), wrap=True)
    simulation = Simulation(
        torus,
        example.HopIndex().prepare(torus, 4),
        Router(vcs=4),
        OpenLoop(Demand.uniform(torus, ""), 0.3),
        seed=1,
    )
    simulation.run(500)
    simulation.reset()
    sample = simulation.run(4000)
    assert simulation.blocked() is None
    # 16 terminals; the deviation of the mean is about sqrt(0.3 * 0.7 / 64000) = 0.002
    assert sample.ejected_flits / 16 / 4000 == pytest.approx(0.3, abs=0.01)
    hops = simulation.counts().hops
    # mean distance on a 4x4 torus without self-traffic: 32 / 15
    assert (hops * np.arange(len(hops))).sum() / hops.sum() == pytest.approx(32 / 15, abs=0.03)


VARIANTS = ["Patient", "Emptiest", "FreerDetour", "SecondThoughts"]


def flooded(plugin, vcs, load=1.0):
    """Counts of a torus where everybody sends to a switch that is two rows away."""
    torus = build_grid("torus", (4, 4), wrap=True)
    target = (torus.coordinates + np.array([2, 0])) % 4
    demand = Demand.permutation(np.ravel_multi_index(target.T, (4, 4)), "two rows up")
    program = plugin.prepare(torus, vcs)
    simulation = Simulation(torus, program, Router(vcs=vcs), OpenLoop(demand, load), seed=1)
    simulation.run(500)
    simulation.reset()
    simulation.run(2000)
    assert simulation.blocked() is None
    return simulation.counts()


@pytest.mark.parametrize("name", VARIANTS)
def test_its_variants_work_in_the_engine(example, name) -> None:
    plugin, torus = getattr(example, name)(), build_grid("torus", (4, 4), wrap=True)
    needed = {"Patient": 4, "Emptiest": 4, "FreerDetour": 8, "SecondThoughts": 12}[name]
    assert plugin.supports(torus, needed) is None
    assert plugin.supports(torus, needed - 1) is not None
    counts = flooded(plugin, needed)
    assert counts.ejected.min() > 0
    longest = int(np.flatnonzero(counts.hops).max())
    assert (longest > 2) == (name in ("FreerDetour", "SecondThoughts"))
    # two hops are the shortest way, and without load all take it
    assert np.flatnonzero(flooded(plugin, needed, 0.001).hops).tolist() == [2]


@pytest.mark.parametrize("name", ["Patient", "Emptiest", "FreerDetour", "SecondThoughts"])
def test_its_variants_are_proven(example, name) -> None:
    torus = build_grid("torus", (3, 3), wrap=True)
    verdict = check_hop_routing(getattr(example, name)(), torus, 12)
    queues = name != "Patient"
    assert verdict.status == ("proven if declared" if queues else "proven"), verdict.reason
    assert verdict.proof == "acyclic"


def test_its_steady_routing_refuses_a_base_with_escapes(example) -> None:
    plugin, torus = example.Steady(), build_grid("torus", (4, 4), wrap=True)
    plugin.receive_parts({"base": example.Routing.from_name("minimal-adaptive")})
    assert "relies on escapes" in plugin.supports(torus, 8)


def test_the_page_lists_the_algorithms_that_there_are() -> None:
    algorithms = GUIDE.read_text("utf-8").split("## Available algorithms")[1]
    listed = set(re.findall(r"`([a-z-]+)`", algorithms))
    hop_by_hop = {
        entry.key
        for entry in installed_catalogue().entries("routing")
        if entry.distribution == "routelab"
        and entry.plugin is not None
        and issubclass(entry.plugin, HopRoutingPlugin)
    }
    assert hop_by_hop <= listed
