"""From studies to the jobs of networks and of their tables of routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Limits
from routelab.stages.instances import Instance
from routelab.stages.jobs import RouteJob, TopologyJob

Key = TypeVar("Key")


@dataclass
class WantedJob:
    """A job that studies ask for, before all of them have been read."""

    instances: tuple[Instance, ...]
    limits: Limits
    metrics: dict[str, Instance]


def want(
    jobs: dict[Key, WantedJob],
    key: Key,
    instances: tuple[Instance, ...],
    limits: Limits,
    metrics: dict[str, Instance],
) -> None:
    """Note a job, with the most of what all studies want of it."""
    job = jobs.setdefault(key, WantedJob(instances, limits, {}))
    job.metrics.update(metrics)
    job.limits = job.limits.with_most_of(limits)


def topology_job(id_: str, wanted: WantedJob) -> TopologyJob:
    """The job that builds a network."""
    (topology,) = wanted.instances
    return TopologyJob(
        id=id_,
        text=topology.text,
        fingerprint=fingerprint(
            "routelab.stages.topology",
            topology.text + topology.quarantine,
            _classes(topology),
            topology.inputs,
        ),
        inputs=topology.inputs,
        limits=wanted.limits,
    )


def route_job(topology: TopologyJob, id_: str, wanted: WantedJob) -> RouteJob:
    """The job that makes a table of a network."""
    _, routing = wanted.instances
    metrics = dict(sorted(wanted.metrics.items()))
    classes = _classes(routing, *metrics.values())
    inputs = (*routing.inputs, *(file for metric in metrics.values() for file in metric.inputs))
    # the network's fingerprint stands for its code, too
    text = " ".join(
        [topology.text, topology.fingerprint, routing.text + routing.quarantine, *metrics]
    )
    return RouteJob(
        topology=topology,
        id=id_,
        text=routing.text,
        fingerprint=fingerprint("routelab.stages.route", text, classes, inputs),
        inputs=inputs,
        limits=wanted.limits,
        metrics=tuple(metrics),
    )


def _classes(*instances: Instance) -> list[type]:
    return [type(plugin) for instance in instances for plugin in instance.plugins]
