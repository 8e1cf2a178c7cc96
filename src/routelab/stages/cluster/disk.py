"""Checks whether folders may be written, and have space for results."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from routelab.stages.cluster.answers import ClusterCheck

RUN_BYTES = 1 << 16
"""Disk space of a run: its record, its output, and its rows in tables."""


def is_writable(folder: Path) -> bool:
    """Return whether files can be made in a folder, or in its first parent that exists."""
    existing = _existing(folder)
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def check_space(results: Path, runs: int) -> ClusterCheck:
    """Check whether a folder is writable and has space for the results of runs."""
    what = f"disk of {results}"
    fix = "free some space, or choose another folder: --results FOLDER"
    if not is_writable(results):
        return ClusterCheck(what, "missing", f"{_existing(results)} is not writable", fix)
    needed = runs * RUN_BYTES
    free = shutil.disk_usage(_existing(results)).free
    found = f"{_size_text(free)} free, about {_size_text(needed)} needed; quotas are not checked"
    if free < needed:
        return ClusterCheck(what, "missing", found, fix)
    return ClusterCheck(what, "ok", found)


def _existing(folder: Path) -> Path:
    whole = folder.absolute()
    return next(one for one in (whole, *whole.parents) if one.exists())


def _size_text(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count < 2**30 else f"{count / 2**30:,.1f} GiB"
