"""The plugin contract: the base classes of all kinds of plugin.

A plugin is a class that a distribution names under the entry-point group ``routelab.<kind>``;
the entry point's name is the plugin's key. Nothing else registers a plugin, built-in or not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

from routelab.api.hops import HopProgram, Proof
from routelab.api.plugin_base import Plugin
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Topology
from routelab.api.traffic import Demand, Messages
from routelab.api.workload import Job, Program
from routelab.kernels.hops import ABI


class TopologyPlugin(Plugin):
    """Build a network.

    Examples
    --------
    >>> from routelab.api import Topology, TopologyPlugin
    >>> class Pair(TopologyPlugin):
    ...     name, summary = "pair", "Two switches"
    ...     def build(self):
    ...         return Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    >>> Pair().build()
    <graph: 2 switches, 2 terminals, 2 channels>
    """

    kind = "topology"

    @abstractmethod
    def build(self) -> Topology:
        """Return the network.

        Raises
        ------
        InputError
            If parameters that are valid one by one do not fit together.
        """


class RulesPlugin(Plugin):
    """Define which routes are legal on a network."""

    kind = "rules"

    def supports(self, topology: Topology) -> str | None:
        """Return why these rules do not apply to `topology`; None if they do."""
        return None

    @abstractmethod
    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Return the automaton of legal routes."""


class SelectionPlugin(Plugin):
    """Choose one legal route (or several) for each pair, for any rules."""

    kind = "selection"

    def supports(self, graph: RoutingGraph) -> str | None:
        """Return why routes cannot be selected on `graph`; None if they can."""
        return None

    @abstractmethod
    def select(self, graph: RoutingGraph) -> RouteTable:
        """Return routes that are paths of `graph`.

        The graph is deterministic (`RoutingGraph.deterministic`): the channels of a route determine
        its vertices, so the table need not name vertices.
        """


class LayersPlugin(Plugin):
    """Assign virtual channels to the hops of routes, to make the routes free of deadlock."""

    kind = "layers"

    def supports(self, table: RouteTable) -> str | None:
        """Return why virtual channels cannot be assigned to `table`; None if they can."""
        return None

    @abstractmethod
    def assign(self, table: RouteTable) -> RouteTable:
        """Return the routes with a virtual channel for every hop, and the flow control they need.

        Raises
        ------
        UnsupportedError
            If the routes need more virtual channels than the plugin's parameters allow; the text
            says how many.
        """


class RoutingPlugin(Plugin):
    """A complete algorithm: it makes routes from a topology, without separate rules and selection.

    Examples
    --------
    >>> from routelab.api import RoutingPlugin
    >>> import routelab
    >>> class AsDor(RoutingPlugin):
    ...     name, summary = "as-dor", "The routes of dor"
    ...     def route(self, topology):
    ...         return routelab.route(topology, "dor").table
    >>> routelab.evaluate("torus~dims=4x4", AsDor())["max_load"].tolist()
    [8]
    """

    kind = "routing"

    def supports(self, topology: Topology) -> str | None:
        """Return why the algorithm does not apply to `topology`; None if it does."""
        return None

    @abstractmethod
    def route(self, topology: Topology) -> RouteTable:
        """Return the routes."""


class RoutingPart(Protocol):
    """A routing that an engine runs, or that another routing is built on.

    It has a table of routes, or decides hop by hop (`hop_by_hop`).
    """

    @property
    def name(self) -> str:
        """Canonical name."""

    @property
    def hop_by_hop(self) -> bool:
        """Whether the routing decides hop by hop and has no table."""

    @property
    def proof(self) -> Proof:
        """Why the routing cannot deadlock; one of the words of `Proof`."""

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the routing does not apply; None if it does. May compute the table first."""

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the routing as a program that decides at each switch.

        The program of a table follows its routes. Like the table, it may lack routes for some
        pairs, and may have a route to each terminal instead of each switch
        (`HopProgram.by_terminal`).

        Raises
        ------
        UnsupportedError
            If the routing does not apply, or needs more virtual channels.
        """

    def table(self, topology: Topology) -> RouteTable:
        """Return the routing's routes.

        Raises
        ------
        UnsupportedError
            If the routing does not apply, or decides hop by hop.
        """


