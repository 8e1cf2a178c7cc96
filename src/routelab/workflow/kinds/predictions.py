"""Workloads that predict the measurements of a study."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from routelab.api import BenchmarkPlugin, BenchmarkTask, EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.jobs.job import MAX_ID
from routelab.registry.engines import engine_class
from routelab.registry.instances import name_of
from routelab.study import Choice, ConfigError, Study
from routelab.workflow.kinds.comparisons import Settings, settings_and_places, sizes_of
from routelab.workflow.parts.instances import Instance, instance_of
from routelab.workflow.parts.settings import EngineChoice, settings_id

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts

PredictionIds: TypeAlias = tuple[str, str, str, str]
"""Ids of topology, routing, benchmark and settings."""


@dataclass(frozen=True)
class Prediction:
    """A workload that predicts the result of a benchmark.

    Attributes
    ----------
    ids : tuple of str
        Ids of the prediction.
    work_id : str
    work : Instance
    chosen : EngineChoice
    """

    ids: PredictionIds
    work_id: str
    work: Instance
    chosen: EngineChoice

    @property
    def flow(self) -> tuple[str, str, str, str]:
        """Return the ids of the flow simulation."""
        return (*self.ids[:2], self.work_id, self.chosen.id)


@lru_cache(maxsize=4)
def predictions(parts: Parts) -> list[Prediction]:
    """Return the workloads that predict the benchmarks of a study.

    A benchmark without a model, or that does not support the number of ranks, has none.

    Raises
    ------
    ConfigError
        Lists all mistakes.
    """
    if not parts.benchmarks:
        return []
    study = parts.study
    settings, _ = settings_and_places(parts)
    study_predictions: list[Prediction] = []
    mistakes: list[str] = []
    works: dict[str, tuple[str, Instance]] = {}
    choices: dict[str, EngineChoice] = {}
    for (topology, nodes), bench, (id_, benchmark) in product(
        sizes_of(parts).items(), settings, parts.benchmarks.items()
    ):
        if not (nodes and bench.original.predict):
            continue
        try:
            modelled = _model_of(study, nodes, bench, benchmark, works)
        except InputError as error:
            mistakes.append(f"{study.place('benchmarks')}{id_}: its prediction: {error}")
            continue
        if modelled is None:
            continue
        work_id, work, flow = modelled
        key = name_of(flow)
        if key not in choices:
            settings_here = flow.parameters.model_copy(update={"machine": bench.resolved.cluster})
            choices[key] = EngineChoice(settings_id(flow), type(flow)(settings_here))
        study_predictions += [
            Prediction((t, r, id_, bench.id), work_id, work, choices[key])
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
    """Return the id and workload of a benchmark's model, and the engine to run it with."""
    ranks_per_node = settings.original.ranks_per_node or settings.cluster.cluster.ranks_per_node
    for plugin in benchmark.plugins:
        if not isinstance(plugin, BenchmarkPlugin) or plugin.supports(
            nodes * ranks_per_node, ranks_per_node
        ):
            continue
        model = plugin.model(BenchmarkTask(nodes * ranks_per_node, nodes, Path(), Path()))
        if model is None:
            continue
        if model.workload not in works:
            work = instance_of("workload", Choice(model.workload), study.path.parent)
            works[model.workload] = _directory(work), work
        flow = engine_class(DEFAULT_ENGINES["workload"])(
            machine=settings.original.cluster,
            ranks_per_node=ranks_per_node,
            iterations=model.iterations,
        )
        return *works[model.workload], flow
    return None


def _directory(work: Instance) -> str:
    """Return a canonical name if it is valid as a directory name, else a hash of it."""
    if "/" not in work.text and len(work.text) <= MAX_ID:
        return work.text
    return hashlib.sha256(work.text.encode()).hexdigest()[:16]
