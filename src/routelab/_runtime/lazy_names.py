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

    A package calls this as it is imported: ``__getattr__, __dir__ = lazy_names(__name__)``. Its
    ``__init__.pyi`` says where each name comes from, as in
    ``from routelab.api.errors import InputError``, and has ``__all__``. No name may be that of a
    module in the package: once that is imported, Python gives the module instead.

    Parameters
    ----------
    package : str

    Returns
    -------
    load : callable
    list_names : callable
    """
    # What is stored here is an attribute of the package, so Python does not call `load` for it.
    namespace = vars(sys.modules[package])
    module_names: dict[str, str] = {}  # by the names that they define

    def read_stub() -> None:
        """Read ``__init__.pyi``: fill `module_names`, and set ``__all__`` of the package."""
        import ast

        folder = os.path.dirname(namespace["__file__"])
        with open(f"{folder}/__init__.pyi", encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom):
                module = str(statement.module)
                module_names.update((alias.name, module) for alias in statement.names)
            # the only assignment in a stub is `__all__ = [...]`
            elif isinstance(statement, ast.Assign):
                namespace["__all__"] = ast.literal_eval(statement.value)

    def load(name: str) -> object:
        """Return the object called `name`.

        Python calls this only for names that the package does not have yet.
        """
        if not module_names:
            read_stub()
        if name in module_names:
            from importlib import import_module

            if problem := unsupported_platform():
                raise ImportError(problem)
            # stored, so that Python does not ask again
            namespace[name] = getattr(import_module(module_names[name]), name)
        if name not in namespace:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return namespace[name]

    def list_names() -> list[str]:
        load("__all__")  # for its effect: the first call reads the stub
        return sorted({*namespace, *module_names})

    return load, list_names