class HopRoutingPlugin(Plugin):
    """A routing that decides hop by hop: adaptive, randomized, or too large for a table.

    Attributes
    ----------
    abi : int
        Version of the signatures of `hop` and `inject` that the plugin was written for; plugins for
        another version than routelab's are refused.
    proof : str
        Why the routing cannot deadlock; the checker verifies it on small networks. Set by the
        class; an instance may set another value if it depends on parameters.
    parts : mapping
        The routings that this one is built on. Each is named by a parameter of type `RoutingName`,
        and the key is the name of this parameter's field: with ``base: RoutingName``,
        ``self.parts["base"]`` is the routing. `supports` and `prepare` use them.
    """

    kind = "routing"
    abi: ClassVar[int] = ABI
    proof: Proof
    parts: Mapping[str, RoutingPart] = MappingProxyType({})

    def receive_parts(self, parts: Mapping[str, RoutingPart]) -> None:
        """Receive the routings that parameters name; called before all other methods."""
        self.parts = parts

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the algorithm does not apply; None if it does.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
            Virtual channels of every channel; too few are a reason.
        """
        return None

    @abstractmethod
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program of the algorithm for one network.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
            Virtual channels of every channel, at least as many as the algorithm needs.

        Raises
        ------
        UnsupportedError
            If the algorithm does not apply.
        """


class Composition(Plugin):
    """A published name for rules × selection × layers, without code.

    The three attributes are instance names of plugins (``"angara~turns=theorem2"``). Parameters
    of a composition are those of its parts that the attributes leave open; a name that two parts
    have is qualified by the part (``selection.ties``).

    Examples
    --------
    >>> from routelab.api import Composition
    >>> class EvenUpDown(Composition):
    ...     name, summary = "even-up-down", "Even loads on up*/down* routes"
    ...     rules, selection = "up-down", "balanced"
    >>> EvenUpDown.layers
    'none'
    """

    kind = "routing"
    rules: ClassVar[str]
    selection: ClassVar[str]
    layers: ClassVar[str] = "none"


class TrafficPlugin(Plugin):
    """Define which terminals send to which."""

    kind = "traffic"

    def supports(self, topology: Topology) -> str | None:
        """Return why the pattern is not defined on `topology`; None if it is."""
        return None

    @abstractmethod
    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return the destinations of every terminal, for open-loop runs.

        Parameters
        ----------
        topology : Topology
        seed : int
            Seed of the run. A random pattern, such as a permutation, uses it unless the plugin has
            a parameter for the seed.
        """

    def messages(self, topology: Topology, seed: int) -> Messages | None:
        """Return the messages of a closed-loop run.

        None: the engine draws the requested number from `demand`.
        """
        return None


class WorkloadPlugin(Plugin):
    """Define what the ranks of an application do."""

    kind = "workload"

    def supports(self, job: Job) -> str | None:
        """Return why the workload cannot run as `job`; None if it can."""
        return None

    @abstractmethod
    def program(self, job: Job) -> Program:
        """Return the program of all ranks of `job`."""


@dataclass(frozen=True)
class Measurement:
    """One number about a route table.

    Attributes
    ----------
    metric : str
        Name of a column that the metric declares, with unit and preferred direction.
    value : float
    """

    metric: str
    value: float


@dataclass(frozen=True, eq=False)
class MetricContext:
    """Input of a metric.

    Attributes
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        The rules that the routes were chosen from; None for a complete algorithm.
    reroute : function
        Returns the table of the same routing on another `Topology`, such as ``table.topology``
        without a link. Raises UnsupportedError if the routing does not apply to it.
    """

    table: RouteTable
    graph: RoutingGraph | None
    reroute: Callable[[Topology], RouteTable]


class ContextMetricPlugin(Plugin):
    """Measure a route table, and the same routing on other networks.

    Most metrics look at the table and the rules only: derive them from `MetricPlugin`.

    Class attributes
    ----------------
    by_default : bool
        Whether the metric runs if no metrics are named; False if it takes much longer than
        routing.
    """

    kind = "metric"
    by_default: ClassVar[bool] = True

    @abstractmethod
    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Return numbers about ``context.table``."""


class MetricPlugin(ContextMetricPlugin):
    """Measure a route table.

    Examples
    --------
    >>> from routelab.api import Column, Measurement, MetricPlugin
    >>> class Paths(MetricPlugin):
    ...     name, summary = "paths", "Number of paths"
    ...     columns = (Column("paths", "number of paths"),)
    ...     def measure(self, table, graph):
    ...         return [Measurement("paths", table.num_paths)]
    >>> import routelab
    >>> Paths().measure(routelab.route("mesh~dims=2x2", "dor").table, None)
    [Measurement(metric='paths', value=16)]
    """

    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Return numbers about ``context.table``: those of `measure`."""
        return self.measure(context.table, context.graph)

    @abstractmethod
    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Return numbers about `table`.

        Parameters
        ----------
        graph : RoutingGraph or None
            The rules that the routes were chosen from; None for a complete algorithm.
        """
