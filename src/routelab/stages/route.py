"""The route stage: routing, proof and metrics of one network and one routing in one job."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from routelab._progress import tell
from routelab.api import (
    ContextMetricPlugin,
    InputError,
    Measurement,
    MetricContext,
    Plugin,
    PluginError,
    Topology,
    UnsupportedError,
)
from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, Status, write_outcome
from routelab.artifacts.provenance import Measured, seed_of
from routelab.artifacts.routes_file import save_routes
from routelab.artifacts.tables import write_csv
from routelab.deadlock import Verdict, write_certificate
from routelab.metrics import channel_loads
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import Routing, load, load_routing
from routelab.stages.chain import Routed, apply_routing, prove, reroute
from routelab.stages.facts import routing_facts, topology_facts
from routelab.stages.limits import Breach
from routelab.stages.together import together
from routelab.stages.topology import OUTCOME, name_at, obtain, unusable

METRICS, CHANNELS, ROUTES, CERTIFICATE = (
    "metrics.csv",
    "channels.csv",
    "routes.npz",
    "certificate.json",
)
"""Files of a route folder beside its outcome."""


@dataclass(frozen=True, eq=False)
class RouteResult:
    """All that is known about a routed network.

    Attributes
    ----------
    routed : Routed
    verdict : Verdict
    facts : dict
        See `routelab.stages.facts`.
    measurements : tuple of Measurement
    """

    routed: Routed
    verdict: Verdict
    facts: dict[str, Any]
    measurements: tuple[Measurement, ...]


def compute(
    topology: Topology, routing: Routing, metrics: Sequence[ContextMetricPlugin] = ()
) -> RouteResult:
    """Route a network, prove and measure.

    Raises
    ------
    UnsupportedError, PluginError
        As `routelab.stages.chain.apply_routing`.
    """
    routed = apply_routing(topology, routing)
    tell(routing.name, "proof")
    verdict = prove(routed)
    tell(routing.name, "facts")
    facts = {**topology_facts(topology), **routing_facts(routed, verdict)}
    measured: list[Measurement] = []
    context = MetricContext(routed.table, routed.graph, partial(reroute, routing))
    for metric in metrics:
        tell(routing.name, f"metric {metric.name}")
        measured += _measurements(metric, context)
    tell(routing.name, "ok", ended=True)
    return RouteResult(routed, verdict, facts, tuple(measured))


def _measurements(metric: ContextMetricPlugin, context: MetricContext) -> list[Measurement]:
    """What a metric tells, if files can hold it and reports can reckon with it."""
    told = metric.measure_in(context)
    if not isinstance(told, list | tuple):
        raise PluginError(f"{metric.name}: expected a list of Measurements, found {told!r}")
    for one in told:
        if not isinstance(one, Measurement):
            raise PluginError(f"{metric.name}: expected a Measurement, found {one!r}")
        if not (isinstance(one.metric, str) and isinstance(one.value, Real | np.bool_)):
            raise PluginError(f"{metric.name}: {one.metric!r} is {one.value!r}, expected a number")
    return list(told)


def run(
    topology: str,
    routing: str,
    directory: Path,
    metrics: Sequence[str] = (),
    fingerprint: str = "",
) -> Outcome:
    """Do one job and write its folder; what goes wrong in a plugin becomes the outcome.

    Parameters
    ----------
    topology : str
        Instance name, or a folder that the topology stage wrote.
    routing : str
        Instance name.
    metrics : sequence of str
        Instance names.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    """
    chosen, *measures = together(
        lambda: load_routing(routing), *(partial(load, "metric", name) for name in metrics)
    )
    lost = unusable(topology)
    if lost is not None:
        with Measured() as nothing:
            provenance = nothing.provenance(chosen.plugins, seed_of(chosen.plugins), fingerprint)
        return _written(
            replace(lost, kind="route", routing=chosen.name, provenance=provenance),
            None,
            directory,
        )
    name, network = obtain(topology)
    result: RouteResult | None = None
    status: Status = "ok"
    reason = ""
    with Measured() as measured:
        try:
            result = compute(network, chosen, measures)
        except (UnsupportedError, InputError) as error:
            # an input error here is about parameters that do not fit this network
            status, reason = "unsupported", str(error)
        except Exception as error:
            traceback.print_exc()
            status, reason = "failed", f"{type(error).__name__}: {error}"
    plugins: list[Plugin] = [*chosen.plugins, *measures]
    provenance = measured.provenance(plugins, seed_of(plugins), fingerprint)
    facts = topology_facts(network) if result is None else result.facts
    outcome = Outcome("route", name, chosen.name, status, reason, facts, provenance)
    return _written(outcome, result, directory)


def write_breach(
    topology: str, routing: str, directory: Path, breach: Breach, fingerprint: str = ""
) -> Outcome:
    """Write the outcome of a job that was stopped at its limits or whose plugin is broken."""
    plugins: Sequence[Plugin] = ()
    with suppress(QuarantinedError):
        chosen = load_routing(routing)
        routing, plugins = chosen.name, chosen.plugins
    name = name_at(topology)
    with Measured() as measured:
        provenance = measured.provenance(plugins, seed_of(plugins), fingerprint)
    outcome = Outcome("route", name, routing, breach.status, breach.reason, {}, provenance)
    return _written(outcome, None, directory)


def _written(outcome: Outcome, result: RouteResult | None, directory: Path) -> Outcome:
    with atomic_directory(directory) as folder:
        if result is not None:
            write_result(result, folder, outcome.provenance)
        write_outcome(outcome, folder / OUTCOME)
    return outcome


def write_result(result: RouteResult, folder: Path, provenance: Mapping[str, Any]) -> None:
    """Write everything of a result but its outcome into a folder."""
    table = result.routed.table
    topology = table.topology
    save_routes(table, folder / ROUTES, provenance)
    rows = [(m.metric, m.value, m.unit, m.better) for m in result.measurements]
    write_csv(folder / METRICS, ("metric", "value", "unit", "better"), rows)
    names, loads = topology.switch_names, channel_loads(table)
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
