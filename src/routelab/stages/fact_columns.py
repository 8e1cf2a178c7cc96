"""Columns of the facts of a routed network; see `routelab.stages.facts`."""

from __future__ import annotations

from typing import Final

from routelab.api.columns import Column
from routelab.metrics import columns

_ALL: Final = ("evaluate-all",)
_NETWORK, _PROOF, _WORK = "The network", "The proof", "Work of the algorithm"
_FORM = "The form of the table"
_EVERY: Final = ("routes", "simulations", "loads", "flows", "benchmarks")

NAMES: Final = (
    Column(
        "topology", "the network's name or alias", of=_EVERY, shown=_ALL, group="Names and status"
    ),
    Column(
        "routing",
        "the routing's name or alias",
        of=_EVERY,
        shown=("evaluate", "evaluate-all"),
        group="Names and status",
    ),
    Column(
        "status",
        "`ok`, `unsupported` (does not apply; `reason` says why), `failed` or `timeout`",
        of=_EVERY,
        shown=("evaluate", "evaluate-all"),
        group="Names and status",
    ),
    Column("reason", "why there is no result", of=_EVERY, shown=_ALL, group="Names and status"),
)

NETWORK: Final = (
    Column(
        "switches",
        "switches of the network without the failed ones",
        shown=_ALL,
        group=_NETWORK,
    ),
    Column(
        "terminals",
        "terminals (compute nodes); tables call it `nodes`, too",
        shown=_ALL,
        group=_NETWORK,
    ),
    Column("channels", "channels between switches", shown=_ALL, group=_NETWORK),
    columns.PAIRS,
    Column(
        "connected_parts",
        "parts that the network has fallen into; 1 is whole",
        group=_NETWORK,
    ),
    Column(
        "parts",
        "the sizes of the parts, each with one of its switches; only if there are several",
        group=_NETWORK,
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
        "whether one next hop for each switch and destination is all of the table, as forwarding "
        "tables of InfiniBand need it. Found from the routes; a plugin may claim it, and the "
        "conformance kit checks the claim",
        heading="destination-based",
        shown=_ALL,
        group=_FORM,
    ),
    Column(
        "per_terminal",
        "whether the destinations are single terminals; else they are switches, whose terminals "
        "share their routes",
        heading="routes per terminal",
        group=_FORM,
    ),
    Column(
        "deadlock",
        "`proven`: free of deadlock, with a certificate. `not-proven`: the dependencies have a "
        "cycle. `not-applicable`: the check does not apply",
        shown=("evaluate", "evaluate-all"),
        group=_PROOF,
    ),
    Column("deadlock_reason", "one sentence: what was shown, or why not", group=_PROOF),
    Column(
        "deadlock_cycle",
        "who waits for whom, one dependency a line; only with a cycle",
        group=_PROOF,
    ),
    Column(
        "flow_control",
        "flow control that the table was checked under: `plain` or `bubble`",
        shown=_ALL,
        group=_PROOF,
    ),
    Column(
        "virtual_channels",
        "virtual channels that the table uses",
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
        "CPU time of rules, selection and layers, all threads together",
        heading="CPU time",
        unit="s",
        better="lower",
        shown=_ALL,
        group=_WORK,
    ),
    Column(
        "multipath",
        "whether pairs are split over several paths: their bound may be a fraction",
        group="How good it could be",
    ),
    Column(
        "minimal",
        "whether all routes are as short as the network allows, and no pair that could be joined "
        "is left out",
        group="How good it could be",
    ),
    Column(
        "shortest_legal",
        "whether all routes are as short as the rules allow, and no pair that they could join is "
        "left out; empty for a complete algorithm",
        group="How good it could be",
    ),
)

_CHANNELS: Final = ("channels",)
CHANNELS: Final = (
    Column("channel", "number of the channel", of=_CHANNELS, group="Channels"),
    Column("source", "switch that the channel leaves", of=_CHANNELS, group="Channels"),
    Column("target", "switch that the channel enters", of=_CHANNELS, group="Channels"),
    Column("direction", "direction label of the channel", of=_CHANNELS, group="Channels"),
    Column(
        "load",
        "pairs whose route crosses the channel, times the greatest capacity of the network over "
        "its own",
        heading="channel load",
        unit="routes",
        of=_CHANNELS,
        group="Channels",
    ),
)

COLUMNS: Final = (*NAMES, *NETWORK, *ROUTED, *CHANNELS)
