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
import stat
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

# a state; earlier versions put a name before it
_DIRECTORY_NAME = re.compile(r"[0-9a-f]{32}|[\w.]+-[0-9a-f]{32}")
_MARKERS = "warm"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Locator:
    """Tells Numba in which directory to cache a function.

    Numba asks `from_function` for the locator of each function, and then the locator. It has the
    methods of Numba's own locators, but does not inherit from them.

    Parameters
    ----------
    module : str
        Name of the module that defines the function.
    py_func : function
    py_file : str
        File of the module.
    state : str
        Digest of the sources on which the function's compiled code depends.
    """

    def __init__(self, module: str, py_func: Any, py_file: str, state: str) -> None:
        self._py_file = py_file  # Numba names it in warnings
        self._line = py_func.__code__.co_firstlineno
        self._state = state
        # A directory for each module, as two modules may have files of one name. Its name is cut,
        # because a file system allows 255 bytes.
        self._path = os.path.join(usable_directory(state), module[-150:])

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Locator | None:
        """Return the locator of a function; None leaves it to Numba's own locators."""
        # Not `py_func.__module__`, which functools.wraps sets to that of another function. A
        # function that `exec` made may have no module, and is left to Numba.
        module = py_func.__globals__.get("__name__") or ""
        line = py_func.__code__.co_firstlineno
        state = _module_state(module, py_file, line) if module else ""
        return cls(module, py_func, py_file, state) if state else None

    def ensure_cache_path(self) -> None:
        """Make the directory; Numba calls this before it writes."""
        os.makedirs(self._path, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the directory of the function's module."""
        return self._path

    def get_source_stamp(self) -> str:
        """Return the state of the sources, which is in the path already."""
        return self._state

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


_states: dict[tuple[str, str], tuple[str, set[int]]] = {}
"""State by module and file, with the lines of the functions that Numba has asked for."""


def _module_state(module: str, file: str, line: int) -> str:
    """Return the state of the sources on which a module's kernels depend: a digest.

    Empty if Numba is to cache the kernels of this module where it likes.

    Parameters
    ----------
    module, file : str
    line : int
        First line of a function that is being defined in the module.
    """
    state, seen_lines = _states.get((module, file), ("", set()))
    # The digest is computed once for all functions of a module. Numba asks once for each of them:
    # if a line comes again, the module may be loaded again, as a notebook does after an edit of it
    # or of what it imports, and the digest may be another one.
    if not seen_lines or line in seen_lines:
        files = _source_files(_imported_name(module), file)
        state, seen_lines = _digest_of_state(files) if files else "", set()
        _states[module, file] = state, seen_lines
    seen_lines.add(line)
    return state


def _source_files(module: str, file: str) -> Files:
    """Return the files on which kernels in the `file` of a module depend.

    Empty if Numba is to cache these kernels where it likes: those of other installed packages, and
    those without a file.
    """
    if not os.path.isfile(file):
        return {}
    # 1. Kernels of routelab call each other only.
    if file.startswith(PACKAGE + os.sep):
        return kernel_files()
    # 2. Kernels of a plugin call its own and those that routelab offers.
    files = offered_files() | plugin_files(module)
    # The file is not among them if the module runs under another name than `import` gives it.
    if file not in files.values():
        files[os.path.basename(file)] = file
    # 3. Kernels of a user's files that are not installed may call anything, but only what was
    #    imported before they are defined.
    if owner(module) is None:
        if not _is_user_file(file):
            return {}
        for name, imported in list(sys.modules.items()):
            path = getattr(imported, "__file__", None)
            if isinstance(path, str) and _is_user_file(path):
                files[name] = path
    return files


@cache
def _is_user_file(file: str) -> bool:
    """Return whether a file is neither Python's nor installed nor routelab's."""
    is_known = file.startswith((PACKAGE + os.sep, os.path.dirname(os.__file__) + os.sep))
    return not is_known and not _INSTALLED.intersection(Path(file).parts)


def _imported_name(module: str) -> str:
    """Return the name by which `import` would find a module that runs as a program."""
    if module != "__main__":
        return module
    spec = getattr(sys.modules[module], "__spec__", None)
    return spec.name if spec else module


def _digest_of_state(files: Files) -> str:
    """Return a digest of the contents of files, of their paths, and of NumPy's version."""
    # the paths, too: compiled code holds them, so that an exception can say where it was raised
    facts = [digest(files), *sorted(files.values()), np.__version__]
    # A file that was edited since this process began may not be the one that it has imported: the
    # digest is that of the new text, the kernels are those of the old one. Then the directory is
    # for this process alone, by its PID and start. Times in the future, of a wrong clock, say
    # nothing about an edit.
    now = time.time_ns()
    if any(STARTED < time_ns <= now for time_ns in map(_modification_time, files.values())):
        facts.append(f"{os.getpid()} {STARTED}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _modification_time(file: str) -> int:
    """Return when a file was modified, in nanoseconds since the epoch; 0 if it cannot be read."""
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def kernels_digest(modules: Iterable[str]) -> str:
    """Return a digest of all that decides whether kernels must be compiled again.

    These are the sources of routelab's kernels, those of the plugins in `modules`, the versions of
    Numba and Python, and the processor. `routelab.workflow.warm` marks compiled kernels with it.
    """
    from numba import __version__ as numba_version
    from numba.core.registry import cpu_target

    files = kernel_files()
    for module in modules:
        own_files = plugin_files(module)
        # As in `_source_files`: kernels of a plugin call its own and those that routelab offers.
        # Modules of routelab itself, such as its engines, have no files of their own, and their
        # kernels are among `kernel_files`.
        if own_files:
            files |= offered_files() | own_files
    # "magic": triple, name and features of the processor, for which LLVM makes the code
    processor = cpu_target.target_context.codegen().magic_tuple()
    facts = [_digest_of_state(files), numba_version, sys.version, repr(processor)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


# --- directories ---------------------------------------------------------------------------------


def marker(name: str) -> Path:
    """Return the path of a file that marks kernels as compiled once it exists; make its folder."""
    return Path(usable_directory(_MARKERS), name)


def usable_directory(name: str) -> str:
    """Return ``<base>/numba/<name>`` and make it; a private temporary one if that is impossible.

    ``<base>`` is ``NUMBA_CACHE_DIR``, else ``ROUTELAB_CACHE_DIR``, else the user's directory for
    caches.
    """
    base = os.environ.get("NUMBA_CACHE_DIR") or default_base(os.environ)
    return _make_usable_directory(base, name)


def default_base(environ: Mapping[str, str]) -> str:
    """Return the directory for caches: ``ROUTELAB_CACHE_DIR``, or "routelab" in the user's.

    Empty if the user has none.
    """
    if environ.get("ROUTELAB_CACHE_DIR"):
        return os.path.abspath(environ["ROUTELAB_CACHE_DIR"])
    user_caches = environ.get("XDG_CACHE_HOME", "")
    # the XDG specification: a relative path is invalid, and to be ignored
    if not os.path.isabs(user_caches):
        user_caches = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return os.path.join(user_caches, "routelab") if os.path.isabs(user_caches) else ""


@cache
def _make_usable_directory(base: str, name: str) -> str:
    """Make and return ``<base>/numba/<name>``, or else the same in a temporary directory."""
    if base:
        directory = os.path.join(os.path.abspath(base), "numba", name)
        if _prepare_directory(directory):
            return directory
    directory = os.path.join(_make_private_base(tempfile.gettempdir()), "numba", name)
    # if this one is not writable either, Numba fails when it writes
    _prepare_directory(directory)
    return directory


@cache
def _make_private_base(temporary: str) -> str:
    """Make and return a temporary directory that nobody else can write.

    Otherwise another user could put code there that we run. It is the same directory for all
    processes of a user, unless somebody else has made one of its name before.
    """
    base = os.path.join(temporary, f"routelab-{os.getuid()}")
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        # of the directory itself, and not of what a link leads to
        status = os.lstat(base)
        is_directory = stat.S_ISDIR(status.st_mode)
        others_may_access = status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        is_private = status.st_uid == os.getuid() and is_directory and not others_may_access
    except OSError:
        is_private = False
    return base if is_private else tempfile.mkdtemp(prefix="routelab-", dir=temporary)


def _prepare_directory(directory: str) -> bool:
    """Make a cache directory, or mark an existing one as in use; False if it is not writable.

    The mark is its time of modification. A new directory is an occasion to remove unused ones.
    """
    try:
        is_new = not os.path.isdir(directory)
        os.makedirs(directory, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            return False
        # `_prune` removes by the time of modification; once a day is enough
        if time.time() - os.stat(directory).st_mtime > DAY:
            os.utime(directory)
    except OSError:
        return False
    if is_new:
        _prune(os.path.dirname(directory))
    return True


@cache
def _prune(folder: str) -> None:
    """Remove from a cache the directories and markers that were not used for `DAYS_KEPT` days.

    Only processes that make a new directory call this, and `cache` lets only their first call for
    each folder run.
    """
    import shutil

    expiry = time.time() - DAYS_KEPT * DAY
    with suppress(OSError):
        for entry in os.scandir(folder):
            # NUMBA_CACHE_DIR may have directories of others, too
            is_ours = _DIRECTORY_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_ours and entry.stat().st_mtime < expiry:
                shutil.rmtree(entry.path, ignore_errors=True)
    with suppress(OSError):
        for entry in os.scandir(os.path.join(folder, _MARKERS)):
            if entry.stat().st_mtime < expiry:
                os.unlink(entry.path)
