"""Settings of a study's simulations and comparisons, and the names of their folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from routelab.api import EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.jobs.job import MAX_ID
from routelab.study import ConfigError, Study
from routelab.study.bench_settings import BenchSettings
from routelab.study.errors import suggestion
from routelab.study.simulation import DEFAULT as DEFAULT_NAME
from routelab.workflow.parts.instances import Instance

DEFAULT = "default"
"""Name of the folder for default settings."""


Works: TypeAlias = dict[str, tuple[Instance, Mapping[str, EnginePlugin]]]
"""Traffic or workloads by id, each with the engines that run it, by the id of their settings. Files
in settings are relative to the working directory."""


def traffic_engines(study: Study, traffic: Mapping[str, Instance]) -> Works:
    """Return the traffic of a study with the engines of its simulations.

    Raises
    ------
    ConfigError
        Lists missing and invalid files.
    """
    mistakes: list[str] = []
    settings = _locate_engines(study, "simulation", study.settings, mistakes)
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return {id_: (instance, settings) for id_, instance in traffic.items()}


def workload_engines(study: Study, workloads: Mapping[str, Instance]) -> Works:
    """Return the workloads of a study with the engines of each.

    Raises
    ------
    ConfigError
        Lists missing and invalid clusters and files, and unknown names of workloads.
    """
    mistakes = [
        f"{study.place('flow')}workload {name!r} is not part of this study"
        f"{suggestion(name, workloads)}"
        for name in study.flows
        if name not in (*workloads, DEFAULT_NAME)
    ]
    engines = [engine for settings in study.flows.values() for engine in settings]
    choices = _locate_engines(study, "flow", engines, mistakes)
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    chosen = {
        id_: map(settings_id, study.flows.get(id_, study.flows[DEFAULT_NAME])) for id_ in workloads
    }
    return {
        id_: (instance, {settings: choices[settings] for settings in chosen[id_]})
        for id_, instance in workloads.items()
    }


def _locate_engines(
    study: Study, key: str, engines: Sequence[EnginePlugin], mistakes: list[str]
) -> dict[str, EnginePlugin]:
    """Return engines by the ids of their settings in the study, without unusable ones."""
    choices: dict[str, EnginePlugin] = {}
    for engine in engines:
        try:
            choices[settings_id(engine)] = engine.in_folder(study.path.parent)
        except InputError as error:
            mistakes += [f"{study.place(key)}{line}" for line in str(error).splitlines()]
    return choices


def settings_id(settings: EnginePlugin | BenchSettings) -> str:
    """Return what differs from the defaults if it is valid as a directory name, else a hash."""
    if isinstance(settings, BenchSettings):
        text = settings.canonical()
    else:
        usual = DEFAULT_ENGINES[settings.work] == settings.name
        parts = ["" if usual else f"engine={settings.name}", settings.parameters.canonical()]
        text = ",".join(filter(None, parts))
    text = text or DEFAULT
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:16]
