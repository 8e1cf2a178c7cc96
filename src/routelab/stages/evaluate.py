"""The chain in memory: one network, some routings, one row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from routelab._progress import WAITING, tell
from routelab.api import ContextMetricPlugin, InputError, Topology, UnsupportedError
from routelab.artifacts.atomic import atomic_file
from routelab.deadlock import write_certificate
from routelab.registry.columns import columns_of
from routelab.registry.instances import Routing, load, load_routing, name_of
from routelab.stages.argument_errors import together
from routelab.stages.bound import NetworkBounds
from routelab.stages.facts import topology_facts
from routelab.stages.route import compute
from routelab.stages.topology import obtain


def evaluate(
    topology: str | Topology,
    routings: Iterable[str],
    certificate: Path | None = None,
    bound_seconds: float | None = None,
    metrics: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Route a network in several ways, prove and measure.

    Parameters
    ----------
    topology : str or Topology
        Instance name, or a folder or file that ``routelab topology`` wrote, or a network.
    routings : iterable of str
        Instance names.
    certificate : path, optional
        Where the proof (of the one routing) is written.
    bound_seconds : float, optional
        Find lower bounds of the maximum load, each in about this time at most; none by default.
    metrics : sequence of str, optional
        Instance names of metrics that are measured as well.

    Returns
    -------
    rows : list of dict
        `routelab.stages.facts.FIELDS` and further facts, with bounds
        `routelab.bounds.BOUND_FIELDS`, too; where a routing does not apply or
        breaks, ``status`` and ``reason`` say so.

    Raises
    ------
    InputError
        If a name is wrong (all wrong ones are reported), or a certificate is asked for and
        there is not exactly one routing or no proof.
    """
    texts = tuple(routings)
    _, (name, network), *found = together(
        lambda: _check_options(texts, certificate, bound_seconds),
        lambda: obtain(topology),
        *(partial(load_routing, text) for text in texts),
        *(partial(load, "metric", text) for text in metrics),
    )
    chosen, measures = found[: len(texts)], found[len(texts) :]
    for routing in chosen:
        tell(routing.name, WAITING)
    bounds = None if bound_seconds is None else NetworkBounds(network, bound_seconds)
    return [_row(name, network, routing, certificate, bounds, measures) for routing in chosen]


def measured_columns(metrics: Sequence[str]) -> list[str]:
    """List the columns of metrics, each once.

    Raises
    ------
    InputError
        If a name is wrong.
    """
    plugins = [load("metric", text) for text in metrics]
    return list(dict.fromkeys(column.name for one in plugins for column in columns_of(one)))


def _check_options(
    texts: Sequence[str], certificate: Path | None, bound_seconds: float | None
) -> None:
    problems = []
    if certificate is not None and len(texts) != 1:
        problems.append("--certificate saves one proof: name one routing")
    if bound_seconds is not None and not bound_seconds > 0:
        problems.append(f"--bound-seconds {bound_seconds:g}: give a bound more than 0 seconds")
    if problems:
        raise InputError("\n".join(problems))


def _row(
    name: str,
    network: Topology,
    routing: Routing,
    certificate: Path | None,
    bounds: NetworkBounds | None,
    metrics: Sequence[ContextMetricPlugin],
) -> dict[str, Any]:
    row = {
        "topology": name,
        "routing": routing.name,
        "status": "ok",
        "reason": "",
        **topology_facts(network),
    }
    try:
        result = compute(network, routing, metrics)
        routed, verdict = result.routed, result.verdict
        facts = {one.metric: one.value for one, _ in result.measurements} | result.facts
        if bounds is not None:
            tell(routing.name, "bounds")
            rules = "" if routing.rules is None else name_of(routing.rules)
            facts |= bounds.facts(routed, rules, facts)
    except (UnsupportedError, InputError) as error:
        # an input error here is about parameters that do not fit this network
        row |= {"status": "unsupported", "reason": str(error)}
    except Exception as error:  # one broken plugin must not hide the other rows
        row |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    tell(routing.name, row["status"], ended=True)
    if row["status"] != "ok":
        return row
    if certificate is not None:
        if not verdict.proven:
            raise InputError(f"no certificate for {routing.name}: {verdict.reason}")
        with atomic_file(certificate) as new:
            write_certificate(verdict, routed.table, new)
    return {**row, **facts}
