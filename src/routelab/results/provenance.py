"""Origin of a result: versions, plugins, seed, time, memory, machine."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import routelab
from routelab.api.plugin_base import Plugin
from routelab.results.distributions import distribution_of, distribution_version
from routelab.toolkit.programs import NotStartedError, run_program

LIBRARIES = ("numba", "numpy", "llvmlite", "highspy", "networkx")
"""Distributions that compute results, whose versions the provenance has."""


class ResourceMeter:
    """Measures the time and memory that a block takes.

    Attributes
    ----------
    started : str
        UTC in ISO 8601, whole seconds.
    wall_seconds, cpu_seconds : float
        Until now, or of the whole block after its end. CPU seconds are those of this process (all
        threads) and of its finished children.
    """

    def __init__(self) -> None:
        self._wall_start = self._cpu_start = 0.0
        # wall and CPU seconds of the whole block; None until it ends
        self._total: tuple[float, float] | None = None
        self.started = ""

    def __enter__(self) -> ResourceMeter:
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self._total = None
        self._wall_start, self._cpu_start = time.perf_counter(), _cpu_seconds()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._total = self._elapsed()

    def _elapsed(self) -> tuple[float, float]:
        """Return the wall and CPU seconds since the beginning of the block."""
        return time.perf_counter() - self._wall_start, _cpu_seconds() - self._cpu_start

    @property
    def wall_seconds(self) -> float:
        """Wall-clock time in seconds."""
        wall_seconds, _ = self._total or self._elapsed()
        return wall_seconds

    @property
    def cpu_seconds(self) -> float:
        """CPU time in seconds."""
        _, cpu_seconds = self._total or self._elapsed()
        return cpu_seconds

    def provenance(
        self,
        plugins: Iterable[Plugin] = (),
        seed: int | None = None,
        fingerprint: str = "",
    ) -> dict[str, Any]:
        """Return the provenance of an artifact that the block made, as JSON values.

        Parameters
        ----------
        plugins : iterable of Plugin
            All plugins that the block used, with their parameters.
        seed : int, optional
        fingerprint : str
            See `routelab.results.fingerprint`.
        """
        return {
            "routelab": routelab.__version__,
            **checkout(),
            "plugins": [_describe(plugin) for plugin in plugins],
            "seed": seed,
            "fingerprint": fingerprint,
            "started": self.started,
            "wall_seconds": self.wall_seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_memory_bytes": peak_memory(),
            "host": platform.node(),
            "machine": machine(),
            "python": platform.python_version(),
            **{name: distribution_version(name) for name in LIBRARIES},
        }


def look_up_software() -> None:
    """Look up the versions, machine and checkout of a provenance, which a process does only once.

    Processes that are forked from this one inherit them.
    """
    checkout()
    platform.node()
    platform.python_version()
    distribution_of("routelab")
    machine()
    for distribution in LIBRARIES:
        distribution_version(distribution)


def seed_of(plugins: Iterable[Plugin]) -> int | None:
    """Return the ``seed`` parameter of the first plugin that has one."""
    for plugin in plugins:
        seed = getattr(plugin.parameters, "seed", None)
        if isinstance(seed, int):
            return seed
    return None


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    try:
        # VmHWM is the largest resident size so far, in kB. `getrusage` would include the parent's
        # size at the time of the fork.
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, others kB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@cache
def machine() -> dict[str, Any]:
    """Describe this machine for a provenance, without its name.

    Returns
    -------
    facts : dict
        ``processor`` (its model), ``cpus`` (logical ones), ``memory_bytes``, ``architecture``,
        ``kernel`` and ``system`` (the distribution); None where the system does not have it.
    """
    memory = _first_entry("/proc/meminfo", "MemTotal")
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        system = None
    return {
        "processor": _first_entry("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "memory_bytes": int(memory.split()[0]) * 1024 if memory else None,
        "architecture": platform.machine(),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": system,
    }


def _first_entry(path: str, name: str) -> str | None:
    """Return the text of the first line ``name: text`` of a file; None if there is no such line."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, text = line.partition(":")
                if key.strip() == name:
                    return text.strip() or None
    except OSError:
        pass
    return None


@cache
def checkout(folder: Path | None = None) -> dict[str, Any]:
    """Return commit and state of the git checkout that contains routelab's sources.

    Parameters
    ----------
    folder : path, optional
        Another folder with sources, which has an ``__init__.py``.

    Returns
    -------
    facts : dict
        ``git_commit`` (hexadecimal) and ``git_dirty`` (tracked files differ from it); both None
        where the sources are not tracked by git, or git is not available.
    """
    folder = folder or Path(routelab.__file__).parent
    # Without a `.git` above the folder, git need not be started.
    no_checkout = {"git_commit": None, "git_dirty": None}
    if not any((above / ".git").exists() for above in (folder, *folder.parents)):
        return no_checkout
    # An installed copy may be inside another project's checkout: it is not tracked there.
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return no_checkout
    # The commit in full, with + behind it if tracked files differ; no tag (`--exclude=*`).
    text = _git(folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+")
    if not text:
        return no_checkout
    return {"git_commit": text.removesuffix("+"), "git_dirty": text.endswith("+")}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None if it fails, is missing or takes long."""
    # Variables of a git that runs this process, such as GIT_DIR in a hook, name another repository.
    environ = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    try:
        answer = run_program(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            environment=environ,
            seconds=5,
        )
    except NotStartedError:
        return None
    return answer.stdout.strip() if answer.succeeded else None


def _describe(plugin: Plugin) -> dict[str, Any]:
    """Return what a result says of a plugin: its version, parameters, and programs that it runs."""
    distribution, version = distribution_of(type(plugin).__module__)
    described = {
        "kind": plugin.kind,
        "name": plugin.name,
        "distribution": distribution,
        "version": version,
        "parameters": plugin.parameters.model_dump(mode="json", by_alias=True),
    }
    try:
        programs = dict(plugin.program_versions())
    except (Exception, SystemExit) as error:  # the plugin is wrong here, but its result is valid
        programs = {plugin.name: f"unknown version: {error!r}"}
    return {**described, "programs": programs} if programs else described


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
