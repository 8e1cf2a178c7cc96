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
    """Return the files of routelab, without some parts: folders, or modules of these names."""
    left_out = tuple(f"{OWN}/{part}{end}" for part in without for end in ("/", ".py"))
    return {name: file for name, file in _own_files().items() if not name.startswith(left_out)}


def kernel_files() -> Files:
    """Return the modules of routelab's kernels, which import no other modules of routelab."""
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

    Of a built-in plugin, modules beside the kinds with the names in `without` are left out.
    Nothing is imported. A module that is nowhere to be found has no files.
    """
    distribution = owner(module)
    top, *inner = module.split(".")
    if top == OWN:
        return {}
    if distribution is not None and distribution.name == OWN:
        left_out = {f"{top}/{name}.py" for name in without}
        files = _built_in_files(top, inner)
        return {name: file for name, file in files.items() if name not in left_out}
    found = _in_place([top]) if distribution is None else distribution_files(distribution)
    for other in editable_distributions():
        found |= distribution_files(other)
    return found


def _built_in_files(top: str, inner: list[str]) -> Files:
    """Return the files in the folder of a built-in plugin, and the modules beside the kinds."""
    folder = "/".join([top, *inner[:2], ""])
    return {
        name: file
        for name, file in _in_place([top]).items()
        if name.startswith(folder) or name.count("/") == 1
    }


def distribution_files(distribution: Distribution) -> Files:
    """Return the files that the code of a distribution may read."""
    if is_editable(distribution) or distribution.files is None:
        return _in_place(_top_names(distribution))
    return _recorded(distribution)


@cache
def _recorded(distribution: Distribution) -> Files:
    return {
        str(path): str(distribution.locate_file(path))
        for path in distribution.files or ()
        if not path.parts[0].endswith((".dist-info", ".egg-info")) and path.suffix != ".pyc"
    }


def _in_place(names: Iterable[str]) -> Files:
    """Return the files of top-level modules where `import` would find them."""
    found: Files = {}
    for name in names:
        found |= _files_of(name)
    return found


@cache
def _files_of(name: str) -> Files:
    """Return the files of one top-level module; a folder of plugins is walked once."""
    found: Files = {}
    for place in _places(name):
        if os.path.isdir(place):
            found |= {f"{name}/{inner}": file for inner, file in files_in(place)}
        else:
            found[os.path.basename(place)] = place
    return found


@cache
def _places(name: str) -> tuple[str, ...]:
    """Return the folders of a top-level package, or the file of a module, without importing it."""
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
    """Iterate over the files in a folder: name in it, and path; without compiled Python code."""
    for here, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != "__pycache__" and not one.startswith(".")]
        for name in names:
            if not name.endswith((".pyc", ".pyo")):
                file = os.path.join(here, name)
                yield os.path.relpath(file, folder).replace(os.sep, "/"), file


@cache
def _own_files() -> Files:
    return {f"{OWN}/{name}": file for name, file in files_in(PACKAGE)}


# --- distributions --------------------------------------------------------------------------------


def owner(module: str) -> Distribution | None:
    """Return the distribution with plugins, or installed to be edited, that has a module.

    A module that no entry point names belongs to the distribution with the same top-level module.
    """
    found = _owners()
    return found.get(module) or found.get(module.partition(".")[0])


@cache
def _owners() -> dict[str, Distribution]:
    """Return the distribution of each module with plugins or in an editable installation."""
    found: dict[str, Distribution] = {}
    for distribution in distributions():
        with suppress(Exception):  # metadata that cannot be read is the registry's to report
            modules = _plugin_modules(distribution)
            if modules or is_editable(distribution):
                for name in (*modules, *_top_names(distribution)):
                    found.setdefault(name, distribution)
    return found


@cache
def editable_distributions() -> tuple[Distribution, ...]:
    """Return the distributions that are installed to be edited, without routelab."""
    found = {one.name: one for one in _owners().values() if is_editable(one)}
    found.pop(OWN, None)
    return tuple(found.values())


@cache
def is_editable(distribution: Distribution) -> bool:
    """Return whether a distribution is used where its sources are edited."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False


def _plugin_modules(distribution: Distribution) -> list[str]:
    points = distribution.entry_points
    return [one.module for one in points if one.group.startswith(f"{OWN}.")]


@cache
def _top_names(distribution: Distribution) -> tuple[str, ...]:
    """Return the names of the top-level modules of a distribution."""
    names = {module.partition(".")[0] for module in _plugin_modules(distribution)}
    names.update((distribution.read_text("top_level.txt") or "").split())
    for path in distribution.files or ():
        if path.suffix == ".pth":  # lines are folders in which the modules of an editable one are
            lines = str(distribution.locate_file(path))
            with suppress(OSError, ValueError), open(lines, encoding="utf-8") as stream:
                for line in stream:
                    names.update(_modules_in(line.strip()))
        elif not path.parts[0].endswith((".dist-info", ".egg-info")):
            names.add(path.parts[0].removesuffix(".py"))
    return tuple(sorted(name for name in names if name.isidentifier()))


def _modules_in(folder: str) -> Iterator[str]:
    if os.path.isdir(folder):
        for entry in os.scandir(folder):
            if entry.name.endswith(".py") or os.path.isfile(f"{entry.path}/__init__.py"):
                yield entry.name.removesuffix(".py")


# --- content --------------------------------------------------------------------------------------


def digest(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of the names and contents of files, wherever they are."""
    lines = [f"{name} {_hash(files[name])}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _hash(file: str) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read or is a pipe."""
    try:
        status = os.stat(file)
        regular = stat.S_ISREG(status.st_mode)
        return _hash_of(file, status.st_mtime_ns, status.st_size) if regular else ""
    except OSError:
        return ""


@cache
def _hash_of(file: str, _modified: int, _size: int) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def core_digest() -> str:
    """Return the digest of the part of routelab that computes results, read once per process."""
    return digest(core_files())


def forget() -> None:
    """Forget all that is remembered of installed distributions and their files."""
    for remembered in (
        *(_recorded, _files_of, _places, _owners, editable_distributions, is_editable, _top_names),
        *(_own_files, core_digest),
    ):
        remembered.cache_clear()
