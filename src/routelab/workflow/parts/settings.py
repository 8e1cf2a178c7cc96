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
    """Return the traffic of a study, each with the engines that simulate it.

    All traffic has the same engines: the key ``simulation`` of a study has one setting, or several.

    Raises
    ------
    ConfigError
        Lists missing and invalid files.
    """
    engines, mistakes = _locate_engines(study, "simulation", study.settings)
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return {id_: (instance, engines) for id_, instance in traffic.items()}


def workload_engines(study: Study, workloads: Mapping[str, Instance]) -> Works:
    """Return the workloads of a study, each with the engines that run it.

    The key ``flow`` of a study has settings for single workloads, and settings for all others.

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
    all_engines = [engine for engines in study.flows.values() for engine in engines]
    located, engine_mistakes = _locate_engines(study, "flow", all_engines)
    mistakes += engine_mistakes
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    works: Works = {}
    for id_, instance in workloads.items():
        ids = map(settings_id, study.flows.get(id_, study.flows[DEFAULT_NAME]))
        works[id_] = instance, {settings: located[settings] for settings in ids}
    return works


def _locate_engines(
    study: Study, key: str, engines: Sequence[EnginePlugin]
) -> tuple[dict[str, EnginePlugin], list[str]]:
    """Return engines whose files are relative to the working directory instead of the study.

    Parameters
    ----------
    study : Study
    key : str
        The study's key with the settings, for messages.
    engines : sequence of EnginePlugin

    Returns
    -------
    located : dict of str to EnginePlugin
        By the id of the settings as the study writes them.
    mistakes : list of str
        Why the other engines cannot be used.
    """
    located: dict[str, EnginePlugin] = {}
    mistakes: list[str] = []
    for engine in engines:
        try:
            located[settings_id(engine)] = engine.in_folder(study.path.parent)
        except InputError as error:
            mistakes += [f"{study.place(key)}{line}" for line in str(error).splitlines()]
    return located, mistakes


def settings_id(settings: EnginePlugin | BenchSettings) -> str:
    """Return the settings that differ from the defaults, as the name of a directory.

    For example ``loads=0.1+0.3,vcs=2``; a hash if the text is too long or has a path.
    """
    if isinstance(settings, BenchSettings):
        text = settings.canonical()
    else:
        is_default_engine = DEFAULT_ENGINES[settings.work] == settings.name
        engine = "" if is_default_engine else f"engine={settings.name}"
        parts = [engine, settings.parameters.canonical()]
        text = ",".join(filter(None, parts))
    text = text or DEFAULT
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:16]
