"""Columns of the facts of a routed network; see `routelab.routing.facts`."""

from __future__ import annotations

from typing import Final

from routelab.api.columns import Column
from routelab.metrics import columns

_ALL: Final = ("evaluate-all",)
_NETWORK, _PROOF, _WORK = "The network", "Deadlock", "Computing effort"
_FORM = "Form of the table"
_SHAPE = "Distances and cost of the network"
_EVERY: Final = ("routes", "simulations", "loads", "flows", "benchmarks")

NAMES: Final = (
    Column(
        "topology", "name or alias of the network", of=_EVERY, shown=_ALL, group="Names and status"
    ),
    Column(
        "routing",
        "name or alias of the routing",
        of=_EVERY,
        shown=("evaluate", "evaluate-all"),
        group="Names and status",
    ),
    Column(
        "status",
        "`ok`, `unsupported` (the routing does not apply; see `reason`), `failed` or `timeout`",
        of=_EVERY,
        shown=("evaluate", "evaluate-all"),
        group="Names and status",
    ),
    Column("reason", "why there is no result", of=_EVERY, shown=_ALL, group="Names and status"),
)

NETWORK: Final = (
    Column(
        "switches",
        "switches of the network, without failed ones",
        shown=_ALL,
        group=_NETWORK,
    ),
    Column(
        "terminals",
        "terminals (compute nodes); tables also have them as `nodes`",
        shown=_ALL,
        group=_NETWORK,
    ),
    Column("channels", "channels between switches", shown=_ALL, group=_NETWORK),
    columns.PAIRS,
    Column(
        "connected_parts",
        "connected parts of the network; 1 if it is connected",
        heading="connected parts",
        group=_NETWORK,
    ),
    Column(
        "parts",
        "sizes of the connected parts, each with one of its switches; only if there are several",
        heading="sizes of the connected parts",
        group=_NETWORK,
    ),
    Column(
        "failed_switches_names",
        "number of failed switches and the first names; only if there are any",
        heading="failed switches",
        group=_NETWORK,
    ),
    Column(
        "failed_links_names",
        "number of failed links between remaining switches and the first names; only if there are "
        "any",
        heading="failed links",
        group=_NETWORK,
    ),
    Column(
        "left_out",
        "end ports of an InfiniBand fabric that are no terminals, because of the description of "
        "their node; only if there are any",
        heading="end ports left out",
        group=_NETWORK,
    ),
    Column(
        "file_notes",
        "what the file of the network has that is not read, or may be a mistake; only if there is "
        "anything",
        heading="notes on the file of the network",
        group=_NETWORK,
    ),
)

SHAPE: Final = (
    Column(
        "diameter",
        "largest distance between two switches with terminals",
        unit="hops",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "mean_distance",
        "mean distance between different switches with terminals",
        heading="mean distance between switches",
        unit="hops",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "mean_minimal_hops",
        "mean number of hops between different terminals on shortest routes; terminals of one "
        "switch have 0 hops",
        heading="mean minimal path length",
        unit="hops",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "bisection_links",
        "fewest links whose cut halves the terminals, if the network family has a closed form",
        heading="bisection",
        unit="links",
        better="higher",
        group=_SHAPE,
    ),
    Column(
        "best_cut_links",
        "links of the best cut found that halves the terminals. It is an upper bound of the "
        "bisection",
        heading="best cut found",
        unit="links",
        better="higher",
        group=_SHAPE,
    ),
    Column(
        "best_cut_share",
        "links of the best cut found / terminals on one side. Below 0.5, the cut limits the "
        "accepted load of uniform traffic under any routing, to about twice the share",
        heading="links of best cut per terminal of a half",
        better="higher",
        decimals=3,
        group=_SHAPE,
    ),
    Column(
        "links",
        "cables between switches",
        heading="links between switches",
        unit="links",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "local_links",
        "links inside groups, which need short cables; only for networks with groups",
        heading="links within groups",
        unit="links",
        group=_SHAPE,
    ),
    Column(
        "global_links",
        "links between groups, which need long cables; only for networks with groups",
        heading="links between groups",
        unit="links",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "switch_ports",
        "largest number of ports in use at a switch, including those of terminals",
        heading="ports per switch",
        better="lower",
        group=_SHAPE,
    ),
    Column(
        "links_per_terminal",
        "cables between switches / terminals",
        heading="links per terminal",
        better="lower",
        decimals=3,
        group=_SHAPE,
    ),
    Column(
        "ports_per_terminal",
        "switch ports in use / terminals, including the ports of terminals",
        heading="ports per terminal",
        better="lower",
        decimals=3,
        group=_SHAPE,
    ),
)

