"""From studies to the simulations that they ask for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from routelab.api import HopRoutingPlugin
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Limits, Study
from routelab.simulation.settings import SimulationSettings
from routelab.stages.instances import Instance
from routelab.stages.jobs import MAX_ID, SimulationIds, SimulationJob, TopologyJob

DEFAULT = "default"
"""Name of the folder of settings that are all as they are by default."""


@dataclass(frozen=True)
class _Wanted:
    """A simulation that studies ask for."""

    routing: Instance
    traffic: Instance
    settings: SimulationSettings
    limits: Limits


class WantedSimulations:
    """Simulations, collected study by study."""

    def __init__(self) -> None:
        self._wanted: dict[SimulationIds, _Wanted] = {}

    def add(
        self,
        study: Study,
        pairs: Sequence[tuple[str, str]],
        routings: Mapping[str, Instance],
        traffic: Mapping[str, Instance],
    ) -> tuple[SimulationIds, ...]:
        """Note the simulations of a study: every pair with all traffic and all settings.

        Parameters
        ----------
        study : Study
        pairs : sequence of (str, str)
            Ids of topology and routing.
        routings, traffic : mapping of str to Instance
            By id.

        Returns
        -------
        ids : tuple
            In the study's order.
        """
        settings = {settings_id(one): one for one in study.settings}
        ids: list[SimulationIds] = []
        for topology, routing in pairs:
            for pattern, instance in traffic.items():
                for id_, one in settings.items():
                    ids.append((topology, routing, pattern, id_))
                    new = _Wanted(routings[routing], instance, one, study.limits)
                    old = self._wanted.setdefault(ids[-1], new)
                    limits = old.limits.with_most_of(study.limits)
                    self._wanted[ids[-1]] = replace(old, limits=limits)
        return tuple(ids)

    def jobs(self, topologies: Mapping[str, TopologyJob]) -> dict[SimulationIds, SimulationJob]:
        """The jobs, by ids."""
        return {ids: _job(topologies[ids[0]], ids, one) for ids, one in self._wanted.items()}

    def rehearsals(self) -> tuple[str, ...]:
        """Routings that use, between them, the kernels of all simulations."""
        users: dict[tuple[type, ...], str] = {}
        for one in self._wanted.values():
            if not one.routing.quarantine:
                users.setdefault(tuple(map(type, one.routing.plugins)), one.routing.text)
        return tuple(users.values())


def is_hop_by_hop(routing: Instance) -> bool:
    """Whether a routing decides on the way and so has no table."""
    return any(isinstance(plugin, HopRoutingPlugin) for plugin in routing.plugins)


def settings_id(settings: SimulationSettings) -> str:
    """What differs from the defaults, where that can name a directory, else a hash of it."""
    text = settings.canonical() or DEFAULT
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _job(topology: TopologyJob, ids: SimulationIds, wanted: _Wanted) -> SimulationJob:
    routing, traffic = wanted.routing, wanted.traffic
    inputs = (*routing.inputs, *traffic.inputs)
    settings = wanted.settings.model_dump_json(exclude_defaults=True)
    # the network's fingerprint stands for its code, too
    texts = [
        *(topology.text, topology.fingerprint, routing.text + routing.quarantine),
        *(traffic.text + traffic.quarantine, settings),
    ]
    classes = [type(plugin) for one in (routing, traffic) for plugin in one.plugins]
    return SimulationJob(
        topology=topology,
        id=ids[1],
        text=routing.text,
        fingerprint=fingerprint("routelab.stages.simulate", " ".join(texts), classes, inputs),
        inputs=inputs,
        limits=wanted.limits,
        traffic_id=ids[2],
        traffic=traffic.text,
        settings_id=ids[3],
        settings=settings,
    )
