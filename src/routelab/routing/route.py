"""The stages that route a network, prove the table, and measure it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import (
    Column,
    ContextMetricPlugin,
    InputError,
    Measurement,
    MetricContext,
    PluginError,
    RouteTable,
    RoutingGraph,
    Topology,
    UnsupportedError,
)
from routelab.deadlock import write_certificate
from routelab.jobs.limits import Failure
from routelab.jobs.plugin_errors import readable, sentence
from routelab.metrics import channel_loads, relative_loads
from routelab.registry.columns import columns_of
from routelab.registry.requirements import require_unchanged, source_line
from routelab.results.tables import write_csv
from routelab.routing.facts import routing_facts, topology_facts
from routelab.routing.routes_file import save_routes
from routelab.routing.routing import RoutedNetwork, Routing

METRICS, CHANNELS, TURNS, ROUTES, CERTIFICATE = (
    "metrics.csv",
    "channels.csv",
    "turns.csv",
    "routes.npz",
    "certificate.json",
)
"""Files of a route folder besides its outcome."""


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measured:
    """What metrics measured on a table.

    Attributes
    ----------
    rows : tuple of (Measurement, Column)
        All numbers, each with the column that its metric declares for it.
    problem : Failure or None
        Why some metrics have no numbers; None if all have.
    wrong_input : bool
        Whether a metric refused its parameters.
    """

    rows: tuple[tuple[Measurement, Column], ...]
    problem: Failure | None = None
    wrong_input: bool = False


def route_network(
    topology: Topology, routing: Routing, metrics: Sequence[ContextMetricPlugin] = ()
) -> tuple[RoutedNetwork, dict[str, Any], Measured]:
    """Route a network, check and measure the routes.

    Returns
    -------
    routed : RoutedNetwork
    facts : dict
        See `routelab.routing.facts`.
    measured : Measured

    Raises
    ------
    UnsupportedError, PluginError
        As `routelab.routing.routing.Routing.routes`; also if a metric changes the network or table.
    """
    routed = routing.routes(topology)
    report_phase(routing.name, "proof")
    _ = routed.verdict  # computed at its first use: here, in this phase
    report_phase(routing.name, "facts")
    facts = {**topology_facts(topology), **routing_facts(routed)}
    measured = measure_table(routed.table, routed.graph, routing, metrics)
    return routed, facts, measured


def measure_table(
    table: RouteTable,
    graph: RoutingGraph | None,
    routing: Routing,
    metrics: Sequence[ContextMetricPlugin],
) -> Measured:
    """Measure a table; a metric that raises an exception costs its own numbers only.

    Parameters
    ----------
    table : RouteTable
    graph : RoutingGraph or None
        See `MetricContext`.
    routing : Routing
        Makes tables of other networks for metrics that ask for them.
    metrics : sequence of ContextMetricPlugin

    Raises
    ------
    PluginError
        If a metric changes the network or table: no number is reliable then.
    """
    rows: list[tuple[Measurement, Column]] = []
    problems: dict[str, Failure] = {}
    wrong_input = False
    context = MetricContext(table, graph, routing.reroute)
    for metric in metrics:
        report_phase(routing.name, f"metric {metric.name}")
        measured: list[tuple[Measurement, Column]] | Failure
        try:
            measured = _run_metric(metric, context)
        except (UnsupportedError, InputError) as error:
            measured = Failure("unsupported", readable(error))
            wrong_input |= isinstance(error, InputError)
        except (Exception, SystemExit) as error:
            logger.debug("metric %s failed", metric.name, exc_info=True)
            measured = Failure("failed", sentence(error))
        require_unchanged(metric.name, table.topology, table)
        if isinstance(measured, Failure):
            problems[metric.name] = measured
        else:
            rows += measured
    return Measured(tuple(rows), _merge_failures(problems), wrong_input)


def _merge_failures(problems: Mapping[str, Failure]) -> Failure | None:
    """Merge the problems of metrics, by name; the status is ``failed`` if that of any metric is."""
    if not problems:
        return None
    states = {problem.status for problem in problems.values()}
    reasons = [f"{name}: {problem.reason}" for name, problem in problems.items()]
    return Failure(
        "failed" if "failed" in states else "unsupported",
        f"all metrics but {' and '.join(problems)} are measured; {'; '.join(reasons)}",
    )


def _run_metric(
    metric: ContextMetricPlugin, context: MetricContext
) -> list[tuple[Measurement, Column]]:
    """Run a metric, check its result, and look up the column of each number.

    Raises
    ------
    PluginError
        If it is not a list of measurements with numbers, or a column is not declared.
    """
    columns = {column.name: column for column in columns_of(metric)}
    measurements = metric.measure_in(context)
    # the method that its author wrote: a MetricPlugin has `measure`, which `measure_in` calls
    method = getattr(metric, "measure", metric.measure_in)
    if not isinstance(measurements, list | tuple):
        raise PluginError(
            f"expected a list of Measurements, found {measurements!r}{source_line(method)}"
        )
    for measurement in measurements:
        if not isinstance(measurement, Measurement):
            raise PluginError(f"expected a Measurement, found {measurement!r}{source_line(method)}")
        if not (
            isinstance(measurement.metric, str) and isinstance(measurement.value, Real | np.bool_)
        ):
            raise PluginError(f"{measurement.metric!r} is {measurement.value!r}, expected a number")
        if measurement.metric not in columns:
            raise PluginError(
                f"it measures {measurement.metric!r}, which is not among its columns "
                f"({', '.join(columns) or 'none'})"
            )
    return [(measurement, columns[measurement.metric]) for measurement in measurements]


def write_routes(
    routed: RoutedNetwork, measured: Measured, folder: Path, provenance: Mapping[str, Any]
) -> None:
    """Write the files of a route folder, except its outcome."""
    save_routes(routed.table, folder / ROUTES, provenance)
    if measured.rows:
        write_metrics(measured, folder)
    write_csv(folder / CHANNELS, *_channel_rows(routed))
    turns = _prohibited_turns(routed.graph)
    if turns:
        write_csv(folder / TURNS, ("from", "switch", "to"), turns)
    if routed.verdict.proven:
        write_certificate(routed.verdict, routed.table, folder / CERTIFICATE)


def write_metrics(measured: Measured, folder: Path) -> None:
    """Write measurements into a folder."""
    rows = [
        (measurement.metric, measurement.value, column.unit, column.better)
        for measurement, column in measured.rows
    ]
    write_csv(folder / METRICS, ("metric", "value", "unit", "better"), rows)


def _channel_rows(routed: RoutedNetwork) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the heading and rows of the table of channels: a row for each channel.

    Facts of the routing graph about channels are columns, and ``cycle`` if there is one.
    """
    table, graph = routed.table, routed.graph
    topology = table.topology
    facts = {} if graph is None else dict(graph.channel_facts)
    heading = ["channel", "source", "target", "direction", "load"]
    repeated = sorted(facts.keys() & {*heading, "cycle"})
    if repeated:
        raise PluginError(f"routing graph: channels have a {', '.join(repeated)} already")
    if routed.verdict.cycle:
        in_cycle = np.zeros(topology.num_channels, dtype=np.int32)
        in_cycle[[channel for channel, _ in routed.verdict.cycle]] = 1
        facts["cycle"] = in_cycle
    names = topology.switch_names
    columns = (
        range(topology.num_channels),
        [names[switch] for switch in topology.channel_source],
        [names[switch] for switch in topology.channel_target],
        [topology.directions[d].name if d >= 0 else "" for d in topology.channel_direction],
        relative_loads(topology, channel_loads(table)).tolist(),
        *(numbers.tolist() for numbers in facts.values()),
    )
    return heading + list(facts), zip(*columns, strict=True)


def _prohibited_turns(graph: RoutingGraph | None) -> list[tuple[str, str, str]]:
    """Return each turn that the rules prohibit: names of the switches before, at and after it."""
    if graph is None:
        return []
    names = graph.topology.switch_names
    turns = graph.prohibited.tolist()
    return [(names[source], names[switch], names[target]) for source, switch, target in turns]
