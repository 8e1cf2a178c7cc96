"""Paths of files that a study names."""

from __future__ import annotations

import os
from pathlib import Path


def seen_from_here(path: Path) -> str:
    """Normalise a path: relative if it is below the working directory, otherwise absolute."""
    current_folder = Path.cwd()
    absolute = Path(os.path.normpath(current_folder / path))
    return str(
        absolute.relative_to(current_folder)
        if absolute.is_relative_to(current_folder)
        else absolute
    )
