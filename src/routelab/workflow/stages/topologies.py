"""Networks: jobs that build a network, and the base class of jobs on a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api import Topology
from routelab.api.plugin import TopologyPlugin
from routelab.jobs.folder_job import Computation, FolderJob, Result, Task
from routelab.jobs.job import Compilation
from routelab.jobs.plugin_errors import LostInputError
from routelab.registry.instances import load, name_of
from routelab.results.outcome import recorded_digest
from routelab.results.provenance import seed_of
from routelab.routing.topology import (
    build_topology,
    failed_outcome,
    load_network,
    network_facts,
    network_name,
    topology_facts,
    write_topology,
)
from routelab.routing.topology_file import topology_digest
from routelab.study import Limits
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import Instance, code_digest

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts


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
        """Return the job that builds a network of a study, in the folder of the study's results."""
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
    def compilations(self) -> Sequence[Compilation]:
        def compile_kernels() -> None:
            network_facts(build_grid("torus", (3, 2), wrap=True))

        return (Compilation(("topologies",), "networks", compile_kernels),)

    @override
    def load(self) -> tuple[Task, Computation]:
        plugin = load("topology", self.text)
        task = Task(topology=name_of(plugin), plugins=(plugin,), seed=seed_of([plugin]))
        return task, partial(self.run, plugin)

    def run(self, plugin: TopologyPlugin, _: Mapping[str, Any]) -> Result:
        """Build the network."""
        report_phase(name_of(plugin), "network")
        network = build_topology(plugin)
        return Result(
            network_facts(network),
            partial(write_topology, network),
            topology_digest(network),
        )


@lru_cache(maxsize=4)
def network_jobs(parts: Parts) -> dict[str, TopologyJob]:
    """Return the jobs that build the networks of a study, by id."""
    return {
        id_: TopologyJob.of(id_, parts.topologies[id_], parts.study.limits, parts.results)
        for id_ in dict.fromkeys(topology_id for topology_id, _ in parts.pairs)
    }


@dataclass(frozen=True, kw_only=True)
class NetworkJob(FolderJob):
    """A job on a network.

    Attributes
    ----------
    topology : str
        Instance name, the path of a ``topology.npz``, or the folder of a `TopologyJob`.
    network_digest : str
        Fingerprint of the job that builds the network, which changes with the network's code;
        empty outside a workflow.
    """

    topology: str
    network_digest: str = ""

    @staticmethod
    def network_fields(network: TopologyJob) -> dict[str, Any]:
        """Return the fields that a `NetworkJob` gets from the job that makes its network."""
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
        digest = recorded_digest(self.topology)
        return {} if digest is None else {"network": digest}

    @override
    def task(self) -> Task:
        return Task(topology=self.network or self.topology, routing=self.text)

    def look_up_network(self) -> tuple[str, Topology | None]:
        """Return the network's name, and the network unless its job could not build it.

        Raises
        ------
        InputError
            If the name is wrong, or a file in the network's folder is damaged. The job then ends
            without an outcome, and runs again once the file is repaired; an outcome would be final.
        """
        if failed_outcome(self.topology) is not None:
            return network_name(self.topology), None
        return load_network(self.topology)

    def require_network(self, network: Topology | None, facts: dict[str, Any]) -> Topology:
        """Return the network that `look_up_network` found, or raise why it could not be built.

        The facts of the network, or of its failed job, are added to `facts`, so that the outcome
        has them even if this job fails. Facts that are already there stay.

        Raises
        ------
        LostInputError
            If the network could not be built.
        """
        if network is None:
            failure = failed_outcome(self.topology)
            assert failure is not None
            facts.update({**failure.facts, **facts})
            raise LostInputError(failure.status, failure.reason)
        facts.update({**topology_facts(network), **facts})
        return network
