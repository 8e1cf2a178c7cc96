"""Route tables: jobs that route a network and prove the table, and the base of jobs on tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api import ContextMetricPlugin, RouteTable, Topology
from routelab.jobs.folder_job import Computation, Result, Task
from routelab.jobs.job import Compilation
from routelab.registry.instances import load
from routelab.registry.requirements import collect_errors
from routelab.results.outcome import OUTCOME, Outcome, read_outcome, recorded_digest
from routelab.results.provenance import ResourceMeter, seed_of
from routelab.routing.route import ROUTES, route_network, write_routes
from routelab.routing.routes_file import load_routes, table_digest
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import class_names, code_digest
from routelab.workflow.stages.topologies import NetworkJob, TopologyJob, network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts

MISSING_METRICS = "missing_metrics"
"""Fact of a table with why some of its metrics have no numbers."""


@dataclass(frozen=True, kw_only=True)
class RouteJob(NetworkJob):
    """Route a network and check the routes.

    Attributes
    ----------
    metrics : tuple of str
        Metrics to measure in the same job, by canonical name; in a workflow the stage `metrics`
        measures.
    """

    kind = "routes"
    outcome_kind = "route"
    nouns = "route table", "route tables"
    order = 1
    per_batch = 80

    metrics: tuple[str, ...] = ()

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        return route_jobs(parts).values()  # type: ignore[return-value]

    @classmethod
    def of(cls, parts: Parts) -> Iterable[Self]:
        """Iterate over the jobs that compute the tables of a study."""
        digests = {id_: code_digest(routing) for id_, routing in parts.tables.items()}
        for topology_id, routing_id in parts.runs:
            routing = parts.routings[routing_id]
            yield cls(
                folder=cls.folder_of(parts.results, (topology_id, routing_id)),
                ids=(topology_id, routing_id),
                text=routing.text,
                digest=digests[routing_id],
                inputs=routing.inputs,
                limits=parts.study.limits,
                classes=class_names(routing),
                **cls.network_fields(network_jobs(parts)[topology_id]),
            )

    @property
    @override
    def title(self) -> str:
        return " on ".join(reversed(self.ids)) or f"{self.text} on {self.topology}"

    @override
    def compilations(self) -> Sequence[Compilation]:
        return route_compilations(self.text, self.classes, self.metrics)

    @override
    def load(self) -> tuple[Task, Computation]:
        """Look up all parts by name; return what the outcome says of them, and `run` with them."""
        routing, (name, network), *metrics = collect_errors(
            lambda: Routing.from_name(self.text),
            self.look_up_network,
            *(partial(load, "metric", metric) for metric in self.metrics),
        )
        plugins = (*routing.plugins, *metrics)
        task = Task(topology=name, routing=routing.name, plugins=plugins, seed=seed_of(plugins))
        return task, partial(self.run, routing, metrics, network)

    def run(
        self,
        routing: Routing,
        metrics: Sequence[ContextMetricPlugin],
        network: Topology | None,
        facts: dict[str, Any],
    ) -> Result:
        """Route the network, check and measure the table; add the network's facts to `facts`."""
        network = self.require_network(network, facts)
        routed, route_facts, measured = route_network(network, routing, metrics)
        report_phase(routing.name, "ok", ended=True)
        if measured.problem is not None:
            route_facts[MISSING_METRICS] = measured.problem.reason
        write = partial(write_routes, routed, measured)
        return Result(route_facts, write, table_digest(routed.table))


@lru_cache(maxsize=4)
def route_jobs(parts: Parts) -> dict[tuple[str, ...], RouteJob]:
    """Return the jobs that compute the tables of a study, by ids of topology and routing."""
    return {job.ids: job for job in RouteJob.of(parts)}


@dataclass(frozen=True, kw_only=True)
class TableJob(NetworkJob):
    """A job on a route table that another job makes.

    Attributes
    ----------
    routes : str
        Folder of the `RouteJob`; empty if none makes the table.
    routes_fingerprint : str
        Fingerprint of that job; empty outside a workflow.
    """

    routes: str = ""
    routes_fingerprint: str = ""

    @staticmethod
    def table_fields(network: TopologyJob, table: RouteJob | None) -> dict[str, Any]:
        """Return the fields that a `TableJob` gets from the jobs that make its network and table.

        Without a `RouteJob`, they are only the fields of the network.
        """
        fields = NetworkJob.network_fields(network)
        if table is not None:
            fields["needs"] += (table.folder,)
            fields |= {"routes": table.folder, "routes_fingerprint": table.fingerprint}
        return fields

    @override
    def sources(self) -> dict[str, str]:
        # a table with another fingerprint is not read, so the result does not depend on it
        digest = recorded_digest(self.routes, self.routes_fingerprint) if self.routes else None
        return super().sources() | ({} if digest is None else {"table": digest})

    def routes_outcome(self) -> Outcome | None:
        """Return the outcome of the job that makes the table; None if it is out of date or missing.

        That happens in a run that leaves out the stage `routes`, and outside a workflow.

        Raises
        ------
        InputError
            If the outcome is damaged.
        """
        path = Path(self.routes, OUTCOME)
        outcome = read_outcome(path) if self.routes and path.is_file() else None
        if outcome and outcome.provenance.get("fingerprint") == self.routes_fingerprint:
            return outcome
        return None

    def read_table(self, outcome: Outcome | None, network: Topology | None) -> RouteTable | None:
        """Read the table that belongs to an outcome; None without a network, outcome or success.

        Raises
        ------
        InputError
            If the file is missing or damaged.
        """
        if outcome is None or outcome.status != "ok" or network is None:
            return None
        return load_routes(Path(self.routes, ROUTES), network)


def route_compilations(
    routing: str, classes: Sequence[str], metrics: Sequence[str]
) -> tuple[Compilation, ...]:
    """Return the compilation that routes, checks and measures a tiny network.

    There is none if the routing's plugin cannot be used.

    Parameters
    ----------
    routing : str
        Instance name.
    classes : sequence of str
        Names of the classes of the routing's plugins; empty if one cannot be used.
    metrics : sequence of str
        Instance names.
    """
    if not classes:
        return ()

    def compile_kernels() -> None:
        """Route a tiny network, measure it and write the results."""
        algorithm = Routing.from_name(routing)
        network = build_grid("torus", (3, 2), wrap=True)
        with ResourceMeter() as resources:
            routed, _, measured = route_network(
                network, algorithm, [load("metric", name) for name in metrics]
            )
        with tempfile.TemporaryDirectory() as folder:
            provenance = resources.provenance(algorithm.plugins)
            write_routes(routed, measured, Path(folder), provenance)

    # the key has no metrics: their kernels are few, and jobs compile missing ones
    return (
        Compilation(
            key=("routes", *classes),
            name=routing,
            work=compile_kernels,
            classes=tuple(classes),
        ),
    )
