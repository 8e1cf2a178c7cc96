"""What a plugin author imports."""

from routelab.api.citation import Citation
from routelab.api.direction_automaton import DirectionAutomaton, add_ordered_moves, lay
from routelab.api.direction_labels import DirectionLabels, torus_directions
from routelab.api.errors import InputError, PluginError, RoutelabError, UnsupportedError
from routelab.api.failures import with_random_failures
from routelab.api.grids import Grid, GridParameters, build_grid, full_grid
from routelab.api.listed_routes import ListedRoutes, too_many_routes
from routelab.api.parameters import Dims, Integers, Parameters, Words, parameter
from routelab.api.plugin import (
    KINDS,
    Capabilities,
    Composition,
    ContextMetricPlugin,
    FlowControl,
    LayersPlugin,
    Measurement,
    MetricContext,
    MetricPlugin,
    Plugin,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    TopologyPlugin,
)
from routelab.api.reductions import determinized, merged
from routelab.api.route_choices import RouteChoices, route_choices
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.symmetry import SourceSymmetry, source_symmetry
from routelab.api.ties import TieParameters, search_arrays
from routelab.api.topology import Direction, Topology, frozen_array

__all__ = [
    "KINDS",
    "Capabilities",
    "Citation",
    "Composition",
    "ContextMetricPlugin",
    "Dims",
    "Direction",
    "DirectionAutomaton",
    "DirectionLabels",
    "FlowControl",
    "Grid",
    "GridParameters",
    "InputError",
    "Integers",
    "LayersPlugin",
    "ListedRoutes",
    "Measurement",
    "MetricContext",
    "MetricPlugin",
    "Parameters",
    "Plugin",
    "PluginError",
    "RouteChoices",
    "RouteTable",
    "RoutelabError",
    "RoutingGraph",
    "RoutingPlugin",
    "RulesPlugin",
    "SelectionPlugin",
    "SourceSymmetry",
    "TieParameters",
    "Topology",
    "TopologyPlugin",
    "UnsupportedError",
    "Words",
    "add_ordered_moves",
    "build_grid",
    "determinized",
    "frozen_array",
    "full_grid",
    "lay",
    "merged",
    "parameter",
    "route_choices",
    "search_arrays",
    "source_symmetry",
    "too_many_routes",
    "torus_directions",
    "with_random_failures",
]
