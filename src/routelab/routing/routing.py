"""A routing, and what it makes of a network.

A routing is a complete algorithm, or three plugins that work one after the other:

    rules      which routes are legal        network       -> routing graph
    selection  which of them a pair takes    routing graph -> route table
    layers     on which virtual channels     route table   -> route table

or it decides hop by hop and has no table, or it is a table that was read from a file. All of them
run on the packet engine:

    Routing.routes(network)        the table, its legal routes, its verdict, how long it took
    Routing.prepare(network, vcs)  a program; that of a table follows its paths
    Routing.verdict(network, vcs)  proven free of deadlock, or a cycle

Only this module puts the plugins together. They are not trusted: none may write to its inputs, no
route may break the rules, and deadlock freedom is for the independent checker to prove.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from routelab._runtime.cpu_time import cpu_time
from routelab._runtime.progress import report_phase
from routelab.api import (
    HopProgram,
    InputError,
    Plugin,
    PluginError,
    Proof,
    RouteTable,
    RoutingGraph,
    RulesPlugin,
    Topology,
    UnsupportedError,
    needed_classes,
)
from routelab.deadlock import Switching, Verdict, check_table
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.deadlock.hop_verdict import HopVerdict
from routelab.kernels.choices import count_routes_from
from routelab.kernels.legality import first_illegal_path
from routelab.kernels.translations import first_longer_path
from routelab.registry.instances import ComposedRouting, HopRouting, RoutingPlugins, load_routing
from routelab.registry.requirements import require_support, require_unchanged, source_line
from routelab.routing.table_program import table_program
from routelab.toolkit import build_grid, determinized, source_symmetry

T = TypeVar("T")

Report = Callable[[str], None]
"""Function that gets the name of each phase when it begins."""

TABLE_NAME = "the table"
"""Name of a table that was read from a file."""


@dataclass(frozen=True, eq=False)
class RoutedNetwork:
    """A network with its routes, and how long it took to compute them.

    Attributes
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        Graph of the legal routes, deterministic; None for a complete algorithm.
    seconds, cpu_seconds : float
        Wall time, and CPU time of all threads, of the plugins, with kernels loaded before.
    """

    table: RouteTable
    graph: RoutingGraph | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @cached_property
    def verdict(self) -> Verdict:
        """The independent checker's verdict under the flow control that the table declares."""
        return check_table(self.table)


