"""From studies to the simulations that they ask for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from routelab.api import HopRoutingPlugin, InputError
from routelab.api.parameters import Parameters
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Limits, Study
from routelab.config.bench_settings import BenchSettings
from routelab.config.cluster import CLUSTERS, find_cluster, load_cluster
from routelab.config.mistakes import suggestion
from routelab.config.simulation import DEFAULT as DEFAULT_NAME
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.placement import is_file, read_placement
from routelab.simulation.settings import SimulationSettings
from routelab.stages.instances import Instance, seen_from_here
from routelab.stages.jobs import (
    MAX_ID,
    SimulationIds,
    SimulationJob,
    SimulationKind,
    TopologyJob,
)

DEFAULT = "default"
"""Name of the folder of settings that are all as they are by default."""


STAGES: Mapping[SimulationKind, str] = {
    "simulations": "routelab.stages.simulate",
    "flows": "routelab.stages.flow",
}
"""Modules that do the jobs."""


@dataclass(frozen=True)
class Chosen:
    """Settings of simulations.

    Attributes
    ----------
    id : str
        Name of their directory.
    settings : Parameters
        Files in them are seen from the working directory.
    inputs : tuple of str
        Files that they name.
    """

    id: str
    settings: Parameters
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Wanted:
    """A simulation that studies ask for."""

    routing: Instance
    work: Instance
    chosen: Chosen
    limits: Limits


class WantedSimulations:
    """Simulations of one kind, collected study by study."""

    def __init__(self, kind: SimulationKind) -> None:
        self._kind = kind
        self._wanted: dict[SimulationIds, _Wanted] = {}

    def add(
        self,
        limits: Limits,
        pairs: Sequence[tuple[str, str]],
        routings: Mapping[str, Instance],
        works: Mapping[str, tuple[Instance, Sequence[Chosen]]],
    ) -> tuple[SimulationIds, ...]:
        """Note the simulations of a study: every pair with all that it is to carry.

        Parameters
        ----------
        limits : Limits
        pairs : sequence of (str, str)
            Ids of topology and routing.
        routings : mapping of str to Instance
            By id.
        works : mapping of str to (Instance, sequence of Chosen)
            Traffic or workloads by id, each with the settings of its simulations.

        Returns
        -------
        ids : tuple
            In the study's order.
        """
        ids: list[SimulationIds] = []
        for topology, routing in pairs:
            for id_, (instance, settings) in works.items():
                for chosen in settings:
                    ids.append((topology, routing, id_, chosen.id))
                    new = _Wanted(routings[routing], instance, chosen, limits)
                    old = self._wanted.setdefault(ids[-1], new)
                    most = old.limits.with_most_of(limits)
                    self._wanted[ids[-1]] = replace(old, limits=most)
        return tuple(ids)

    def jobs(self, topologies: Mapping[str, TopologyJob]) -> dict[SimulationIds, SimulationJob]:
        """The jobs, by ids."""
        stage = STAGES[self._kind]
        return {ids: _job(stage, topologies[ids[0]], ids, one) for ids, one in self._wanted.items()}

    def rehearsals(self) -> tuple[str, ...]:
        """Routings that use, between them, the kernels of all simulations."""
        users: dict[tuple[type, ...], str] = {}
        for one in self._wanted.values():
            if not one.routing.quarantine:
                users.setdefault(tuple(map(type, one.routing.plugins)), one.routing.text)
        return tuple(users.values())


def of_traffic(
    study: Study, traffic: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[Chosen]]]:
    """The traffic of a study with the settings of its simulations."""
    settings = [Chosen(settings_id(one), one) for one in study.settings]
    return {id_: (instance, settings) for id_, instance in traffic.items()}


def of_workloads(
    study: Study, workloads: Mapping[str, Instance]
) -> tuple[dict[str, tuple[Instance, Sequence[Chosen]]], list[str]]:
    """The workloads of a study with the settings of each, and what is wrong with these.

    Returns
    -------
    works : dict of str to (Instance, sequence of Chosen)
    mistakes : list of str
        Clusters and files that are missing or wrong, and names that are none of a workload.
    """
    mistakes = [
        f"{study.place('flow')}there is no workload {name!r} to have a value by its name"
        f"{suggestion(name, workloads)}"
        for name in study.flows
        if name not in (*workloads, DEFAULT_NAME)
    ]
    found: dict[FlowSettings, Chosen] = {}
    for one in (one for settings in study.flows.values() for one in settings):
        try:
            found[one] = _resolved(study, one)
        except InputError as error:
            mistakes += [f"{study.place('flow')}{line}" for line in str(error).splitlines()]
    if mistakes:
        return {}, list(dict.fromkeys(mistakes))
    return {
        id_: (
            instance,
            [found[one] for one in study.flows.get(id_, study.flows[DEFAULT_NAME])],
        )
        for id_, instance in workloads.items()
    }, []


def _resolved(study: Study, settings: FlowSettings) -> Chosen:
    """Settings with their files as seen from here: the study's folder says where they are."""
    folder = study.path.parent
    files: dict[str, str] = {}
    if settings.machine:
        files["machine"] = found_cluster(folder, settings.machine)
        load_cluster(Path(files["machine"]))
    if is_file(settings.placement):
        path = folder / settings.placement
        read_placement(path)
        files["placement"] = seen_from_here(path)
    inputs = tuple(files.values())
    return Chosen(settings_id(settings), settings.model_copy(update=files), inputs)


def found_cluster(folder: Path, name: str, word: str = "machine") -> str:
    """The file of a cluster that a study names, as seen from here.

    Parameters
    ----------
    folder : Path
        The study's: names are looked up in ``clusters`` beside it, files in it.
    name : str
    word : str
        What the study calls it, for messages.

    Raises
    ------
    InputError
        If there is none.
    """
    homes = [Path(os.path.normpath(folder / up / "clusters")) for up in (".", "..", "../..")]
    if Path(name).suffix in (".yaml", ".yml"):
        name = str(folder / name)
    return seen_from_here(find_cluster(name, tuple(dict.fromkeys((*homes, CLUSTERS))), word))


def is_hop_by_hop(routing: Instance) -> bool:
    """Whether a routing decides on the way and so has no table."""
    return any(isinstance(plugin, HopRoutingPlugin) for plugin in routing.plugins)


def settings_id(settings: SimulationSettings | FlowSettings | BenchSettings) -> str:
    """What differs from the defaults, where that can name a directory, else a hash of it."""
    text = settings.canonical() or DEFAULT
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _job(stage: str, topology: TopologyJob, ids: SimulationIds, wanted: _Wanted) -> SimulationJob:
    routing, work = wanted.routing, wanted.work
    inputs = (*routing.inputs, *work.inputs, *wanted.chosen.inputs)
    settings = wanted.chosen.settings.model_dump_json(exclude_defaults=True)
    # the network's fingerprint stands for its code, too
    texts = [
        *(topology.text, topology.fingerprint, routing.text + routing.quarantine),
        *(work.text + work.quarantine, settings),
    ]
    classes = [type(plugin) for one in (routing, work) for plugin in one.plugins]
    return SimulationJob(
        topology=topology,
        id=ids[1],
        text=routing.text,
        fingerprint=fingerprint(stage, " ".join(texts), classes, inputs),
        inputs=inputs,
        limits=wanted.limits,
        work_id=ids[2],
        work=work.text,
        settings_id=ids[3],
        settings=settings,
    )
