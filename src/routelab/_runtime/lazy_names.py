"""Names that a package offers and loads from its modules when they are first used.

Nearly all that `routelab.api` and `routelab.toolkit` offer needs NumPy and Numba, which take longer
to import than most commands. Who imports only their errors or their helpers for files does not pay
for the rest. Where a name comes from is written in the package's ``__init__.pyi`` alone, which type
checkers and editors read, too.
"""

from __future__ import annotations

import os
import sys

from routelab._runtime.platforms import unsupported_platform

TYPE_CHECKING = False  # as in `routelab._runtime.numba_hook`
if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are loaded when used.

    No name may be that of a module in the package, which Python would give instead.

    Parameters
    ----------
    package : str
        The caller, which is being imported.

    Returns
    -------
    tuple of callable
    """
    own = vars(sys.modules[package])
    modules: dict[str, str] = {}

    def read_stub() -> None:
        import ast

        with open(f"{os.path.dirname(own['__file__'])}/__init__.pyi", encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
        for part in tree.body:
            if isinstance(part, ast.ImportFrom):
                modules.update((alias.name, str(part.module)) for alias in part.names)
            elif isinstance(part, ast.Assign):
                own["__all__"] = ast.literal_eval(part.value)

    def load(name: str) -> object:
        if not modules:
            read_stub()
        if name in modules:
            from importlib import import_module

            if problem := unsupported_platform():
                raise ImportError(problem)
            own[name] = getattr(import_module(modules[name]), name)
        if name not in own:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return own[name]

    def list_names() -> list[str]:
        load("__all__")
        return sorted({*own, *modules})

    return load, list_names
