"""Which files results and compiled kernels are made of.

Nobody can tell what code calls without running it. So a result depends on all of routelab that
computes, on everything that is installed with its plugins, and on everything in the import packages
of distributions that are installed to be edited. The rest of their folders does not count: it has
results in it. The built-in plugins are the exception: each is one folder, and the modules beside
the kinds, and the import rules hold it to that.

This module is below all others and imports only the standard library.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN = os.path.basename(PACKAGE)

Files = dict[str, str]
"""Files by a name that does not depend on where they are installed."""

COMMAND_PARTS = (
    *("cli", "cluster/infiniband", "commands", "instances", "notebook", "routing/export"),
    *("routing/prove", "routing/repair", "templates", "testing", "workflow/evaluate"),
)
"""Parts of routelab on which nothing depends that a run makes."""

PAGE_PARTS = ("cluster", "report", "workflow/cluster_check", "workflow/report")
"""Parts on which pages depend but no computed result; no fingerprint of a measurement has code."""

CITATION_MODULES = ("works", "quotes")
"""Modules of built-in plugins with citations and quotations in messages, as `PAGE_PARTS`."""

OFFERED = frozenset({"api", "kernels", "metrics", "toolkit"})
"""Packages that plugins import."""


def core_files(without: tuple[str, ...] = COMMAND_PARTS + PAGE_PARTS) -> Files:
    """Return the files of routelab, without some folders and modules.

    By default, these are the files on which computed results depend: an edit of one of them makes
    jobs run again. `without` has names such as "cluster/infiniband" or "cli".
    """
    # the part "cluster" is all files of routelab/cluster/, or the file routelab/cluster.py
    omitted = tuple(f"{OWN}/{part}{end}" for part in without for end in ("/", ".py"))
    return {name: file for name, file in _own_files().items() if not name.startswith(omitted)}


def kernel_files() -> Files:
    """Return the files in folders or modules called "kernels", which import only each other."""
    return {
        name: file
        for name, file in _own_files().items()
        if "kernels" in name.removesuffix(".py").split("/")
    }


def offered_files() -> Files:
    """Return the files of routelab that a kernel of a plugin may use."""
    offered = {name: file for name, file in _own_files().items() if name.split("/")[1] in OFFERED}
    return offered | kernel_files()


def plugin_files(module: str, without: tuple[str, ...] = CITATION_MODULES) -> Files:
    """Return the files on which a plugin in `module` depends beside routelab's own.

    Nothing is imported. A module that is nowhere to be found has no files.

    Parameters
    ----------
    module : str
        For example ``routelab_plugins.routing.dor`` or ``my_package.routing``.
    without : tuple of str
        Modules directly in the package of the built-in plugins that do not count.
    """
    distribution = owner(module)
    top, *inner = module.split(".")
    # 1. Plugins in routelab itself, such as engines.
    if top == OWN:
        return {}
    # 2. A built-in plugin: its folder, such as routelab_plugins/routing/dor/, and the modules that
    #    all of these share, such as routelab_plugins/works.py: their names have one "/".
    if distribution is not None and distribution.name == OWN:
        folder = "/".join([top, *inner[:2], ""])
        omitted = {f"{top}/{name}.py" for name in without}
        return {
            name: file
            for name, file in _importable_files([top]).items()
            if name not in omitted and (name.startswith(folder) or name.count("/") == 1)
        }
    # 3. Any other plugin: all of its distribution, and all that is being edited, which it may call.
    files = _importable_files([top]) if distribution is None else distribution_files(distribution)
    for editable in editable_distributions():
        # a new dictionary, because that of a distribution is remembered
        files = files | distribution_files(editable)
    return files


def distribution_files(distribution: Distribution) -> Files:
    """Return the files that the code of a distribution may read."""
    # an editable one has no record of the files in its source folder
    if is_editable(distribution) or distribution.files is None:
        return _importable_files(_top_names(distribution))
    return _recorded_files(distribution)


@cache
def _recorded_files(distribution: Distribution) -> Files:
    """Return the files that were installed with a distribution, without its metadata."""
    return {
        str(path): str(distribution.locate_file(path))
        for path in distribution.files or ()
        if not path.parts[0].endswith((".dist-info", ".egg-info")) and path.suffix != ".pyc"
    }


def _importable_files(names: Iterable[str]) -> Files:
    """Return the files of top-level modules that `import` would find under these names."""
    files: Files = {}
    for name in names:
        files |= _module_files(name)
    return files


@cache
def _module_files(name: str) -> Files:
    """Return the files of one top-level module; a folder of plugins is walked once."""
    files: Files = {}
    for path in _module_paths(name):
        if os.path.isdir(path):
            files |= {f"{name}/{inner}": file for inner, file in files_in(path)}
        else:
            files[os.path.basename(path)] = path
    return files


@cache
def _module_paths(name: str) -> tuple[str, ...]:
    """Return the folders of a top-level package, or the file of a module, without importing it.

    A namespace package may have several folders; a module that is built into Python has no file.
    """
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a finder refuses the name, or it has no specification
        spec = None
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        return tuple(spec.submodule_search_locations)
    return (spec.origin,) if spec.has_location and spec.origin else ()


def files_in(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the files in a folder and its subfolders: name within the folder, and path.

    Without compiled Python code and hidden subfolders.
    """
    for parent, subfolders, names in os.walk(folder):
        # assigned in place: `os.walk` enters only what is left in the list
        subfolders[:] = [
            name for name in subfolders if name != "__pycache__" and not name.startswith(".")
        ]
        for name in names:
            if not name.endswith((".pyc", ".pyo")):
                file = os.path.join(parent, name)
                yield os.path.relpath(file, folder).replace(os.sep, "/"), file


