"""The metric plugins on a ring of four switches whose numbers are known by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from routelab.api import RouteTable, RoutingGraph, Topology
from routelab.toolkit import build_grid
from routelab_plugins.metric.channel_load import ChannelLoad
from routelab_plugins.metric.phase_load import PhaseLoad
from routelab_plugins.metric.reachability import Reachability
from routelab_plugins.metric.route_diversity import RouteDiversityMetric
from routelab_plugins.metric.route_length import RouteLength


@pytest.fixture(scope="module")
def ring():
    return build_grid("torus", (4,), True)


@pytest.fixture(scope="module")
def table(ring):
    """Neighbours one hop, opposite switches two hops in direction +X."""
    # channel 2s leaves switch s in direction +X, channel 2s + 1 in direction -X
    steps = [[-1 if s == t else 2 * s + ((t - s) % 4 == 3) for t in range(4)] for s in range(4)]
    return RouteTable.from_next_hops(ring, steps)


@pytest.fixture(scope="module")
def graph(ring):
    return RoutingGraph.create(
        ring,
        vertex_switch=np.arange(4),
        accepting=np.ones(4, dtype=bool),
        begin=np.arange(4),
        edge_source=ring.channel_source,
        edge_target=ring.channel_target,
        edge_channel=np.arange(8),
    )


@pytest.fixture(scope="module")
def apart():
    """Two terminals, and nothing between them."""
    network = Topology.create(num_switches=2, channel_source=[], channel_target=[])
    return RouteTable.from_lengths(network, [[0, -1], [-1, 0]], [])


def measured(plugin, table, graph=None):
    columns = {column.name: column for column in plugin.list_columns()}
    measurements = plugin.measure(table, graph)
    return {
        m.metric: (m.value, columns[m.metric].unit, columns[m.metric].better) for m in measurements
    }


def test_channel_load(table):
    # +X channels carry one neighbour's route and two halves of the opposite ones
    assert measured(ChannelLoad(), table) == {
        "max_load": (3, "routes", "lower"),
        "min_load": (1, "routes", "higher"),
        "mean_load": (2, "routes", "lower"),
        "perfect_load": (2, "routes", ""),
        "sigma4": (1, "routes", "lower"),
    }
    assert list(measured(ChannelLoad(k=2), table))[-1] == "sigma2"
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ChannelLoad(k=0)


def test_route_length(table):
    assert measured(RouteLength(), table) == {
        "max_hops": (2, "hops", "lower"),
        "mean_hops": (pytest.approx(4 / 3), "hops", "lower"),
        "mean_turns": (0, "turns", "lower"),
        "max_turns": (0, "turns", "lower"),
    }


def test_phase_load(table):
    assert measured(PhaseLoad(), table) == {
        "phase_load_xor": (4, "messages", "lower"),
        "phase_load_shift": (4, "messages", "lower"),
    }
    three = build_grid("mesh", (3,), False)
    steps = [[-1, 0, 0], [2, -1, 1], [3, 3, -1]]
    assert list(measured(PhaseLoad(), RouteTable.from_next_hops(three, steps))) == [
        "phase_load_shift"
    ]


def test_reachability(table, apart):
    assert measured(Reachability(), table) == {
        "pairs": (12, "pairs", ""),
        "connected_pairs": (12, "pairs", ""),
        "reachable_pairs": (12, "pairs", "higher"),
        "minimal_pairs": (12, "pairs", "higher"),
        "fully_routable": (1, "", "higher"),
        "fully_minimal": (1, "", "higher"),
        "routable_share": (1, "", "higher"),
        "minimal_share": (1, "", "higher"),
    }
    nothing = measured(Reachability(), apart)
    assert nothing["reachable_pairs"][0] == 0
    # what the network does not join, no routing has to
    assert nothing["fully_routable"][0] == 1
    assert "routable_share" not in nothing


def test_pairs_that_are_joined_and_not_routed_or_not_minimal_count_apart(ring):
    # 0 to 1 goes the long way round, 1 to 0 has no route, and nobody else has one
    lengths = np.full((4, 4), -1)
    np.fill_diagonal(lengths, 0)
    lengths[0, 1], lengths[2, 3] = 3, 1
    partial = RouteTable.from_lengths(ring, lengths, [1, 7, 5, 4])
    values = {name: value for name, (value, _, _) in measured(Reachability(), partial).items()}
    assert values["connected_pairs"] == 12
    assert (values["reachable_pairs"], values["minimal_pairs"]) == (2, 1)
    assert (values["fully_routable"], values["fully_minimal"]) == (0, 0)
    assert values["routable_share"] == pytest.approx(2 / 12)
    assert values["minimal_share"] == pytest.approx(1 / 12)


def test_route_diversity(table, graph):
    assert measured(RouteDiversityMetric(), table, graph) == {
        "single_route_share": (pytest.approx(2 / 3), "", "lower"),
        "mean_routes": (pytest.approx(4 / 3), "routes", "higher"),
        "total_routes": (16, "routes", "higher"),
    }
    assert measured(RouteDiversityMetric(), table, None) == {}


def test_meaningless_numbers_are_omitted(apart):
    assert measured(ChannelLoad(), apart) == {}
    assert measured(RouteLength(), apart) == {"max_hops": (0, "hops", "lower")}
