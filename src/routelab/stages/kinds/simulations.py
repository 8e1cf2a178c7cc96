"""Simulations of packets: one network, routing, traffic and set of settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from routelab.api import Demand, Topology, TrafficPlugin
from routelab.artifacts.outcome import Status
from routelab.jobs.job import Rehearsal
from routelab.registry.instances import load_routing
from routelab.simulation.settings import SimulationSettings
from routelab.stages import simulate as stage
from routelab.stages.kept_proofs import FOLDER as PROOFS
from routelab.stages.kept_proofs import KeptProofs
from routelab.stages.kept_runs import KeptRuns
from routelab.stages.kinds.engines import EngineJob
from routelab.stages.settings import of_traffic
from routelab.toolkit import build_grid

if TYPE_CHECKING:
    from routelab.stages.parts import Parts

REHEARSED = SimulationSettings(
    vcs=8, loads=(0.1,), sample_cycles=10, max_cycles=1000, precision=0.9
)


class _Everywhere(TrafficPlugin):
    """Uniform traffic, whatever plugins there are."""

    name = "everywhere"
    summary = "Every terminal sends to all others alike"

    def demand(self, topology: Topology, seed: int) -> Demand:
        return Demand.uniform(topology, self.summary)


@dataclass(frozen=True, kw_only=True)
class SimulationJob(EngineJob):
    """Simulate a routing on a network under some traffic, at all loads and with all seeds."""

    kind = "simulations"
    outcome_kind = "simulation"
    things = "simulation", "simulations"
    order = 3
    per_batch = 4
    carried = "traffic"
    stage_module = "routelab.stages.simulate"

    settings: SimulationSettings

    @classmethod
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """The simulations of a study: every pair under all traffic with all settings."""
        return cls.of(parts, parts.pairs, of_traffic(parts.study, parts.traffic))

    def rehearsals(self) -> Sequence[Rehearsal]:
        """See `Job.rehearsals`."""
        if not self.classes:
            return ()

        def rehearse() -> None:
            network = build_grid("torus", (4, 3), wrap=True)
            result = stage.simulate(network, load_routing(self.text), _Everywhere(), REHEARSED)
            with tempfile.TemporaryDirectory() as folder:
                stage.write_result(result, Path(folder))

        return (Rehearsal((self.kind, *self.classes), f"{self.text} (packets)", rehearse),)

    def run(self, task: Any) -> stage.Simulated:
        """See `FolderJob.run`.

        In a workflow, runs that have finished are kept beside the folder until all have, and a
        job that was killed goes on with the others.
        """
        network = self.find_network(task, task.network)
        if not self.fingerprint:
            return stage.simulate(network, task.algorithm, task.work, self.settings)
        # proofs are shared by all traffic: ids are network, routing, traffic and settings
        folder = Path(self.folder).parents[1] / PROOFS
        proofs = KeptProofs(folder, self.network_digest) if self.network_digest else None
        runs = self._runs()
        try:
            return stage.simulate(network, task.algorithm, task.work, self.settings, runs, proofs)
        finally:
            runs.close(done=False)

    def close(self, status: Status) -> None:
        """See `FolderJob.close`."""
        if self.fingerprint:
            self._runs().close(done=status in ("ok", "unsupported"))

    def _runs(self) -> KeptRuns:
        return KeptRuns(Path(self.folder), self.fingerprint, self.settings)

    def write(self, result: stage.Simulated, folder: Path, provenance: Mapping[str, Any]) -> None:
        """See `FolderJob.write`."""
        stage.write_result(result, folder)
