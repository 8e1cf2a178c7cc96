"""Settings of a study's simulations and comparisons, and the names of their folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routelab.api import EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES
from routelab.artifacts.fingerprint import content_digest
from routelab.config import ConfigError, Study
from routelab.config.bench_settings import BenchSettings
from routelab.config.errors import suggestion
from routelab.config.simulation import DEFAULT as DEFAULT_NAME
from routelab.jobs.job import MAX_ID
from routelab.registry.instances import name_of
from routelab.stages.parts.instances import Instance

DEFAULT = "default"
"""Name of the folder of settings that are all as they are by default."""


@dataclass(frozen=True)
class Chosen:
    """An engine with its settings.

    Attributes
    ----------
    id : str
        Name of their directory.
    engine : EnginePlugin
        Files in its settings are seen from the working directory.
    """

    id: str
    engine: EnginePlugin

    @classmethod
    def of(cls, study: Study, engine: EnginePlugin) -> Chosen:
        """An engine that a study names; its files are looked up in the study's folder.

        Raises
        ------
        InputError
            If a file is missing or wrong.
        """
        return cls(settings_id(engine), engine.in_folder(study.path.parent))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Files that the settings name."""
        return tuple(map(str, self.engine.input_files()))

    def digests(self) -> tuple[str, ...]:
        """Digests of the files."""
        return tuple(map(content_digest, self.inputs))


def of_traffic(
    study: Study, traffic: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[Chosen]]]:
    """The traffic of a study with the settings of its simulations.

    Raises
    ------
    ConfigError
        With files that are missing or wrong.
    """
    mistakes: list[str] = []
    settings = _located(study, "simulation", study.settings, mistakes)
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return {id_: (instance, list(settings.values())) for id_, instance in traffic.items()}


def of_workloads(
    study: Study, workloads: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[Chosen]]]:
    """The workloads of a study with the settings of each.

    Raises
    ------
    ConfigError
        With clusters and files that are missing or wrong, and unknown names of workloads.
    """
    mistakes = [
        f"{study.place('flow')}workload {name!r} is not part of this study"
        f"{suggestion(name, workloads)}"
        for name in study.flows
        if name not in (*workloads, DEFAULT_NAME)
    ]
    every = [one for settings in study.flows.values() for one in settings]
    found = _located(study, "flow", every, mistakes)
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return {
        id_: (
            instance,
            [found[name_of(one)] for one in study.flows.get(id_, study.flows[DEFAULT_NAME])],
        )
        for id_, instance in workloads.items()
    }


def _located(
    study: Study, key: str, engines: Sequence[EnginePlugin], mistakes: list[str]
) -> dict[str, Chosen]:
    """Engines by their canonical names in the study, those apart that cannot be used."""
    found: dict[str, Chosen] = {}
    for one in engines:
        try:
            found[name_of(one)] = Chosen.of(study, one)
        except InputError as error:
            mistakes += [f"{study.place(key)}{line}" for line in str(error).splitlines()]
    return found


def settings_id(settings: EnginePlugin | BenchSettings) -> str:
    """What differs from the defaults, where that can name a directory, else a hash of it."""
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
