"""The routing chain in memory: rules, selection and layers make a table; the checker judges it.

Only this module combines the three parts of a routing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from routelab._progress import tell
from routelab.api import (
    InputError,
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
from routelab.registry.instances import Routing
from routelab.registry.requirements import require_support, require_unchanged
from routelab.toolkit import build_grid, determinized, source_symmetry


@dataclass(frozen=True, eq=False)
class AppliedRouting:
    """The result of a routing on a network.

    Attributes
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        The rules' graph, deterministic; None for a complete algorithm.
    seconds, cpu_seconds : float
        Wall time, and CPU time of all threads, of rules, selection and layers, with kernels
        loaded before.
    """

    table: RouteTable
    graph: RoutingGraph | None
    seconds: float
    cpu_seconds: float


def apply_routing(topology: Topology, routing: Routing) -> AppliedRouting:
    """Route a network.

    Raises
    ------
    UnsupportedError
        If the routing, or a part of it, does not apply; the text is the reason.
    PluginError
        If the result breaks the contract, for example a route that the rules forbid.
    """
    report = partial(tell, routing.name)
    report("loading kernels")
    _load_kernels(routing)
    begin, cpu = time.perf_counter(), time.process_time()
    table, graph = _run(topology, routing, report)
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
    if graph is not None:
        report("legality")
        _check_legality(table, graph, routing)
    return AppliedRouting(table, graph, seconds, cpu_seconds)


def reroute(routing: Routing, topology: Topology) -> RouteTable:
    """Return the table of a routing on one of many networks, without progress messages.

    Raises
    ------
    UnsupportedError, PluginError
        As `apply_routing`.
    """
    table, graph = _run(topology, routing, lambda phase: None)
    if graph is not None:
        _check_legality(table, graph, routing)
    return table


def prove(routed: AppliedRouting) -> Verdict:
    """Return the independent checker's verdict under the flow control that the table declares."""
    return check_table(routed.table)


def _run(
    topology: Topology, routing: Routing, report: Callable[[str], None]
) -> tuple[RouteTable, RoutingGraph | None]:
    if routing.hops is not None:
        raise UnsupportedError(
            f"{routing.hops.name}: it decides hop by hop and has no route table; use routelab "
            "simulate"
        )
    require_unchanged(None, topology)
    if routing.complete is not None:
        report("routing")
        require_support(routing.complete.name, routing.complete.supports(topology))
        table = _check_owner(routing.complete.route(topology), topology, routing.complete.name)
        require_unchanged(routing.complete.name, topology, table)
        return table, None
    rules, selection, layers = routing.rules, routing.selection, routing.layers
    assert rules is not None
    assert selection is not None
    assert layers is not None
    report("rules")
    graph = graph_of_rules(topology, rules)
    report("selection")
    require_support(selection.name, selection.supports(graph))
    table = _check_owner(selection.select(graph), topology, selection.name)
    require_unchanged(selection.name, topology, graph, table)
    table = table.with_vcs(table.hop_vc, rules.capabilities.flow_control or "plain")
    report("layers")
    require_support(layers.name, layers.supports(table))
    result = _check_owner(layers.assign(table), topology, layers.name)
    require_unchanged(layers.name, topology, graph, result)
    return result, graph


def graph_of_rules(topology: Topology, rules: RulesPlugin) -> RoutingGraph:
    """Return the deterministic routing graph of rules on a network.

    Raises
    ------
    UnsupportedError
        If the rules do not apply to the network.
    """
    require_support(rules.name, rules.supports(topology))
    legal = rules.routing_graph(topology)
    require_unchanged(rules.name, topology, legal)
    return determinized(legal)


def _check_owner(table: object, topology: Topology, name: str) -> RouteTable:
    """Return the plugin's result after checking that it is a table of this network."""
    if not isinstance(table, RouteTable):
        raise PluginError(f"{name}: expected a RouteTable, found {type(table).__name__}")
    if table.topology is not topology:
        raise PluginError(f"{name}: the table belongs to another topology than the given one")
    return table


def _check_legality(table: RouteTable, graph: RoutingGraph, routing: Routing) -> None:
    """Refuse routes that the rules forbid, whatever the selection declares."""
    ends = table.topology.endpoints
    path = first_illegal_path(
        graph.arrays,
        table.pair_start,
        table.path_start,
        table.hop_channel,
        ends,
        table.num_destinations,
    )
    if path < 0 and graph.minimal_only:
        # such a graph represents shortest routes only
        symmetry = source_symmetry(graph).arrays
        _, shortest = count_routes_from(graph.arrays, symmetry.representative, ends)
        path = first_longer_path(
            table.pair_start,
            table.path_start,
            shortest,
            symmetry,
            ends,
            table.destination_endpoint,
            table.topology.num_channels,
        )
    if path >= 0:
        assert routing.rules is not None
        assert routing.selection is not None
        raise PluginError(
            f"{routing.selection.name}: the rules {routing.rules.name} forbid a route it chose: "
            f"{table.describe_path(path)}"
        )


_loaded: set[str] = set()
"""Routings whose kernels this process, or the one that it was forked from, has loaded."""


def _load_kernels(routing: Routing) -> None:
    """Route a tiny network first, so that compiled kernels are loaded when the clock starts."""
    if routing.name in _loaded:
        return
    _loaded.add(routing.name)
    try:
        _run(build_grid("torus", (3, 2), wrap=True), routing, lambda phase: None)
    except (InputError, PluginError, UnsupportedError):
        # the routing may not support the tiny network; then the first run loads the kernels
        return