ROUTED: Final = (
    columns.REACHABLE_PAIRS,
    *columns.LOADS,
    columns.MAX_HOPS,
    columns.MEAN_HOPS,
    columns.SINGLE_ROUTE_SHARE,
    Column(
        "destination_based",
        "whether one next hop per switch and destination determines all routes, as the forwarding "
        "tables of InfiniBand require. It is computed from the routes",
        heading="destination-based",
        shown=_ALL,
        group=_FORM,
    ),
    Column(
        "per_terminal",
        "whether each terminal has separate routes; otherwise the terminals of a switch share "
        "their routes",
        heading="routes per terminal",
        group=_FORM,
    ),
    Column(
        "deadlock",
        "`proven`: free of deadlock, with a certificate. `cycle`: the dependencies have a cycle. "
        "`unproven`: the check does not apply",
        heading="deadlock freedom",
        shown=("evaluate", "evaluate-all"),
        group=_PROOF,
    ),
    Column(
        "deadlock_reason",
        "what the checker proved, or why it could not",
        heading="reason for the deadlock verdict",
        group=_PROOF,
    ),
    Column(
        "deadlock_cycle",
        "channels that wait for each other in a cycle, one dependency per line",
        heading="cycle of waiting channels",
        group=_PROOF,
    ),
    Column(
        "flow_control",
        "flow control that the table was checked under: `plain` or `bubble`",
        heading="flow control",
        shown=_ALL,
        group=_PROOF,
    ),
    Column(
        "virtual_channels",
        "virtual channels that the table uses",
        heading="virtual channels",
        better="lower",
        shown=("evaluate", "evaluate-all"),
        group=_PROOF,
    ),
    Column(
        "routing_seconds",
        "wall time of rules, selection and layers, without the compilation of kernels",
        heading="routing time",
        unit="s",
        better="lower",
        shown=("evaluate", "evaluate-all"),
        group=_WORK,
    ),
    Column(
        "cpu_seconds",
        "CPU time of rules, selection and layers, summed over all threads",
        heading="CPU time",
        unit="s",
        better="lower",
        shown=_ALL,
        group=_WORK,
    ),
    Column(
        "multipath",
        "whether pairs are split over several paths; if so, bounds are not rounded",
        heading="several paths per pair",
        group="Lower bounds",
    ),
    Column(
        "minimal",
        "whether every connected pair has a route and all routes are as short as the network "
        "allows",
        heading="all paths minimal",
        group="Lower bounds",
    ),
    Column(
        "shortest_legal",
        "whether every pair that the rules can join has a route and all routes are as short as the "
        "rules allow; empty for a complete algorithm",
        heading="all paths shortest under the rules",
        group="Lower bounds",
    ),
)

_CHANNELS: Final = ("channels",)
CHANNELS: Final = (
    Column("channel", "number of the channel", of=_CHANNELS, group="Channels"),
    Column(
        "source",
        "switch that the channel leaves",
        heading="source switch",
        of=_CHANNELS,
        group="Channels",
    ),
    Column(
        "target",
        "switch that the channel enters",
        heading="target switch",
        of=_CHANNELS,
        group="Channels",
    ),
    Column("direction", "direction label of the channel", of=_CHANNELS, group="Channels"),
    Column(
        "load",
        "number of routes that cross the channel × greatest capacity of the network / capacity of "
        "the channel",
        heading="channel load",
        unit="routes",
        of=_CHANNELS,
        group="Channels",
    ),
    Column(
        "cycle",
        "1 for the channels of `deadlock_cycle`, 0 for others; only of tables that are not proven",
        heading="in a dependency cycle",
        of=_CHANNELS,
        nominal=True,
        group="Channels",
    ),
)

COLUMNS: Final = (*NAMES, *NETWORK, *SHAPE, *ROUTED, *CHANNELS)
