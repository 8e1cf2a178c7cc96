"""Rows of runs in a survey: the facts of the route stage without arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from routelab._runtime.progress import report_phase
from routelab.api import PluginError, Topology
from routelab.jobs.limits import Failure
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.workflow.survey.rows import Row, SurveyNetwork, failure_row, timed_row

# a survey uses the same few routings on every network
_routing = cache(Routing.from_name)
_metric = cache(lambda name: load("metric", name))


def route_row(network: SurveyNetwork, routing: str, metrics: Sequence[str]) -> Row:
    """Route a network, check and measure the routes, and return the row.

    Parameters
    ----------
    network : SurveyNetwork
    routing : str
        Instance name.
    metrics : sequence of str
        Instance names.
    """
    try:
        algorithm, metric_plugins = _routing(routing), [_metric(name) for name in metrics]
    except QuarantinedError as error:
        return failure_row(Failure("failed", str(error)))

    def route_and_measure(topology: Topology) -> Row:
        _, facts, measured = route_network(topology, algorithm, metric_plugins)
        # A metric that failed fails the whole row, because the study has named the metric.
        if measured.problem is not None:
            raise PluginError(measured.problem.reason)
        report_phase(algorithm.name, "ok", ended=True)
        measurements = [
            (measurement.metric, measurement.value, column.unit, column.better)
            for measurement, column in measured.rows
        ]
        return {"facts": facts, "metrics": measurements}

    return timed_row(network, route_and_measure)
