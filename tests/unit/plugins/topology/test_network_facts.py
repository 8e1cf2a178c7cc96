"""Facts of all families: closed forms of distances, cost and bisection."""

from fractions import Fraction

import numpy as np
import pytest

from routelab.registry.instances import load
from routelab.routing.topology import NOTES, TOPOLOGY_FIELDS, network_facts
from routelab.toolkit.families.groups import switch_groups

# diameter and mean distance between switches with terminals
DISTANCES = {
    "torus~dims=8x8": (8, Fraction(64 * 4, 63)),  # n k/4 for even k, over 64 switches
    "mesh~dims=5x5": (8, Fraction(10, 3)),  # n (k - 1/k) / 3, over 25 switches, less the own
    "hypercube~dims=7": (7, Fraction(7 * 64, 127)),
    "hamming~dims=5x4x3": (3, Fraction(60, 59) * (3 - Fraction(1, 5) - Fraction(7, 12))),
    # Slim Fly: 2 - degree / (2q² - 1)
    "slim-fly~q=5": (2, 2 - Fraction(7, 49)),
    "slim-fly~q=8": (2, 2 - Fraction(12, 127)),
    "polarfly~q=7": (2, 2 - Fraction(8, 57)),
    # three groups of two switches with a global link each: a ring of six
    "dragonfly~h=1": (3, Fraction(9, 5)),
    "dragonfly~h=3": (3, None),
    "megafly~h=3": (3, Fraction(2 * 2 + 3 * 3 * 9, 29)),
    # 2 (levels - 1); leaves of one subtree are 2 apart
    "fat-tree~k=4,levels=3": (4, Fraction(3 * 2 + 12 * 4, 15)),
    "fat-tree~k=2,levels=5": (8, Fraction(2 + 2 * 4 + 4 * 6 + 8 * 8, 15)),
    "random-regular~n=8,degree=7": (1, 1),
}


SOMETIMES = {"parts", "failed_switches_names", "failed_links_names", *NOTES}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name):
    diameter, mean = DISTANCES[name]
    topology = load("topology", name).build()
    facts = network_facts(topology)
    assert facts["diameter"] == diameter
    if mean is not None:
        assert facts["mean_distance"] == pytest.approx(float(mean))
    for form in ("diameter", "mean_distance", "leaf_diameter", "leaf_mean_distance"):
        if form in topology.attributes:
            value = facts[form.removeprefix("leaf_")]
            assert value == pytest.approx(topology.attributes[form])
    assert facts.keys() >= set(TOPOLOGY_FIELDS) - SOMETIMES


@pytest.mark.parametrize(
    ("name", "bisection"),
    [
        ("hypercube~dims=6", 32),
        ("hamming~dims=4x4x4", 64),
        ("hamming~dims=6x4,widths=3", 72),
        ("fat-tree", 32),
        ("fat-tree~k=4,levels=4", 128),
        ("fat-tree~down=18x36,up=1x9,parallel=1x2", 324),
    ],
)
def test_the_best_cut_found_attains_known_bisections(name, bisection):
    facts = network_facts(load("topology", name).build())
    assert facts["bisection_links"] == facts["best_cut_links"] == bisection
    assert facts["best_cut_share"] == pytest.approx(2 * bisection / facts["terminals"])


@pytest.mark.parametrize(("name", "cut"), [("torus~dims=8x8", 16), ("torus~dims=6x6x4", 48)])
def test_the_best_cut_of_tori_is_across_the_largest_dimension(name, cut):
    # two links of each ring: 2 N / k
    facts = network_facts(load("topology", name).build())
    assert facts["bisection_links"] is None
    assert facts["best_cut_links"] == cut


@pytest.mark.parametrize(
    ("name", "local", "between"),
    [
        # groups of a switches are complete; a pair of groups has a link
        ("dragonfly~h=3", 19 * 15, 19 * 9),
        ("megafly~h=2", 5 * 4, 10),
        ("slim-fly~q=5", 75, 100),
        ("slim-fly~q=8", 8 * 8 * 10 // 2, 8 * 8 * 7),
        ("polarfly~q=5", 30, 60),
        # rows of the last dimension
        ("hamming~dims=3x5", 3 * 10, 5 * 3),
        ("hamming~dims=3x4x2,widths=1x1x3", 12 * 3, 24 * 5 // 2),
        ("hamming~dims=6", None, None),
        ("random-regular", None, None),
        # inside pods of four leaves; to the roots
        ("fat-tree", 64, 64),
        ("fat-tree~down=4x4x2,up=1x2x2,parallel=1x1x2", 16, 16),
        ("fat-tree~down=4x3,up=1x2", 0, 6),
    ],
)
def test_links_inside_and_between_groups(name, local, between):
    topology = load("topology", name).build()
    facts = network_facts(topology)
    assert (facts["local_links"], facts["global_links"]) == (local, between)
    assert facts["links"] == sum(topology.attributes["cables"].values())
    if "local" in topology.attributes["cables"]:
        assert topology.attributes["cables"] == {"local": local, "global": between}


def test_cost_of_a_dragonfly():
    # balanced: radix 4h - 1, and per terminal 4 - 1/h ports
    facts = network_facts(load("topology", "dragonfly~h=3").build())
    assert facts["switch_ports"] == 11
    assert facts["ports_per_terminal"] == pytest.approx(11 / 3)
    assert facts["links_per_terminal"] == pytest.approx((5 + 3) / 2 / 3)


def test_groups_survive_failures_and_closed_forms_do_not():
    damaged = load("topology", "dragonfly~failed_switches=0+5,fail_links=3").build()
    assert np.bincount(switch_groups(damaged)).tolist() == [3, 3, *[4] * 7]
    facts = network_facts(load("topology", "hypercube~dims=4,fail_links=1").build())
    assert facts["bisection_links"] is None
    whole = load("topology", "hypercube~dims=4").build()
    assert network_facts(whole.without(switches=[3]))["bisection_links"] is None


def test_networks_of_thousands_of_switches_have_sizes_only(monkeypatch):
    monkeypatch.setattr("routelab.routing.topology.MAX_SWITCHES", 15)
    facts = network_facts(load("topology", "hypercube~dims=4").build())
    assert facts["diameter"] is facts["mean_distance"] is facts["best_cut_links"] is None
    assert facts["links"] == 32