class Routing:
    """A routing; a `routelab.api.RoutingPart`, so that others may be built on it.

    The results for the last network are kept, so that a simulation runs the same routes that the
    checker has proven.

    Parameters
    ----------
    plugins : RoutingPlugins or RouteTable
        The plugins with their canonical name; or a table, which is for its own network only.

    Attributes
    ----------
    seconds : float or None
        Wall time to compute routes or program; 0 for a table that was read, None before.

    Examples
    --------
    >>> from routelab.toolkit import build_grid
    >>> routing = Routing.from_name("sssp@angara~turns=exact")
    >>> routing.routes(build_grid("torus", (4, 3), wrap=True)).verdict.status
    'proven'
    """

    def __init__(self, plugins: RoutingPlugins | RouteTable) -> None:
        self.seconds: float | None = None
        self._routes: RoutedNetwork | None = None
        self._programs: dict[tuple[Topology, int], HopProgram] = {}
        if isinstance(plugins, RouteTable):
            self._plugins = None
            self.keep(RoutedNetwork(plugins))
            return
        self._plugins = plugins
        if isinstance(plugins, HopRouting):
            # The plugin may be built on other routings, which its parameters name. They are made
            # here, because only this class can put their plugins together.
            parts = {field: Routing(part) for field, part in plugins.parts.items()}
            plugins.plugin.receive_parts(parts)

    @classmethod
    def from_name(cls, text: str | Plugin) -> Routing:
        """Make the routing with a name: ``angara-sssp``, ``sssp@angara~turns=exact``.

        Raises
        ------
        InputError
            If the name is wrong; see `routelab.registry.instances.load_routing`.
        """
        return cls(load_routing(text))

    @property
    def name(self) -> str:
        """Canonical name."""
        return TABLE_NAME if self._plugins is None else self._plugins.name

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins of the routing; none of a table."""
        return () if self._plugins is None else self._plugins.plugins

    @property
    def rules(self) -> RulesPlugin | None:
        """The rules that say which routes are legal; None for any other routing."""
        return self._plugins.rules if isinstance(self._plugins, ComposedRouting) else None

    @property
    def hop_by_hop(self) -> bool:
        """Whether the routing decides hop by hop and has no table."""
        return isinstance(self._plugins, HopRouting)

    @property
    def proof(self) -> Proof:
        """Kind of the proof of deadlock freedom.

        That of a table is ``bubble``: no cycles, or only rings under bubble flow control.
        """
        return self._plugins.plugin.proof if isinstance(self._plugins, HopRouting) else "bubble"

    @property
    def known_tables(self) -> tuple[RouteTable, ...]:
        """The table; nothing before it was computed, or if the routing has none."""
        return () if self._routes is None else (self._routes.table,)

    def keep(self, routes: RoutedNetwork) -> RoutedNetwork:
        """Keep routes, so that `routes` need not compute them for the same network; return them.

        This routing has made them, perhaps in another process.
        """
        self._routes, self.seconds = routes, routes.seconds
        return routes

    def routes(self, topology: Topology) -> RoutedNetwork:
        """Compute the routes, unless they are kept, and check that the rules allow them.

        Raises
        ------
        UnsupportedError
            If the routing, or one of its plugins, does not apply to the network; the text says why.
            Also if it decides hop by hop.
        PluginError
            If a plugin breaks its contract, for example by a route that the rules forbid.
        """
        if self._routes is not None and self._routes.table.topology is topology:
            return self._routes
        # 1. Load the kernels on a tiny network, so that loading and compilation do not count as
        #    routing. A routing that does not apply to it loads them in the timed run.
        report = partial(report_phase, self.name)
        report("loading kernels")
        if self.name not in _kernels_loaded:
            _kernels_loaded.add(self.name)
            tiny_network = build_grid("torus", (3, 2), wrap=True)
            with suppress(InputError, PluginError, UnsupportedError):
                self._run_plugins(tiny_network, _silent)
        # 2. Run the plugins.
        wall_start, cpu_start = time.perf_counter(), cpu_time()
        table, graph = self._run_plugins(topology, report)
        seconds, cpu_seconds = time.perf_counter() - wall_start, cpu_time() - cpu_start
        # 3. The rules must allow every route, whatever the selection claims.
        if graph is not None:
            report("legality")
        self._require_legality(table, graph)
        return self.keep(RoutedNetwork(table, graph, seconds, cpu_seconds))

    def table(self, topology: Topology) -> RouteTable:
        """Return the table of `routes`."""
        return self.routes(topology).table

    def reroute(self, topology: Topology) -> RouteTable:
        """Return the table of one of many networks: without progress reports, and not kept."""
        table, graph = self._run_plugins(topology, _silent)
        self._require_legality(table, graph)
        return table

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program that the packet engine runs, on some virtual channels per channel.

        The program of a table follows the routes of the table: some pairs may have none, and
        packets may be routed to terminals instead of switches. The programs of a hop-by-hop routing
        are kept.

        Raises
        ------
        UnsupportedError
            If the routing does not apply to the network, or needs more virtual channels.
        """
        if not isinstance(self._plugins, HopRouting):
            program = table_program(self.table(topology))
            if needed_classes(program) > virtual_channels:
                raise UnsupportedError(
                    f"{self.name}: needs {needed_classes(program)} virtual channels; "
                    f"available: {virtual_channels}"
                )
            return program
        key = topology, virtual_channels
        if key not in self._programs:
            report_phase(self.name, "routing")
            plugin, start = self._plugins.plugin, time.perf_counter()
            require_support(plugin.name, plugin.supports(topology, virtual_channels))
            self._programs[key] = plugin.prepare(topology, virtual_channels)
            require_unchanged(plugin.name, topology)
            self.seconds = time.perf_counter() - start
        return self._programs[key]

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why `prepare` is refused; None if it is not. May compute the table."""
        if isinstance(self._plugins, HopRouting):
            return self._plugins.plugin.supports(topology, virtual_channels)
        try:
            self.prepare(topology, virtual_channels)
        except UnsupportedError as error:
            return str(error)
        return None

    def verdict(
        self,
        topology: Topology,
        virtual_channels: int,
        *,
        switching: Switching = "virtual-cut-through",
        packets_per_buffer: int = 2,
        max_states: int | None = None,
    ) -> Verdict | HopVerdict:
        """Return the deadlock checker's verdict under a router's settings.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
            Of every channel; a table brings its own.
        switching : {"virtual-cut-through", "wormhole"}
        packets_per_buffer : int
            Packets of the largest size that a buffer of one virtual channel holds.
        max_states : int, optional
            Largest number of states that the check of a hop-by-hop routing examines.
        """
        if not self.hop_by_hop:
            return check_table(
                self.table(topology), packets_per_buffer=packets_per_buffer, switching=switching
            )
        return check_hop_routing(
            self,
            topology,
            virtual_channels,
            switching=switching,
            packets_per_buffer=packets_per_buffer,
            # In the packet engine, the next packet may enter a buffer as soon as the tail of the
            # one before has: a buffer may hold flits of two packets.
            shared_buffers=True,
            max_states=max_states,
        )

    def _run_plugins(
        self, topology: Topology, report: Report
    ) -> tuple[RouteTable, RoutingGraph | None]:
        """Run the plugins; return the table and the graph of the rules, if there are any."""
        routing = self._plugins
        if routing is None:
            raise UnsupportedError(f"{self.name}: its routes are for its own network only")
        if isinstance(routing, HopRouting):
            raise UnsupportedError(
                f"{routing.plugin.name}: it decides hop by hop and has no route table; use "
                "routelab simulate"
            )
        require_unchanged(None, topology)  # no plugin yet: the network itself may be wrong
        if not isinstance(routing, ComposedRouting):
            algorithm = routing.plugin
            report("routing")
            require_support(algorithm.name, algorithm.supports(topology))
            table = _require_table(algorithm, algorithm.route, topology, topology)
            require_unchanged(algorithm.name, topology, table)
            return table, None

        rules, selection, layers = routing.rules, routing.selection, routing.layers
        report("rules")
        graph = graph_of_rules(topology, rules)

        report("selection")
        require_support(selection.name, selection.supports(graph))
        table = _require_table(selection, selection.select, graph, topology)
        require_unchanged(selection.name, topology, graph, table)
        # Flow control and virtual channels come from the rules: a selection does not know why they
        # avoid deadlock.
        hop_vc = table.hop_vc if graph.vertex_vc is None else graph.virtual_channels(table)
        table = table.with_vcs(hop_vc, rules.capabilities.flow_control or "plain")

        report("layers")
        require_support(layers.name, layers.supports(table))
        table = _require_table(layers, layers.assign, table, topology)
        require_unchanged(layers.name, topology, graph, table)
        return table, graph

    def _require_legality(self, table: RouteTable, graph: RoutingGraph | None) -> None:
        """Raise PluginError if the rules forbid a route; a complete algorithm has none."""
        if graph is None or not isinstance(self._plugins, ComposedRouting):
            return
        path = first_illegal_route(table, graph)
        if path >= 0:
            rules, selection = self._plugins.rules, self._plugins.selection
            raise PluginError(
                f"{selection.name}: the rules {rules.name} forbid a route it chose: "
                f"{table.describe_path(path)}"
            )


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


def _require_table(
    plugin: Plugin, method: Callable[[T], object], value: T, topology: Topology
) -> RouteTable:
    """Call a plugin's method; raise PluginError unless it returns a table of this network."""
    result = method(value)
    if not isinstance(result, RouteTable):
        raise PluginError(
            f"{plugin.name}: expected a RouteTable, found {type(result).__name__}"
            f"{source_line(method)}"
        )
    if result.topology is not topology:
        raise PluginError(
            f"{plugin.name}: the table belongs to another topology than the given one"
        )
    return result


def first_illegal_route(table: RouteTable, graph: RoutingGraph) -> int:
    """Return the number of the first path that is not a legal route; -1 if all paths are legal."""
    # 1. Every route must be a path of the graph.
    topology = table.topology
    path = first_illegal_path(
        graph.arrays,
        table.pair_start,
        table.path_start,
        table.hop_channel,
        topology.endpoints,
        table.num_destinations,
    )
    if path >= 0 or not graph.minimal_only:
        return int(path)
    # 2. In a `minimal_only` graph only the shortest path between two switches is legal for certain:
    #    a longer path of it may break the rules. Shortest lengths are computed for one source of
    #    each class of equivalent ones, because networks are large.
    symmetry = source_symmetry(graph).arrays
    _, shortest = count_routes_from(graph.arrays, symmetry.representative, topology.endpoints)
    path = first_longer_path(
        table.pair_start,
        table.path_start,
        shortest,
        symmetry,
        topology.endpoints,
        table.destination_endpoint,
        topology.num_channels,
    )
    return int(path)


def _silent(phase: str) -> None:
    """Report nothing."""


_kernels_loaded: set[str] = set()
"""Names of routings whose kernels this process, or the one that it was forked from, has loaded."""
