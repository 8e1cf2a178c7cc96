"""Simulations of flows: one network, routing, workload and set of settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from routelab.api import Collective, Job, Loop, Program, WorkloadPlugin
from routelab.jobs.job import Rehearsal
from routelab.registry.instances import load_routing
from routelab.simulation.flow_settings import FlowSettings
from routelab.stages import flow as stage
from routelab.stages.kinds.engines import EngineJob
from routelab.stages.predictions import predictions
from routelab.stages.settings import of_workloads
from routelab.toolkit import BlockBuilder, build_grid

if TYPE_CHECKING:
    from routelab.stages.parts import Parts


class _Ring(WorkloadPlugin):
    """Every rank sends to the next, and all meet, whatever plugins there are."""

    name = "ring"
    summary = "Every rank sends to the next one"

    def program(self, job: Job) -> Program:
        ranks = np.arange(job.ranks)
        builder = BlockBuilder(job.ranks)
        builder.send_receive(ranks, (ranks + 1) % job.ranks, 1e5, (ranks - 1) % job.ranks)
        builder.compute(ranks, 1e3)
        steps = (Loop((builder.build(), Collective("barrier")), 2),)
        return Program(job.ranks, steps, self.summary)


@dataclass(frozen=True, kw_only=True)
class FlowJob(EngineJob):
    """Run a workload's ranks on a network with one table of routes."""

    kind = "flows"
    outcome_kind = "flow"
    things = "flow simulation", "flow simulations"
    order = 4
    per_batch = 40
    carried = "workload"
    stage_module = "routelab.stages.flow"

    settings: FlowSettings

    @classmethod
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """The flows of a study: every pair with all workloads, and predictions of benchmarks."""
        yield from cls.of(parts, parts.pairs, of_workloads(parts.study, parts.workloads))
        for one in predictions(parts):
            work = {one.work_id: (one.work, [one.chosen])}
            yield from cls.of(parts, [one.ids[:2]], work)

    def rehearsals(self) -> Sequence[Rehearsal]:
        """See `Job.rehearsals`."""
        if not self.classes:
            return ()

        def rehearse() -> None:
            network = build_grid("torus", (4, 3), wrap=True)
            result = stage.simulate(network, load_routing(self.text), _Ring(), FlowSettings())
            with tempfile.TemporaryDirectory() as folder:
                stage.write_result(result, Path(folder))

        return (Rehearsal((self.kind, *self.classes), f"{self.text} (flows)", rehearse),)

    def run(self, task: Any) -> stage.Flows:
        """See `FolderJob.run`."""
        network = self.find_network(task, task.network)
        return stage.simulate(network, task.algorithm, task.work, self.settings)

    def write(self, result: stage.Flows, folder: Path, provenance: Mapping[str, Any]) -> None:
        """See `FolderJob.write`."""
        stage.write_result(result, folder)
