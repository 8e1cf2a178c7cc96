"""Which source files a module is made of: its own and those that it imports.

Two things need to know it without importing anything. The fingerprint of a job changes when code
that the job runs changes. An entry of Numba's cache is stale when a kernel in *another* file
changes. This module is below all others. It imports only the standard library, and little of that,
because every start of a process pays for it.
"""

from __future__ import annotations

import ast
import codecs
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES

Place = tuple[str | None, tuple[str, ...]]
"""A module's file (None for a namespace) and, for a package, the folders of its submodules."""

Step = tuple[str, str | None]
"""A module to follow: one name that is imported from it, or None for all that it imports."""

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
        self._hashes: dict[str, str] = {}
        self._exports: dict[str, dict[str, Step | None] | None] = {}
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

    def add_script(self, name: str, file: str) -> None:
        """Let `name` stand for a file that no import finds."""
        self._places[name] = (file, ())

    def text(self, module: str) -> bytes:
        """Return the content of a module's file; empty for a namespace or an unreadable file."""
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
        for base, names in self._import_statements(module):
            yield base
            for name in names:
                # a name that is imported from a package is an attribute of it or a submodule
                if self.locate(f"{base}.{name}"):
                    yield f"{base}.{name}"

    def _import_statements(self, module: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Absolute names of modules that `module` imports, with the names imported from each."""
        place = self.locate(module)
        if place is None or place[0] is None or not place[0].endswith(".py"):
            return
        for dots, base, names in import_statements(self.text(module)):
            if dots:
                here = module.split(".") if place[1] else module.split(".")[:-1]
                here = here[: len(here) - dots + 1]
                base = ".".join([*here, base] if base else here)
            yield base, names

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
            the module runs them, and all that these import. Without it only such modules count as
            what is imported by name can come from.

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
        seen: set[Step] = set()
        waiting: list[Step] = [(module, None) for module in modules]
        while waiting:
            step = waiting.pop()
            module, name = step
            if step in seen or module.partition(".")[0] not in roots:
                continue
            seen.add(step)
            place = self.locate(module)
            if place is None:
                continue
            if place[0] is not None:
                files[module] = place[0]
            if name is not None:
                waiting.extend(self._origins(module, name))
            elif packages:
                waiting.extend((each, None) for each in self.imports(module))
                if "." in module:
                    waiting.append((module.rpartition(".")[0], None))
            else:
                for base, names in self._import_statements(module):
                    waiting.extend((base, each) for each in names or (None,))
        return dict(sorted(files.items()))

    def _origins(self, module: str, name: str) -> Iterator[Step]:
        """Where a name that is imported from a module comes from; all of it where unsure."""
        is_submodule = self.locate(f"{module}.{name}") is not None
        if is_submodule:
            yield f"{module}.{name}", None
        exports = self._all_exports(module)
        if exports is None or (name not in exports and not is_submodule):
            yield module, None
        elif origin := exports.get(name):
            yield origin

    def _all_exports(self, module: str) -> dict[str, Step | None] | None:
        """Return where a package's ``__init__.py`` imports each name from; None if it does more."""
        if module not in self._exports:
            place = self.locate(module)
            is_package = place is not None and bool(place[1])
            self._exports[module] = exports(self.text(module), module) if is_package else None
        return self._exports[module]

    def digest(self, modules: Iterable[str], roots: Collection[str], packages: bool = True) -> str:
        """SHA-256 over the names and contents of a closure, wherever its files lie."""
        key = (frozenset(modules), frozenset(roots), packages)
        if key not in self._digests:
            total = hashlib.sha256()
            for module in self.closure(*key):
                total.update(f"{module} {self._hash(module)}\n".encode())
            self._digests[key] = total.hexdigest()
        return self._digests[key]

    def _hash(self, module: str) -> str:
        if module not in self._hashes:
            self._hashes[module] = hashlib.sha256(self.text(module)).hexdigest()
        return self._hashes[module]


@cache
def import_statements(text: bytes) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return the import statements of a source text: (leading dots, module, imported names).

    Only the statements themselves are parsed, which takes a sixth of the time. A
    statement that stands in a string is reported as well: too much is harmless here, too little
    is not. If what looks like statements does not parse, the whole file is parsed; a file that
    does not parse at all has none.
    """
    text = text.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found = [part for part in _STATEMENT.findall(text) if b"import" in part]
    try:
        tree = ast.parse(b"\n".join(found))
    except (SyntaxError, ValueError):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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


def exports(text: bytes, package: str) -> dict[str, Step | None] | None:
    """Where the names in an ``__init__.py`` come from, if it only imports them and sets literals.

    Parameters
    ----------
    text : bytes
        Content of the file.
    package : str
        Its absolute name.

    Returns
    -------
    exports : dict or None
        Module and name there, by name; None for a literal. None if the file does anything else
        at all: then a name may depend on all that it imports.
    """
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    bound: list[tuple[str, Step | None]] = []
    for node in body:
        if isinstance(node, ast.ImportFrom):
            here = package.split(".")
            here = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join([*here, node.module] if node.module else here)
            bound += [(alias.asname or alias.name, (base, alias.name)) for alias in node.names]
        elif isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
            try:
                ast.literal_eval(node.value)
            except (ValueError, TypeError, RecursionError):
                return None
            bound += [(target.id, None) for target in node.targets if isinstance(target, ast.Name)]
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return None
    found = dict(bound)
    return found if len(found) == len(bound) and "*" not in found else None


def _in_folders(name: str, folders: Iterable[str]) -> Place | None:
    """Find a module or package called `name` in the first of `folders` that has it."""
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
    """Find a top-level module where `import` would find it, without running its code."""
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
