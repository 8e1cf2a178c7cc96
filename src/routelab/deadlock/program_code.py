"""Properties of compiled routing functions that their Python bytecode shows."""

from __future__ import annotations

import builtins
import dis
import enum
import math
import operator
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.core import ir as numba_ir
from numba.core.compiler import run_frontend
from numba.core.registry import cpu_target

from routelab.api import HopProgram
from routelab.kernels import hops

_QUEUES = {"hop": 3, "inject": 4}
"""Position of the argument `queues`."""
_KERNELS = hops.__name__.rpartition(".")[0] + "."
"""Package whose functions are known to use arguments only."""
_FROZEN_BYTES = 10**6
"""Size up to which numba copies arrays into the code."""
_BUILTINS = frozenset(
    getattr(builtins, name)
    for name in (
        *("abs", "all", "any", "bool", "complex", "divmod", "enumerate", "float", "int"),
        *("isinstance", "len", "list", "max", "min", "pow", "range", "reversed", "round"),
        *("slice", "sorted", "sum", "tuple", "zip"),
    )
)
_UNINITIALISED = frozenset({"empty", "empty_like"})
"""NumPy functions whose arrays hold what was in memory before."""


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
        {"redraw", "unscripted"} & _names(called)
        for function in (program.hop, program.inject)
        for called in _called_functions(function)
    )


def reads_random_words(function: Any) -> str:
    """Return the name of a function that reads a random word itself; empty if none does.

    Parameters
    ----------
    function : compiled function or None
        It and all functions that it calls count, except those of `routelab.kernels.hops`.
    """
    for called in _called_functions(function):
        if {"word", "script"} & _names(called):
            return str(called.__name__)
    python = _python_function(function)
    if python is None:
        return ""
    return _unpacks_argument(python, python.__code__.co_argcount - 2, set())


def _unpacks_argument(
    function: FunctionType, position: int, visited: set[tuple[FunctionType, int]]
) -> str:
    """Return the name of a function that takes an argument apart without an attribute.

    That is ``random[0]``, an assignment to several names, or what may hide either: a tuple with the
    argument in it, a call of what cannot be followed. Functions of `routelab.kernels` are trusted.
    """
    if (function, position) in visited or function.__module__.startswith(_KERNELS):
        return ""
    visited.add((function, position))
    blocks = run_frontend(function).blocks.values()  # type: ignore[no-untyped-call]
    steps = [step for block in blocks for step in block.find_insts(numba_ir.Assign)]
    values = {step.target.name: step.value for step in steps}
    # 1. All names of the argument.
    aliases = {
        name
        for name, value in values.items()
        if isinstance(value, numba_ir.Arg) and value.index == position
    }
    for _ in steps:
        aliases |= {
            step.target.name
            for step in steps
            if isinstance(step.value, numba_ir.Var) and step.value.name in aliases
        }
    # 2. Whatever uses one of them, but for its attributes and calls that can be followed.
    for step in steps:
        used = step.value
        if not isinstance(used, numba_ir.Expr) or used.op == "getattr":
            continue
        used_names = {variable.name for variable in used.list_vars()}  # type: ignore[no-untyped-call]
        if not aliases & used_names:
            continue
        if used.op != "call" or used.vararg is not None:
            return function.__name__
        callee = values.get(used.func.name)
        while isinstance(callee, numba_ir.Var):
            callee = values.get(callee.name)
        if isinstance(callee, numba_ir.Arg):
            # inject calls hop, which is examined itself
            continue
        python = _python_function(getattr(callee, "value", None))
        if python is None:
            return function.__name__
        names = python.__code__.co_varnames
        given = [*enumerate(used.args), *((names.index(name), var) for name, var in used.kws)]
        for place, variable in given:
            if variable.name in aliases and (culprit := _unpacks_argument(python, place, visited)):
                return culprit
    return ""


