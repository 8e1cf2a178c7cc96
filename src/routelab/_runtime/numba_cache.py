"""Where Numba keeps compiled kernels: a directory for each state of their sources.

Numba checks a cached function against its own file only. If the function calls a kernel in
another file, or uses a constant of one, and that file was edited, the old code runs. So the path
of a cached function contains a digest: for kernels of routelab that of all of them, for those of a
plugin that of its files, too, see `routelab._runtime.sources`. It also covers the paths of the
files and NumPy's version. An edit leads to another directory, a revert back to the first one, and
processes that see different sources do not overwrite each other's files. Numba itself checks its
own version, Python's and the processor.

`Locator` answers for modules of routelab, of its plugins and of what is installed to be edited, and
for files that are not installed, as these may call our kernels; for the last, all files that are
not installed and were imported before count. All others are left to Numba.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from routelab._runtime.numba_hook import STARTED
from routelab._runtime.sources import (
    PACKAGE,
    Files,
    digest,
    kernel_files,
    offered_files,
    owner,
    plugin_files,
)

DAY = 24 * 3600
DAYS_KEPT = 30
"""What no process used for so many days is removed."""

# the second is a directory of an earlier version
_OWN_NAME = re.compile(r"[0-9a-f]{32}|[\w.]+-[0-9a-f]{32}")
_MARKERS = "warm"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Locator:
    """Tells Numba where to cache a function; made by `from_function`.

    It has the methods of Numba's own locators and takes nothing from them.
    """

    def __init__(self, module: str, py_func: Any, py_file: str, state: str) -> None:
        self._py_file = py_file  # Numba names it in warnings
        self._line = py_func.__code__.co_firstlineno
        self._state = state
        # two modules may have files of one name
        self._path = os.path.join(usable_directory(state), module[-150:])

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Locator | None:
        """Return the locator of a function; None leaves it to Numba's own locators."""
        # functools.wraps sets __module__ to that of another function; a text may have none
        module = py_func.__globals__.get("__name__") or ""
        state = _state_of(module, py_file, py_func.__code__.co_firstlineno) if module else ""
        return cls(module, py_func, py_file, state) if state else None

    def ensure_cache_path(self) -> None:
        """Make the directory; Numba calls this before it writes."""
        os.makedirs(self._path, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the directory of the function's module."""
        return self._path

    def get_source_stamp(self) -> str:
        """Return the state of the sources; it is in the path already."""
        return self._state

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


_states: dict[tuple[str, str], tuple[str, set[int]]] = {}
"""State by module and file, with the lines of the functions that were asked for."""


def _state_of(module: str, file: str, line: int) -> str:
    """Return the state of the sources of a module's kernels; empty if it is not one of ours.

    It is looked up once each time that the module is loaded: a notebook may load a module again
    after it, or what it imports, was edited.
    """
    state, lines = _states.get((module, file), ("", set()))
    if not lines or line in lines:
        files = _files(_imported_name(module), file)
        state, lines = _state(files) if files else "", set()
        _states[module, file] = state, lines
    lines.add(line)
    return state


def _files(module: str, file: str) -> Files:
    """Return the files on which kernels in the `file` of a module depend; none if not ours."""
    if not os.path.isfile(file):
        return {}
    if file.startswith(PACKAGE + os.sep):
        return kernel_files()
    found = offered_files() | plugin_files(module)
    if file not in found.values():  # it runs under another name
        found[os.path.basename(file)] = file
    if owner(module) is None:
        if not _is_own(file):
            return {}
        # a kernel can call only what was imported before it was defined
        for name, other in list(sys.modules.items()):
            path = getattr(other, "__file__", None)
            if isinstance(path, str) and _is_own(path):
                found[name] = path
    return found


@cache
def _is_own(file: str) -> bool:
    """Return whether a file is neither Python's nor installed nor routelab's."""
    ours = file.startswith((PACKAGE + os.sep, os.path.dirname(os.__file__) + os.sep))
    return not ours and not _INSTALLED.intersection(Path(file).parts)


def _imported_name(module: str) -> str:
    """Return the name by which `import` would find a module that runs as a program."""
    if module != "__main__":
        return module
    spec = getattr(sys.modules[module], "__spec__", None)
    return spec.name if spec else module


def _state(files: Files) -> str:
    """Return a digest of files, of where they are, and of what is compiled into kernels."""
    # compiled code has the names of files: an exception tells in which one it was raised
    facts = [digest(files), *sorted(files.values()), np.__version__]
    now = time.time_ns()
    if any(STARTED < modified <= now for modified in map(_modified, files.values())):
        # edited since this process began: what it imported may be older than the file
        facts.append(f"{os.getpid()} {STARTED}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def kernels_digest(modules: Iterable[str]) -> str:
    """Return a digest of all kernels that plugins in some modules may call, and of the compiler."""
    from numba import __version__ as numba_version
    from numba.core.registry import cpu_target

    files = kernel_files()
    for module in modules:
        found = plugin_files(module)
        files |= offered_files() | found if found else {}
    machine = cpu_target.target_context.codegen().magic_tuple()
    facts = [_state(files), numba_version, sys.version, repr(machine)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


# --- directories ---------------------------------------------------------------------------------


def marker(name: str) -> Path:
    """Return the file that marks some kernels as compiled, and make its folder."""
    return Path(usable_directory(_MARKERS), name)


def usable_directory(name: str) -> str:
    """Return ``<base>/numba/<name>`` and make it; a private temporary one if that is impossible.

    ``<base>`` is ``NUMBA_CACHE_DIR``, else ``ROUTELAB_CACHE_DIR``, else the user's directory for
    caches.
    """
    return _usable(os.environ.get("NUMBA_CACHE_DIR") or default_base(os.environ), name)


def default_base(environ: Mapping[str, str]) -> str:
    """Where routelab keeps caches: ``ROUTELAB_CACHE_DIR``, or the user's cache directory.

    Empty if there is no such place.
    """
    if environ.get("ROUTELAB_CACHE_DIR"):
        return os.path.abspath(environ["ROUTELAB_CACHE_DIR"])
    home = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return os.path.join(home, "routelab") if os.path.isabs(home) else ""


@cache
def _usable(base: str, name: str) -> str:
    if base:
        directory = os.path.join(os.path.abspath(base), "numba", name)
        if _make(directory):
            return directory
    directory = os.path.join(_private_base(tempfile.gettempdir()), "numba", name)
    _make(directory)
    return directory


@cache
def _private_base(temporary: str) -> str:
    """Return a temporary directory that nobody else can write: a cache is code."""
    base = os.path.join(temporary, f"routelab-{os.getuid()}")
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        status = os.lstat(base)
        private = status.st_uid == os.getuid() and status.st_mode & 0o170077 == 0o040000
    except OSError:
        private = False
    return base if private else tempfile.mkdtemp(prefix="routelab-", dir=temporary)


def _make(directory: str) -> bool:
    """Make or touch a cache directory; False if it cannot be written."""
    try:
        is_new = not os.path.isdir(directory)
        os.makedirs(directory, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            return False
        if time.time() - os.stat(directory).st_mtime > DAY:
            os.utime(directory)
    except OSError:
        return False
    if is_new:
        _prune(os.path.dirname(directory))
    return True


@cache
def _prune(folder: str) -> None:
    """Remove what has not been used for long, once in a process that makes something new."""
    import shutil

    oldest = time.time() - DAYS_KEPT * DAY
    with suppress(OSError):
        for entry in os.scandir(folder):
            is_own = _OWN_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_own and entry.stat().st_mtime < oldest:
                shutil.rmtree(entry.path, ignore_errors=True)
    with suppress(OSError):
        for entry in os.scandir(os.path.join(folder, _MARKERS)):
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
