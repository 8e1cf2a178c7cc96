"""The plugin contract: what every kind of plugin states and does.

A plugin is a class that a distribution names under the entry-point group ``routelab.<kind>``;
the entry point's name is the plugin's key. Nothing else registers a plugin, built-in or not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from routelab.api.citation import Citation
from routelab.api.parameters import Parameters as BaseParameters
from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Topology

FlowControl = Literal["plain", "bubble"]


@dataclass(frozen=True)
class Capabilities:
    """What a plugin claims; the conformance kit and the deadlock checker verify it.

    Attributes
    ----------
    families : tuple of str
        Topology families it is made for; empty: any.
    minimal : bool or None
        Routes are as short as the bare network allows; None: depends.
    deterministic : bool
        The same input and seed give the same output.
    multipath : bool
        More than one path a pair.
    tolerates_failures : bool
        Works on networks with missing switches and links.
    flow_control : {"plain", "bubble"} or None
        Flow control under which the routes are free of deadlock on one virtual channel; None:
        no such claim, a layers plugin has to see to it.
    virtual_channels : int or None
        Virtual channels needed; None: depends on the network.
    max_switches : int or None
        Largest network it is meant for; None: no limit known.
    """

    families: tuple[str, ...] = ()
    minimal: bool | None = None
    deterministic: bool = True
    multipath: bool = False
    tolerates_failures: bool = True
    flow_control: FlowControl | None = None
    virtual_channels: int | None = 1
    max_switches: int | None = None


class Plugin(ABC):
    """Base of all kinds. Subclass a kind's class, not this one.

    Class attributes
    ----------------
    kind : str
        Set by the kind's class.
    name : str
        The plugin's key; must equal its entry point's name.
    summary : str
        One line, no full stop.
    citations : sequence of Citation
    capabilities : Capabilities
    Parameters : class
        A frozen model of the parameters; the empty one by default.
    """

    kind: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    citations: ClassVar[Sequence[Citation]] = ()
    capabilities: ClassVar[Capabilities] = Capabilities()
    Parameters: ClassVar[type[BaseParameters]] = BaseParameters

    def __init__(self, parameters: BaseParameters | None = None, **values: Any) -> None:
        """Take parameters as a model or as keyword arguments.

        Raises
        ------
        pydantic.ValidationError
            If a parameter is unknown or its value is not allowed.
        """
        self.parameters: Any = parameters if parameters is not None else self.Parameters(**values)

    def input_files(self) -> list[Path]:
        """Files that the parameters name; a change of one makes the results stale."""
        return []


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


@dataclass(frozen=True)
class Measurement:
    """One number about a route table.

    Attributes
    ----------
    metric : str
    value : float
    unit : str
    better : {"lower", "higher", ""}
    """

    metric: str
    value: float
    unit: str = ""
    better: Literal["lower", "higher", ""] = ""


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


KINDS: dict[str, tuple[type[Plugin], ...]] = {
    "topology": (TopologyPlugin,),
    "rules": (RulesPlugin,),
    "selection": (SelectionPlugin,),
    "layers": (LayersPlugin,),
    "routing": (RoutingPlugin, Composition),
    "metric": (ContextMetricPlugin,),
}
"""Kinds of plugin, each with the classes that a plugin of it may be derived from."""
