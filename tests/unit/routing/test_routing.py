"""The chain: parts are put together, outcomes are honest, claims are not trusted."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from routelab.api import (
    ContextMetricPlugin,
    InputError,
    LayersPlugin,
    Measurement,
    MetricContext,
    PluginError,
    RouteTable,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    Topology,
    UnsupportedError,
)
from routelab.deadlock import Verdict
from routelab.jobs.folder_job import run_job
from routelab.registry.instances import CompleteRouting, ComposedRouting, load_routing
from routelab.results.outcome import read_outcome
from routelab.routing.facts import FIELDS
from routelab.routing.route import route_network
from routelab.routing.routes_file import load_routes
from routelab.routing.routing import Routing
from routelab.routing.topology_file import load_topology
from routelab.toolkit import build_grid
from routelab.workflow.evaluate import evaluate_routings
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.stages.topologies import TopologyJob


def composed(
    rules: RulesPlugin | None = None,
    selection: SelectionPlugin | None = None,
    layers: LayersPlugin | None = None,
) -> ComposedRouting:
    """A routing of the given parts; those not given are those of dor."""
    dor = load_routing("dor")
    parts = (selection or dor.selection, rules or dor.rules, layers or dor.layers)
    return ComposedRouting("test", *parts)


class Yaw(SelectionPlugin):
    """Takes the other way round for one pair, which dimension order forbids."""

    name = "yaw"
    summary = "Breaks the rules once"

    def select(self, graph):
        reversed_rules = load_routing("dor~order=reversed").rules
        return load_routing("dor").selection.select(reversed_rules.routing_graph(graph.topology))


class Long(SelectionPlugin):
    """Goes round a ring the long way: legal for the automaton, but no shortest route."""

    name = "long"
    summary = "Takes a detour"

    def select(self, graph):
        topology = graph.topology
        lengths = np.array([[0, 4], [1, 0]] if topology.num_switches == 2 else _long_lengths())
        hops = [h for i in range(5) for j in range(5) for h in _positive_hops(i, j)]
        return RouteTable.from_lengths(topology, lengths, hops)


def _long_lengths():
    return [[(j - i) % 5 for j in range(5)] for i in range(5)]


def _positive_hops(i: int, j: int) -> list[int]:
    # channels of a 5-ring: +X is 2 * switch
    return [2 * ((i + k) % 5) for k in range((j - i) % 5)]


def test_a_route_that_the_rules_forbid_is_refused() -> None:
    topology = build_grid("torus", (4, 3), wrap=True)
    with pytest.raises(PluginError, match="dimension-order forbid a route it chose"):
        Routing(composed(selection=Yaw())).routes(topology)


def test_a_detour_is_refused_where_the_graph_speaks_of_shortest_routes_only() -> None:
    topology = build_grid("torus", (5,), wrap=True)
    angara = load_routing("angara-sssp").rules
    with pytest.raises(PluginError, match="angara forbid a route it chose"):
        Routing(composed(rules=angara, selection=Long())).routes(topology)
    # with direction bits the graph is exact, and the detour is legal
    merged = load_routing("sssp@angara~form=merged").rules
    assert Routing(composed(rules=merged, selection=Long())).table(topology).num_paths == 25


def test_unsupported_parts_are_a_reason_and_not_a_crash() -> None:
    class Picky(LayersPlugin):
        name = "picky"
        summary = "Supports nothing"

        def supports(self, table):
            return "not today"

        def assign(self, table):
            raise AssertionError

    with pytest.raises(UnsupportedError, match="picky: not today"):
        Routing(composed(layers=Picky())).routes(build_grid("torus", (3,), wrap=True))


def test_a_complete_algorithm_must_return_a_table_of_its_network() -> None:
    class Foreign(RoutingPlugin):
        name = "foreign"
        summary = "Returns another network's table"

        def route(self, topology):
            other = build_grid("torus", (4,), wrap=True)
            return Routing.from_name("dor").table(other)

    with pytest.raises(PluginError, match="another topology"):
        Routing(CompleteRouting(Foreign())).routes(build_grid("torus", (4,), wrap=True))


def test_a_result_of_another_type_names_the_method() -> None:
    class Forgetful(SelectionPlugin):
        name = "forgetful"
        summary = "Returns nothing"

        def select(self, graph):
            pass

    line = Forgetful.select.__code__.co_firstlineno
    place = re.escape(f"({__file__}, line {line})")
    with pytest.raises(PluginError, match=f"forgetful: .* NoneType {place}"):
        Routing(composed(selection=Forgetful())).routes(build_grid("torus", (4,), wrap=True))


def test_literal_and_reduced_rules_give_the_same_routes_through_the_chain() -> None:
    topology = build_grid("torus", (4, 2, 2), wrap=True)
    tables = [
        Routing.from_name(f"sssp@angara~form={form}").table(topology)
        for form in ("literal", "merged", "minimal")
    ]
    for table in tables[1:]:
        np.testing.assert_array_equal(tables[0].hop_channel, table.hop_channel)


def test_the_checker_does_not_trust_the_rules_claim() -> None:
    class Liar(RulesPlugin):
        name = "liar"
        summary = "Claims plain flow control for free routes"
        capabilities = load_routing("p-sssp@up-down").rules.capabilities

        def routing_graph(self, topology):
            return load_routing("p-sssp@unrestricted").rules.routing_graph(topology)

    routed = Routing(composed(rules=Liar())).routes(build_grid("torus", (5, 5), wrap=True))
    verdict = routed.verdict
    assert verdict.status == "cycle"
    assert verdict.cycle


def test_evaluate_gives_a_row_for_every_routing() -> None:
    rows = evaluate_routings("torus~dims=4x2x2x2", ["angara-sssp", "dor", "dfsssp"])
    assert [row["routing"] for row in rows] == ["angara-sssp", "dor", "dfsssp"]
    sssp, dor, dfsssp = rows
    assert (sssp["max_load"], sssp["min_load"]) == (28, 8)
    assert sssp["single_route_share"] == pytest.approx(304 / 992)
    assert (dor["max_load"], dor["min_load"], dor["sigma4"]) == (16, 16, 0)
    assert dor["flow_control"] == "bubble"
    assert dfsssp["flow_control"] == "plain"
    assert dfsssp["virtual_channels"] > 1
    for row in rows:
        assert row["deadlock"] == "proven"
        assert row["pairs"] == row["reachable_pairs"] == 32 * 31
        assert set(FIELDS) <= set(row)


def test_evaluate_reports_unsupported_routings_beside_the_others(tmp_path) -> None:
    edges = tmp_path / "net.txt"
    edges.write_text("a b\nb c\nc a\n")
    rows = evaluate_routings(f"graph~file={edges}", ["dor", "p-sssp@up-down"])
    assert [row["status"] for row in rows] == ["unsupported", "ok"]
    assert "direction labels" in rows[0]["reason"]


def test_a_parameter_that_does_not_fit_the_network_is_a_reason() -> None:
    (row,) = evaluate_routings("torus~dims=4", ["sssp@up-down~root=zz"])
    assert (row["status"], "root=zz is not a switch" in row["reason"]) == ("unsupported", True)


def test_a_table_that_is_not_proven_has_its_cycle() -> None:
    (row,) = evaluate_routings("torus~dims=5", ["p-sssp@unrestricted"])
    lines = row["deadlock_cycle"].splitlines()
    assert len(lines) == 5
    assert "port" not in row["deadlock_cycle"]  # directions tell the channels of a switch apart
    assert all("waits for" in line and "(route " in line for line in lines)


def test_a_cycle_has_ports_where_the_network_has_them() -> None:
    ring = Topology.create(
        num_switches=3,
        channel_source=[0, 1, 2],
        channel_target=[1, 2, 0],
        source_port=[4, 7, 1],
        target_port=[1, 1, 2],
    )
    verdict = Verdict(
        "cycle",
        "plain",
        "",
        (),
        2,
        cycle=((0, 1), (1, 0), (2, 1)),
        cycle_routes=((0, 2), (1, 0), (2, 1)),
    )
    assert verdict.describe_cycle(ring) == [
        "0>1 port 4 vc 1 waits for 1>2 port 7 vc 0 (route 0 to 2)",
        "1>2 port 7 vc 0 waits for 2>0 port 1 vc 1 (route 1 to 0)",
        "2>0 port 1 vc 1 waits for 0>1 port 4 vc 1 (route 2 to 1)",
    ]


def test_a_network_without_channels_has_no_plot(tmp_path) -> None:
    network = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[0, 0]
    )
    plot = tmp_path / "loads.csv"
    with pytest.raises(InputError, match=r"no channel between switches to draw; omit --plot"):
        evaluate_routings(network, ["p-sssp@up-down"], plot=plot)
    assert not plot.exists()


def test_a_certificate_is_of_one_proven_table(tmp_path) -> None:
    path = tmp_path / "proof.json"
    evaluate_routings("torus~dims=4x2", ["dor"], certificate=path)
    assert json.loads(path.read_text())["flow_control"] == "bubble"
    with pytest.raises(InputError, match="one routing"):
        evaluate_routings("torus~dims=4x2", ["dor", "dfsssp"], certificate=path)
    with pytest.raises(InputError, match="no certificate for p-sssp@unrestricted"):
        evaluate_routings(
            "torus~dims=5x5", ["p-sssp@unrestricted"], certificate=tmp_path / "none.json"
        )
    assert not (tmp_path / "none.json").exists()
    evaluate_routings(
        "torus~dims=4x2", ["dor"], certificate=tmp_path / "new" / "folder" / "proof.json"
    )
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        evaluate_routings("torus~dims=4", ["dor"], certificate=tmp_path / "file" / "proof.json")


def test_stages_write_their_results(tmp_path) -> None:
    network, folder = tmp_path / "network", tmp_path / "routes"
    run_job(TopologyJob(folder=str(network), text="torus~dims=4x2"))
    job = RouteJob(
        folder=str(folder),
        topology=str(network),
        text="angara-sssp",
        metrics=("channel-load",),
        digest="f1",
    )
    outcome = run_job(job)
    assert outcome.status == "ok"
    read = read_outcome(folder / "outcome.json")
    assert read.facts["max_load"] == outcome.facts["max_load"] == 5
    assert read.provenance["fingerprint"] == job.fingerprint != ""
    table = load_routes(folder / "routes.npz", load_topology(network / "topology.npz"))
    with (folder / "channels.csv").open(newline="") as stream:
        loads = [float(line["load"]) for line in csv.DictReader(stream)]
    assert loads == np.bincount(table.hop_channel, minlength=len(loads)).tolist()
    with (folder / "metrics.csv").open(newline="") as stream:
        metrics = {line["metric"]: float(line["value"]) for line in csv.DictReader(stream)}
    assert metrics["max_load"] == 5
    assert json.loads((folder / "certificate.json").read_text())["routes"]


def test_a_network_that_cannot_be_built_is_the_outcome_of_its_routings(tmp_path) -> None:
    network, folder = tmp_path / "network", tmp_path / "routes"
    outcome = run_job(TopologyJob(folder=str(network), text="torus~dims=4x2,failed_links=0-5"))
    assert outcome.status == "unsupported"
    assert "0-5" in outcome.reason
    assert not (network / "topology.npz").exists()
    routed = run_job(RouteJob(folder=str(folder), topology=str(network), text="dor"))
    assert (routed.status, routed.topology) == ("unsupported", outcome.topology)
    assert "no network" in routed.reason
    assert read_outcome(folder / "outcome.json").status == "unsupported"


def test_metrics_can_have_other_networks_routed_by_the_same_routing() -> None:
    tables = []

    class Elsewhere(ContextMetricPlugin):
        name = "elsewhere"
        summary = "Routes without a link"

        def measure_in(self, context: MetricContext) -> list[Measurement]:
            whole = context.table.topology
            damaged = whole.without(channels=whole.links[0].tolist())
            tables.append(context.reroute(damaged))
            with pytest.raises(UnsupportedError, match="needs a torus or mesh"):
                context.reroute(
                    Topology.create(num_switches=1, channel_source=[], channel_target=[])
                )
            return []

    routing = Routing.from_name("angara-sssp")
    route_network(build_grid("torus", (4, 3), wrap=True), routing, [Elsewhere()])
    (table,) = tables
    direct = routing.table(table.topology)
    assert table.topology.failed_links == ("0.0-1.0",)
    np.testing.assert_array_equal(table.hop_channel, direct.hop_channel)
