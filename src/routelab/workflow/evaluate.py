"""Evaluation in memory: one network, several routings, one row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from routelab._runtime.progress import WAITING, report_phase
from routelab.api import (
    ContextMetricPlugin,
    InputError,
    Plugin,
    RouteTable,
    Topology,
    UnsupportedError,
)
from routelab.deadlock import write_certificate
from routelab.jobs.plugin_errors import sentence
from routelab.metrics import channel_loads, relative_loads
from routelab.registry.columns import columns_of
from routelab.registry.instances import load, name_of
from routelab.registry.requirements import collect_errors
from routelab.report.plots import check_plot, plot_channel_loads
from routelab.results.atomic import atomic_file
from routelab.routing.bound import NetworkBounds
from routelab.routing.facts import topology_facts
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network

WRONG_INPUT = "wrong_input"
"""Key of rows whose routing has parameters that are wrong for the network."""


def evaluate_routings(
    topology: str | Topology,
    routings: Iterable[str | Plugin],
    certificate: Path | None = None,
    bound_seconds: float | None = None,
    metrics: Sequence[str] = (),
    plot: Path | None = None,
) -> list[dict[str, Any]]:
    """Route a network with several routings, check and measure each result.

    Parameters
    ----------
    topology : str or Topology
        Instance name, or a folder or file that ``routelab topology`` wrote, or a network.
    routings : iterable of str or Plugin
        Instance names, or algorithms.
    certificate : path, optional
        File for the proof (of the only routing).
    bound_seconds : float, optional
        Compute lower bounds of the maximum load, each in at most about this time; none by default.
    metrics : sequence of str, optional
        Instance names of further metrics.
    plot : path, optional
        File for a picture of the channel loads; none is written if no routing has a table.

    Returns
    -------
    rows : list of dict
        `routelab.routing.facts.FIELDS` and further facts, with bounds also
        `metrics.bounds.BOUND_FIELDS`; ``status`` and ``reason`` if a routing does not apply or
        fails, and `WRONG_INPUT` if its parameters are wrong for this network.

    Raises
    ------
    InputError
        If names are wrong (lists all), or a certificate is requested without exactly one routing
        or without a proof, or the plot cannot be drawn.
    """
    texts = tuple(routings)
    # 1. Names and options; everything that is wrong is reported together. The first two functions
    #    only check, and return nothing.
    _, _, (name, network), *plugins = collect_errors(
        lambda: _check_options(texts, certificate, bound_seconds),
        lambda: check_plot(plot),
        lambda: load_network(topology),
        *(partial(Routing.from_name, text) for text in texts),
        *(partial(load, "metric", text) for text in metrics),
    )
    if plot is not None and not network.num_channels:
        raise InputError(f"--plot: {name} has no channel between switches to draw; omit --plot")
    algorithms, metric_plugins = plugins[: len(texts)], plugins[len(texts) :]
    # 2. One row for each routing. All are shown as waiting before the first one starts.
    for routing in algorithms:
        report_phase(routing.name, WAITING)
    bounds = None if bound_seconds is None else NetworkBounds(network, bound_seconds)
    rows, loads = [], {}
    for routing in algorithms:
        row, table = _evaluate_routing(
            name,
            network,
            routing,
            certificate=certificate,
            bounds=bounds,
            metrics=metric_plugins,
        )
        rows.append(row)
        if plot is not None and table is not None:
            loads[routing.name] = relative_loads(network, channel_loads(table))
    if plot is not None and loads:
        plot_channel_loads(name, loads, plot)
    return rows


def metric_columns(metrics: Sequence[str]) -> list[str]:
    """List the columns that metrics add to the rows of `evaluate_routings`, each once.

    Raises
    ------
    InputError
        If a name is wrong.
    """
    plugins = [load("metric", text) for text in metrics]
    return list(dict.fromkeys(column.name for metric in plugins for column in columns_of(metric)))


def _check_options(
    texts: Sequence[object], certificate: Path | None, bound_seconds: float | None
) -> None:
    problems = []
    if certificate is not None and len(texts) != 1:
        problems.append("--certificate saves one proof: name one routing")
    if bound_seconds is not None and not bound_seconds > 0:
        problems.append(f"--bound-seconds {bound_seconds:g}: give a bound more than 0 seconds")
    if problems:
        raise InputError("\n".join(problems))


def _evaluate_routing(
    name: str,
    network: Topology,
    routing: Routing,
    certificate: Path | None,
    bounds: NetworkBounds | None,
    metrics: Sequence[ContextMetricPlugin],
) -> tuple[dict[str, Any], RouteTable | None]:
    """Route and measure the network; return the row of the routing, and its table.

    The table is None if the routing does not apply or fails, or has no table.
    """
    # 1. Routes, metrics and bounds. Whatever fails here becomes the status of this row.
    row = {
        "topology": name,
        "routing": routing.name,
        "status": "ok",
        "reason": "",
        **topology_facts(network),
    }
    try:
        routed, route_facts, measured = route_network(network, routing, metrics)
        metric_facts = {measurement.metric: measurement.value for measurement, _ in measured.rows}
        facts = metric_facts | route_facts
        if bounds is not None:
            report_phase(routing.name, "bounds")
            # Routings with the same name of rules share a bound. Rules that are not reproducible
            # may differ between routings, so the name of the routing is added.
            rules_name = ""
            if routing.rules is not None:
                rules_name = name_of(routing.rules)
                if not routing.rules.capabilities.deterministic:
                    rules_name += f" of {routing.name}"
            facts |= bounds.facts(routed, rules_name, facts)
    except UnsupportedError as error:
        row |= {"status": "unsupported", "reason": str(error)}
    except InputError as error:  # parameters that do not fit this network
        row |= {"status": "unsupported", "reason": str(error), WRONG_INPUT: True}
    except (Exception, SystemExit) as error:  # one broken plugin must not suppress the other rows
        row |= {"status": "failed", "reason": sentence(error)}
    report_phase(routing.name, row["status"], ended=True)
    if row["status"] != "ok":
        return row, None
    # 2. A metric that failed gives its status to the row, and leaves the numbers of the others.
    if measured.problem is not None:
        row |= {"status": measured.problem.status, "reason": measured.problem.reason}
        row |= {WRONG_INPUT: True} if measured.wrong_input else {}
    # 3. A certificate that was requested and cannot be written ends the command. No other row is
    #    lost, because a certificate is written of a single routing only.
    if certificate is not None:
        if not routed.verdict.proven:
            raise InputError(f"no certificate for {routing.name}: {routed.verdict.reason}")
        with atomic_file(certificate) as draft:
            write_certificate(routed.verdict, routed.table, draft)
    return {**row, **facts}, routed.table
