"""The contract between plugins and the core: base classes, data and errors."""

from routelab.api.benchmark import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    Failure,
    FigureOfMerit,
    RunOutput,
    WorkloadModel,
)
from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.api.citation import Citation
from routelab.api.columns import Column
from routelab.api.engine import EngineCase, EnginePlugin, EngineResult
from routelab.api.errors import InputError, PluginError, RoutelabError, UnsupportedError
from routelab.api.export import ExportPlugin, MachineSpeeds
from routelab.api.hops import (
    HopProgram,
    Proof,
    Ranking,
    RunTables,
    append_tables,
    class_lanes,
    needed_classes,
    pack_tables,
    run_tables,
)
from routelab.api.kinds import KINDS
from routelab.api.parameters import Bytes, Dims, Integers, Numbers, Parameters, Words, parameter
from routelab.api.plugin import (
    Composition,
    ContextMetricPlugin,
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
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Direction, Topology, frozen_array
from routelab.api.traffic import Demand, Messages
from routelab.api.workload import Collective, Job, Loop, Program, Step

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
    "Bytes",
    "Capabilities",
    "Citation",
    "Collective",
    "Column",
    "Composition",
    "ContextMetricPlugin",
    "Demand",
    "Dims",
    "Direction",
    "EngineCase",
    "EnginePlugin",
    "EngineResult",
    "ExportPlugin",
    "Failure",
    "FigureOfMerit",
    "FlowControl",
    "HopProgram",
    "HopRoutingPlugin",
    "InputError",
    "Integers",
    "Job",
    "LayersPlugin",
    "Loop",
    "MachineSpeeds",
    "Measurement",
    "Messages",
    "MetricContext",
    "MetricPlugin",
    "Numbers",
    "Parameters",
    "Plugin",
    "PluginError",
    "Program",
    "Proof",
    "Ranking",
    "RouteTable",
    "RoutelabError",
    "RoutingGraph",
    "RoutingPart",
    "RoutingPlugin",
    "RulesPlugin",
    "RunOutput",
    "RunTables",
    "SelectionPlugin",
    "Step",
    "Topology",
    "TopologyPlugin",
    "TrafficPlugin",
    "UnsupportedError",
    "Words",
    "WorkloadModel",
    "WorkloadPlugin",
    "append_tables",
    "class_lanes",
    "frozen_array",
    "needed_classes",
    "pack_tables",
    "parameter",
    "run_tables",
]
