"""Simulations: one network, routing, traffic or workload, and engine with its settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from typing_extensions import override

from routelab.api import EnginePlugin, InputError, RouteTable, Topology
from routelab.api.engine import Work
from routelab.jobs.folder_job import Computation, Result, Task
from routelab.jobs.job import TRY_AGAIN, Compilation
from routelab.jobs.plugin_errors import LostInputError
from routelab.registry.instances import load as load_plugin
from routelab.registry.instances import name_of
from routelab.registry.requirements import collect_errors
from routelab.results.fingerprint import job_fingerprint
from routelab.results.outcome import Outcome, Status
from routelab.routing.routing import RoutedNetwork, Routing
from routelab.simulation.case import look_up_routed_network, look_up_routing
from routelab.simulation.checkpoint import FinishedParts
from routelab.simulation.proofs import FOLDER as PROOFS
from routelab.simulation.proofs import Proofs
from routelab.simulation.run import run_simulation, write_engine_result
from routelab.simulation.sample_work import brief_engine, trial_work
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import class_name, class_names, code_digest
from routelab.workflow.parts.settings import Works, traffic_engines, workload_engines
from routelab.workflow.stages.predictions import predictions
from routelab.workflow.stages.routes import TableJob, route_jobs
from routelab.workflow.stages.topologies import network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts


@dataclass(frozen=True, kw_only=True)
class EngineJob(TableJob):
    """Run traffic or a workload on a network under a routing with an engine.

    The two subclasses only name the kind of work. Their results have separate folders, because
    traffic and workloads may have the same names.

    Class attributes
    ----------------
    work_kind : {"traffic", "workload"}
        Kind of the work's plugin, and name of its fact.

    Attributes
    ----------
    work : str
        Instance name of traffic or of a workload.
    work_digest : str
        Digest of the work's code and files.
    engine : str
        Instance name of the engine; its parameters are the settings. Files in them are relative
        to the working directory.
    engine_digest : str
        Digest of the engine's code and files.
    """

    work_kind: ClassVar[Work]

    work: str
    work_digest: str = ""
    engine: str
    engine_digest: str = ""

    @classmethod
    def of(
        cls,
        parts: Parts,
        pairs: Iterable[tuple[str, str]],
        works: Works,
    ) -> Iterable[Self]:
        """Iterate over the jobs of some pairs of topology and routing.

        Parameters
        ----------
        parts : Parts
        pairs : iterable of (str, str)
            Ids of topology and routing.
        works : Works
            The traffic or workloads that run on each pair, with the engines of each.
        """
        # 1. Digests and names, each once: there are far more jobs than instances.
        routing_digests = {
            routing_id: code_digest(routing) for routing_id, routing in parts.routings.items()
        }
        work_digests = {id_: code_digest(work) for id_, (work, _) in works.items()}
        engine_of = {
            settings: engine
            for _, engines in works.values()
            for settings, engine in engines.items()
        }
        engine_digests = {id_: _engine_digest(engine) for id_, engine in engine_of.items()}
        engine_names = {id_: name_of(engine) for id_, engine in engine_of.items()}
        # 2. A job for each pair, its work, and the settings of the work's engines.
        for topology_id, routing_id in pairs:
            routing = parts.routings[routing_id]
            table_job = route_jobs(parts).get(
                (topology_id, routing_id)
            )  # None for a routing without a table
            network_and_table = cls.table_fields(network_jobs(parts)[topology_id], table_job)
            for work_id, (work, engines) in works.items():
                for settings, engine in engines.items():
                    ids = topology_id, routing_id, work_id, settings
                    yield cls(
                        folder=cls.folder_of(parts.results, ids),
                        ids=ids,
                        text=routing.text,
                        digest=routing_digests[routing_id],
                        inputs=(*routing.inputs, *work.inputs, *map(str, engine.input_files())),
                        limits=parts.study.limits,
                        classes=class_names(routing),
                        work=work.text,
                        work_digest=work_digests[work_id],
                        engine=engine_names[settings],
                        engine_digest=engine_digests[settings],
                        **network_and_table,
                    )

    @property
    @override
    def title(self) -> str:
        topology_id, routing_id, work, settings = self.ids or (
            self.topology,
            self.text,
            self.work,
            "default",
        )
        settings_text = "" if settings == "default" else f" ({settings})"
        return f"{routing_id} on {topology_id} with {work}{settings_text}"

    @override
    def content(self) -> tuple[str, ...]:
        """Add the work and the engine, with the code of both, to what the result depends on."""
        return (
            *super().content(),
            self.work,
            self.work_digest,
            self.engine,
            self.engine_digest,
        )

    @override
    def compilations(self) -> Sequence[Compilation]:
        """Return the compilation that simulates a tiny network.

        There is none if the routing's plugin cannot be used.
        """
        if not self.classes:
            return ()
        engine_key = self.engine.partition("~")[0]  # without the parameters

        def compile_kernels() -> None:
            """Simulate a tiny network briefly and write the result."""
            network = build_grid("torus", (4, 3), wrap=True)
            full_engine = load_plugin("engine", self.engine)
            full_engine.check()  # reads the machine's file here, once for all jobs of a batch
            engine = brief_engine(full_engine)
            routing = Routing.from_name(self.text)
            result = run_simulation(network, routing, trial_work(engine), engine)
            with tempfile.TemporaryDirectory() as folder:
                write_engine_result(result, self.work_kind, Path(folder))

        key = self.kind, engine_key, *self.classes
        classes = (*self.classes, *class_name("engine", engine_key))
        return (
            Compilation(
                key=key,
                name=f"{self.text} ({engine_key})",
                work=compile_kernels,
                classes=classes,
            ),
        )

    @override
    def load(self) -> tuple[Task, Computation]:
        """Look up all parts by name; return what the outcome says of them, and `run` with them."""
        # 1. The text of the job is the name of a routing, or the path of a file with a table. For a
        #    path, `look_up_routing` returns None.
        try:
            is_table = look_up_routing(self.text) is None
        except InputError:
            is_table = False  # step 2 raises this error again, with those of the other names

        # 2. Look up everything by its name, and report all errors together.
        def load_work_and_engine() -> list[Any]:
            return collect_errors(
                lambda: load_plugin(self.work_kind, self.work),
                lambda: load_plugin("engine", self.engine),
            )

        if is_table:
            # reading a table needs its network, so both are looked up together
            routed_network, (work, engine) = collect_errors(
                lambda: look_up_routed_network(self.topology, self.text), load_work_and_engine
            )
            name, network, routing, routing_name = routed_network
        else:
            routing, (name, network), (work, engine) = collect_errors(
                lambda: look_up_routing(self.text), self.look_up_network, load_work_and_engine
            )
            routing_name = routing.name
        # 3. What the outcome says of these parts, and the function that simulates.
        plugins_used = (*routing.plugins, work, engine)
        task = Task(
            topology=name,
            routing=routing_name,
            plugins=plugins_used,
            seed=getattr(engine.parameters, "seed", None),
            facts={self.work_kind: name_of(work)},
            provenance={"settings": engine.parameters.model_dump(mode="json")},
        )
        route_outcome = self.routes_outcome()
        table = self.read_table(route_outcome, network)
        return task, partial(self.run, routing, plugins_used, network, route_outcome, table)

    def run(
        self,
        routing: Routing,
        plugins: Sequence[Any],
        network: Topology | None,
        route_outcome: Outcome | None,
        table: RouteTable | None,
        facts: dict[str, Any],
    ) -> Result:
        """Simulate the work.

        In a workflow, finished parts are stored next to the folder until all have finished. A
        job that was killed continues with the other parts.

        Parameters
        ----------
        routing : Routing
        plugins : sequence
            Those of the routing, then the work and the engine.
        network : Topology or None
            None if it could not be built.
        route_outcome : Outcome or None
            Outcome of the `RouteJob`, if any.
        table : RouteTable or None
            Its table, unless that job has failed.
        facts : dict
            Updated with the facts of the network.
        """
        network = self.require_network(network, facts)
        *_, work, engine = plugins
        reproducible = all(plugin.capabilities.deterministic for plugin in plugins)
        # If the `RouteJob` made no table, the routing computes one here. That is in vain if the
        # `RouteJob` ran out of time. It is wrong if each job may get another table: then all jobs
        # of this table fail.
        hopeless_statuses = ("timeout",) if reproducible else TRY_AGAIN
        if route_outcome is not None and route_outcome.status in hopeless_statuses:
            raise LostInputError(route_outcome.status, f"route table: {route_outcome.reason}")
        if route_outcome is not None and table is not None:
            routing.keep(RoutedNetwork(table, seconds=route_outcome.facts["routing_seconds"]))
        # Outside a workflow there is no fingerprint, and nothing is stored for a later run.
        proofs = parts = None
        if self.fingerprint:
            parts = self._finished_parts()
            if self.network_digest:
                # the folder is …/network/routing/traffic/settings, and all traffic shares proofs
                proofs = Proofs(Path(self.folder).parents[1] / PROOFS, self.network_digest)
        try:
            result = run_simulation(network, routing, work, engine, parts, proofs)
        finally:
            if parts is not None:  # their files stay: `close` removes them after the outcome
                parts.close(done=False)
        return Result(
            result.facts,
            lambda folder, _: write_engine_result(result, self.work_kind, folder),
        )

    @override
    def close(self, status: Status) -> None:
        if self.fingerprint:
            self._finished_parts().close(done=status in ("ok", "unsupported"))

    def _finished_parts(self) -> FinishedParts:
        return FinishedParts(Path(self.folder), self.fingerprint)


@dataclass(frozen=True, kw_only=True)
class SimulationJob(EngineJob):
    """Simulate traffic, usually packet by packet."""

    kind = "simulations"
    outcome_kind = "simulation"
    nouns = "simulation", "simulations"
    order = 3
    per_batch = 4
    seconds_each = 6.0
    work_kind = "traffic"

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the simulations of a study: every pair with all traffic and all settings."""
        return cls.of(parts, parts.pairs, traffic_engines(parts.study, parts.traffic))


