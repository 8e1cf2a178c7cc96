"""The metric plugins on a ring of four switches whose numbers are known by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from routelab.api import RouteTable, RoutingGraph, Topology, UnsupportedError
from routelab.toolkit import build_grid
from routelab_plugins.metric.channel_load import ChannelLoad
from routelab_plugins.metric.effective_bisection import EffectiveBisection
from routelab_plugins.metric.phase_load import PhaseLoad
from routelab_plugins.metric.reachability import Reachability
from routelab_plugins.metric.route_diversity import RouteDiversityMetric
from routelab_plugins.metric.route_length import RouteLength
from routelab_plugins.metric.traffic_load import TrafficLoad
from routelab_plugins.metric.worst_permutation import WorstPermutationMetric


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


@pytest.fixture(scope="module")
def alone():
    """A switch with its one terminal."""
    network = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    return RouteTable.from_lengths(network, [[0]], [])


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


def test_worst_permutation(table, alone, monkeypatch):
    # all two ahead: every +X channel carries its own switch's message and the one before
    assert measured(WorstPermutationMetric(), table) == {
        "worst_permutation": (2, "messages", "lower")
    }
    assert measured(WorstPermutationMetric(), alone) == {}
    monkeypatch.setattr("routelab_plugins.metric.worst_permutation.MAX_TERMINALS", 3)
    assert measured(WorstPermutationMetric(), table) == {}


def test_effective_bisection(table, alone):
    bisection = measured(EffectiveBisection(samples=4000), table)
    # the numbers themselves are checked in tests/unit/metrics
    assert list(bisection) == ["effective_bisection", "effective_bisection_half_width"]
    assert bisection["effective_bisection"][1:] == ("", "higher")
    assert bisection["effective_bisection_half_width"][1:] == ("", "")
    assert 0.5 < bisection["effective_bisection"][0] < 1
    assert measured(EffectiveBisection(), alone) == {}
    with pytest.raises(ValidationError, match="greater than or equal to 30"):
        EffectiveBisection(samples=29)


def written(folder, text):
    file = folder / "matrix.csv"
    file.write_text(text)
    return file


def test_traffic_load(table, alone, tmp_path):
    # 0 and 1 send two ahead: 100 + 30 bytes on the channel from 1 to 2
    file = written(tmp_path, "source,target,bytes\n0,2,60\n1,3,30\n0,2,40\n3,3,1000\n")
    assert measured(TrafficLoad(matrix=file), table) == {
        "traffic_max_load": (130, "bytes", "lower"),
        "traffic_mean_load": (260 / 8, "bytes", "lower"),
        "traffic_perfect_load": (260 / 8, "bytes", ""),
        "traffic_balance": (0.25, "", "higher"),
    }
    assert "traffic_cg_max_load" in measured(TrafficLoad(matrix=file, label="cg"), table)
    assert TrafficLoad(matrix=file).input_files() == [file]
    with pytest.raises(UnsupportedError, match="traffic of 4 ranks, and the network has 1 term"):
        TrafficLoad(matrix=file).measure(alone, None)
    # fewer ranks than terminals: the others say nothing; no traffic has no balance
    few = written(tmp_path, "0, 0\n0, 0\n")
    assert list(measured(TrafficLoad(matrix=few), table)) == [
        "traffic_max_load",
        "traffic_mean_load",
        "traffic_perfect_load",
    ]


def test_they_run_only_where_they_are_asked_for():
    assert not any(p.by_default for p in (WorstPermutationMetric, EffectiveBisection, TrafficLoad))
