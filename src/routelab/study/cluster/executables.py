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
    # 1. Without a setting, look for the candidates on PATH; with a name, only for that.
    prefix = f"{file}: benchmarks: "
    if setting is None or "/" not in setting:
        names = (setting,) if setting else tuple(candidates)
        for name in names:
            executable = shutil.which(name, path=path)
            if executable:
                return Path(executable)
        raise InputError(
            f"{prefix}no {' or '.join(names)} on PATH; name the executable, or the folder that "
            f"holds it: {plugin}: /path/to/it"
        )
    # 2. A path is the program itself, or the folder that holds it.
    prefix = f"{prefix}{plugin}: "
    path_setting = Path(setting)
    if not is_folder(path_setting):
        return _require_executable_file(path_setting, prefix)
    for name in candidates:
        # Of a candidate that is a path, such as /usr/bin/python3, only the last part is looked up
        # in this folder.
        executable_file = path_setting / Path(name).name
        if is_regular(executable_file):
            return _require_executable_file(executable_file, prefix)
    raise InputError(
        f"{prefix}no {' or '.join(candidates)} in {setting}; name another folder, or the executable"
    )


def _require_executable_file(path: Path, prefix: str) -> Path:
    if not is_regular(path):
        raise InputError(f"{prefix}{path} not found; name an executable, or its folder")
    if not os.access(path, os.X_OK):
        raise InputError(f"{prefix}{path} is not executable; run chmod +x on it")
    return path
