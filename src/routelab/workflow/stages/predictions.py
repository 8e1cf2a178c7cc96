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
    """A workload that predicts the result of a benchmark.

    Attributes
    ----------
    ids : tuple of str
        Ids of topology, routing, benchmark and settings of the measurement.
    flow : tuple of str
        Ids of topology, routing, workload and settings of the flow simulation.
    work : Instance
        The workload.
    engine : EnginePlugin
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
    for (topology, nodes), bench, (id_, benchmark) in product(
        sizes_of(parts).items(), settings, parts.benchmarks.items()
    ):
        if not (nodes and bench.original.predict):
            continue
        try:
            model = _model_of(study, nodes, bench, benchmark, works)
        except InputError as error:
            mistakes.append(f"{study.place('benchmarks')}{id_}: its prediction: {error}")
            continue
        if model is None:
            continue
        work_id, work, engine = model
        settings_of_flow = settings_id(engine)
        # The id has the cluster's name as the study writes it, the engine the path of its file.
        if settings_of_flow not in engines:
            parameters = engine.parameters.model_copy(update={"machine": bench.resolved.cluster})
            engines[settings_of_flow] = type(engine)(parameters)
        # 2. One prediction for each routing that is measured there.
        study_predictions += [
            Prediction(
                ids=(t, r, id_, bench.id),
                flow=(t, r, work_id, settings_of_flow),
                work=work,
                engine=engines[settings_of_flow],
            )
            for t, r in parts.runs
            if t == topology
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
        Workloads of models by name, each with its id. Updated.

    Returns
    -------
    work_id, work, engine
        None if the benchmark has no model, or does not support this number of ranks.
    """
    ranks_per_node = settings.original.ranks_per_node or settings.cluster.cluster.ranks_per_node
    for plugin in benchmark.plugins:
        if not isinstance(plugin, BenchmarkPlugin):
            continue
        # `supports` returns why it does not
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
            works[model.workload] = _directory(work), work
        engine = engine_class(DEFAULT_ENGINES["workload"])(
            machine=settings.original.cluster,
            ranks_per_node=ranks_per_node,
            iterations=model.iterations,
        )
        return *works[model.workload], engine
    return None


def _directory(work: Instance) -> str:
    """Return a canonical name if it is valid as a directory name, else a hash of it."""
    if "/" not in work.text and len(work.text) <= MAX_ID:
        return work.text
    return hashlib.sha256(work.text.encode()).hexdigest()[:16]
