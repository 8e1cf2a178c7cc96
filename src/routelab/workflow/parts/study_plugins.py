"""The parts of a study: all plugins that it names, with parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from routelab.api import HopRoutingPlugin
from routelab.study import Study, Use
from routelab.workflow.parts.instances import Instance


def is_hop_by_hop(routing: Instance) -> bool:
    """Return whether a routing decides hop by hop and has no table."""
    return any(isinstance(plugin, HopRoutingPlugin) for plugin in routing.plugins)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a study, by id: the alias that the study gives them, or their canonical name.

    Attributes
    ----------
    study : Study
    results : Path
        Folder of the study's results.
    topologies, routings, traffic, workloads, benchmarks : mapping of str to Instance
        By id.
    metrics : mapping of str to Instance
        By canonical name.
    pairs : sequence of (str, str)
        Ids of topology and routing that are combined, grouped by network. `runs` are those whose
        routing has a table; the others decide hop by hop.
    """

    study: Study
    results: Path
    topologies: Mapping[str, Instance]
    routings: Mapping[str, Instance]
    traffic: Mapping[str, Instance]
    workloads: Mapping[str, Instance]
    benchmarks: Mapping[str, Instance]
    metrics: Mapping[str, Instance]
    pairs: Sequence[tuple[str, str]]

    def instances(self) -> list[Instance]:
        """Return all instances of the study."""
        work = (self.traffic, self.workloads, self.benchmarks)
        parts = (self.topologies, self.routings, *work, self.metrics)
        return [instance for instances in parts for instance in instances.values()]

    @cached_property
    def runs(self) -> tuple[tuple[str, str], ...]:
        """Ids of topology and routing of the `pairs` whose routing has a table."""
        return tuple(
            (topology_id, routing_id)
            for topology_id, routing_id in self.pairs
            if routing_id in self.tables
        )

    @cached_property
    def tables(self) -> dict[str, Instance]:
        """Return the routings that have tables, by id."""
        return {
            routing_id: routing
            for routing_id, routing in self.routings.items()
            if not is_hop_by_hop(routing)
        }

    def combines(self, routing: str, workload: str) -> bool:
        """Return whether the study runs a workload with a routing; both are ids.

        By default with all; an entry with an alias may list its routings.
        """
        for entry in self.study.workloads:
            if isinstance(entry, Use) and entry.as_ == workload and entry.routings:
                return routing in entry.routings
        return True
