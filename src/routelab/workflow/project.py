"""Working directories: a Snakefile with its rules, profiles and studies, without a clone."""

from __future__ import annotations

import shutil
import tomllib
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import routelab
from routelab.api import InputError
from routelab.results.atomic import atomic_directory, explain_write_errors
from routelab.toolkit.input_files import is_folder, is_regular

HOOK = ("tool", "hatch", "build", "targets", "wheel", "hooks", "custom")
"""Key of pyproject.toml that lists the repository's files in a wheel."""


NOTEBOOK = "docs/tutorial.ipynb"
"""The tutorial notebook, which is optional, in the repository."""


def create_project(directory: Path, *, notebook: bool = False) -> None:
    """Create a working directory completely, or not at all.

    Parameters
    ----------
    directory : path
        A new folder, or an empty one.
    notebook : bool, optional
        Add the tutorial notebook (default: no).

    Raises
    ------
    InputError
        If the folder is not empty or cannot be written.
    """
    files = project_files(notebook=notebook)
    if is_folder(directory):
        names = sorted(path.name for path in directory.iterdir())
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise InputError(
                f"{directory} is not empty (it contains {', '.join(names[:3])}{more}); name a new "
                "folder or an empty one"
            )
        _fill(directory, files)
    else:
        with atomic_directory(directory) as draft:
            _copy(draft, files)


def project_files(*, notebook: bool = False) -> dict[str, Path]:
    """Return the files of a new working directory, by their path in it.

    An installed wheel has all of them in one folder. In a clone, this folder lacks those that are
    elsewhere in the repository, such as the Snakefile; pyproject.toml lists them.
    """
    home = Path(routelab.__file__).parent / "templates" / "project"
    sources = {path.name: path for path in home.iterdir()}
    if "Snakefile" not in sources:  # a clone
        root = Path(routelab.__file__).parents[2]
        settings: Any = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        for key in HOOK:
            settings = settings[key]
        sources |= {name: root / name for name in settings["files"]}
    files = {}
    for name, source in sources.items():
        for path in sorted((source, *source.rglob("*"))):  # `source` may be a file or a folder
            if is_regular(path):
                files[str(Path(name) / path.relative_to(source))] = path
    # the notebook is optional, and goes to the top of the directory
    tutorial = files.pop(NOTEBOOK)
    return {**files, tutorial.name: tutorial} if notebook else files


def _copy(folder: Path, files: Mapping[str, Path]) -> None:
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # content only: installed files may be read-only
        shutil.copyfile(source, target)


def _fill(directory: Path, files: Mapping[str, Path]) -> None:
    """Fill an empty folder without replacing it: it may be somebody's working directory.

    The files are copied into a draft folder in it, and then moved up. After an error the folder is
    empty again.
    """
    draft = directory / f".{uuid.uuid4().hex}"
    created_paths = [draft]
    with explain_write_errors(directory, directory):
        try:
            draft.mkdir()
            _copy(draft, files)
            for path in sorted(draft.iterdir()):
                target = directory / path.name
                created_paths.append(target)
                path.rename(target)
            draft.rmdir()
        except BaseException:  # an interrupt, too
            for path in created_paths:
                if is_folder(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
            raise
