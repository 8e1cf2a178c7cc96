"""Search for the programs of benchmarks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from routelab.api import InputError
from routelab.toolkit.input_files import is_folder, is_regular


def require_executable(
    plugin: str, setting: str | None, candidates: Sequence[str], path: str | None, file: str
) -> Path:
    """Find the program of a benchmark.

    Parameters
    ----------
    plugin : str
        Name of the benchmark.
    setting : str or None
        The cluster file's setting: a file, a folder, or a name to look up.
    candidates : sequence of str
        Possible names of the file, the best one first; or paths.
    path : str or None
        Folders in which names are looked up, as in the variable PATH.
    file : str
        The cluster's file, for messages.

    Raises
    ------
    InputError
        If it is not found or not executable.
    """
    place = f"{file}: benchmarks: "
    if setting is None or "/" not in setting:
        names = (setting,) if setting else tuple(candidates)
        for name in names:
            executable = shutil.which(name, path=path)
            if executable:
                return Path(executable)
        raise InputError(
            f"{place}no {' or '.join(names)} on PATH; name the executable, or the folder that "
            f"holds it: {plugin}: /path/to/it"
        )
    place = f"{place}{plugin}: "
    configured = Path(setting)
    if not is_folder(configured):
        return _executable(configured, place)
    for name in candidates:
        inside = configured / Path(name).name
        if is_regular(inside):
            return _executable(inside, place)
    raise InputError(
        f"{place}no {' or '.join(candidates)} in {setting}; name another folder, or the executable"
    )


def _executable(path: Path, place: str) -> Path:
    if not is_regular(path):
        raise InputError(f"{place}{path} not found; name an executable, or its folder")
    if not os.access(path, os.X_OK):
        raise InputError(f"{place}{path} is not executable; run chmod +x on it")
    return path
