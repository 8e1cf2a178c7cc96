"""The common part of all rows of a survey: a network, a result or a reason, and times."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from routelab._progress import tell
from routelab.api import RoutelabError, Topology
from routelab.jobs.containment import contain
from routelab.jobs.limits import Breach
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
        self._made: Topology | Breach | None = None

    def built(self) -> Topology | Breach:
        """Return the network, or why it cannot be built."""
        if self._made is None:
            self._made = self._build()
        return self._made

    def _build(self) -> Topology | Breach:
        try:
            plugin = load("topology", self.name)
        except QuarantinedError as error:
            return Breach("failed", str(error))
        except RoutelabError as error:
            return Breach("unsupported", f"no network: {error}")
        tell(self.name, "network")
        network = contain(plugin.build)
        if isinstance(network, Breach):
            return Breach(network.status, f"no network: {network.reason}")
        return network


def timed_row(network: SurveyNetwork, work: Callable[[Topology], Row]) -> Row:
    """Return the row that `work` makes of a network, or why it fails, with its time.

    Parameters
    ----------
    network : SurveyNetwork
    work : callable
    """
    started, wall, cpu = _now(), time.perf_counter(), time.process_time()
    topology = network.built()
    if isinstance(topology, Breach):
        row = _row_without_result(topology)
    else:
        result = contain(lambda: work(topology))
        if isinstance(result, Breach):
            sizes = {"switches": topology.num_switches, "terminals": topology.num_terminals}
            row = _row_without_result(result, sizes)
        else:
            row = {"status": "ok", "reason": "", **result}
    return {
        **row,
        "started": started,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def breach_row(breach: Breach) -> Row:
    """Return the row of a run that was stopped at its limits."""
    return {**_row_without_result(breach), "started": _now()}


def _row_without_result(breach: Breach, sizes: Row | None = None) -> Row:
    return {"status": breach.status, "reason": breach.reason, "facts": sizes or {}}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
