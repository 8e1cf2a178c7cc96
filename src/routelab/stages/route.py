"""The route stage: routing, proof and metrics of one network and one routing in one job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from routelab._progress import tell
from routelab.api import (
    Column,
    ContextMetricPlugin,
    Measurement,
    MetricContext,
    PluginError,
    Topology,
)
from routelab.artifacts.routes_file import save_routes
from routelab.artifacts.tables import write_csv
from routelab.deadlock import Verdict, write_certificate
from routelab.metrics import channel_loads, relative_loads
from routelab.registry.columns import columns_of
from routelab.registry.instances import Routing
from routelab.stages.chain import AppliedRouting, apply_routing, prove, reroute
from routelab.stages.damage import check_unchanged
from routelab.stages.facts import routing_facts, topology_facts

METRICS, CHANNELS, ROUTES, CERTIFICATE = (
    "metrics.csv",
    "channels.csv",
    "routes.npz",
    "certificate.json",
)
"""Files of a route folder besides its outcome."""


@dataclass(frozen=True, eq=False)
class RouteResult:
    """The results of routing a network.

    Attributes
    ----------
    routed : AppliedRouting
    verdict : Verdict
    facts : dict
        See `routelab.stages.facts`.
    measurements : tuple of (Measurement, Column)
        Each with the column that its metric declares.
    """

    routed: AppliedRouting
    verdict: Verdict
    facts: dict[str, Any]
    measurements: tuple[tuple[Measurement, Column], ...]


def route_network(
    topology: Topology, routing: Routing, metrics: Sequence[ContextMetricPlugin] = ()
) -> RouteResult:
    """Route a network, check and measure the routes.

    Raises
    ------
    UnsupportedError, PluginError
        As `routelab.stages.chain.apply_routing`; also if a metric changes the network or table.
    """
    routed = apply_routing(topology, routing)
    tell(routing.name, "proof")
    verdict = prove(routed)
    tell(routing.name, "facts")
    facts = {**topology_facts(topology), **routing_facts(routed, verdict)}
    measured: list[tuple[Measurement, Column]] = []
    context = MetricContext(routed.table, routed.graph, partial(reroute, routing))
    for metric in metrics:
        tell(routing.name, f"metric {metric.name}")
        measured += _measurements(metric, context)
        check_unchanged(metric.name, topology, routed.table)
    return RouteResult(routed, verdict, facts, tuple(measured))


def _measurements(
    metric: ContextMetricPlugin, context: MetricContext
) -> list[tuple[Measurement, Column]]:
    """Run a metric, and look up the column of each number.

    Raises
    ------
    PluginError
        If files cannot represent the result, or a column is not declared.
    """
    columns = {column.name: column for column in columns_of(metric)}
    told = metric.measure_in(context)
    if not isinstance(told, list | tuple):
        raise PluginError(f"{metric.name}: expected a list of Measurements, found {told!r}")
    for one in told:
        if not isinstance(one, Measurement):
            raise PluginError(f"{metric.name}: expected a Measurement, found {one!r}")
        if not (isinstance(one.metric, str) and isinstance(one.value, Real | np.bool_)):
            raise PluginError(f"{metric.name}: {one.metric!r} is {one.value!r}, expected a number")
        if one.metric not in columns:
            raise PluginError(
                f"{metric.name}: it measures {one.metric!r}, which is not among its columns "
                f"({', '.join(columns) or 'none'})"
            )
    return [(one, columns[one.metric]) for one in told]


def write_routes(result: RouteResult, folder: Path, provenance: Mapping[str, Any]) -> None:
    """Write a result without its outcome into a folder."""
    table = result.routed.table
    topology = table.topology
    save_routes(table, folder / ROUTES, provenance)
    rows = [(m.metric, m.value, column.unit, column.better) for m, column in result.measurements]
    write_csv(folder / METRICS, ("metric", "value", "unit", "better"), rows)
    names, loads = topology.switch_names, relative_loads(topology, channel_loads(table))
    channels = (
        (
            channel,
            names[topology.channel_source[channel]],
            names[topology.channel_target[channel]],
            topology.directions[d].name if (d := topology.channel_direction[channel]) >= 0 else "",
            load,
        )
        for channel, load in enumerate(loads.tolist())
    )
    write_csv(folder / CHANNELS, ("channel", "source", "target", "direction", "load"), channels)
    if result.verdict.proven:
        write_certificate(result.verdict, table, folder / CERTIFICATE)
