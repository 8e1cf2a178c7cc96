"""What is to be simulated by any engine, looked up by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from routelab.api import RouteTable, Topology
from routelab.api.parameters import Parameters
from routelab.artifacts.routes_file import load_routes
from routelab.jobs.job import Task
from routelab.registry.instances import Routing, load, load_routing
from routelab.stages.together import together
from routelab.stages.topology import obtain


@dataclass(frozen=True, eq=False, kw_only=True)
class EngineTask(Task):
    """What is to be simulated.

    Attributes
    ----------
    routing : str
        Canonical name, or the table's file.
    network : Topology
    algorithm : Routing or RouteTable
    work : Plugin
        Traffic or workload.
    settings : Parameters
    """

    network: Topology
    algorithm: Routing | RouteTable
    work: Any
    settings: Any


def task_of(
    kind: str, topology: str | Topology, routing: str, work: str, settings: Parameters
) -> EngineTask:
    """Look up all that is named.

    Parameters
    ----------
    kind : {"traffic", "workload"}
    topology : str or Topology
        As for `routelab.stages.topology.obtain`.
    routing : str
        Instance name, or a ``routes.npz`` that was made on this network.
    work : str
        Instance name of traffic or of a workload.
    settings : Parameters

    Raises
    ------
    InputError
        With all that is wrong.
    """
    (name, network, chosen, routing_name), plugin = together(
        lambda: network_of(topology, routing), lambda: load(kind, work)
    )
    parts = chosen.plugins if isinstance(chosen, Routing) else ()
    return EngineTask(
        topology=name,
        routing=routing_name,
        plugins=(*parts, plugin),
        network=network,
        algorithm=chosen,
        work=plugin,
        settings=settings,
    )


def network_of(
    topology: str | Topology, routing: str
) -> tuple[str, Topology, Routing | RouteTable, str]:
    """Look up a network and a routing, or a table of it, each with its name.

    Raises
    ------
    InputError
        With all that is wrong.
    """
    chosen, (name, network) = together(lambda: routing_of(routing), lambda: obtain(topology))
    if chosen is None:
        table = load_routes(routing, network)
        return name, table.topology, table, routing
    return name, network, chosen, chosen.name


def routing_of(name: str) -> Routing | None:
    """The routing; None for the file of a table."""
    return None if Path(name).suffix == ".npz" else load_routing(name)
