"""Where numba keeps compiled kernels: one directory for each state of all their sources.

A compiled function that numba loads from its cache is checked against its own file only. If it
calls a kernel in another file, and that one was edited, the old code runs. So importing routelab
sets numba's cache directory to one that is named by everything that the process could compile.

The core's own kernels call nothing of a plugin, and compiling the packet engine takes half a
minute: they are kept in a directory that only they name, to which the others have a link. So
whoever edits a plugin's kernel does not wait for the engine.

This runs at every start, also of processes that compile nothing. Hence it reads entry points by
itself (importing `importlib.metadata` takes longer than all that is done here) and imports
neither numba nor pathlib.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterable, MutableMapping

from routelab._sources import Sources

DAYS_KEPT = 30
"""A cache directory that no process used for so many days is removed."""

SET_BY_ROUTELAB = "ROUTELAB_NUMBA_CACHE_SET"
USER_BASE = "ROUTELAB_NUMBA_CACHE_BASE"
"""Notes to child processes: the directory that was set, and the user's own that it replaced."""

_WORDS = (b"numba", b"_kernel", b"jit", b"vectorize", b"stencil", b"cfunc")
_COMPILES = re.compile(
    rb"^[ \t]*(?:from|import)\b[^\n]*\bnumba\b"
    rb"|^[ \t]*@(?:\w+\.)*(?:n?jit|(?:hop|inject)_kernel|g?u?vectorize|stencil|cfunc|jitclass)\b",
    re.MULTILINE,
)
_CPU_FACTS = re.compile(
    rb"^(?:vendor_id|cpu family|model|model name|stepping|flags|Features|CPU \w+)\s*:.*$",
    re.MULTILINE,
)
_CORE = "routelab.kernels"
_OWN_NAME = re.compile(r"[0-9a-f]{32}")


def set_cache_directory(environ: MutableMapping[str, str] = os.environ) -> str:
    """Set numba's cache directory for this process and its children, and return it."""
    plugins, numba = installed(sys.path)
    sources = Sources()
    name = cache_name(sources, {"routelab", *plugins}, numba)
    user = environ.get("NUMBA_CACHE_DIR", "")
    if user and user == environ.get(SET_BY_ROUTELAB):
        user = environ.get(USER_BASE, "")
    directory = _usable_directory(user or default_base(environ), name)
    _share_core(directory, sources, cache_name(sources, {_CORE}, numba))
    environ[USER_BASE] = user
    environ[SET_BY_ROUTELAB] = environ["NUMBA_CACHE_DIR"] = directory
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = directory
    return directory


def installed(path: Iterable[str]) -> tuple[set[str], str]:
    """Top-level modules of all installed routelab plugins, and the version of numba.

    Parameters
    ----------
    path : iterable of str
        Folders in which packages are installed, as `sys.path`.
    """
    modules: set[str] = set()
    numba = ""
    for folder in path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            if name.startswith("numba-"):
                numba = numba or name
            try:
                with open(f"{folder or '.'}/{name}/entry_points.txt", encoding="utf-8") as stream:
                    modules.update(_plugin_modules(stream.read()))
            except (OSError, UnicodeDecodeError):
                continue
    return modules, numba


def _plugin_modules(entry_points: str) -> Iterable[str]:
    group = ""
    for line in entry_points.splitlines():
        if line.lstrip().startswith("["):
            group = line.strip(" \t[]")
        elif group.startswith("routelab.") and "=" in line:
            yield re.split(r"[.:\[\s]", line.partition("=")[2].strip(), maxsplit=1)[0]