@cache
def _own_files() -> Files:
    return {f"{OWN}/{name}": file for name, file in files_in(PACKAGE)}


# --- distributions --------------------------------------------------------------------------------


def owner(module: str) -> Distribution | None:
    """Return the distribution that has a module; None unless it has plugins or is editable.

    A module that no entry point names belongs to the distribution with the same top-level module.
    """
    owners = _owners()
    top, _, _ = module.partition(".")
    return owners.get(module) or owners.get(top)


@cache
def _owners() -> dict[str, Distribution]:
    """Return the distributions with plugins, and editable ones, by the names of their modules.

    These are the modules that entry points name, and all top-level modules.
    """
    owners: dict[str, Distribution] = {}
    for distribution in distributions():
        # damaged metadata raises; the registry reads it, too, so the error appears there
        with suppress(Exception):
            modules = _plugin_modules(distribution)
            if modules or is_editable(distribution):
                for name in (*modules, *_top_names(distribution)):
                    # the first one on the path is the one that `import` finds
                    owners.setdefault(name, distribution)
    return owners


@cache
def editable_distributions() -> tuple[Distribution, ...]:
    """Return the distributions that are installed to be edited, without routelab."""
    # by name, because `_owners` has a distribution once for each of its modules
    editable = {
        distribution.name: distribution
        for distribution in _owners().values()
        if is_editable(distribution)
    }
    editable.pop(OWN, None)
    return tuple(editable.values())


@cache
def is_editable(distribution: Distribution) -> bool:
    """Return whether a distribution was installed to be edited (``pip install --editable``)."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False


def _plugin_modules(distribution: Distribution) -> list[str]:
    points = distribution.entry_points
    return [point.module for point in points if point.group.startswith(f"{OWN}.")]


@cache
def _top_names(distribution: Distribution) -> tuple[str, ...]:
    """Return the names of the top-level modules of a distribution, from three sources.

    Which of them exist depends on the build tool, and on whether the distribution is editable.
    """
    # 1. Entry points, and 2. a list that only setuptools writes.
    names = {module.partition(".")[0] for module in _plugin_modules(distribution)}
    names.update((distribution.read_text("top_level.txt") or "").split())
    # 3. The installed files. Of an editable distribution, this is a file .pth: each of its lines is
    #    a folder that Python adds to its path, here the source folder with the modules.
    for path in distribution.files or ():
        if path.suffix == ".pth":
            pth_file = str(distribution.locate_file(path))
            with suppress(OSError, ValueError), open(pth_file, encoding="utf-8") as stream:
                for line in stream:
                    names.update(_modules_in(line.strip()))
        elif not path.parts[0].endswith((".dist-info", ".egg-info")):
            names.add(path.parts[0].removesuffix(".py"))
    return tuple(sorted(name for name in names if name.isidentifier()))


def _modules_in(folder: str) -> Iterator[str]:
    """Yield the names of the modules and packages in a folder."""
    if os.path.isdir(folder):
        for entry in os.scandir(folder):
            if entry.name.endswith(".py") or os.path.isfile(f"{entry.path}/__init__.py"):
                yield entry.name.removesuffix(".py")


# --- content --------------------------------------------------------------------------------------


def digest(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of the names and contents of files, but not of their paths."""
    lines = [f"{name} {_hash(files[name])}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _hash(file: str) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read or is no regular file."""
    try:
        status = os.stat(file)
        # a pipe would block
        if not stat.S_ISREG(status.st_mode):
            return ""
        return _hash_once(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return ""


@cache
def _hash_once(file: str, _time_ns: int, _size: int) -> str:
    """Read a file and return its SHA-256, once for each time of modification and size."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def core_digest() -> str:
    """Return the digest of the part of routelab that computes results, read once per process."""
    return digest(core_files())


def forget() -> None:
    """Forget all that is remembered of installed distributions and their files."""
    for remembered in (
        *(_own_files, core_digest, _recorded_files, _module_files, _module_paths),
        *(_owners, editable_distributions, is_editable, _top_names),
    ):
        remembered.cache_clear()
