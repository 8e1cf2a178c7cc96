"""Workloads that predict the measurements of a study."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from routelab.api import BenchmarkPlugin, BenchmarkTask, EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.jobs.job import MAX_ID
from routelab.registry.engines import engine_class
from routelab.study import Choice, ConfigError, Study
from routelab.workflow.parts.instances import Instance, instance_of
from routelab.workflow.parts.settings import settings_id
from routelab.workflow.stages.comparisons import Settings, settings_and_hosts, sizes_of

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts


@dataclass(frozen=True)
class Prediction:
    """A flow simulation of a workload that predicts what a benchmark measures.

    Attributes
    ----------
    ids : tuple of str
        Ids of topology, routing, benchmark and settings of the measurement.
    flow : tuple of str
        Ids of topology, routing, workload and settings of the flow simulation.
    work : Instance
        The workload.
    engine : EnginePlugin
        The engine that simulates it.
    """

    ids: tuple[str, str, str, str]
    flow: tuple[str, str, str, str]
    work: Instance
    engine: EnginePlugin


@lru_cache(maxsize=4)
def predictions(parts: Parts) -> list[Prediction]:
    """Return the workloads that predict the benchmarks of a study.

    There is none for a benchmark that has no model, or does not support the number of ranks.

    Raises
    ------
    ConfigError
        Lists all mistakes.
    """
    if not parts.benchmarks:
        return []
    study = parts.study
    # 1. The model of each benchmark, for each size of a network and each setting. Several models
    #    may have the same workload and engine; these are made once.
    settings, _ = settings_and_hosts(parts)
    study_predictions: list[Prediction] = []
    mistakes: list[str] = []
    works: dict[str, tuple[str, Instance]] = {}
    engines: dict[str, EnginePlugin] = {}
    for (topology, nodes), bench, (benchmark_id, benchmark) in product(
        sizes_of(parts).items(), settings, parts.benchmarks.items()
    ):
        # a network that cannot be built has 0 nodes
        if not (nodes and bench.original.predict):
            continue
        try:
            model = _model_of(study, nodes, bench, benchmark, works)
        except InputError as error:
            mistakes.append(f"{study.place('benchmarks')}{benchmark_id}: its prediction: {error}")
            continue
        if model is None:
            continue
        work_id, work, engine = model
        settings_of_flow = settings_id(engine)
        # The id of the settings has the cluster's name as the study writes it. The engine that runs
        # gets the path of the cluster's file instead.
        if settings_of_flow not in engines:
            parameters = engine.parameters.model_copy(update={"machine": bench.resolved.cluster})
            engines[settings_of_flow] = type(engine)(parameters)
        # 2. One prediction for each routing that is measured there.
        study_predictions += [
            Prediction(
                ids=(topology_id, routing_id, benchmark_id, bench.id),
                flow=(topology_id, routing_id, work_id, settings_of_flow),
                work=work,
                engine=engines[settings_of_flow],
            )
            for topology_id, routing_id in parts.runs
            if topology_id == topology
        ]
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return study_predictions


def _model_of(
    study: Study,
    nodes: int,
    settings: Settings,
    benchmark: Instance,
    works: dict[str, tuple[str, Instance]],
) -> tuple[str, Instance, EnginePlugin] | None:
    """Return the id and workload of a benchmark's model, and the engine to run it with.

    Parameters
    ----------
    study : Study
    nodes : int
        Number of hosts.
    settings : Settings
    benchmark : Instance
    works : dict
        Id and instance of each workload of a model so far, by the name in the model. Updated.

    Returns
    -------
    work_id, work, engine
        None if the benchmark has no model, or does not support this number of ranks.
    """
    ranks_per_node = settings.original.ranks_per_node or settings.cluster.cluster.ranks_per_node
    for plugin in benchmark.plugins:
        if not isinstance(plugin, BenchmarkPlugin):
            continue
        # a text says why the benchmark cannot run with this number of ranks
        if plugin.supports(nodes * ranks_per_node, ranks_per_node):
            continue
        # a model needs neither the program nor a folder
        model = plugin.model(
            BenchmarkTask(
                ranks=nodes * ranks_per_node, nodes=nodes, executable=Path(), folder=Path()
            )
        )
        if model is None:
            continue
        if model.workload not in works:
            work = instance_of("workload", Choice(model.workload), study.path.parent)
            works[model.workload] = _directory_name(work), work
        engine = engine_class(DEFAULT_ENGINES["workload"])(
            machine=settings.original.cluster,
            ranks_per_node=ranks_per_node,
            iterations=model.iterations,
        )
        return *works[model.workload], engine
    return None


def _directory_name(work: Instance) -> str:
    """Return the workload's canonical name if it is valid as a directory name, else its hash."""
    if "/" not in work.text and len(work.text) <= MAX_ID:
        return work.text
    return hashlib.sha256(work.text.encode()).hexdigest()[:16]
