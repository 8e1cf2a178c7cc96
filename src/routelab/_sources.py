"""Which source files a module is made of: its own and those that it imports.

Two things need to know it without importing anything: the fingerprint of a job, which changes
when code that the job runs changes, and the rule for numba's cache, whose entries are stale when
a kernel in *another* file changes. This module lies under everything else, imports the standard
library only, and little of that, as every start of a process pays for it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES

Place = tuple[str | None, tuple[str, ...]]
"""A module's file (None for a namespace) and, for a package, the folders of its submodules."""

_STATEMENT = re.compile(
    rb"(?:^|[;:])[ \t\f]*((?:from|import)\b(?:\([^)]*\)|\\\n|[^\n;(\\])*)", re.MULTILINE
)


class Sources:
    """The source files of importable modules, each read once.

    Parameters
    ----------
    path : sequence of str, optional
        Folders in which top-level modules are looked up. Without it they are found as `import`
        would find them, so that an editable install leads to the files that are edited.
    """

    def __init__(self, path: Sequence[str] | None = None) -> None:
        self._path = path
        self._places: dict[str, Place | None] = {}
        self._texts: dict[str, bytes] = {}
        self._closures: dict[tuple[frozenset[str], frozenset[str], bool], dict[str, str]] = {}
        self._digests: dict[tuple[frozenset[str], frozenset[str], bool], str] = {}

    def locate(self, module: str) -> Place | None:
        """Where a module lies, found without importing it or its packages; None if nowhere."""
        if module not in self._places:
            self._places[module] = self._find(module)
        return self._places[module]

    def _find(self, module: str) -> Place | None:
        parent, _, name = module.rpartition(".")
        if parent:
            above = self.locate(parent)
            return _in_folders(name, above[1] if above else ())
        return _as_import_finds(name) if self._path is None else _in_folders(name, self._path)

    def text(self, module: str) -> bytes:
        """The content of a module's file; empty for a namespace and for an unreadable file."""
        place = self.locate(module)
        file = place[0] if place else None
        if file is None:
            return b""
        if file not in self._texts:
            try:
                with open(file, "rb") as stream:
                    self._texts[file] = stream.read()
            except OSError:
                self._texts[file] = b""
        return self._texts[file]

    def modules(self, package: str) -> list[str]:
        """Names of all Python modules in `package`, itself included, in alphabetical order."""
        place = self.locate(package)
        if place is None:
            return []
        found = [package]
        for folder in place[1]:
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                name, dot, suffix = entry.name.partition(".")
                if not name.isidentifier() or name in ("__init__", "__pycache__"):
                    continue
                if suffix == "py":
                    found.append(f"{package}.{name}")
                elif not dot and entry.is_dir():
                    found.extend(self.modules(f"{package}.{name}"))
        return sorted(set(found))

    def imports(self, module: str) -> Iterator[str]:
        """Absolute names of the modules that `module` imports anywhere in its text."""
        place = self.locate(module)
        if place is None or place[0] is None or not place[0].endswith(".py"):
            return
        for dots, base, names in import_statements(self.text(module)):
            if dots:
                here = module.split(".") if place[1] else module.split(".")[:-1]
                here = here[: len(here) - dots + 1]
                base = ".".join([*here, base] if base else here)
            yield base
            for name in names:
                # a name that is imported from a package is an attribute of it or a submodule
                if self.locate(f"{base}.{name}"):
                    yield f"{base}.{name}"

    def closure(
        self, modules: Iterable[str], roots: Collection[str], packages: bool = True
    ) -> dict[str, str]:
        """Files of `modules` and of everything that they import, directly or not.

        Parameters
        ----------
        modules : iterable of str
        roots : collection of str
            Top-level modules to follow; imports of any other are left out.
        packages : bool
            Count the ``__init__.py`` of every package on the way to a module, too, as importing
            the module runs them.

        Returns
        -------
        files : dict
            File by name of module, in alphabetical order of the names.

        Raises
        ------
        ModuleNotFoundError
            If one of `modules` itself cannot be found.
        """
        key = (frozenset(modules), frozenset(roots), packages)
        if key not in self._closures:
            for module in key[0]:
                if self.locate(module) is None:
                    raise ModuleNotFoundError(f"no source of a module named {module!r}")
            self._closures[key] = self._follow(key[0], key[1], packages)
        return self._closures[key]

    def _follow(
        self, modules: Iterable[str], roots: Collection[str], packages: bool
    ) -> dict[str, str]:
        files: dict[str, str] = {}
        seen: set[str] = set()
        waiting = list(modules)
        while waiting:
            module = waiting.pop()
            if module in seen or module.partition(".")[0] not in roots:
                continue
            seen.add(module)
            place = self.locate(module)
            if place is None:
                continue
            if place[0] is not None:
                files[module] = place[0]
            waiting.extend(self.imports(module))
            if packages and "." in module:
                waiting.append(module.rpartition(".")[0])
        return dict(sorted(files.items()))

    def digest(self, modules: Iterable[str], roots: Collection[str], packages: bool = True) -> str:
        """SHA-256 over the names and contents of a closure, wherever its files lie."""
        key = (frozenset(modules), frozenset(roots), packages)
        if key not in self._digests:
            total = hashlib.sha256()
            for module in self.closure(*key):
                total.update(f"{module} {hashlib.sha256(self.text(module)).hexdigest()}\n".encode())
            self._digests[key] = total.hexdigest()
        return self._digests[key]


@cache
def import_statements(text: bytes) -> list[tuple[int, str, tuple[str, ...]]]:
    """The import statements of a source text: (leading dots, module, imported names).

    Only the statements themselves are parsed, which takes a sixth of the time. A
    statement that stands in a string is reported as well: too much is harmless here, too little
    is not. If what looks like statements does not parse, the whole file is parsed; a file that
    does not parse at all has none.
    """
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found = [part for part in _STATEMENT.findall(text) if b"import" in part]
    try:
        tree = ast.parse(b"\n".join(found))
    except (SyntaxError, ValueError):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return []
    statements: list[tuple[int, str, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b.c` binds a, and through it everything on the way
                parts = alias.name.split(".")
                statements += [(0, ".".join(parts[: i + 1]), ()) for i in range(len(parts))]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names if alias.name != "*")
            statements.append((node.level, node.module or "", names))
    return statements


def _in_folders(name: str, folders: Iterable[str]) -> Place | None:
    """A module or package called `name` in the first of `folders` that has it."""
    portions = []
    for folder in folders:
        base = os.path.join(folder, name)
        package = os.path.join(base, "__init__.py")
        if os.path.isfile(package):
            return package, (base,)
        for suffix in (".py", *EXTENSION_SUFFIXES):
            if os.path.isfile(base + suffix):
                return base + suffix, ()
        if os.path.isdir(base):
            portions.append(base)
    return (None, tuple(portions)) if portions else None


def _as_import_finds(name: str) -> Place | None:
    """A top-level module where `import` would find it; finding one runs none of its code."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        try:
            spec = find_spec(name, None) if find_spec else None
        except ImportError:  # a finder may refuse a name, and `import` then fails at once
            return None
        if spec is not None:
            file = spec.origin if spec.has_location else None
            return file, tuple(spec.submodule_search_locations or ())
    return None
