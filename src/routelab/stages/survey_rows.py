"""What a survey keeps of a run or a bound: one row."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from routelab.api import InputError, RoutelabError, Topology, UnsupportedError
from routelab.artifacts.outcome import Status
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load, load_routing
from routelab.stages.facts import topology_facts
from routelab.stages.route import compute

Row = dict[str, Any]

# a survey asks for the same few on every network
_routing = cache(load_routing)
_metric = cache(lambda name: load("metric", name))


class Network:
    """A network of a survey, built when it is first asked for.

    Parameters
    ----------
    name : str
        Instance name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._made: Topology | tuple[Status, str] | None = None

    def built(self) -> Topology | tuple[Status, str]:
        """The network, or why there is none: status and reason."""
        if self._made is None:
            self._made = self._build()
        return self._made

    def _build(self) -> Topology | tuple[Status, str]:
        try:
            return load("topology", self.name).build()
        except QuarantinedError as error:
            return "failed", str(error)
        except RoutelabError as error:
            return "unsupported", f"no network: {error}"
        except Exception as error:
            traceback.print_exc()
            return "failed", f"no network: {type(error).__name__}: {error}"


def route_row(network: Network, routing: str, metrics: Sequence[str]) -> Row:
    """Route, prove and measure.

    Parameters
    ----------
    network : Network
    routing : str
        Instance name.
    metrics : sequence of str
        Instance names.

    Returns
    -------
    row : dict
        ``status``, ``reason``, ``facts``, ``metrics`` (name, value, unit, better), ``started``,
        ``wall_seconds`` and ``cpu_seconds``, those of the whole run.
    """

    def work(topology: Topology) -> Row:
        chosen = _routing(routing)
        try:
            result = compute(topology, chosen, [_metric(name) for name in metrics])
        except (UnsupportedError, InputError) as error:
            # an input error here is about parameters that do not fit this network
            return _lost("unsupported", str(error), topology_facts(topology))
        measured = [(m.metric, m.value, m.unit, m.better) for m in result.measurements]
        return {"status": "ok", "reason": "", "facts": result.facts, "metrics": measured}

    return _timed(network, work)


def lost_row(status: Status, reason: str) -> Row:
    """The row of a run that was stopped at its limits."""
    return {**_lost(status, reason, {}), "started": _now(), "wall_seconds": None}


def _timed(network: Network, work: Callable[[Topology], Row]) -> Row:
    """What `work` makes of the network, or why it makes nothing, with the time that it takes."""
    started, wall, cpu = _now(), time.perf_counter(), time.process_time()
    topology = network.built()
    if isinstance(topology, tuple):
        row = _lost(*topology, {})
    else:
        try:
            row = work(topology)
        except QuarantinedError as error:
            row = _lost("failed", str(error), topology_facts(topology))
        except Exception as error:
            traceback.print_exc()
            row = _lost("failed", f"{type(error).__name__}: {error}", topology_facts(topology))
    return {
        **row,
        "started": started,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def _lost(status: Status, reason: str, facts: Row) -> Row:
    return {"status": status, "reason": reason, "facts": facts, "metrics": []}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
