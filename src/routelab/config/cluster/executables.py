"""Where the program of a benchmark is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from routelab.api import InputError


def find_executable(
    plugin: str, told: str | None, candidates: Sequence[str], path: str | None, file: str
) -> Path:
    """The program of a benchmark.

    Parameters
    ----------
    plugin : str
        Of the benchmark.
    told : str or None
        What a cluster's file says: a file, a folder, or a name to look up.
    candidates : sequence of str
        Names that the file may have, the best one first; or paths.
    path : str or None
        Folders in which names are looked up, as in the variable PATH.
    file : str
        The cluster's, for messages.

    Raises
    ------
    InputError
        If it is not there, or may not be executed.
    """
    place = f"{file}: benchmarks: "
    if told is None or "/" not in told:
        names = (told,) if told else tuple(candidates)
        for name in names:
            found = shutil.which(name, path=path)
            if found:
                return Path(found)
        raise InputError(
            f"{place}no {' or '.join(names)} on PATH; name the executable, or the folder that "
            f"holds it: {plugin}: /path/to/it"
        )
    place = f"{place}{plugin}: "
    configured = Path(told)
    if not configured.is_dir():
        return _executable(configured, place)
    for name in candidates:
        inside = configured / Path(name).name
        if inside.is_file():
            return _executable(inside, place)
    raise InputError(
        f"{place}no {' or '.join(candidates)} in {told}; name another folder, or the executable"
    )


def _executable(path: Path, place: str) -> Path:
    if not path.is_file():
        raise InputError(f"{place}there is no {path}; name an executable, or its folder")
    if not os.access(path, os.X_OK):
        raise InputError(f"{place}{path} may not be executed; set its permission: chmod +x")
    return path
