"""What an algorithm says of itself stays apart from what was found out about its table."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from routelab.api import Measurement, MetricPlugin, PluginError
from routelab.registry.instances import load
from routelab.results.tables import further_columns, read_tuples
from routelab.routing.facts import routing_facts
from routelab.routing.route import Measured, route_network, write_routes
from routelab.routing.routing import Routing
from routelab.routing.topology import NAMED_FAILURES, load_network, topology_facts, write_topology
from routelab.toolkit import build_grid


@pytest.fixture(scope="module")
def routed():
    return Routing.from_name("first@up-down").routes(build_grid("torus", (3, 2), wrap=True))


@pytest.mark.parametrize("name", ["max_load", "deadlock", "status", "optimal", "switches"])
def test_a_counter_does_not_pass_for_a_fact(routed, name):
    claimed = replace(routed, table=replace(routed.table, counters={name: 1}))
    with pytest.raises(PluginError, match=f"counters {name} have the names of facts"):
        routing_facts(claimed)


def test_other_counters_are_facts(routed):
    counted = replace(routed, table=replace(routed.table, counters={"trees": 3}))
    facts = routing_facts(routed)
    assert routing_facts(counted) == {**facts, "trees": 3}


class Said(MetricPlugin):
    """Tells what it was told to tell."""

    name = "said"
    summary = "What it was told to tell"

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def measure(self, table, graph):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "expected a list of Measurements, found None"),
        ([3], "expected a Measurement, found 3"),
        ([Measurement("a", "b")], "'a' is 'b', expected a number"),
        ([Measurement(None, 1.0)], "None is 1.0, expected a number"),
    ],
)
def test_a_metric_without_numbers_costs_its_own_columns(answer, message):
    network, length = build_grid("torus", (3, 2), wrap=True), load("metric", "route-length")
    _, _, measured = route_network(
        network, Routing.from_name("first@up-down"), [Said(answer), length]
    )
    assert measured.problem.status == "failed"
    text = f"all metrics but said are measured; said: {message}"
    assert measured.problem.reason.startswith(text)
    line = inspect.getsourcelines(Said.measure)[1]
    has_line = measured.problem.reason.endswith(f" ({__file__}, line {line})")
    assert has_line == (": expected" in text)
    assert {m.metric: m.value for m, _ in measured.rows}["max_hops"] == 2


def test_facts_of_rules_are_facts_of_a_run(tmp_path) -> None:
    network = build_grid("mesh", (3, 3), wrap=False)
    routed, facts, measured = route_network(network, Routing.from_name("first@segment"))
    assert (facts["segments"], facts["restrictions"]) == (4, 4)
    assert facts["segment_list"].startswith("1 starting: ")
    write_routes(routed, measured, tmp_path, {})
    header, *lines = (tmp_path / "channels.csv").read_text().splitlines()
    assert header == "channel,source,target,direction,load,segment"
    assert {int(line.rsplit(",", 1)[1]) for line in lines} == {1, 2, 3, 4}
    rows = read_tuples(tmp_path / "channels.csv", header.split(","), {"segment"})
    assert further_columns(tmp_path / "channels.csv", header.split(",")[:5]) == ["segment"]
    assert {row[-1] for row in rows} == {1, 2, 3, 4}
    assert further_columns(tmp_path / "missing.csv", ["channel"]) == []
    assert further_columns(tmp_path / "channels.csv", ["load"]) == []


def test_facts_of_rules_replace_no_other_fact(tmp_path) -> None:
    routed = Routing.from_name("first@up-down").routes(build_grid("mesh", (2, 2), wrap=False))
    for name in ("max_load", "deadlock"):
        assert routed.graph is not None
        wrong = replace(routed, graph=replace(routed.graph, facts={name: 1}))
        with pytest.raises(PluginError, match=f"routing graph: facts {name} have the names"):
            routing_facts(wrong)
    graph = replace(routed.graph, channel_facts={"load": np.zeros(8, np.int32)})
    with pytest.raises(PluginError, match="channels have a load already"):
        write_routes(replace(routed, graph=graph), Measured(()), tmp_path, {})


def test_notes_on_a_file_are_logged_when_it_is_read_and_facts_of_its_network(tmp_path, caplog):
    (tmp_path / "net.csv").write_text("source,target,bandwidth\na,b,10\nb,c,10\n")
    network = load_network(f"graph~file={tmp_path}/net.csv")[1]
    write_topology(network, tmp_path, {})
    again = load_network(f"{tmp_path}/topology.npz")[1]
    notes = "not read: column bandwidth"
    assert [record.getMessage() for record in caplog.records] == [f"net.csv: {notes}"]
    assert [topology_facts(known)["file_notes"] for known in (network, again)] == [notes] * 2


@pytest.mark.parametrize("failures", [1, NAMED_FAILURES, NAMED_FAILURES + 3])
def test_facts_count_failed_links_and_name_the_first(failures) -> None:
    grid = build_grid("torus", (5, 5), wrap=True, fail_links=failures)
    facts = topology_facts(grid)
    assert facts["failed_links_names"].startswith(f"{failures}: ")
    named = [name for name in grid.failed_links if name in facts["failed_links_names"]]
    assert named == list(grid.failed_links[:NAMED_FAILURES])
    assert ("3 more" in facts["failed_links_names"]) == (failures > NAMED_FAILURES)
    assert "failed_switches_names" not in facts
