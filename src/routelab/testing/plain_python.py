"""Compiled functions as plain Python, so that every access to an array can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

Substitutes = Mapping[Any, Callable[..., Any]]


def plain_python(function: Any, substitutes: Substitutes | None = None) -> Callable[..., Any]:
    """Return a compiled function as Python code that calls only Python code.

    Compiled functions and helpers (see `routelab.kernels.jit.helper`) that it calls are replaced,
    too: globals, variables of an enclosing function
    and attributes of a module. NumPy's integers and floats become Python's, whose arithmetic is
    closer to that of compiled code: no bits are lost, and truth values can be added. Unsigned
    64-bit integers are not converted.

    Parameters
    ----------
    function : compiled function
    substitutes : mapping, optional
        Functions to call instead of some compiled functions.
    """
    return _Plain(substitutes or {}).function(function)


class _Plain:
    """Python versions of compiled functions; each is made once, so functions may be recursive."""

    def __init__(self, substitutes: Substitutes) -> None:
        self._substitutes = substitutes
        self._known: dict[int, Callable[..., Any]] = {}

    def function(self, compiled: Any) -> Callable[..., Any]:
        """Return a compiled function as plain Python, with all that it calls."""
        body = getattr(compiled, "py_func", compiled)
        if id(body) in self._known:
            return self._known[id(body)]
        globals_ = dict(body.__globals__)
        cells = tuple(CellType() for _ in body.__closure__ or ())
        twin = FunctionType(
            body.__code__, globals_, body.__name__, body.__defaults__, cells or None
        )
        # known before its names are replaced, which may name it again
        self._known[id(body)] = twin
        for name in _names(body.__code__):
            if name in globals_:
                globals_[name] = self.value(globals_[name])
        for cell, original in zip(cells, body.__closure__ or (), strict=True):
            cell.cell_contents = self.value(original.cell_contents)
        return twin

    def value(self, value: Any) -> Any:
        """Return the Python counterpart of a value that a compiled function names."""
        if isinstance(value, type):
            return _TYPES.get(value, value)
        if isinstance(value, ModuleType):
            return _Module(value, self)
        # a helper is Python already, but may call compiled functions; functions of NumPy do not
        is_helper = isinstance(value, FunctionType) and not value.__module__.startswith("numpy")
        is_compiled = hasattr(value, "py_func")
        if not is_helper and not is_compiled:
            return value
        return self._substitutes[value] if value in self._substitutes else self.function(value)


class _Module:
    """A module with its compiled functions as plain Python."""

    def __init__(self, module: ModuleType, plain: _Plain) -> None:
        self._module, self._plain = module, plain

    def __getattr__(self, name: str) -> Any:
        return self._plain.value(getattr(self._module, name))


def _names(code: Any) -> set[str]:
    """Return the globals that code may name, including inner functions."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names(constant)
    return names


def _integer(value: Any = 0) -> int:
    return int(value)


_TYPES: Mapping[type, Callable[..., Any]] = {
    **dict.fromkeys((np.int8, np.int16, np.int32, np.int64, np.intp, np.uint8), _integer),
    **dict.fromkeys((np.float32, np.float64), float),
    np.bool_: bool,
}