def find_hidden_state(program: HopProgram) -> str:
    """Say what the functions of a program use that may change between two equal calls.

    Arguments, constants, arrays that numba has copied into the code, NumPy's operations on arrays,
    mathematics and `routelab.kernels` may not. The same holds for functions that use nothing else.
    All others may hide a state: random generators, clocks, memory by its address, Python objects.

    What the arguments hold is examined elsewhere: queues by `reads_queues`, random words by
    `reads_random_words`, and rows of other packets and of `out` by calls with other contents.

    Returns
    -------
    str
        The first such use, with the function that it is in; empty if there is none.
    """
    for function in (program.hop, program.inject):
        for called in _called_functions(function):
            if called.__module__.startswith(_KERNELS):
                continue
            for name, value in _references(called):
                if not _is_constant(value) and not _is_known_function(value):
                    return f"{name} in {called.__name__}"
            for value in (*(called.__defaults__ or ()), *(called.__kwdefaults__ or {}).values()):
                if not _is_constant(value) or isinstance(value, np.ndarray):
                    return f"a default value of {called.__name__}"
            # the address of an array is no argument, and leads to memory beside it
            if "ctypes" in _names(called):
                return f"ctypes in {called.__name__}"
    return ""


def _is_constant(value: Any) -> bool:
    """Return whether a value is part of the code once it is compiled."""
    if isinstance(value, tuple):
        return all(_is_constant(item) or _is_known_function(item) for item in value)
    if isinstance(value, np.ndarray):
        is_copied = value.nbytes <= _FROZEN_BYTES and value.flags.forc
        return is_copied and value.dtype.kind in "biufc"
    if isinstance(value, type):
        is_data = issubclass(value, (np.generic, enum.Enum, BaseException)) or (
            issubclass(value, tuple) and hasattr(value, "_fields")
        )
        return is_data or value in _BUILTINS
    scalars = (bool, int, float, complex, str, bytes, np.generic, np.dtype, enum.Enum, types.Type)
    return value is None or isinstance(value, scalars)


def _is_known_function(value: Any) -> bool:
    """Return whether a value is a function that uses its arguments only, or is examined itself."""
    if _python_function(value) is not None:
        return True
    if isinstance(value, BuiltinFunctionType) and (
        value in _BUILTINS or value in vars(math).values() or value in vars(operator).values()
    ):
        return True
    name = getattr(value, "__name__", "")
    return callable(value) and name not in _UNINITIALISED and getattr(np, name, None) is value


def _called_functions(function: Any) -> Iterator[FunctionType]:
    """Iterate over a compiled function and those that it calls, but for `routelab.kernels.hops`."""
    visited: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        python = _python_function(waiting.pop())
        if python is None or python in visited or python.__module__ == hops.__name__:
            continue
        visited.add(python)
        yield python
        for _, value in _references(python):
            waiting += value if isinstance(value, tuple) else (value,)


def _python_function(value: Any) -> FunctionType | None:
    """Return the Python function that numba compiles for a value; None if it compiles another."""
    python = getattr(value, "py_func", None)
    if isinstance(python, FunctionType):
        in_python = value.targetoptions.get("forceobj") or value.targetoptions.get("pyobject")
        return None if in_python else python
    # `register_jitable` makes a Python function the implementation of itself
    if isinstance(value, FunctionType) and not value.__module__.startswith("numpy"):
        typing = cpu_target.typing_context
        typing.refresh()
        templates = getattr(typing.resolve_value_type(value), "templates", ())
        implementations = [getattr(template, "_overload_func", None) for template in templates]
        is_own = implementations and all(
            getattr(own, "__qualname__", "").startswith("register_jitable.")
            for own in implementations
        )
        return value if is_own else None
    return None


def _names(function: FunctionType) -> set[str]:
    """Return the names of globals and attributes in a function."""
    return {name for code in _codes(function.__code__) for name in code.co_names}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Iterate over the code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Iterate over what a function refers to by name, and the value of each name.

    A name is followed through modules: ``np.random.rand`` is the function, not three values.
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosed = {name: cell.cell_contents for name, cell in cells}
    lookups: dict[str, Callable[[str], Any]] = {
        "LOAD_GLOBAL": lambda name: function.__globals__.get(name, getattr(builtins, name, None)),
        "LOAD_DEREF": enclosed.get,
    }
    for code in _codes(function.__code__):
        name, value = "", None
        for instruction in dis.get_instructions(code):
            operation, argument = instruction.opname, instruction.argval
            if operation in ("EXTENDED_ARG", "PUSH_NULL"):
                continue
            if name and operation in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                name, value = f"{name}.{argument}", getattr(value, argument, None)
                continue
            if name:
                yield name, value
            name = argument if operation in lookups else ""
            value = lookups[operation](argument) if name else None
        if name:
            yield name, value
