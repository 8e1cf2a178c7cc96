"""Compiled functions as plain Python, so that every access to an array can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

Substitutes = Mapping[Any, Callable[..., Any]]


def plain_python(function: Any, substitutes: Substitutes | None = None) -> Callable[..., Any]:
    """Return a compiled function as Python code that calls only Python code.

    Compiled functions that it calls are replaced, too, and so are helpers, which Numba compiles
    into their callers (`routelab.kernels.jit.helper`). They may be globals, variables of an
    enclosing function or attributes of a module.

    The types of NumPy that the code names become Python's: ``np.int32(x)`` is ``int(x)``. Compiled
    code computes integers with 64 bits, in which Python's agree with it; NumPy's int32 would
    overflow, and its ``True + True`` is ``True`` instead of 2. ``np.uint64`` is not converted.

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
        # A compiled function keeps the Python function in `py_func`; a helper is one itself.
        source = getattr(compiled, "py_func", compiled)
        if id(source) in self._converted:
            return self._converted[id(source)]
        # 1. A copy with globals of its own, and with empty cells for the variables of an enclosing
        #    function. It is stored before its values are converted, because one of them may be a
        #    function that calls this one.
        globals_ = dict(source.__globals__)
        cells = tuple(CellType() for _ in source.__closure__ or ())
        python_function = FunctionType(
            source.__code__, globals_, source.__name__, source.__defaults__, cells or None
        )
        self._converted[id(source)] = python_function
        # 2. The values that its code names.
        for name in _global_names(source.__code__):
            if name in globals_:
                globals_[name] = self.convert_value(globals_[name])
        for cell, original in zip(cells, source.__closure__ or (), strict=True):
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
