"""Where Numba keeps compiled kernels: a directory for each module and state of its sources.

Numba checks a cached function against its own file only. If the function calls a kernel in
another file, or uses a constant of one, and that file was edited, the old code runs. So the path
of a cached function contains a digest. It covers the module, all modules that it imports directly
or indirectly, the paths of their files, and NumPy's version. An edit leads to another directory, a
revert back to the first one, and processes that see different sources do not overwrite each
other's files. Numba itself checks its own version, Python's and the processor.

`Locator` answers for modules of routelab and of its plugins, and for others that import routelab,
as these may call its kernels. All others are left to Numba.
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
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from routelab._numba_hook import STARTED
from routelab._sources import Sources

DAY = 24 * 3600
DAYS_KEPT = 30
"""What no process used for so many days is removed."""

_ROUTELAB = "routelab"
# the second is a directory of an earlier version
_OWN_NAME = re.compile(r"[\w.]+-[0-9a-f]{32}|[0-9a-f]{32}")
_MARKERS = "warm"
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_COMPILES = re.compile(
    rb"^[ \t]*(?:from|import)\b[^\n]*\bnumba\b"
    rb"|^[ \t]*@(?:\w+\.)*(?:n?jit|(?:hop|inject)_kernel|g?u?vectorize|stencil|cfunc|jitclass)\b",
    re.MULTILINE,
)


class Locator:
    """Tells Numba where to cache a function; made by `from_function`.

    It has the methods of Numba's own locators and takes nothing from them.
    """

    def __init__(self, module: str, py_func: Any, py_file: str, digest: str) -> None:
        self._py_file = py_file  # Numba names it in warnings
        self._line = py_func.__code__.co_firstlineno
        self._digest = digest
        self._path = usable_directory(entry_name(module, digest))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Locator | None:
        """Return the locator of a function; None leaves it to Numba's own locators."""
        # functools.wraps sets __module__ to that of another function; a text may have none
        module = py_func.__globals__.get("__name__") or ""
        digest = _digests.of(module, py_file) if module else ""
        return cls(module, py_func, py_file, digest) if digest else None

    def ensure_cache_path(self) -> None:
        """Make the directory; Numba calls this before it writes."""
        os.makedirs(self._path, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the directory of the function's module."""
        return self._path

    def get_source_stamp(self) -> str:
        """Return the state of the sources; it is in the path already."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


Stamps = dict[str, tuple[int, int]]
"""Time of change and size by file."""


class _Known(NamedTuple):
    """The digest of a module that was loaded from a file, and the stamps of all its sources."""

    file: str
    stamps: Stamps
    digest: str


class Digests:
    """Digests of modules with kernels, each made once for a state of its sources.

    A notebook may load a module after one that it imports was edited, or load one again; hence
    the look at times and sizes.
    """

    def __init__(self) -> None:
        self._sources = Sources()
        self._known: dict[str, _Known] = {}
        self._stamps: Stamps = {}

    def of(self, module: str, file: str) -> str:
        """Return the digest of the module loaded from `file`; empty if it is not one of ours."""
        known = self._known.get(module)
        if known is None or known.file != file or _stamps(known.stamps) != known.stamps:
            if known is not None:
                self._forget_sources()
            known = self._known[module] = self._make(module, file)
        return known.digest

    def _forget_sources(self) -> None:
        self._sources = Sources()
        self._stamps = {}

    def _make(self, module: str, file: str) -> _Known:
        name = _imported_name(module)
        sources = self._sources
        place = sources.locate(name)
        if place is None or place[0] is None or not _same_file(place[0], file):
            # a program, or a file that was run under another name
            if not os.path.isfile(file):
                return _Known(file, {}, "")
            name = module
            sources.add_script(name, file)
        followed = _followed([name], sources)
        files = sources.closure([name], followed, packages=False)
        stamps = _stamps(files.values())
        if any(self._stamps.setdefault(each, stamps[each]) != stamps[each] for each in stamps):
            # read for another module, and edited since
            self._forget_sources()
            return self._make(module, file)
        tops = {each.partition(".")[0] for each in files}
        if _ROUTELAB not in tops and name.partition(".")[0] not in _plugin_packages():
            return _Known(file, stamps, "")
        facts = [_state([name], followed, sources), np.__version__]
        if any(STARTED < time_ns <= time.time_ns() for time_ns, _ in stamps.values()):
            # edited since this process began: what it imported may be older than the file
            facts.append(f"{os.getpid()} {STARTED}")
        return _Known(file, stamps, _hash(facts))


_digests = Digests()


def _followed(modules: Iterable[str], sources: Sources) -> set[str]:
    """Return the top-level modules whose imports count in digests of some modules.

    The core calls no plugin's kernels, so that installing one leaves the core's as they are.
    Others may use their own package, routelab, all plugins, and what is not installed: files
    beside a script, or in a folder of the path.
    """
    tops = {module.partition(".")[0] for module in modules}
    if tops == {_ROUTELAB}:
        return tops
    tops |= {_ROUTELAB, *_plugin_packages()}
    while True:
        found = sources.closure(modules, tops, packages=False)
        imported = {name.partition(".")[0] for one in found for name in sources.imports(one)}
        more = {name for name in imported - tops if _is_own_code(name, sources)}
        if not more:
            return tops
        tops |= more


def _is_own_code(top: str, sources: Sources) -> bool:
    """Return whether a top-level module is neither Python's nor installed."""
    if not top or top in sys.stdlib_module_names:
        return False
    place = sources.locate(top)
    files = [] if place is None else [place[0], *place[1]]
    return any(file is not None and not _INSTALLED.intersection(Path(file).parts) for file in files)


@cache
def _plugin_packages() -> frozenset[str]:
    """Return the top-level modules of all distributions with plugins."""
    found: set[str] = set()
    for distribution in distributions():
        # metadata that cannot be read is the registry's to report
        with suppress(Exception):
            points = [
                point.value.partition(":")[0].partition(".")[0]
                for point in distribution.entry_points
                if point.group.startswith("routelab.")
            ]
            if points:
                found.update(points)
                parts = [Path(file).parts for file in distribution.files or ()]
                found.update(one[0] for one in parts if len(one) > 1 and one[0].isidentifier())
                found.update(Path(one[0]).stem for one in parts if one[0].endswith(".py"))
    return frozenset(name for name in found if name.isidentifier())


def _imported_name(module: str) -> str:
    """Return the name by which `import` would find a module that runs as a program."""
    if module != "__main__":
        return module
    spec = getattr(sys.modules[module], "__spec__", None)
    return spec.name if spec else module


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _stamps(files: Iterable[str]) -> Stamps:
    found = {}
    for file in files:
        with suppress(OSError):
            status = os.stat(file)
            found[file] = (status.st_mtime_ns, status.st_size)
    return found


def _hash(facts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def kernels_digest(modules: Iterable[str], sources: Sources) -> str:
    """Digest of all kernels that some modules may call, and of what compiles them.

    Parameters
    ----------
    modules : iterable of str
        Those that are nowhere to be found are left out.
    sources : Sources
    """
    from numba import __version__ as numba_version
    from numba.core.registry import cpu_target

    found = [module for module in modules if sources.locate(module)]
    followed = _followed(found, sources)
    kernels = [
        module
        for module in sources.closure(found, followed, packages=False)
        if _compiles(sources.text(module))
    ]
    machine = cpu_target.target_context.codegen().magic_tuple()
    return _hash(
        [
            _state(kernels, followed, sources),
            *(np.__version__, numba_version, sys.version, repr(machine)),
        ]
    )


def _state(modules: Iterable[str], followed: set[str], sources: Sources) -> str:
    """Return a digest of the sources of modules and of where they are.

    Compiled code has the names of files: an exception tells in which one it was raised.
    """
    modules = list(modules)
    files = sources.closure(modules, followed, packages=False)
    return _hash([sources.digest(modules, followed, packages=False), *files.values()])


@cache
def _compiles(text: bytes) -> bool:
    """Whether a source imports Numba or uses one of its decorators from elsewhere."""
    return _COMPILES.search(text) is not None


# --- directories ---------------------------------------------------------------------------------


def entry_name(module: str, digest: str) -> str:
    """Name of the directory of a module in one state of its sources."""
    return f"{module[-150:]}-{digest}"


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
