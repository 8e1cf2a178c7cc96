"""Apply a routing to a network.

A routing is a complete algorithm, or three plugins that work one after the other:

    rules      which routes are legal        network       -> routing graph
    selection  which of them a pair takes    routing graph -> route table
    layers     on which virtual channels     route table   -> route table

Only this module puts the three together. Plugins are not trusted: none may write to its inputs, no
route may break the rules, and deadlock freedom is for the independent checker to prove.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

from routelab._runtime.progress import report_phase
from routelab.api import (
    InputError,
    Plugin,
    PluginError,
    RouteTable,
    RoutingGraph,
    RulesPlugin,
    Topology,
    UnsupportedError,
)
from routelab.deadlock import Verdict, check_table
from routelab.kernels.choices import count_routes_from
from routelab.kernels.legality import first_illegal_path
from routelab.kernels.translations import first_longer_path
from routelab.registry.instances import ComposedRouting, HopRouting, Routing
from routelab.registry.requirements import require_support, require_unchanged
from routelab.toolkit import build_grid, determinized, source_symmetry

Report = Callable[[str], None]
"""Function that gets the name of each phase when it begins."""


@dataclass(frozen=True, eq=False)
class AppliedRouting:
    """The routes of a network, and how long it took to compute them.

    Attributes
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        Graph of the legal routes, deterministic; None for a complete algorithm.
    seconds, cpu_seconds : float
        Wall time, and CPU time of all threads, of the plugins, with kernels loaded before.
    """

    table: RouteTable
    graph: RoutingGraph | None
    seconds: float
    cpu_seconds: float

    @cached_property
    def verdict(self) -> Verdict:
        """The independent checker's verdict under the flow control that the table declares."""
        return check_table(self.table)


def apply_routing(topology: Topology, routing: Routing) -> AppliedRouting:
    """Route a network and report the phases.

    Raises
    ------
    UnsupportedError
        If the routing, or one of its plugins, does not apply to the network; the text says why.
    PluginError
        If a plugin breaks its contract, for example by a route that the rules forbid.
    """
    report = partial(report_phase, routing.name)
    report("loading kernels")
    _load_kernels(routing)
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    table, graph = _compute_routes(topology, routing, report)
    seconds, cpu_seconds = time.perf_counter() - wall_start, time.process_time() - cpu_start
    if graph is not None and isinstance(routing, ComposedRouting):
        report("legality")
        _require_legality(table, graph, routing)
    return AppliedRouting(table, graph, seconds, cpu_seconds)


def reroute(routing: Routing, topology: Topology) -> RouteTable:
    """Route one of many networks: as `apply_routing`, without reports and times."""
    table, graph = _compute_routes(topology, routing, lambda phase: None)
    if graph is not None and isinstance(routing, ComposedRouting):
        _require_legality(table, graph, routing)
    return table


def graph_of_rules(topology: Topology, rules: RulesPlugin) -> RoutingGraph:
    """Return the graph of the legal routes of a network, deterministic.

    Raises
    ------
    UnsupportedError
        If the rules do not apply to the network.
    PluginError
        If the rules change the network.
    """
    require_support(rules.name, rules.supports(topology))
    legal_routes = rules.routing_graph(topology)
    require_unchanged(rules.name, topology, legal_routes)
    # A selection chooses among the paths of the graph: make every route exactly one path.
    return determinized(legal_routes)


def _compute_routes(
    topology: Topology, routing: Routing, report: Report
) -> tuple[RouteTable, RoutingGraph | None]:
    """Run the plugins of a routing; return the table and the graph of the rules, if it has any."""
    if isinstance(routing, HopRouting):
        raise UnsupportedError(
            f"{routing.plugin.name}: it decides hop by hop and has no route table; use routelab "
            "simulate"
        )
    require_unchanged(None, topology)
    if isinstance(routing, ComposedRouting):
        return _run_composition(topology, routing, report)
    algorithm = routing.plugin
    report("routing")
    require_support(algorithm.name, algorithm.supports(topology))
    table = _require_table(algorithm, algorithm.route(topology), topology)
    require_unchanged(algorithm.name, topology, table)
    return table, None


def _run_composition(
    topology: Topology, routing: ComposedRouting, report: Report
) -> tuple[RouteTable, RoutingGraph]:
    rules, selection, layers = routing.rules, routing.selection, routing.layers

    report("rules")
    graph = graph_of_rules(topology, rules)

    report("selection")
    require_support(selection.name, selection.supports(graph))
    table = _require_table(selection, selection.select(graph), topology)
    require_unchanged(selection.name, topology, graph, table)
    # The flow control comes from the rules: a selection does not know why they avoid deadlock.
    table = table.with_vcs(table.hop_vc, rules.capabilities.flow_control or "plain")

    report("layers")
    require_support(layers.name, layers.supports(table))
    table = _require_table(layers, layers.assign(table), topology)
    require_unchanged(layers.name, topology, graph, table)
    return table, graph


def _require_table(plugin: Plugin, result: object, topology: Topology) -> RouteTable:
    """Return a plugin's result; raise PluginError unless it is a table of this network."""
    if not isinstance(result, RouteTable):
        raise PluginError(f"{plugin.name}: expected a RouteTable, found {type(result).__name__}")
    if result.topology is not topology:
        raise PluginError(
            f"{plugin.name}: the table belongs to another topology than the given one"
        )
    return result


def _require_legality(table: RouteTable, graph: RoutingGraph, routing: ComposedRouting) -> None:
    """Raise PluginError if the rules forbid a route, whatever the selection claims."""
    path = _find_illegal_path(table, graph)
    if path >= 0:
        raise PluginError(
            f"{routing.selection.name}: the rules {routing.rules.name} forbid a route it chose: "
            f"{table.describe_path(path)}"
        )


def _find_illegal_path(table: RouteTable, graph: RoutingGraph) -> int:
    """Return the first path of the table that is not a legal route; -1 if all are."""
    starts, endpoints = (table.pair_start, table.path_start), table.topology.endpoints
    path = first_illegal_path(
        graph.arrays, *starts, table.hop_channel, endpoints, table.num_destinations
    )
    if path >= 0 or not graph.minimal_only:
        return int(path)

    # Such a graph holds for shortest routes only, so a longer path of it may break the rules.
    # Lengths are compared by classes of equivalent sources, because networks are large.
    symmetry = source_symmetry(graph).arrays
    _, shortest = count_routes_from(graph.arrays, symmetry.representative, endpoints)
    destinations, channels = table.destination_endpoint, table.topology.num_channels
    return int(first_longer_path(*starts, shortest, symmetry, endpoints, destinations, channels))


_kernels_loaded: set[str] = set()
"""Names of routings that this process, or the one that it was forked from, has run."""


def _load_kernels(routing: Routing) -> None:
    """Route a tiny network first, so that loading and compilation do not count as routing."""
    if routing.name in _kernels_loaded:
        return
    _kernels_loaded.add(routing.name)
    # A routing that does not apply to this torus loads its kernels in the timed run.
    with suppress(InputError, PluginError, UnsupportedError):
        _compute_routes(build_grid("torus", (3, 2), wrap=True), routing, lambda phase: None)
