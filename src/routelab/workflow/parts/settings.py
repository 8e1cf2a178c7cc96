"""Settings of a study's simulations and comparisons, and the names of their folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routelab.api import EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.jobs.job import MAX_ID
from routelab.registry.instances import name_of
from routelab.results.fingerprint import content_digest
from routelab.study import ConfigError, Study
from routelab.study.bench_settings import BenchSettings
from routelab.study.errors import suggestion
from routelab.study.simulation import DEFAULT as DEFAULT_NAME
from routelab.workflow.parts.instances import Instance

DEFAULT = "default"
"""Name of the folder for default settings."""


@dataclass(frozen=True)
class EngineChoice:
    """An engine with its settings.

    Attributes
    ----------
    id : str
        Name of the settings' directory.
    engine : EnginePlugin
        Files in its settings are relative to the working directory.
    """

    id: str
    engine: EnginePlugin

    @classmethod
    def of(cls, study: Study, engine: EnginePlugin) -> EngineChoice:
        """Return an engine that a study names; its files are looked up in the study's folder.

        Raises
        ------
        InputError
            If a file is missing or wrong.
        """
        return cls(settings_id(engine), engine.in_folder(study.path.parent))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the files that the settings name."""
        return tuple(map(str, self.engine.input_files()))

    def digests(self) -> tuple[str, ...]:
        """Return the digests of the files."""
        return tuple(map(content_digest, self.inputs))


def traffic_engines(
    study: Study, traffic: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[EngineChoice]]]:
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
    return {id_: (instance, list(settings.values())) for id_, instance in traffic.items()}


def workload_engines(
    study: Study, workloads: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[EngineChoice]]]:
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
    return {
        id_: (
            instance,
            [
                choices[name_of(engine)]
                for engine in study.flows.get(id_, study.flows[DEFAULT_NAME])
            ],
        )
        for id_, instance in workloads.items()
    }


def _locate_engines(
    study: Study, key: str, engines: Sequence[EnginePlugin], mistakes: list[str]
) -> dict[str, EngineChoice]:
    """Return engines by their canonical names in the study, without unusable ones."""
    choices: dict[str, EngineChoice] = {}
    for engine in engines:
        try:
            choices[name_of(engine)] = EngineChoice.of(study, engine)
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
