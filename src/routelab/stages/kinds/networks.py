"""Networks: jobs that build a network, and the base class of jobs on a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._progress import tell
from routelab.api import Topology
from routelab.api.plugin import TopologyPlugin
from routelab.artifacts.outcome import digest_in
from routelab.artifacts.provenance import seed_of
from routelab.config import Limits
from routelab.jobs.blame import LostInputError
from routelab.jobs.folder_job import FolderJob, Task
from routelab.jobs.job import Rehearsal
from routelab.registry.instances import load, name_of
from routelab.routing import topology as stage
from routelab.routing.topology_file import topology_digest
from routelab.stages.parts.instances import Instance, code_digest
from routelab.toolkit import build_grid

if TYPE_CHECKING:
    from routelab.stages.parts.parts import Parts


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task(Task):
    plugin: TopologyPlugin


@dataclass(frozen=True, kw_only=True)
class TopologyJob(FolderJob):
    """Build a network."""

    kind = "topologies"
    outcome_kind = "topology"
    nouns = "network", "networks"
    order = 0

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        return network_jobs(parts).values()  # type: ignore[return-value]

    @classmethod
    def of(cls, id_: str, topology: Instance, limits: Limits, results: Path | str) -> Self:
        """Return the job of an instance."""
        return cls(
            folder=cls.folder_of(results, (id_,)),
            ids=(id_,),
            text=topology.text,
            digest=code_digest(topology),
            inputs=topology.inputs,
            limits=limits,
        )

    @property
    @override
    def title(self) -> str:
        return self.ids[0] if self.ids else self.text

    @override
    def rehearsals(self) -> Sequence[Rehearsal]:
        def rehearse() -> None:
            stage.network_facts(build_grid("torus", (3, 2), wrap=True))

        return (Rehearsal(("topologies",), "networks", rehearse),)

    @override
    def load(self) -> Task:
        plugin = load("topology", self.text)
        return _Task(
            topology=name_of(plugin), plugins=(plugin,), seed=seed_of([plugin]), plugin=plugin
        )

    @override
    def run(self, task: _Task) -> Topology:
        tell(task.topology, "network")
        return stage.build_topology(task.plugin)

    @override
    def facts(self, result: Topology) -> Mapping[str, Any]:
        return stage.network_facts(result)

    @override
    def result_digest(self, result: Topology) -> str:
        return topology_digest(result)

    @override
    def write(self, result: Topology, folder: Path, provenance: Mapping[str, Any]) -> None:
        stage.write_topology(result, folder, provenance)


@lru_cache(maxsize=4)
def network_jobs(parts: Parts) -> dict[str, TopologyJob]:
    """Return the jobs that build the networks of a study, by id."""
    return {
        id_: TopologyJob.of(id_, parts.topologies[id_], parts.study.limits, parts.results)
        for id_ in dict.fromkeys(t for t, _ in parts.pairs)
    }


@dataclass(frozen=True, kw_only=True)
class NetworkJob(FolderJob):
    """A job on a network.

    Attributes
    ----------
    topology : str
        Instance name, ``topology.npz``, or the folder of a `TopologyJob`.
    network_digest : str
        Fingerprint of the network's job, which includes its code.
    """

    topology: str
    network_digest: str = ""

    @staticmethod
    def on(network: TopologyJob) -> dict[str, Any]:
        """Return the fields of a job on a network that another job makes."""
        return {
            "topology": network.folder,
            "network": network.text,
            "network_digest": network.fingerprint,
            "needs": (network.folder,),
        }

    @override
    def content(self) -> tuple[str, ...]:
        return (self.network, self.network_digest)

    @override
    def sources(self) -> dict[str, str]:
        digest = digest_in(self.topology)
        return {} if digest is None else {"network": digest}

    @override
    def names(self) -> tuple[str, str]:
        return self.network or self.topology, self.text

    def look_up_network(self) -> tuple[str, Topology | None]:
        """Return the network's name, and the network unless its job could not build it.

        Raises
        ------
        InputError
            If the name is wrong, or a file in the network's folder is damaged. That is not an
            outcome of this job, because an outcome could never be corrected.
        """
        if stage.failed_outcome(self.topology) is not None:
            return stage.network_name(self.topology), None
        return stage.obtain(self.topology)

    def find_network(self, task: Task, network: Topology | None) -> Topology:
        """Return the network; add its facts to those of the task.

        Raises
        ------
        LostInputError
            If the network could not be built.
        """
        if network is None:
            lost = stage.failed_outcome(self.topology)
            assert lost is not None
            task.facts.update({**lost.facts, **task.facts})
            raise LostInputError(lost.status, lost.reason)
        task.facts.update({**stage.topology_facts(network), **task.facts})
        return network
