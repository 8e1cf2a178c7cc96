"""A comparison as a job, and its spec, which `routelab bench --comparison` reads."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from routelab.api import InputError
from routelab.artifacts.json_files import read_json, write_json
from routelab.bench.comparison import Chosen, Comparison
from routelab.config.bench_settings import BenchSettings
from routelab.stages.batches import KeptJob, Kind

SPEC = "comparison/1"
RUNS = "bench/runs"
"""Where raw runs are kept, in the results folder; all comparisons share them."""

ComparisonIds: TypeAlias = tuple[str, str, str]
"""Name of the study, ids of topology and settings."""


@dataclass(frozen=True)
class ComparisonSpec(KeptJob):
    """A comparison with its place.

    Attributes
    ----------
    folder : str
        Where its outcome, runs and figures go.
    fingerprint : str
        Of everything that is to be measured.
    comparison : Comparison
        Its topology is the folder of a network; its routings have the folders of their routes.
    store : str
        The folder of raw runs.
    """

    comparison: Comparison
    store: str

    def write(self, path: Path) -> None:
        """Write what `read_spec` reads.

        Raises
        ------
        InputError
            If `path` cannot be written.
        """
        asked = self.comparison
        content = {
            "format": SPEC,
            "folder": self.folder,
            "fingerprint": self.fingerprint,
            "topology": asked.topology,
            "routings": [
                {"id": one.id, "text": one.text, "folder": one.folder} for one in asked.routings
            ],
            "benchmarks": [{"id": one.id, "text": one.text} for one in asked.benchmarks],
            "settings": asked.settings.model_dump(mode="json"),
            "store": self.store,
        }
        write_json(path, content)


@dataclass(frozen=True, kw_only=True)
class ComparisonJob:
    """Measure all benchmarks under all routings on a network, in one allocation.

    Attributes
    ----------
    id : str
        Names its spec, its manifest and its log.
    study : str
        Name.
    topology, settings : str
        Ids.
    spec : ComparisonSpec
        What the process is told.
    after : tuple of (kind, str)
        Batches that make the network and the routes.
    inputs : tuple of str
        The cluster's file, and files that benchmarks read.
    nodes : int
        Hosts.
    minutes : int
        To ask a scheduler for.
    hosts : str
        As Slurm reads them, ``n[01-32]`` or with commas; empty: everything runs on this machine.
    partition, account : str
        Of Slurm; empty: none is asked for.
    allocation : tuple of str
        Further arguments for Slurm.
    """

    id: str
    study: str
    topology: str
    settings: str
    spec: ComparisonSpec
    after: tuple[tuple[Kind, str], ...]
    inputs: tuple[str, ...]
    nodes: int
    minutes: int
    hosts: str
    partition: str
    account: str
    allocation: tuple[str, ...]

    @property
    def slurm_extra(self) -> str:
        """Options of sbatch for which the executor has no resource; a shell reads them."""
        nodes = (f"--nodelist={self.hosts}",) if self.hosts else ()
        options = ("--exclusive", "--ntasks-per-node=1", *nodes, *self.allocation)
        return shlex.join(options)


def read_spec(path: Path) -> ComparisonSpec:
    """Read a comparison's spec.

    Raises
    ------
    InputError
        If it cannot be read, or is none.
    """
    content = read_json(path, SPEC)
    try:
        comparison = Comparison(
            topology=_text(content["topology"]),
            routings=tuple(_chosen(one) for one in content["routings"]),
            benchmarks=tuple(_chosen(one) for one in content["benchmarks"]),
            settings=BenchSettings.model_validate(content["settings"]),
        )
        return ComparisonSpec(
            folder=_text(content["folder"]),
            fingerprint=_text(content["fingerprint"]),
            comparison=comparison,
            store=_text(content["store"]),
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise InputError(
            f"{path} is no comparison as this version of routelab writes it: {error!r}; the next "
            "run of the workflow does"
        ) from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} should be text")
    return value


def _chosen(content: Mapping[str, Any]) -> Chosen:
    folder = content.get("folder")
    return Chosen(
        _text(content["id"]),
        _text(content["text"]),
        None if folder is None else Path(_text(folder)),
    )
