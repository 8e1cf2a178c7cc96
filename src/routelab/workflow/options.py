"""Options of a run: the keys of Snakemake's configuration that routelab reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.registry.requirements import collect_errors
from routelab.registry.suggest import did_you_mean
from routelab.workflow.stages import kinds
from routelab.workflow.stages.comparisons import ComparisonJob

STUDIES = Path("config/studies")
CONFIG_KEYS = ("studies", "cluster", "fresh", "apply_routing", "submit", "job_hours")
"""Keys of Snakemake's configuration that routelab reads."""


def unknown_keys(config: Mapping[str, Any]) -> list[str]:
    """Return the keys of Snakemake's configuration that routelab does not read.

    Raises
    ------
    InputError
        If a key is nearly one that routelab reads, for example ``study`` instead of ``studies``.
    """
    unknown = [key for key in map(str, config) if key not in CONFIG_KEYS]
    misspelled = [
        f"config {key!r} does not exist{hint}"
        for key in unknown
        if (hint := did_you_mean(key, CONFIG_KEYS))
    ]
    if misspelled:
        raise InputError("\n".join(misspelled))
    return unknown


def fresh_stages(choice: object) -> list[str]:
    """Return the stages whose jobs are computed again although they are finished.

    Snakemake does not record this choice, so the next run without it has nothing to do.

    Parameters
    ----------
    choice : object
        A list, or text with commas or plus signs; ``all`` stands for every stage but measurements
        on clusters, which are never repeated.

    Raises
    ------
    InputError
        If a name is not that of a stage, or is that of measurements: ``benchmarks``, as studies
        call them, or ``comparisons``.
    """
    names = _names(choice)
    stages = [kind for kind in kinds() if kind != ComparisonJob.kind]
    for name in names:
        if name in ("benchmarks", ComparisonJob.kind):
            raise InputError(
                f"fresh={name}: measurements are never repeated; add rounds with 'repeats' in the "
                "study's 'bench'"
            )
        if name not in (*stages, "all"):
            raise InputError(
                f"fresh={name}: there is no such stage{did_you_mean(name, stages)} "
                f"(known: all, {', '.join(stages)})"
            )
    return stages if "all" in names else names


def _names(choice: object) -> list[str]:
    """Return the names in a list, or in text with commas or plus signs."""
    items = choice if isinstance(choice, list) else re.split(r"[,+\s]+", str(choice or ""))
    return [str(item) for item in items if item not in ("", None)]


def select_studies(choice: object) -> list[Path]:
    """Return the study files of a list of names and paths.

    Raises
    ------
    InputError
        If the list is empty, or a name is not that of a study.
    """
    names = _names(choice)
    files = {str(path.relative_to(STUDIES).with_suffix("")): path for path in _study_files()}
    if not names:
        raise InputError(
            "no study is selected: list studies in config/config.yaml, or select with 'snakemake "
            f"report --config studies=NAME,NAME' (known: {', '.join(sorted(files))})"
        )
    return collect_errors(*(partial(_study_file, name, files) for name in names))


def _study_file(name: str, files: Mapping[str, Path]) -> Path:
    """Return the file of a study.

    Parameters
    ----------
    name : str
        Path, or name with or without its folder: ``ugal`` or ``packets/ugal``.
    files : mapping of str to Path
        All study files, by name with the folder.

    Raises
    ------
    InputError
        If there is no such file, or several.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        paths = [Path(name)] if Path(name).is_file() else []
    else:
        # a name without its folder may stand for studies in several folders
        in_any_folder = [path for path in files.values() if path.stem == name]
        paths = [files[name]] if name in files else in_any_folder
    if not paths:
        path = Path(name) if Path(name).suffix else STUDIES / f"{name}.yaml"
        hint = did_you_mean(Path(name).stem, {known.rpartition("/")[2] for known in files})
        raise InputError(f"study {name!r} not found: no file {path}{hint}")
    if len(paths) > 1:
        raise InputError(f"there are several studies {name!r}: {', '.join(map(str, paths))}")
    return paths[0]


def _study_files() -> list[Path]:
    return sorted(path for path in STUDIES.rglob("*.yaml") if path.is_file())
