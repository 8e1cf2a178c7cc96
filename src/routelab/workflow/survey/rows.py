"""The common part of all rows of a survey: a network, a result or a reason, and times."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from routelab._runtime.cpu_time import cpu_time
from routelab._runtime.progress import report_phase
from routelab.api import RoutelabError, Topology
from routelab.jobs.limits import Failure
from routelab.jobs.plugin_errors import run_contained
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load

Row = dict[str, Any]
"""``status``, ``reason``, ``facts``, ``started``, ``wall_seconds`` and ``cpu_seconds``; of a run
also ``metrics``: name, value, unit and better of each."""


class SurveyNetwork:
    """A network of a survey, built at its first use.

    Parameters
    ----------
    name : str
        Instance name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._built: Topology | Failure | None = None

    def built(self) -> Topology | Failure:
        """Return the network, or why it cannot be built."""
        if self._built is None:
            self._built = self._build()
        return self._built

    def _build(self) -> Topology | Failure:
        """Build the network; return why it cannot be built instead of raising."""
        try:
            plugin = load("topology", self.name)
        except QuarantinedError as error:
            return Failure("failed", str(error))
        except RoutelabError as error:
            return Failure("unsupported", f"no network: {error}")
        report_phase(self.name, "network")
        network = run_contained(plugin.build)
        if isinstance(network, Failure):
            return Failure(network.status, f"no network: {network.reason}")
        return network


def timed_row(network: SurveyNetwork, work: Callable[[Topology], Row]) -> Row:
    """Return the row that `work` makes of a network, or why it fails, with its time.

    The time of the first row of a network includes that to build it.

    Parameters
    ----------
    network : SurveyNetwork
    work : callable
        Returns ``facts``, and of a run also ``metrics``.
    """
    started, wall, cpu = _now(), time.perf_counter(), cpu_time()
    topology = network.built()
    if isinstance(topology, Failure):
        row = _row_without_result(topology)
    else:
        result = run_contained(work, topology)
        if isinstance(result, Failure):
            sizes = {"switches": topology.num_switches, "terminals": topology.num_terminals}
            row = _row_without_result(result, sizes)
        else:
            row = {"status": "ok", "reason": "", **result}
    return {
        **row,
        "started": started,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": cpu_time() - cpu,
    }


def failure_row(failure: Failure) -> Row:
    """Return the row of work that did not begin, or was stopped at its limits."""
    return {**_row_without_result(failure), "started": _now()}


def _row_without_result(failure: Failure, sizes: Row | None = None) -> Row:
    return {"status": failure.status, "reason": failure.reason, "facts": sizes or {}}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
