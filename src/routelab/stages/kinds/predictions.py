"""From what a study measures to the workloads that predict it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from routelab.api import BenchmarkPlugin, BenchmarkTask, EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.config import Choice, ConfigError, Study
from routelab.jobs.job import MAX_ID
from routelab.registry.engines import engine_class
from routelab.registry.instances import name_of
from routelab.stages.kinds.comparisons import Settings, settings_and_places, sizes_of
from routelab.stages.parts.instances import Instance, instance_of
from routelab.stages.parts.settings import Chosen, settings_id

if TYPE_CHECKING:
    from routelab.stages.parts.parts import Parts

PredictionIds: TypeAlias = tuple[str, str, str, str]
"""Ids of topology, routing, benchmark and settings."""


@dataclass(frozen=True)
class Prediction:
    """A workload that tells beforehand what a benchmark will measure.

    Attributes
    ----------
    ids : tuple of str
        What it stands for.
    work_id : str
    work : Instance
    chosen : Chosen
    """

    ids: PredictionIds
    work_id: str
    work: Instance
    chosen: Chosen

    @property
    def flow(self) -> tuple[str, str, str, str]:
        """Ids of the flow simulation."""
        return (*self.ids[:2], self.work_id, self.chosen.id)


@lru_cache(maxsize=4)
def predictions(parts: Parts) -> list[Prediction]:
    """The workloads that predict what a study's benchmarks will measure.

    Benchmarks without a model, or that do not go with the number of ranks, have none.

    Raises
    ------
    ConfigError
        With everything that is wrong.
    """
    if not parts.benchmarks:
        return []
    study = parts.study
    settings, _ = settings_and_places(parts)
    found: list[Prediction] = []
    mistakes: list[str] = []
    works: dict[str, tuple[str, Instance]] = {}
    chosen: dict[str, Chosen] = {}
    for (topology, nodes), one, (id_, benchmark) in product(
        sizes_of(parts).items(), settings, parts.benchmarks.items()
    ):
        if not (nodes and one.told.predict):
            continue
        try:
            modelled = _modelled(study, nodes, one, benchmark, works)
        except InputError as error:
            mistakes.append(f"{study.place('benchmarks')}{id_}: its prediction: {error}")
            continue
        if modelled is None:
            continue
        work_id, work, flow = modelled
        key = name_of(flow)
        if key not in chosen:
            settings_here = flow.parameters.model_copy(update={"machine": one.resolved.cluster})
            chosen[key] = Chosen(settings_id(flow), type(flow)(settings_here))
        found += [
            Prediction((t, r, id_, one.id), work_id, work, chosen[key])
            for t, r in parts.runs
            if t == topology
        ]
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return found


def _modelled(
    study: Study,
    nodes: int,
    settings: Settings,
    benchmark: Instance,
    works: dict[str, tuple[str, Instance]],
) -> tuple[str, Instance, EnginePlugin] | None:
    """The workload that stands for a benchmark, its id, and the engine to run it with."""
    each = settings.told.ranks_per_node or settings.cluster.cluster.ranks_per_node
    for plugin in benchmark.plugins:
        if not isinstance(plugin, BenchmarkPlugin) or plugin.supports(nodes * each, each):
            continue
        model = plugin.model(BenchmarkTask(nodes * each, nodes, Path(), Path()))
        if model is None:
            continue
        if model.workload not in works:
            work = instance_of("workload", Choice(model.workload), study.path.parent)
            works[model.workload] = _directory(work), work
        flow = engine_class(DEFAULT_ENGINES["workload"])(
            machine=settings.told.cluster, ranks_per_node=each, iterations=model.iterations
        )
        return *works[model.workload], flow
    return None


def _directory(work: Instance) -> str:
    """A canonical name where that can name a directory, else a hash of it."""
    if "/" not in work.text and len(work.text) <= MAX_ID:
        return work.text
    return hashlib.sha256(work.text.encode()).hexdigest()[:16]
