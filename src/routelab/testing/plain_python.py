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
    too: globals, variables of an enclosing function and attributes of a module. NumPy's integers
    and floats become Python's, whose arithmetic is closer to that of compiled code: no bits are
    lost, and truth values can be added. Unsigned 64-bit integers are not converted.

    Parameters
    ----------
    function : compiled function
    substitutes : mapping, optional
        Functions to call instead of some compiled functions.
    """
    return _Converter(substitutes or {}).convert_function(function)


class _Converter:
    """Converts compiled functions to Python code, each once, so that functions may be recursive."""

    def __init__(self, substitutes: Substitutes) -> None:
        self._substitutes = substitutes
        self._converted: dict[int, Callable[..., Any]] = {}

    def convert_function(self, compiled: Any) -> Callable[..., Any]:
        """Return a compiled function as plain Python, with all that it calls."""
        # A compiled function keeps its source in `py_func`; a helper is that source.
        body = getattr(compiled, "py_func", compiled)
        if id(body) in self._converted:
            return self._converted[id(body)]
        globals_ = dict(body.__globals__)
        cells = tuple(CellType() for _ in body.__closure__ or ())
        python_function = FunctionType(
            body.__code__, globals_, body.__name__, body.__defaults__, cells or None
        )
        # Noted before what it calls is converted, which may call it again.
        self._converted[id(body)] = python_function
        for name in _global_names(body.__code__):
            if name in globals_:
                globals_[name] = self.convert_value(globals_[name])
        for cell, original in zip(cells, body.__closure__ or (), strict=True):
            cell.cell_contents = self.convert_value(original.cell_contents)
        return python_function

    def convert_value(self, value: Any) -> Any:
        """Return the Python counterpart of a value that a compiled function names."""
        if isinstance(value, type):
            return _TYPES.get(value, value)
        if isinstance(value, ModuleType):
            return _Module(value, self)
        # A helper is Python already, but may call compiled functions; functions of NumPy do not.
        is_helper = isinstance(value, FunctionType) and not value.__module__.startswith("numpy")
        is_compiled = hasattr(value, "py_func")
        if not is_helper and not is_compiled:
            return value
        if value in self._substitutes:
            return self._substitutes[value]
        return self.convert_function(value)


class _Module:
    """A module with its compiled functions as plain Python."""

    def __init__(self, module: ModuleType, converter: _Converter) -> None:
        self._module, self._converter = module, converter

    def __getattr__(self, name: str) -> Any:
        return self._converter.convert_value(getattr(self._module, name))


def _global_names(code: Any) -> set[str]:
    """Return the globals that code may name, including inner functions."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _global_names(constant)
    return names


def _integer(value: Any = 0) -> int:
    return int(value)


_TYPES: Mapping[type, Callable[..., Any]] = {
    **dict.fromkeys((np.int8, np.int16, np.int32, np.int64, np.intp, np.uint8), _integer),
    **dict.fromkeys((np.float32, np.float64), float),
    np.bool_: bool,
}
