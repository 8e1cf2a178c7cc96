"""Errors are reported together; plugins that write to their inputs are found and named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routelab.api import (
    InputError,
    LayersPlugin,
    Measurement,
    MetricPlugin,
    PluginError,
    RouteTable,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    Topology,
    TrafficPlugin,
)
from routelab.api.errors import MissingInputError
from routelab.api.topology import frozen_array
from routelab.registry.engines import engine_class
from routelab.registry.instances import CompleteRouting, ComposedRouting, load, load_routing
from routelab.registry.requirements import collect_errors
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.simulation.run import run_simulation
from routelab.toolkit import build_grid
from routelab.workflow.evaluate import _evaluate_routing


def grid() -> Topology:
    return build_grid("torus", (3, 3), wrap=True)


def write(value: object, name: str) -> None:
    """Replace an array by another one, as no plugin may."""
    array = getattr(value, name).copy()
    array[-1] = array[0]
    object.__setattr__(value, name, frozen_array(array, array.dtype))


class Rules(RulesPlugin):
    name, summary = "bad-rules", "Writes to the network"

    def routing_graph(self, topology):
        write(topology, "channel_target")
        return load_routing("dor").rules.routing_graph(grid())


class Selection(SelectionPlugin):
    name, summary = "bad-selection", "Writes to the graph"

    def select(self, graph):
        table = load_routing("dor").selection.select(graph)
        write(graph, "edge_channel")
        return table


class Layers(LayersPlugin):
    name, summary = "bad-layers", "Writes to the table"

    def assign(self, table):
        write(table, "hop_channel")
        return table


class Complete(RoutingPlugin):
    """Writes to its array after the table has been checked."""

    name, summary = "bad-complete", "Writes to its array later"

    def route(self, topology):
        legal_table = Routing.from_name("dor").table(topology)
        hops = legal_table.hop_channel.copy()
        table = RouteTable.create(
            topology,
            pair_start=legal_table.pair_start,
            path_start=legal_table.path_start,
            hop_channel=hops,
        )
        hops.flags.writeable = True
        hops[0] = hops[-1]
        return table


class Metric(MetricPlugin):
    name, summary, columns = "bad-metric", "Writes to the table", ()

    def measure(self, table, graph) -> list[Measurement]:
        write(table, "hop_channel")
        return []


def composed(**parts: object) -> ComposedRouting:
    dor = load_routing("dor")
    return replace(dor, name="test", **parts)


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        (lambda: composed(rules=Rules()), "bad-rules: it changed channel_target of the network"),
        (
            lambda: composed(selection=Selection()),
            "bad-selection: it changed edge_channel of the routing graph",
        ),
        (lambda: composed(layers=Layers()), "bad-layers: it changed hop_channel of the route t"),
        (
            lambda: CompleteRouting(Complete()),
            "bad-complete: it changed hop_channel of the route table",
        ),
    ],
)
def test_a_part_of_a_routing_that_writes_is_named(routing, message):
    with pytest.raises(PluginError, match=message):
        Routing(routing()).routes(grid())


def test_a_metric_that_writes_is_named():
    with pytest.raises(PluginError, match="bad-metric: it changed hop_channel of the route table"):
        route_network(grid(), Routing.from_name("dor"), [Metric()])


def test_no_later_row_uses_a_changed_network():
    network = grid()
    rows = [
        _evaluate_routing("net", network, routing, None, None, [])[0]
        for routing in (Routing(composed(rules=Rules())), Routing.from_name("dor"))
    ]
    assert [row["status"] for row in rows] == ["failed", "failed"]
    assert "channel_target of the network were changed in memory" in rows[1]["reason"]


class Traffic(TrafficPlugin):
    name, summary = "bad-traffic", "Writes to the network"

    def demand(self, topology, seed):
        uniform = load("traffic", "uniform").demand(topology, seed)
        object.__setattr__(topology, "channel_capacity", 2 * topology.channel_capacity)
        return uniform


def test_traffic_that_writes_is_named():
    engine = engine_class("packet")()
    with pytest.raises(PluginError, match="bad-traffic: it changed channel_capacity"):
        run_simulation(grid(), Routing.from_name("dor"), Traffic(), engine)


def fail(error: Exception) -> None:
    raise error


def test_all_errors_are_in_one_message_and_an_only_one_keeps_its_exit_code():
    wrong, missing = InputError("a is wrong"), MissingInputError("b is missing")
    with pytest.raises(InputError) as raised:
        collect_errors(lambda: fail(wrong), list, lambda: fail(missing))
    assert str(raised.value) == "a is wrong\nb is missing"
    assert raised.value.exit_code == 2
    with pytest.raises(MissingInputError, match="b is missing"):
        collect_errors(list, lambda: fail(missing))
    assert collect_errors(lambda: 1, lambda: 2) == [1, 2]
