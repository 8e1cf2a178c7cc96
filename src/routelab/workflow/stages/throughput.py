"""Bounds of throughput: what any routing can deliver of a traffic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api import Topology, TrafficPlugin
from routelab.jobs.folder_job import Computation, Result, Task
from routelab.jobs.job import Compilation
from routelab.metrics.bounds.throughput import ThroughputBound
from routelab.metrics.bounds.throughput.facts import (
    throughput_facts,
    throughput_numbers,
    traffic_seeds,
)
from routelab.registry.instances import load, name_of
from routelab.registry.requirements import collect_errors
from routelab.routing.bound import bound_traffic, write_throughput
from routelab.routing.facts import topology_facts
from routelab.study import Bound
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import class_name, code_digest
from routelab.workflow.parts.settings import traffic_engines
from routelab.workflow.stages.bounds import MARGIN
from routelab.workflow.stages.topologies import NetworkJob, network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts

FULL = 1.0
"""Full offered load, which is bounded even if no engine simulates it."""


@dataclass(frozen=True, kw_only=True)
class ThroughputJob(NetworkJob):
    """Bound what any routing can deliver of a traffic on a network.

    Attributes
    ----------
    loads : tuple of float
        Offered loads whose accepted load is bounded.
    seeds : tuple of int
        Seeds of the traffic; each has a bound.
    seconds : float
        Time limit of each search. `limits` are only for safety.
    """

    kind = "throughput"
    outcome_kind = "throughput"
    nouns = "bound of throughput", "bounds of throughput"
    order = 2

    loads: tuple[float, ...] = (FULL,)
    seeds: tuple[int, ...] = (0,)
    seconds: float = 60.0

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the bounds of a study: every network with all traffic."""
        bound = parts.study.bound
        if not isinstance(bound, Bound) or not bound.any_routing:
            return
        study_limits = parts.study.limits
        works = traffic_engines(parts.study, parts.traffic)
        for topology_id in dict.fromkeys(topology_id for topology_id, _ in parts.pairs):
            for traffic_id, (traffic, engines) in works.items():
                # the loads and seeds that the engines of this traffic simulate; in any case the
                # full load and one seed
                loads: set[float] = {FULL}
                seeds: set[int] = set()
                for engine in engines.values():
                    loads.update(map(float, getattr(engine.parameters, "loads", ())))
                    seeds.update(traffic_seeds(engine.parameters))
                seeds = seeds or {0}
                # The limits of a job are for safety, so they are well above the time of its
                # searches, one for each seed: twice that time, and `MARGIN` for all else.
                search_limits = study_limits.model_copy(
                    update={"seconds": 2 * bound.seconds * len(seeds) + MARGIN}
                )
                yield cls(
                    folder=cls.folder_of(parts.results, (topology_id, traffic_id)),
                    ids=(topology_id, traffic_id),
                    text=traffic.text,
                    digest=code_digest(traffic),
                    inputs=traffic.inputs,
                    limits=study_limits.with_most_of(search_limits),
                    loads=tuple(sorted(loads)),
                    seeds=tuple(sorted(seeds)),
                    seconds=bound.seconds,
                    **cls.network_fields(network_jobs(parts)[topology_id]),
                )

    @property
    @override
    def title(self) -> str:
        topology_id, traffic = self.ids or (self.topology, self.text)
        return f"any routing on {topology_id} with {traffic}"

    @override
    def content(self) -> tuple[str, ...]:
        """Add the time of the search, which the result depends on."""
        return (*super().content(), str(self.loads), str(self.seeds), str(float(self.seconds)))

    @override
    def compilations(self) -> Sequence[Compilation]:
        """Return the compilation that bounds this traffic on a tiny network."""

        def compile_kernels() -> None:
            traffic = load("traffic", self.text)
            bound_traffic(build_grid("mesh", (3, 2), wrap=False), traffic, self.loads)

        plugin_key = self.text.partition("~")[0]  # without the parameters
        return (
            Compilation(
                key=(self.kind, plugin_key),
                name=self.text,
                work=compile_kernels,
                classes=class_name("traffic", plugin_key),
            ),
        )

    @override
    def load(self) -> tuple[Task, Computation]:
        """Look up all parts by name; return what the outcome says of them, and `run` with them."""
        traffic, (name, network) = collect_errors(
            lambda: load("traffic", self.text), self.look_up_network
        )
        # The bound holds for any routing, so the outcome has the traffic in the routing's stead.
        task = Task(
            topology=name, routing=name_of(traffic), plugins=(traffic,), seed=min(self.seeds)
        )
        return task, partial(self.run, traffic, network)

    def run(
        self, traffic: TrafficPlugin, network: Topology | None, facts: dict[str, Any]
    ) -> Result:
        """Bound the traffic of each seed; the facts of the network are added to `facts`."""
        network = self.require_network(network, facts)
        bounds: dict[int, ThroughputBound] = {}
        for seed in self.seeds:
            report_phase(name_of(traffic), f"bound, seed {seed}")
            bounds[seed] = bound_traffic(
                network, traffic, self.loads, seed=seed, seconds=self.seconds
            )
        report_phase(name_of(traffic), "ok", ended=True)
        numbers = {str(seed): throughput_numbers(bound) for seed, bound in bounds.items()}
        return Result(
            {
                **topology_facts(network),
                # None: these facts are not for one of the loads, so they have no bound of the
                # accepted load. `throughput_by_seed` has those of all loads.
                **throughput_facts(list(numbers.values()), None),
                "throughput_by_seed": numbers,
            },
            lambda folder, _: write_throughput(bounds, network, folder),
        )
