"""What the jobs of all engines share: a network, a routing, and what the network carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from routelab.api import InputError, RouteTable, Topology
from routelab.api.parameters import Parameters
from routelab.jobs.job import Task
from routelab.registry.instances import Routing, load, name_of
from routelab.stages.engine_task import network_of, routing_of
from routelab.stages.instances import Instance, class_names, code_digest
from routelab.stages.kinds.networks import NetworkJob
from routelab.stages.settings import Chosen
from routelab.stages.together import together

if TYPE_CHECKING:
    from routelab.stages.parts import Parts


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task(Task):
    """As `EngineTask`; there is no network if it could not be built."""

    network: Topology | None
    algorithm: Routing | RouteTable
    work: Any


@dataclass(frozen=True, kw_only=True)
class EngineJob(NetworkJob):
    """Simulate a routing on a network with an engine.

    Class attributes
    ----------------
    carried : str
        Kind of plugin that says what the network carries, and name of its fact.
    stage_module : str
        Module that does the work.

    Attributes
    ----------
    work : str
        Instance name of traffic or of a workload.
    work_digest : str
        Digest of its code and files.
    settings : Parameters
        Files in them are seen from the working directory.
    """

    carried: ClassVar[str]
    stage_module: ClassVar[str]

    work: str
    work_digest: str = ""
    settings: Parameters

    @classmethod
    def of(
        cls,
        parts: Parts,
        pairs: Iterable[tuple[str, str]],
        works: Mapping[str, tuple[Instance, Sequence[Chosen]]],
    ) -> Iterable[Self]:
        """The jobs of pairs of topology and routing, each with all that it carries.

        Parameters
        ----------
        parts : Parts
        pairs : iterable of (str, str)
            Ids of topology and routing.
        works : mapping of str to (Instance, sequence of Chosen)
            Traffic or workloads by id, each with the settings of its simulations.
        """
        digests = {r: code_digest(cls.stage_module, one) for r, one in parts.routings.items()}
        of_works = {id_: code_digest(cls.stage_module, one) for id_, (one, _) in works.items()}
        for t, r in pairs:
            routing = parts.routings[r]
            for id_, (work, settings) in works.items():
                for chosen in settings:
                    ids = t, r, id_, chosen.id
                    yield cls(
                        folder=cls.folder_of(parts.results, ids),
                        ids=ids,
                        text=routing.text,
                        digest=digests[r],
                        inputs=(*routing.inputs, *work.inputs, *chosen.inputs),
                        limits=parts.study.limits,
                        classes=class_names(routing),
                        work=work.text,
                        work_digest=" ".join((of_works[id_], *chosen.digests())),
                        settings=chosen.settings,
                        **cls.on(parts.networks[t]),
                    )

    @property
    def title(self) -> str:
        """See `Job.title`."""
        t, r, work, settings = self.ids or (self.topology, self.text, self.work, "default")
        more = "" if settings == "default" else f" ({settings})"
        return f"{r} on {t} with {work}{more}"

    def content(self) -> tuple[str, ...]:
        """See `Job.content`."""
        settings = self.settings.model_dump_json(exclude_defaults=True)
        return (*super().content(), self.work, self.work_digest, settings)

    def load(self) -> Task:
        """See `FolderJob.load`."""
        try:
            is_table = routing_of(self.text) is None
        except InputError:
            is_table = False  # with all other mistakes below
        if is_table:
            (name, network, algorithm, routing), work = together(
                lambda: network_of(self.topology, self.text), lambda: load(self.carried, self.work)
            )
        else:
            algorithm, (name, network), work = together(
                lambda: routing_of(self.text),
                self.look_up_network,
                lambda: load(self.carried, self.work),
            )
            routing = algorithm.name
        used = algorithm.plugins if isinstance(algorithm, Routing) else ()
        return _Task(
            topology=name,
            routing=routing,
            plugins=(*used, work),
            seed=getattr(self.settings, "seed", None),
            facts={self.carried: name_of(work)},
            provenance={"settings": self.settings.model_dump(mode="json")},
            network=network,
            algorithm=algorithm,
            work=work,
        )

    def facts(self, result: Any) -> Mapping[str, Any]:
        """See `FolderJob.facts`."""
        facts: Mapping[str, Any] = result.facts
        return facts
