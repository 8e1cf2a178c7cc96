"""Properties of compiled routing functions that their Python bytecode shows."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from routelab.api import HopProgram
from routelab.kernels import hops

_QUEUES = {"hop": 3, "inject": 4}
"""Position of the argument `queues`."""


def reads_queues(program: HopProgram) -> bool:
    """Return whether a function of a program reads its argument `queues`, or passes it on."""
    return any(
        function is not None and _loads_argument(function.py_func.__code__, _QUEUES[name])
        for name, function in (("hop", program.hop), ("inject", program.inject))
    )


def _loads_argument(code: Any, position: int) -> bool:
    """Return whether code uses one of its arguments."""
    name = code.co_varnames[position]
    # one instruction may load two variables
    return any(
        instruction.opname.startswith("LOAD_")
        and (instruction.argval == name or name in _as_tuple(instruction.argval))
        for instruction in dis.get_instructions(code)
    )


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def has_unscripted_draws(program: HopProgram) -> bool:
    """Return whether a function has draws that the checker does not try."""
    return any(
        {"redraw", "unscripted"} & set(called.__code__.co_names)
        for function in (program.hop, program.inject)
        for called in _called_functions(function, set())
    )


def reads_random_words(function: Any) -> str:
    """Return the name of a function that reads a random word itself; empty if none does.

    Parameters
    ----------
    function : compiled function or None
        It and all compiled functions that it calls count, except those of `routelab.kernels.hops`.
    """
    for called in _called_functions(function, set()):
        if {"word", "script"} & set(called.__code__.co_names):
            return str(called.__name__)
    return ""


def _called_functions(function: Any, visited: set[Any]) -> Iterator[Any]:
    """Iterate over a compiled function and those that it calls."""
    python = getattr(function, "py_func", None)
    if python is None or python in visited or python.__module__ == hops.__name__:
        return
    visited.add(python)
    yield python
    names = python.__code__.co_names
    named_values = [python.__globals__.get(name) for name in names]
    modules = [value for value in named_values if isinstance(value, ModuleType)]
    for value in (
        *named_values,
        *(getattr(module, name, None) for module in modules for name in names),
    ):
        yield from _called_functions(value, visited)
    for cell in python.__closure__ or ():
        yield from _called_functions(cell.cell_contents, visited)
