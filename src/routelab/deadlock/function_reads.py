"""What compiled routing functions read, from their code."""

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
        function is not None and _loads(function.py_func.__code__, _QUEUES[name])
        for name, function in (("hop", program.hop), ("inject", program.inject))
    )


def _loads(code: Any, place: int) -> bool:
    """Return whether code uses one of its arguments."""
    name = code.co_varnames[place]
    # one instruction may load two variables
    return any(
        line.opname.startswith("LOAD_") and (line.argval == name or name in _pair(line.argval))
        for line in dis.get_instructions(code)
    )


def _pair(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def leaves_draws(program: HopProgram) -> bool:
    """Return whether a function has draws that the checker does not try."""
    return any(
        {"redraw", "unscripted"} & set(one.__code__.co_names)
        for function in (program.hop, program.inject)
        for one in _reachable(function, set())
    )


def reads_words(function: Any) -> str:
    """Return the name of a function that reads a random word itself; empty if none does.

    Parameters
    ----------
    function : compiled function or None
        It and all compiled functions that it calls count, except those of `routelab.kernels.hops`.
    """
    for one in _reachable(function, set()):
        if {"word", "script"} & set(one.__code__.co_names):
            return str(one.__name__)
    return ""


def _reachable(function: Any, seen: set[Any]) -> Iterator[Any]:
    """Iterate over a compiled function and those that it calls."""
    python = getattr(function, "py_func", None)
    if python is None or python in seen or python.__module__ == hops.__name__:
        return
    seen.add(python)
    yield python
    names = python.__code__.co_names
    called = [python.__globals__.get(name) for name in names]
    modules = [one for one in called if isinstance(one, ModuleType)]
    for one in (*called, *(getattr(module, name, None) for module in modules for name in names)):
        yield from _reachable(one, seen)
    for cell in python.__closure__ or ():
        yield from _reachable(cell.cell_contents, seen)
