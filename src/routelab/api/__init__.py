"""What a plugin author imports."""

from routelab.api.citation import Citation
from routelab.api.errors import InputError, PluginError, RoutelabError, UnsupportedError
from routelab.api.parameters import Dims, Integers, Parameters, Words, parameter
from routelab.api.plugin import (
    KINDS,
    Capabilities,
    Composition,
    FlowControl,
    LayersPlugin,
    Measurement,
    MetricPlugin,
    Plugin,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    TopologyPlugin,
)
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Direction, Topology, frozen_array

__all__ = [
    "KINDS",
    "Capabilities",
    "Citation",
    "Composition",
    "Dims",
    "Direction",
    "FlowControl",
    "InputError",
    "Integers",
    "LayersPlugin",
    "Measurement",
    "MetricPlugin",
    "Parameters",
    "Plugin",
    "PluginError",
    "RouteTable",
    "RoutelabError",
    "RoutingGraph",
    "RoutingPlugin",
    "RulesPlugin",
    "SelectionPlugin",
    "Topology",
    "TopologyPlugin",
    "UnsupportedError",
    "Words",
    "frozen_array",
    "parameter",
]
