"""Networks, routings, simulations and pictures in a notebook, without files and Snakemake.

The six functions are available as ``routelab.evaluate`` and so on. They print nothing;
``logging.basicConfig(level="DEBUG")`` shows their progress.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from routelab.api import FlowControl, InputError, Parameters, Plugin, RouteTable, Topology
from routelab.cluster.infiniband.prove import prove_files
from routelab.deadlock import Switching, Verdict
from routelab.deadlock.next_hops import Waits
from routelab.metrics import channel_loads, relative_loads
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.engines import engine_class
from routelab.registry.parameters import as_text, read_parameters
from routelab.registry.suggest import did_you_mean
from routelab.routing.facts import FIELDS
from routelab.routing.prove import Proof
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.workflow.evaluate import evaluate_routings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (
    "switches",
    "terminals",
    "channels",
    "reachable_pairs",
    "pairs",
    "max_load",
    "min_load",
    "sigma4",
    "max_hops",
    "mean_hops",
    "deadlock",
    "virtual_channels",
)
"""Facts in the display of a routed network; `RoutedNetwork.facts` has all."""


def evaluate(
    topology: str | Topology, routings: str | Plugin | Iterable[str | Plugin]
) -> pd.DataFrame:
    """Route a network with several routings, prove and measure.

    Parameters
    ----------
    topology : str or Topology
        Instance name such as ``"torus~dims=4x2x2x2"``, a folder or file that ``routelab topology``
        wrote, or a network.
    routings : str, Plugin, or an iterable of them
        Instance names such as ``"angara-sssp"`` or ``"sssp@angara~turns=exact"``; or your own
        algorithms, objects of subclasses of `routelab.api.RoutingPlugin`.

    Returns
    -------
    frame : DataFrame
        One row per routing. The columns are those of ``routelab evaluate --format csv``; if a
        routing does not apply or fails, ``status`` and ``reason`` say why and its facts are
        missing. ``frame.attrs["topology"]`` is the network's canonical name, and further facts,
        e.g. why a table is not proven free of deadlock, are in ``frame.attrs["facts"]``, one
        mapping per row.

    Raises
    ------
    InputError
        If a name is wrong; the message lists all wrong routings.

    Examples
    --------
    >>> import routelab
    >>> frame = routelab.evaluate("torus~dims=4x4", ["dor", "angara-bfs"])
    >>> frame[["routing", "max_load"]].values.tolist()
    [['dor', 8], ['angara-bfs', 12]]
    """
    routing_list = [routings] if isinstance(routings, str | Plugin) else list(routings)
    rows = evaluate_routings(topology, routing_list)
    frame = pd.DataFrame(rows, columns=list(FIELDS))
    # each row has the name; without routings, the network is loaded to find it
    frame.attrs["topology"] = rows[0]["topology"] if rows else load_network(topology)[0]
    frame.attrs["facts"] = [
        {key: value for key, value in row.items() if key not in FIELDS} for row in rows
    ]
    return frame


def topology(name: str) -> Topology:
    """Build a network.

    Parameters
    ----------
    name : str
        Instance name such as ``"torus~dims=4x2x2x2"``, or a folder or file that
        ``routelab topology`` wrote.

    Raises
    ------
    InputError
        If the name is wrong or the network does not exist.

    Examples
    --------
    >>> import routelab
    >>> routelab.topology("mesh~dims=3x2")
    <mesh: 6 switches, 6 terminals, 14 channels>
    """
    return load_network(name)[1]


def route(topology: str | Topology, routing: str | Plugin) -> RoutedNetwork:
    """Route a network and prove the table free of deadlock, or find the cycle.

    Parameters
    ----------
    topology : str or Topology
        Instance name, a folder or file that ``routelab topology`` wrote, or a network.
    routing : str or Plugin
        Instance name, or your own algorithm: an object of a subclass of
        `routelab.api.RoutingPlugin`.

    Raises
    ------
    InputError
        If a name is wrong.
    UnsupportedError
        If the routing does not apply to the network; the text is the reason.
    PluginError
        If a plugin breaks its contract.

    Examples
    --------
    >>> import routelab
    >>> routed = routelab.route("torus~dims=4x4", "angara-sssp")
    >>> routed.verdict.status, routed.facts["max_load"]
    ('proven', 9)
    """
    algorithm = Routing.from_name(routing)
    name, network = load_network(topology)
    # the third result is that of metrics, and none are measured here
    routed, route_facts, _ = route_network(network, algorithm)
    facts = {"topology": name, "routing": algorithm.name, **route_facts}
    return RoutedNetwork(routed.table, routed.verdict, facts)


def prove(
    routes: str | Path,
    network: str | Topology | None = None,
    *,
    vcs: int | None = None,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
    pairs: str | Path | None = None,
) -> Proof:
    """Prove that listed routes or next hops cannot deadlock, or find a cycle.

    Parameters
    ----------
    routes : str or path
        CSV file or folder, as ``routelab prove`` reads it.
    network : str or Topology, optional
        Instance name, a network, or a path: a folder or file that ``routelab topology`` wrote, a
        file that the topology ``graph`` reads, or output of ``ibnetdiscover`` (default: the
        switches and links that the routes use).
    vcs : int, optional
        Virtual channels that the network has (default: as many as the routes use).
    waits : {"any", "one", "escape"}
        What packets with several next hops wait for: any of them, the one that they have chosen,
        or the first.
    switching : {"virtual-cut-through", "wormhole"}
        Whether a buffer has room for a whole packet.
    flow_control : {"plain", "bubble"}, optional
        Whether each ring of the network keeps a bubble (default: that of the file, or plain).
    pairs : str or path, optional
        CSV file of the pairs that send packets, with the heading ``source,target`` (default: all).
        Only their routes count, or the next hops that their packets come to.

    Raises
    ------
    InputError
        If a name, number or file is wrong, or a line is damaged.

    Examples
    --------
    >>> import routelab
    >>> from routelab.toolkit import route_list_lines
    >>> with open("routes.csv", "w") as file:
    ...     file.writelines(route_list_lines(routelab.route("mesh~dims=3x3", "dor").table))
    >>> routelab.prove("routes.csv").status
    'proven'
    """
    return prove_files(
        Path(routes),
        network=network,
        vcs=vcs,
        waits=waits,
        switching=switching,
        flow_control=flow_control,
        pairs=None if pairs is None else Path(pairs),
    )


def simulate(
    topology: str | Topology, routing: str | Plugin, work: str, *, engine: str = "", **settings: Any
) -> SimulatedNetwork:
    """Simulate packets, or the messages of a program, on a network.

    Parameters
    ----------
    topology : str or Topology
        Instance name, a folder or file that ``routelab topology`` wrote, or a network.
    routing : str or Plugin
        Instance name, a ``routes.npz`` that was made on this network, or your own algorithm: an
        object of a subclass of `routelab.api.RoutingPlugin`.
    work : str
        Instance name of traffic such as ``"uniform"`` or ``"tornado~shift=3x0"``. For an engine
        that runs workloads (``"flow"``, ``"smpi"``), that of a workload.
    engine : str, optional
        ``"packet"`` by default; ``"flow"``, ``"smpi"`` or another engine plugin.
    **settings
        Parameters of the engine. Those of the packet engine are listed in
        `routelab.simulation.packet.measurement.settings`: ``loads=(0.1, 0.3)``, ``vcs=8``,
        ``find_saturation=True`` and so on.

    Raises
    ------
    InputError
        If a name or a setting is wrong; the message lists all problems.
    UnsupportedError
        If routing, traffic or routers do not support the network; the text is the reason.
    PluginError
        If a plugin breaks its contract.

    Examples
    --------
    >>> import routelab
    >>> run = routelab.simulate("torus~dims=4x4", "dor", "uniform", loads=(0.2,))
    >>> run
    <uniform with dor on torus~dims=4x4: 1 loads, deadlock proven>
    >>> run.curve["accepted_load"].round(1).tolist()
    [0.2]
    """
    from routelab.api.engine import DEFAULT_ENGINES
    from routelab.simulation import run
    from routelab.simulation.case import look_up

    # 1. Look up what the arguments name; all mistakes are reported together.
    engine_type = engine_class(engine or DEFAULT_ENGINES["traffic"])
    topology_name, network, algorithms, work_plugin, runner = look_up(
        topology=topology,
        routings=[routing],
        work=work,
        engine=engine_type,
        # a function, so that its errors are reported with those of the other arguments
        settings=lambda: _read_settings(settings, engine_type.Parameters),
    )
    # 2. Simulate the only routing.
    ((routing_name, algorithm),) = algorithms.items()
    result = run.run_simulation(network, algorithm, work_plugin, runner)
    names = {"topology": topology_name, "routing": routing_name}
    tables = {name: pd.DataFrame(dict(table)) for name, table in result.tables.items()}
    return SimulatedNetwork({**names, **result.facts}, tables)


def _read_settings(values: Mapping[str, Any], model: type[Parameters]) -> Parameters:
    """Return the settings of an engine; raise InputError with all problems."""
    # parameters are read from text, as the command line and studies have them
    texts = {name: as_text(value) for name, value in values.items()}
    settings, problems = read_parameters(model, texts)
    if settings is None or problems:
        raise InputError("simulation settings: " + "; ".join(problems))
    return settings


def plugins(kind: str | None = None) -> pd.DataFrame:
    """List all installed plugins, including broken ones, or those of one kind.

    Returns
    -------
    frame : DataFrame
        Columns ``kind, key, summary, distribution, version, status, cause``; the cause says why a
        plugin cannot be used.

    Raises
    ------
    InputError
        If the kind does not exist.

    Examples
    --------
    >>> import routelab
    >>> routelab.plugins("layers")["key"].tolist()[:2]
    ['balanced-layers', 'cycle-breaking']
    """
    rows = [
        (
            entry.kind,
            entry.key,
            entry.plugin.summary if entry.plugin else "",
            entry.distribution,
            entry.version,
            entry.status,
            entry.cause,
        )
        for entry in installed_catalogue().entries(kind)
    ]
    names = ["kind", "key", "summary", "distribution", "version", "status", "cause"]
    return pd.DataFrame(rows, columns=names)


@dataclass(frozen=True, eq=False, repr=False)
class RoutedNetwork:
    """A network with its routes; notebooks show its facts.

    Attributes
    ----------
    table : RouteTable
        All routes as arrays, and in ``table.topology`` the network.
    verdict : Verdict
        Verdict of the independent deadlock checker.
    facts : dict
        Fields of ``routelab evaluate`` and further ones.

    Examples
    --------
    >>> import routelab
    >>> routed = routelab.route("torus~dims=4x4", "dor")
    >>> float(routed.loads["load"].max())
    8.0
    >>> routed.routes(0, 1)["hops"].tolist()
    [1]
    """

    table: RouteTable
    verdict: Verdict
    facts: dict[str, Any]

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.table.topology

    @cached_property
    def loads(self) -> pd.DataFrame:
        """Channel loads: one row per channel, ``source, target, direction, load``.

        A load is the number of ordered terminal pairs whose route crosses the channel, times
        greatest capacity / capacity of the channel: a channel of half the bandwidth is as busy with
        half the routes. The direction is empty if the channel has none.
        """
        network = self.topology
        names = network.switch_names
        frame = pd.DataFrame(
            {
                "source": [names[switch] for switch in network.channel_source],
                "target": [names[switch] for switch in network.channel_target],
                # a channel without a direction has -1
                "direction": [
                    network.directions[d].name if d >= 0 else "" for d in network.channel_direction
                ],
                "load": relative_loads(network, channel_loads(self.table)),
            }
        )
        frame.index.name = "channel"
        return frame

    def routes(self, source: str | int, target: str | int) -> pd.DataFrame:
        """Return the routes between two switches with terminals, or from a switch to a terminal.

        Parameters
        ----------
        source : str or int
            Name of a switch, or its number.
        target : str or int
            Name of a switch, or its number; of a terminal, if the table has a route to each
            terminal instead of each switch.

        Returns
        -------
        frame : DataFrame
            One row per path: ``weight`` (share of the packets), ``hops``, ``switches`` on the route
            (tuple of names), ``channels`` (tuple of numbers, see `loads`) and ``virtual_channels``
            (tuple). No row: the target is unreachable.

        Raises
        ------
        InputError
            If the switch or terminal does not exist, or the switch has no terminal.
        """
        table, names = self.table, self.topology.switch_names
        source_switch = self._switch_number(source)
        target_number = self._terminal_number if table.per_terminal else self._switch_number
        pair = table.pair(source_switch, target_number(target))
        rows = []
        for path in range(table.pair_start[pair], table.pair_start[pair + 1]):
            hops = slice(table.path_start[path], table.path_start[path + 1])
            channels = table.hop_channel[hops]
            switches = (source_switch, *self.topology.channel_target[channels].tolist())
            rows.append(
                (
                    float(table.path_weight[path]),
                    len(channels),
                    tuple(names[switch] for switch in switches),
                    tuple(channels.tolist()),
                    tuple(table.hop_vc[hops].tolist()),
                )
            )
        columns = ["weight", "hops", "switches", "channels", "virtual_channels"]
        return pd.DataFrame(rows, columns=columns)

    def picture(self) -> Figure:
        """Draw the network with its channels coloured by load, as in reports.

        Raises
        ------
        InputError
            If the network is too large to draw.
        """
        from routelab.report.figures.kinds.network import draw_network

        title = f"{self.facts['routing']} on {self.facts['topology']}"
        return draw_network(title, self.topology, self.loads["load"])

    def _switch_number(self, name: str | int) -> int:
        """Return the number of a switch from its name; a number is only checked."""
        names = self.topology.switch_names
        if isinstance(name, str) and name in names:
            return names.index(name)
        if not isinstance(name, str) and 0 <= name < len(names):
            return int(name)
        raise InputError(
            f"the network has no switch {name!r}{did_you_mean(str(name), names)} (switches are "
            f"called {names[0]} to {names[-1]}, or numbered 0 to {len(names) - 1})"
        )

    def _terminal_number(self, name: str | int) -> int:
        """Return the number of a terminal from its name; a number is only checked."""
        # terminals need not have names
        names, num_terminals = self.topology.terminal_names, self.topology.num_terminals
        if isinstance(name, str) and name in names:
            return names.index(name)
        if not isinstance(name, str) and 0 <= name < num_terminals:
            return int(name)
        raise InputError(
            f"the network has no terminal {name!r}{did_you_mean(str(name), names)} (terminals are "
            f"numbered 0 to {num_terminals - 1})"
        )

    def _shown_facts(self) -> dict[str, str]:
        return {key: _text(self.facts[key]) for key in SHOWN if self.facts.get(key) is not None}

    def __repr__(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self._shown_facts().items())
        return f"<{self.facts['routing']} on {self.facts['topology']}: {facts}>"

    def _repr_html_(self) -> str:
        title = html.escape(f"{self.facts['routing']} on {self.facts['topology']}")
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>"
            for key, value in self._shown_facts().items()
        )
        reason = html.escape(self.verdict.reason)
        return f"<table><caption>{title}</caption>{rows}</table><p>{reason}</p>"


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedNetwork:
    """Result of an engine on a network; notebooks show its curve, or its facts.

    Attributes
    ----------
    facts : dict
        Facts of the network, the routing, the work, the settings and the result. Results of the
        packet engine are those at the highest load.
    tables : dict of str to DataFrame
        The tables that the engine returned. Their columns are those of the files in a simulation's
        folder. The properties `curve`, `channels` and so on are these tables; a property is an
        empty frame if the engine returned no such table.
    """

    facts: dict[str, Any]
    tables: dict[str, pd.DataFrame]

    @property
    def curve(self) -> pd.DataFrame:
        """One row per load with all measured columns.

        Columns that end in ``_low`` and ``_high`` are the ends of confidence intervals.
        """
        return self._table("loads")

    @property
    def channels(self) -> pd.DataFrame:
        """One row per channel; for packets, at each load."""
        return self._table("flow-channels" if "flow-channels" in self.tables else "channels")

    @property
    def terminals(self) -> pd.DataFrame:
        """One row per load and terminal."""
        return self._table("terminals")

    @property
    def latencies(self) -> pd.DataFrame:
        """How often each latency and each number of hops occurs: a row per load, kind and value."""
        return self._table("latencies")

    @property
    def pairs(self) -> pd.DataFrame:
        """One row per pair of terminals, or of blocks of them, between which a workload sends."""
        return self._table("flow-pairs")

    @property
    def ranks(self) -> pd.DataFrame:
        """One row per rank of a workload."""
        return self._table("flow-ranks")

    def _table(self, name: str) -> pd.DataFrame:
        return self.tables.get(name, pd.DataFrame())

    def _shown_columns(self) -> list[str]:
        """Return the columns of the curve that the engine marks for `routelab simulate`."""
        return [
            column.name
            for column in engine_class(self.facts["engine"]).columns
            if "loads" in column.of and "simulate" in column.shown
        ]

    def _title(self) -> str:
        work = self.facts["traffic" if "traffic" in self.facts else "workload"]
        return f"{work} with {self.facts['routing']} on {self.facts['topology']}"

    def __repr__(self) -> str:
        if self.curve.empty:
            return f"<{self._title()}: engine {self.facts['engine']}>"
        deadlock = self.facts.get("deadlock", "unproven")
        return f"<{self._title()}: {len(self.curve)} loads, deadlock {deadlock}>"

    def _repr_html_(self) -> str:
        if self.curve.empty:
            facts = pd.Series(self.facts).to_frame("value")
            return f"<p>{html.escape(self._title())}</p>{facts.to_html()}"
        curve = self.curve[[name for name in self._shown_columns() if name in self.curve]]
        return f"<p>{html.escape(self._title())}</p>{curve.to_html(index=False)}"


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
