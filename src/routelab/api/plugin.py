"""The plugin contract: what every kind of plugin states and does.

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
    """Makes a network."""

    kind = "topology"

    @abstractmethod
    def build(self) -> Topology:
        """The network.

        Raises
        ------
        InputError
            If parameters that are right one by one do not fit together.
        """


class RulesPlugin(Plugin):
    """States which routes are legal on a network."""

    kind = "rules"

    def supports(self, topology: Topology) -> str | None:
        """Why these rules cannot be stated on `topology`; None if they can."""
        return None

    @abstractmethod
    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """The automaton of legal routes."""


class SelectionPlugin(Plugin):
    """Chooses one legal route (or several) for each pair. Serves any rules."""

    kind = "selection"

    def supports(self, graph: RoutingGraph) -> str | None:
        """Why routes cannot be selected on `graph`; None if they can."""
        return None

    @abstractmethod
    def select(self, graph: RoutingGraph) -> RouteTable:
        """Routes that are paths of `graph`, which is deterministic."""


class LayersPlugin(Plugin):
    """Assigns virtual channels to routes."""

    kind = "layers"

    def supports(self, table: RouteTable) -> str | None:
        """Why virtual channels cannot be assigned to `table`; None if they can."""
        return None

    @abstractmethod
    def assign(self, table: RouteTable) -> RouteTable:
        """The same routes with a virtual channel for every hop, and the flow control they need.

        Raises
        ------
        UnsupportedError
            If more virtual channels are needed than allowed; the text says how many.
        """


class RoutingPlugin(Plugin):
    """A complete algorithm: routes straight from a topology."""

    kind = "routing"

    def supports(self, topology: Topology) -> str | None:
        """Why the algorithm does not apply to `topology`; None if it does."""
        return None

    @abstractmethod
    def route(self, topology: Topology) -> RouteTable:
        """The routes."""


class RoutingPart(Protocol):
    """A routing that another one is built on, be it hop by hop or a table."""

    @property
    def name(self) -> str:
        """Canonical name."""

    @property
    def hop_by_hop(self) -> bool:
        """Whether it decides hop by hop and has no table."""

    @property
    def proof(self) -> Proof:
        """Why it cannot deadlock."""

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Why it does not apply; None if it does. Makes the table of a routing that has one."""

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Its program.

        Raises
        ------
        UnsupportedError
            If it does not apply.
        """

    def table(self, topology: Topology) -> RouteTable:
        """Its routes.

        Raises
        ------
        UnsupportedError
            If it does not apply, or decides hop by hop.
        """


class HopRoutingPlugin(Plugin):
    """A routing that decides hop by hop: adaptive, randomized, or too large for a table.

    Attributes
    ----------
    abi : int
        Version of the signatures that it was written for.
    proof : str
        Why it cannot deadlock; the checker verifies it on small networks. Stated by the class; an
        instance may state another where it depends on parameters.
    parts : mapping
        The routings that parameters of type `RoutingName` name, by field; `supports` and
        `prepare` may use them.
    """

    kind = "routing"
    abi: ClassVar[int] = ABI
    proof: Proof
    parts: Mapping[str, RoutingPart] = MappingProxyType({})

    def hand_in(self, parts: Mapping[str, RoutingPart]) -> None:
        """Take the routings that parameters name; called before anything is asked."""
        self.parts = parts

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Why the algorithm does not apply; None if it does.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
            Virtual channels of every channel; too few are a reason.
        """
        return None

    @abstractmethod
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """The algorithm for one network.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
            Virtual channels of every channel, at least as many as it needs.
        """


class Composition(Plugin):
    """A published name for rules × selection × layers; it holds no code of its own.

    The three attributes are instance names of plugins (``"angara~turns=theorem2"``). Parameters
    of a composition are those of its parts that the attributes leave open; a name that two parts
    have is qualified by the part (``selection.ties``).
    """

    kind = "routing"
    rules: ClassVar[str]
    selection: ClassVar[str]
    layers: ClassVar[str] = "none"


class TrafficPlugin(Plugin):
    """Says which terminals send to which."""

    kind = "traffic"

    def supports(self, topology: Topology) -> str | None:
        """Why the pattern is not defined on `topology`; None if it is."""
        return None

    @abstractmethod
    def demand(self, topology: Topology, seed: int) -> Demand:
        """Destinations of every terminal, for open-loop runs.

        Parameters
        ----------
        topology : Topology
        seed : int
            Of the run; for patterns that are drawn at random (a permutation, say) and do not fix
            a seed of their own.
        """

    def messages(self, topology: Topology, seed: int) -> Messages | None:
        """The messages of a closed-loop run; None: as many as asked for, drawn from `demand`."""
        return None


class WorkloadPlugin(Plugin):
    """Says what the ranks of an application do."""

    kind = "workload"

    def supports(self, job: Job) -> str | None:
        """Why the workload cannot run as `job`; None if it can."""
        return None

    @abstractmethod
    def program(self, job: Job) -> Program:
        """What all ranks of `job` do."""


@dataclass(frozen=True)
class Measurement:
    """One number about a route table.

    Attributes
    ----------
    metric : str
        Name of a column that the metric declares; that has the unit and the preferred direction.
    value : float
    """

    metric: str
    value: float


@dataclass(frozen=True, eq=False)
class MetricContext:
    """What a metric may look at.

    Attributes
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        The rules that the routes were chosen from; None for a complete algorithm.
    reroute : function
        The table of the same routing on another `Topology`, such as ``table.topology`` without a
        link. Raises UnsupportedError if the routing does not apply to it.
    """

    table: RouteTable
    graph: RoutingGraph | None
    reroute: Callable[[Topology], RouteTable]


class ContextMetricPlugin(Plugin):
    """Measures a route table, and what the routing does elsewhere.

    Most metrics look at the table and the rules only: derive them from `MetricPlugin`.

    Class attributes
    ----------------
    by_default : bool
        Whether it runs where no metrics are named; False for what takes much longer than routing.
    """

    kind = "metric"
    by_default: ClassVar[bool] = True

    @abstractmethod
    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Numbers about ``context.table``."""


class MetricPlugin(ContextMetricPlugin):
    """Measures a route table."""

    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Numbers about ``context.table``: `measure`."""
        return self.measure(context.table, context.graph)

    @abstractmethod
    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Numbers about `table`.

        Parameters
        ----------
        graph : RoutingGraph or None
            The rules that the routes were chosen from; None for a complete algorithm.
        """
