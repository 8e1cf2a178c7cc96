"""Metrics of route tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api import ContextMetricPlugin, RouteTable, Topology
from routelab.jobs.folder_job import Computation, Result, Task
from routelab.jobs.job import Compilation
from routelab.jobs.plugin_errors import LostInputError
from routelab.registry.instances import load
from routelab.registry.requirements import collect_errors
from routelab.results.outcome import Outcome, recorded_status
from routelab.results.provenance import seed_of
from routelab.routing.route import measure_table, write_metrics
from routelab.routing.routing import Routing, graph_of_rules
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import class_names, code_digest
from routelab.workflow.stages.routes import TableJob, route_jobs
from routelab.workflow.stages.topologies import network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts


@dataclass(frozen=True, kw_only=True)
class MetricJob(TableJob):
    """Measure a route table.

    Attributes
    ----------
    metrics : tuple of str
        Canonical names.
    metric_digests : tuple of str
        Digests of code and files, one for each metric.
    """

    kind = "metrics"
    outcome_kind = "metrics"
    nouns = "set of metrics", "sets of metrics"
    order = 2
    per_batch = 160

    metrics: tuple[str, ...]
    metric_digests: tuple[str, ...] = ()

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the measurements of a study: every table with all metrics."""
        if not parts.metrics:
            return
        # sorted, so that another order in the study changes no fingerprint
        metrics = dict(sorted(parts.metrics.items()))
        instances = metrics.values()
        metric_files = tuple(file for metric in instances for file in metric.inputs)
        metric_digests = tuple(map(code_digest, instances))
        digests = {id_: code_digest(routing) for id_, routing in parts.tables.items()}
        for topology_id, routing_id in parts.runs:
            routing = parts.routings[routing_id]
            yield cls(
                folder=cls.folder_of(parts.results, (topology_id, routing_id)),
                ids=(topology_id, routing_id),
                text=routing.text,
                digest=digests[routing_id],
                inputs=(*routing.inputs, *metric_files),
                limits=parts.study.limits,
                classes=(
                    *class_names(routing),
                    *(name for metric in instances for name in class_names(metric)),
                ),
                metrics=tuple(metrics),
                metric_digests=metric_digests,
                **cls.table_fields(
                    network_jobs(parts)[topology_id], route_jobs(parts)[topology_id, routing_id]
                ),
            )

    @property
    @override
    def title(self) -> str:
        topology_id, routing_id = self.ids or (self.topology, self.text)
        return f"metrics of {routing_id} on {topology_id}"

    @override
    def content(self) -> tuple[str, ...]:
        return (*super().content(), *self.metrics, *self.metric_digests)

    @override
    def statuses(self) -> list[tuple[str, str]]:
        """Return no status if the table is missing, because the table's own job reports that."""
        return super().statuses() if recorded_status(self.routes)["status"] == "ok" else []

    @override
    def compilations(self) -> Sequence[Compilation]:
        """Return the compilation that routes and measures a tiny network.

        There is none if none of the plugins can be used.
        """

        def compile_kernels() -> None:
            """Do the work of this job on a tiny network, which compiles the same kernels."""
            routing, *metrics = self._plugins()
            tiny_network = build_grid("torus", (3, 2), wrap=True)
            routed = routing.routes(tiny_network)
            measured = measure_table(routed.table, routed.graph, routing, metrics)
            with tempfile.TemporaryDirectory() as folder:
                write_metrics(measured, Path(folder))

        if not self.classes:
            return ()
        return (
            Compilation(
                key=(self.kind, *self.metrics),
                name="metrics",
                work=compile_kernels,
                classes=self.classes,
            ),
        )

    def _plugins(self) -> list[Any]:
        return collect_errors(
            lambda: Routing.from_name(self.text),
            *(partial(load, "metric", name) for name in self.metrics),
        )

    @override
    def load(self) -> tuple[Task, Computation]:
        """Look up all parts by name; return what the outcome says of them, and `run` with them."""
        (name, network), (routing, *metrics) = collect_errors(self.look_up_network, self._plugins)
        plugins = (*routing.plugins, *metrics)
        task = Task(topology=name, routing=routing.name, plugins=plugins, seed=seed_of(plugins))
        route_outcome = self.routes_outcome()
        table = self.read_table(route_outcome, network)
        return task, partial(self.run, routing, metrics, network, route_outcome, table)

    def run(
        self,
        routing: Routing,
        metrics: Sequence[ContextMetricPlugin],
        network: Topology | None,
        route_outcome: Outcome | None,
        table: RouteTable | None,
        facts: dict[str, Any],
    ) -> Result:
        """Measure the table that a `RouteJob` has made, or compute one if there is no such job.

        Parameters
        ----------
        routing : Routing
        metrics : sequence of ContextMetricPlugin
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
        if route_outcome is not None and table is None:  # the `RouteJob` has failed
            raise LostInputError(route_outcome.status, route_outcome.reason)
        if table is None:  # no outcome of a `RouteJob` that is up to date
            table = routing.table(network)
        # Metrics may compare the table with all routes that its rules allow. Rules that are not
        # reproducible get no graph here, because it may allow other routes than those of the table.
        graph = None
        if routing.rules is not None and routing.rules.capabilities.deterministic:
            graph = graph_of_rules(network, routing.rules)
        measured = measure_table(table, graph, routing, metrics)
        report_phase(routing.name, "ok", ended=True)
        return Result(
            {},
            lambda folder, _: write_metrics(measured, folder),
            problem=measured.problem,
        )