def cache_name(sources: Sources, roots: set[str], numba: str) -> str:
    """Name of the cache directory for all compiled code in the packages `roots`.

    It covers the content of every module that uses numba and of all that those modules import,
    the versions of numba and Python, and the processor.
    """
    compiled = compiled_modules(sources, roots)
    # packages on the way to a kernel bind nothing in it, and editing them recompiles nothing
    followed = {root.partition(".")[0] for root in roots}
    facts = [sources.digest(compiled, followed, packages=False), numba, sys.version, _processor()]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def compiled_modules(sources: Sources, roots: set[str]) -> list[str]:
    """Modules in `roots` that import numba or use one of its decorators from elsewhere."""
    found = []
    for root in sorted(roots):
        for module in sources.modules(root):
            text = sources.text(module)
            # looking for a word is much faster than the expression, and most modules have none
            if any(word in text for word in _WORDS) and _COMPILES.search(text):
                found.append(module)
    return found


def _processor() -> str:
    """The processor's model and features; the other lines change from one read to the next."""
    try:
        # the first processor's entry is enough, and all of them are slow to read on a big machine
        with open("/proc/cpuinfo", "rb", buffering=0) as stream:
            facts = _CPU_FACTS.findall(stream.read(8192).partition(b"\n\n")[0])
    except OSError:
        facts = []
    return os.uname().machine + hashlib.sha256(b"\n".join(facts)).hexdigest()


def default_base(environ: MutableMapping[str, str]) -> str:
    """Where routelab keeps caches: ``ROUTELAB_CACHE_DIR``, or the user's cache directory.

    Empty if there is no such place.
    """
    if environ.get("ROUTELAB_CACHE_DIR"):
        return os.path.abspath(environ["ROUTELAB_CACHE_DIR"])
    home = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return os.path.join(home, "routelab") if os.path.isabs(home) else ""


def _usable_directory(base: str, name: str) -> str:
    """``<base>/numba/<name>``, made if need be; a private one if that cannot be written."""
    if base:
        directory = os.path.join(os.path.abspath(base), "numba", name)
        if _make(directory):
            return directory
    return _private_directory(name)


def _make(directory: str) -> bool:
    """Make or touch a cache directory; False if it cannot be written."""
    try:
        is_new = not os.path.isdir(directory)
        os.makedirs(directory, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            return False
        os.utime(directory)
    except OSError:
        return False
    if is_new:
        _prune(os.path.dirname(directory))
    return True


def _private_directory(name: str) -> str:
    """A directory under the temporary one that nobody else can write: a cache is code."""
    import tempfile

    base = os.path.join(tempfile.gettempdir(), f"routelab-{os.getuid()}")
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        status = os.lstat(base)
        private = status.st_uid == os.getuid() and status.st_mode & 0o170077 == 0o040000
    except OSError:
        private = False
    directory = os.path.join(base, "numba", name)
    return directory if private and _make(directory) else tempfile.mkdtemp(prefix="routelab-")


def _share_core(directory: str, sources: Sources, core: str) -> None:
    """Link the place of the core's kernels in `directory` to one that plugins do not name.

    Without links nothing is lost but time. Where no plugin has a kernel the two are one.
    """
    folder, name = os.path.split(directory)
    place = sources.locate(_CORE)
    shared = os.path.join(folder, core)
    if place is None or name == core or not _OWN_NAME.fullmatch(name) or not _make(shared):
        return
    # numba's name for the kernels of one folder of sources
    kernels = os.path.abspath(place[1][0])
    part = f"{os.path.basename(kernels)}_{hashlib.sha1(kernels.encode()).hexdigest()}"
    try:
        # it may have been emptied, and numba makes no folder behind a link that leads nowhere
        os.makedirs(os.path.join(shared, part), exist_ok=True)
        os.symlink(os.path.join(os.pardir, core, part), os.path.join(directory, part))
    except OSError:
        return


def _prune(folder: str) -> None:
    """Remove the cache directories in `folder` that have not been used for long."""
    import shutil

    oldest = time.time() - DAYS_KEPT * 24 * 3600
    try:
        for entry in os.scandir(folder):
            is_own = _OWN_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_own and entry.stat().st_mtime < oldest:
                shutil.rmtree(entry.path, ignore_errors=True)
    except OSError:
        return