@dataclass(frozen=True, kw_only=True)
class FlowJob(EngineJob):
    """Simulate a workload, usually as flows.

    The workload is one of the study, or the model of a benchmark: simulating the model predicts
    what the benchmark measures (see `Prediction`).
    """

    kind = "flows"
    outcome_kind = "flow"
    nouns = "flow simulation", "flow simulations"
    order = 4
    per_batch = 120
    seconds_each = 0.15
    work_kind = "workload"

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the flows of a study: every pair with its workloads, and predicted benchmarks."""
        jobs = {job.ids: job for job in cls.of_workloads(parts)}
        for prediction in predictions(parts):
            # `flow` has the ids of the job; several benchmarks may have the same model
            if prediction.flow not in jobs:
                topology_id, routing_id, work_id, settings = prediction.flow
                works: Works = {work_id: (prediction.work, {settings: prediction.engine})}
                jobs |= {job.ids: job for job in cls.of(parts, [(topology_id, routing_id)], works)}
        return jobs.values()

    @classmethod
    def of_workloads(cls, parts: Parts) -> Iterator[Self]:
        """Iterate over the jobs of the study's workloads, each with all or some routings."""
        for job in cls.of(parts, parts.pairs, workload_engines(parts.study, parts.workloads)):
            _, routing, workload, _ = job.ids
            if parts.combines(routing, workload):
                yield job


def _engine_digest(engine: EnginePlugin) -> str:
    return job_fingerprint(name_of(engine), [type(engine)], engine.input_files())
