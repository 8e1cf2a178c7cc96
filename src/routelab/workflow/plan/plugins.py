"""The plugins that have a part in a study, whose works its report cites."""

from __future__ import annotations

from collections.abc import Mapping

from routelab.api import Plugin
from routelab.jobs.job import BaseJob
from routelab.registry.instances import load
from routelab.workflow.parts.study_plugins import Parts
from routelab.workflow.stages.predictions import predictions
from routelab.workflow.stages.simulations import EngineJob


def study_plugins(parts: Parts, jobs: Mapping[str, tuple[BaseJob, ...]]) -> list[Plugin]:
    """List the plugins that a study names, those of its predictions, and its engines.

    A plugin may occur several times, with other parameters.
    """
    instances = (
        *parts.topologies.values(),
        *parts.routings.values(),
        *parts.traffic.values(),
        *parts.workloads.values(),
        *(prediction.work for prediction in predictions(parts)),
        *parts.benchmarks.values(),
        *parts.metrics.values(),
    )
    # each once, in the order of the jobs
    engines = dict.fromkeys(
        job.engine for kind_jobs in jobs.values() for job in kind_jobs if isinstance(job, EngineJob)
    )
    return [
        *(plugin for instance in instances for plugin in instance.plugins),
        *(load("engine", engine) for engine in engines),
    ]
