"""The common part of all rows of a survey: a network, a result or a reason, and times."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from routelab._progress import tell
from routelab.api import RoutelabError, Topology
from routelab.artifacts.outcome import Status
from routelab.jobs.containment import contain
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
        self._made: Topology | tuple[Status, str] | None = None

    def built(self) -> Topology | tuple[Status, str]:
        """Return the network, or status and reason if it cannot be built."""
        if self._made is None:
            self._made = self._build()
        return self._made

    def _build(self) -> Topology | tuple[Status, str]:
        try:
            plugin = load("topology", self.name)
        except QuarantinedError as error:
            return "failed", str(error)
        except RoutelabError as error:
            return "unsupported", f"no network: {error}"
        tell(self.name, "network")
        ending = contain(plugin.build)
        if ending.status == "ok":
            made: Topology = ending.result
            return made
        return ending.status, f"no network: {ending.reason}"


def timed_row(network: SurveyNetwork, work: Callable[[Topology], Row]) -> Row:
    """Return the row that `work` makes of a network, or why it fails, with its time.

    Parameters
    ----------
    network : SurveyNetwork
    work : callable
    """
    started, wall, cpu = _now(), time.perf_counter(), time.process_time()
    topology = network.built()
    if isinstance(topology, tuple):
        row = _row_without_result(*topology)
    else:
        ending = contain(lambda: work(topology))
        if ending.status == "ok":
            row = {"status": "ok", "reason": "", **ending.result}
        else:
            sizes = {"switches": topology.num_switches, "terminals": topology.num_terminals}
            row = _row_without_result(ending.status, ending.reason, sizes)
    return {
        **row,
        "started": started,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def breach_row(status: Status, reason: str) -> Row:
    """Return the row of a run that was stopped at its limits."""
    return {**_row_without_result(status, reason), "started": _now()}


def _row_without_result(status: Status, reason: str, sizes: Row | None = None) -> Row:
    return {"status": status, "reason": reason, "facts": sizes or {}}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
