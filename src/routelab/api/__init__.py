"""What a plugin author imports."""

from routelab.api.benchmark import (
    BenchmarkError,
    BenchmarkResult,
    BenchmarkTask,
    Failure,
    FigureOfMerit,
    RunOutput,
    WorkloadModel,
)
from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block, BlockBuilder
from routelab.api.citation import Citation
from routelab.api.cluster_plugins import BenchmarkPlugin, FabricPlugin
from routelab.api.direction_automaton import DirectionAutomaton, add_ordered_moves, lay
from routelab.api.direction_labels import DirectionLabels, torus_directions
from routelab.api.errors import InputError, PluginError, RoutelabError, UnsupportedError
from routelab.api.fabric import FabricError, FabricJob, Switch
from routelab.api.failures import with_random_failures
from routelab.api.grids import Grid, GridParameters, build_grid, full_grid
from routelab.api.hops import HopProgram, Proof, needed_classes, pack_tables
from routelab.api.listed_routes import ListedRoutes, too_many_routes
from routelab.api.machine_speeds import MachineSpeeds
from routelab.api.parameters import Bytes, Dims, Integers, Parameters, Words, parameter
from routelab.api.plugin import (
    KINDS,
    Composition,
    ContextMetricPlugin,
    ExportPlugin,
    HopRoutingPlugin,
    LayersPlugin,
    Measurement,
    MetricContext,
    MetricPlugin,
    RoutingPart,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    TopologyPlugin,
    TrafficPlugin,
    WorkloadPlugin,
)
from routelab.api.plugin_base import Capabilities, FlowControl, Plugin
from routelab.api.reductions import determinized, merged
from routelab.api.route_choices import RouteChoices, route_choices
from routelab.api.route_lines import route_lines, table_from_lines
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.symmetry import SourceSymmetry, source_symmetry
from routelab.api.ties import TieParameters, search_arrays
from routelab.api.topology import Direction, Topology, frozen_array
from routelab.api.trace_reader import read_trace, trace_files
from routelab.api.traces import write_trace
from routelab.api.traffic import Demand, Messages
from routelab.api.traffic_matrix import read_messages, read_traffic_matrix
from routelab.api.traffic_patterns import (
    FixedPermutation,
    SeededParameters,
    TerminalGrid,
    random_order,
    rank_bits,
    too_few_terminals,
)
from routelab.api.workload import Collective, Job, Loop, Program, Step
from routelab.api.workload_patterns import (
    PatternParameters,
    PatternWorkload,
    RankGrid,
    ShiftParameters,
    ShiftWorkload,
)

__all__ = [
    "ALL",
    "COMPUTE",
    "IRECV",
    "ISEND",
    "KINDS",
    "RECV",
    "SEND",
    "WAIT",
    "BenchmarkError",
    "BenchmarkPlugin",
    "BenchmarkResult",
    "BenchmarkTask",
    "Block",
    "BlockBuilder",
    "Bytes",
    "Capabilities",
    "Citation",
    "Collective",
    "Composition",
    "ContextMetricPlugin",
    "Demand",
    "Dims",
    "Direction",
    "DirectionAutomaton",
    "DirectionLabels",
    "ExportPlugin",
    "FabricError",
    "FabricJob",
    "FabricPlugin",
    "Failure",
    "FigureOfMerit",
    "FixedPermutation",
    "FlowControl",
    "Grid",
    "GridParameters",
    "HopProgram",
    "HopRoutingPlugin",
    "InputError",
    "Integers",
    "Job",
    "LayersPlugin",
    "ListedRoutes",
    "Loop",
    "MachineSpeeds",
    "Measurement",
    "Messages",
    "MetricContext",
    "MetricPlugin",
    "Parameters",
    "PatternParameters",
    "PatternWorkload",
    "Plugin",
    "PluginError",
    "Program",
    "Proof",
    "RankGrid",
    "RouteChoices",
    "RouteTable",
    "RoutelabError",
    "RoutingGraph",
    "RoutingPart",
    "RoutingPlugin",
    "RulesPlugin",
    "RunOutput",
    "SeededParameters",
    "SelectionPlugin",
    "ShiftParameters",
    "ShiftWorkload",
    "SourceSymmetry",
    "Step",
    "Switch",
    "TerminalGrid",
    "TieParameters",
    "Topology",
    "TopologyPlugin",
    "TrafficPlugin",
    "UnsupportedError",
    "Words",
    "WorkloadModel",
    "WorkloadPlugin",
    "add_ordered_moves",
    "build_grid",
    "determinized",
    "frozen_array",
    "full_grid",
    "lay",
    "merged",
    "needed_classes",
    "pack_tables",
    "parameter",
    "random_order",
    "rank_bits",
    "read_messages",
    "read_trace",
    "read_traffic_matrix",
    "route_choices",
    "route_lines",
    "search_arrays",
    "source_symmetry",
    "table_from_lines",
    "too_few_terminals",
    "too_many_routes",
    "torus_directions",
    "trace_files",
    "with_random_failures",
    "write_trace",
]
