"""Tasks for checks of benchmarks, which are never launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from routelab.api import BenchmarkTask


def _maker(ranks: int, nodes: int) -> Callable[[], BenchmarkTask]:
    return lambda: BenchmarkTask(ranks, nodes, Path("/the/program"), Path("/the/folder"))


TASKS: Mapping[str, Callable[[], BenchmarkTask]] = {
    f"{ranks}-on-{nodes}": _maker(ranks, nodes)
    for ranks, nodes in ((1, 1), (2, 1), (6, 3), (4, 4), (128, 32))
}
"""Makers of tasks, by ranks and nodes."""


def launch(plugin: Any, task: BenchmarkTask) -> tuple[Any, Any, Any]:
    """Return names of the program, command and files."""
    return plugin.executables(task.ranks), plugin.command(task), plugin.files(task)
