"""Worst permutation, effective bisection and traffic as plugins."""

import pytest
from pydantic import ValidationError

from routelab.api import RouteTable, Topology, UnsupportedError
from routelab.toolkit import build_grid
from routelab_plugins.metric.effective_bisection import EffectiveBisection
from routelab_plugins.metric.traffic_load import TrafficLoad
from routelab_plugins.metric.worst_permutation import WorstPermutationMetric


@pytest.fixture(scope="module")
def table():
    """A ring of four: neighbours one hop, opposite switches two hops in direction +X."""
    ring = build_grid("torus", (4,), True)
    # channel 2s leaves switch s in direction +X, channel 2s + 1 in direction -X
    steps = [[-1 if s == t else 2 * s + ((t - s) % 4 == 3) for t in range(4)] for s in range(4)]
    return RouteTable.from_next_hops(ring, steps)


@pytest.fixture(scope="module")
def alone():
    """A switch with its one terminal."""
    network = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    return RouteTable.from_lengths(network, [[0]], [])


def measured(plugin, table):
    columns = {column.name: column for column in plugin.list_columns()}
    measurements = plugin.measure(table, None)
    return {
        m.metric: (m.value, columns[m.metric].unit, columns[m.metric].better) for m in measurements
    }


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
