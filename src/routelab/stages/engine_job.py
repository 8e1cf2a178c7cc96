"""What jobs of all engines share: what they are about, and the outcome that they leave."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from routelab.api import InputError, Plugin, RouteTable, Topology, UnsupportedError
from routelab.api.parameters import Parameters
from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, Status, write_outcome
from routelab.artifacts.provenance import Measured
from routelab.artifacts.routes_file import load_routes
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import Routing, load, load_routing, name_of
from routelab.stages.blame import PluginRaisedError, blamed
from routelab.stages.facts import topology_facts
from routelab.stages.limits import Breach
from routelab.stages.together import together
from routelab.stages.topology import OUTCOME, name_at, obtain, unusable

Kind: TypeAlias = Literal["simulation", "flow"]
"""Kinds of outcome."""

CARRIED: Mapping[Kind, str] = {"simulation": "traffic", "flow": "workload"}
"""Kind of plugin that says what the network carries, and name of its fact."""

Work = TypeVar("Work", bound=Plugin)
Settings = TypeVar("Settings", bound=Parameters)


class Result(Protocol):
    """What an engine found."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the outcome."""


Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True, eq=False)
class Task(Generic[Work, Settings]):
    """What is to be simulated.

    Attributes
    ----------
    topology : str
        Canonical name.
    network : Topology
    routing : Routing or RouteTable
    routing_name : str
        Canonical name, or the table's file.
    work : Plugin
        Traffic or workload.
    settings : Parameters
    """

    topology: str
    network: Topology
    routing: Routing | RouteTable
    routing_name: str
    work: Work
    settings: Settings

    @property
    def plugins(self) -> list[Plugin]:
        """All that take part."""
        routing = self.routing.plugins if isinstance(self.routing, Routing) else ()
        return [*routing, self.work]


@dataclass(frozen=True)
class Names:
    """What a job is about, by name.

    Attributes
    ----------
    kind : {"simulation", "flow"}
    topology : str
        Instance name, or a folder that the topology stage wrote.
    routing : str
        Instance name, or a ``routes.npz`` that was made on this network.
    work : str
        Instance name of traffic or of a workload.
    """

    kind: Kind
    topology: str
    routing: str
    work: str

    @property
    def carried(self) -> str:
        """Kind of plugin that `work` names."""
        return CARRIED[self.kind]


def task_of(
    kind: Kind, topology: str | Topology, routing: str, work: str, settings: Settings
) -> Task[Any, Settings]:
    """Look up all that is named.

    Parameters
    ----------
    kind : {"simulation", "flow"}
    topology : str or Topology
        As for `routelab.stages.topology.obtain`.
    routing, work : str
        As in `Names`.
    settings : Parameters

    Raises
    ------
    InputError
        With all that is wrong.
    """
    (name, network, chosen, routing_name), plugin = together(
        lambda: network_of(topology, routing), lambda: load(CARRIED[kind], work)
    )
    return Task(name, network, chosen, routing_name, plugin, settings)


def network_of(
    topology: str | Topology, routing: str
) -> tuple[str, Topology, Routing | RouteTable, str]:
    """A network and a routing, or a table of it, each with its name.

    Parameters
    ----------
    topology : str or Topology
        As for `routelab.stages.topology.obtain`.
    routing : str
        As in `Names`.

    Raises
    ------
    InputError
        With all that is wrong.
    """
    chosen, (name, network) = together(lambda: _routing(routing), lambda: obtain(topology))
    if chosen is None:
        table = load_routes(routing, network)
        return name, table.topology, table, routing
    return name, network, chosen, chosen.name


def _routing(name: str) -> Routing | None:
    """The routing; None for the file of a table."""
    return None if Path(name).suffix == ".npz" else load_routing(name)


def lost(names: Names, seed: int, directory: Path, fingerprint: str) -> Outcome | None:
    """Write the outcome of a job on a network that there is not; None if there is one.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    """
    without = unusable(names.topology)
    if without is None:
        return None
    chosen, plugin = together(
        lambda: _routing(names.routing), lambda: load(names.carried, names.work)
    )
    with Measured() as nothing:
        plugins = [*(chosen.plugins if chosen else ()), plugin]
        provenance = nothing.provenance(plugins, seed, fingerprint)
    outcome = replace(
        without,
        kind=names.kind,
        routing=chosen.name if chosen else names.routing,
        facts={**without.facts, names.carried: name_of(plugin)},
        provenance=provenance,
    )
    return write(outcome, directory)


def run(
    names: Names,
    task: Task[Any, Any],
    seed: int,
    directory: Path,
    fingerprint: str,
    compute: Callable[[], Found],
    write_result: Callable[[Found, Path], None],
) -> Outcome:
    """Do a job and write its folder; what goes wrong in a plugin becomes the outcome.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    result: Found | None = None
    status: Status = "ok"
    reason = ""
    with Measured() as measured:
        try:
            with blamed(task.plugins):
                result = compute()
        except (UnsupportedError, InputError) as error:
            # an input error here is about parameters that do not fit this network
            status, reason = "unsupported", str(error)
        except Exception as error:
            traceback.print_exc()
            status, reason = "failed", f"{type(error).__name__}: {error}"
            if isinstance(error, PluginRaisedError):
                reason = str(error)  # it says what was raised, and where
    provenance = measured.provenance(task.plugins, seed, fingerprint)
    provenance["settings"] = task.settings.model_dump(mode="json")
    facts: Mapping[str, Any] = {
        **topology_facts(task.network),
        names.carried: name_of(task.work),
    }
    if result is not None:
        facts = result.facts
    outcome = Outcome(
        names.kind, task.topology, task.routing_name, status, reason, facts, provenance
    )
    return write(outcome, directory, None if result is None else partial(write_result, result))


def write_breach(names: Names, directory: Path, breach: Breach, fingerprint: str) -> Outcome:
    """Write the outcome of a job that was stopped at its limits or whose plugin is broken."""
    plugins: Sequence[Plugin] = ()
    routing, work = names.routing, names.work
    with suppress(QuarantinedError):
        chosen, plugin = load_routing(routing), load(names.carried, work)
        routing, work = chosen.name, name_of(plugin)
        plugins = (*chosen.plugins, plugin)
    with Measured() as measured:
        provenance = measured.provenance(plugins, None, fingerprint)
    outcome = Outcome(
        names.kind,
        name_at(names.topology),
        routing,
        breach.status,
        breach.reason,
        {names.carried: work},
        provenance,
    )
    return write(outcome, directory)


def write(outcome: Outcome, directory: Path, more: Callable[[Path], None] | None = None) -> Outcome:
    """Write a job's folder: what `more` puts into it, and the outcome."""
    with atomic_directory(directory) as folder:
        if more is not None:
            more(folder)
        write_outcome(outcome, folder / OUTCOME)
    return outcome
