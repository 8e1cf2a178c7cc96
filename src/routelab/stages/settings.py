"""Settings of a study's simulations and comparisons, and the names of their folders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routelab.api import InputError
from routelab.api.parameters import Parameters
from routelab.artifacts.fingerprint import content_digest
from routelab.config import ConfigError, Study
from routelab.config.bench_settings import BenchSettings
from routelab.config.cluster import CLUSTERS, find_cluster, load_cluster
from routelab.config.mistakes import suggestion
from routelab.config.simulation import DEFAULT as DEFAULT_NAME
from routelab.jobs.job import MAX_ID
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.placement import is_file, read_placement
from routelab.simulation.settings import SimulationSettings
from routelab.stages.instances import Instance, seen_from_here

DEFAULT = "default"
"""Name of the folder of settings that are all as they are by default."""


@dataclass(frozen=True)
class Chosen:
    """Settings of simulations.

    Attributes
    ----------
    id : str
        Name of their directory.
    settings : Parameters
        Files in them are seen from the working directory.
    inputs : tuple of str
        Files that they name.
    """

    id: str
    settings: Parameters
    inputs: tuple[str, ...] = ()

    def digests(self) -> tuple[str, ...]:
        """Digests of the files."""
        return tuple(map(content_digest, self.inputs))


def of_traffic(
    study: Study, traffic: Mapping[str, Instance]
) -> dict[str, tuple[Instance, Sequence[Chosen]]]:
    """The traffic of a study with the settings of its simulations."""
    settings = [Chosen(settings_id(one), one) for one in study.settings]
    return {id_: (instance, settings) for id_, instance in traffic.items()}


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
    found: dict[FlowSettings, Chosen] = {}
    for one in (one for settings in study.flows.values() for one in settings):
        try:
            found[one] = _resolved(study, one)
        except InputError as error:
            mistakes += [f"{study.place('flow')}{line}" for line in str(error).splitlines()]
    if mistakes:
        raise ConfigError(list(dict.fromkeys(mistakes)))
    return {
        id_: (
            instance,
            [found[one] for one in study.flows.get(id_, study.flows[DEFAULT_NAME])],
        )
        for id_, instance in workloads.items()
    }


def _resolved(study: Study, settings: FlowSettings) -> Chosen:
    """Settings with their files as seen from here: the study's folder says where they are."""
    folder = study.path.parent
    files: dict[str, str] = {}
    if settings.machine:
        files["machine"] = found_cluster(folder, settings.machine)
        load_cluster(Path(files["machine"]))
    if is_file(settings.placement):
        path = folder / settings.placement
        read_placement(path)
        files["placement"] = seen_from_here(path)
    inputs = tuple(files.values())
    return Chosen(settings_id(settings), settings.model_copy(update=files), inputs)


def found_cluster(folder: Path, name: str, word: str = "machine") -> str:
    """The file of a cluster that a study names, as seen from here.

    Parameters
    ----------
    folder : Path
        The study's: names are looked up in ``clusters`` beside it, files in it.
    name : str
    word : str
        What the study calls it, for messages.

    Raises
    ------
    InputError
        If there is none.
    """
    homes = [Path(os.path.normpath(folder / up / "clusters")) for up in (".", "..", "../..")]
    if Path(name).suffix in (".yaml", ".yml"):
        name = str(folder / name)
    return seen_from_here(find_cluster(name, tuple(dict.fromkeys((*homes, CLUSTERS))), word))


def settings_id(settings: SimulationSettings | FlowSettings | BenchSettings) -> str:
    """What differs from the defaults, where that can name a directory, else a hash of it."""
    text = settings.canonical() or DEFAULT
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return hashlib.sha256(text.encode()).hexdigest()[:16]
