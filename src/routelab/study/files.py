"""Paths of files that a study names."""

from __future__ import annotations

import os
from pathlib import Path


def path_from_working_folder(path: Path) -> str:
    """Return a normalized path as text: relative to the working directory if it is below it.

    Any other path is absolute.
    """
    current_folder = Path.cwd()
    absolute = Path(os.path.normpath(current_folder / path))
    return str(
        absolute.relative_to(current_folder)
        if absolute.is_relative_to(current_folder)
        else absolute
    )
