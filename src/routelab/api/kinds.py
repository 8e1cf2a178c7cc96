"""The kinds of plugin."""

from __future__ import annotations

from routelab.api.benchmark import BenchmarkPlugin
from routelab.api.engine import EnginePlugin
from routelab.api.export import ExportPlugin
from routelab.api.plugin import (
    Composition,
    ContextMetricPlugin,
    HopRoutingPlugin,
    LayersPlugin,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    TopologyPlugin,
    TrafficPlugin,
    WorkloadPlugin,
)
from routelab.api.plugin_base import Plugin

KINDS: dict[str, tuple[type[Plugin], ...]] = {
    "topology": (TopologyPlugin,),
    "rules": (RulesPlugin,),
    "selection": (SelectionPlugin,),
    "layers": (LayersPlugin,),
    "routing": (RoutingPlugin, HopRoutingPlugin, Composition),
    "metric": (ContextMetricPlugin,),
    "traffic": (TrafficPlugin,),
    "workload": (WorkloadPlugin,),
    "engine": (EnginePlugin,),
    "export": (ExportPlugin,),
    "benchmark": (BenchmarkPlugin,),
}
"""Kinds of plugin, each with the base classes of its plugins."""
