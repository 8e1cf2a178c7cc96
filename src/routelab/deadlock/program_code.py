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

_QUEUES_POSITION = {"hop": 3, "inject": 4}
"""Position of the argument `queues` in the signatures `HOP` and `INJECT`."""
_KERNELS = hops.__name__.rpartition(".")[0] + "."
"""Package whose functions are known to use arguments only."""
_MAX_COPIED_BYTES = 10**6
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
        function is not None and _reads_argument(function.py_func.__code__, _QUEUES_POSITION[name])
        for name, function in (("hop", program.hop), ("inject", program.inject))
    )


def _reads_argument(code: Any, position: int) -> bool:
    """Return whether code reads the argument at a position."""
    name = code.co_varnames[position]
    for instruction in dis.get_instructions(code):
        loaded = instruction.argval
        # from Python 3.13 on, LOAD_FAST_LOAD_FAST loads two variables: a tuple of their names
        loads_argument = name in loaded if isinstance(loaded, tuple) else name == loaded
        if instruction.opname.startswith("LOAD_") and loads_argument:
            return True
    return False


def has_unscripted_draws(program: HopProgram) -> bool:
    """Return whether a function of a program has draws whose outcomes the checker does not try.

    Those are the draws behind `redraw` and `unscripted` of `routelab.kernels.hops`.
    """
    return any(
        {"redraw", "unscripted"} & _names(called)
        for function in (program.hop, program.inject)
        for called in _called_functions(function)
    )


def reads_random_words(function: Any) -> str:
    """Return the name of a function that reads a random word itself; empty if none does.

    The checker tries all outcomes of `pick` and of the other draws of `routelab.kernels.hops`. It
    does not know the outcomes of a function that reads the word in another way.

    Parameters
    ----------
    function : compiled function or None
        Functions that it calls are examined, too, except those of `routelab.kernels.hops`.
    """
    # 1. By attribute: `random.word` or `random.script` of a `RandomWord`.
    for called in _called_functions(function):
        if {"word", "script"} & _names(called):
            return str(called.__name__)
    # 2. By position, as RandomWord is a tuple: `random[0]`.
    python = _python_function(function)
    if python is None:
        return ""
    # `random` is the last argument but one of hop and of inject
    random_position = python.__code__.co_argcount - 2
    return _find_unpacking(python, random_position, set())


def _find_unpacking(
    function: FunctionType, position: int, visited: set[tuple[FunctionType, int]]
) -> str:
    """Return the name of a function that takes an argument apart without an attribute.

    It does so by ``random[0]``, by an assignment to several names, or by what may hide either: a
    tuple with the argument in it, or a call of a function whose code is not known. Functions of
    `routelab.kernels` are trusted. Empty if there is no such function.

    Parameters
    ----------
    function : function
        Examined, with the functions that it passes the argument to.
    position : int
        Position of the argument among the parameters of `function`.
    visited : set of (function, position)
        Updated: what was examined, so that recursion ends.
    """
    if (function, position) in visited or function.__module__.startswith(_KERNELS):
        return ""
    visited.add((function, position))
    blocks = run_frontend(function).blocks.values()  # type: ignore[no-untyped-call]
    steps = [step for block in blocks for step in block.find_insts(numba_ir.Assign)]
    values = {step.target.name: step.value for step in steps}
    # 1. All names of the argument. A chain of aliases (``a = random; b = a``) is at most as long as
    #    there are steps.
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
    # 2. Any expression with one of these names may take the argument apart, except `random.word`
    #    (step 1 of `reads_random_words`) and a call of a known function, which is examined in turn.
    for step in steps:
        expression = step.value
        if not isinstance(expression, numba_ir.Expr) or expression.op == "getattr":
            continue
        used_names = {variable.name for variable in expression.list_vars()}  # type: ignore[no-untyped-call]
        if not aliases & used_names:
            continue
        if expression.op != "call" or expression.vararg is not None:
            return function.__name__
        callee = values.get(expression.func.name)
        while isinstance(callee, numba_ir.Var):
            callee = values.get(callee.name)
        if isinstance(callee, numba_ir.Arg):
            # inject calls hop, which is examined itself
            continue
        python = _python_function(getattr(callee, "value", None))
        if python is None:
            return function.__name__
        parameters = python.__code__.co_varnames
        by_keyword = [(parameters.index(name), variable) for name, variable in expression.kws]
        for callee_position, variable in [*enumerate(expression.args), *by_keyword]:
            if variable.name in aliases:
                culprit = _find_unpacking(python, callee_position, visited)
                if culprit:
                    return culprit
    return ""


def find_hidden_state(program: HopProgram) -> str:
    """Say what the functions of a program use that may change between two equal calls.

    The following cannot change: arguments, constants, arrays that numba has copied into the code,
    NumPy's operations on arrays, mathematics, `routelab.kernels`, and functions that use nothing
    else. Anything else may hide a state: random generators, clocks, memory by its address, Python
    objects.

    What the arguments hold is examined elsewhere: queues by `reads_queues`, random words by
    `reads_random_words`, and memory beside the packet and the answer by calls with other numbers
    there (`kernels.guards`).

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
            # A function could keep a number in an array that is a default value. It cannot in a
            # global array, whose copy is read-only for numba.
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
        # contiguous, in Fortran's order or C's
        is_copied = value.nbytes <= _MAX_COPIED_BYTES and value.flags.forc
        return is_copied and value.dtype.kind in "biufc"
    if isinstance(value, type):
        is_named_tuple = issubclass(value, tuple) and hasattr(value, "_fields")
        is_data = is_named_tuple or issubclass(value, (np.generic, enum.Enum, BaseException))
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
    # the rest: functions of NumPy, which are found there by their names
    name = getattr(value, "__name__", "")
    return callable(value) and name not in _UNINITIALISED and getattr(np, name, None) is value


def _called_functions(function: Any) -> Iterator[FunctionType]:
    """Iterate over a compiled function and those that it calls, but for `routelab.kernels.hops`."""
    visited: set[FunctionType] = set()
    pending = [function]
    while pending:
        python = _python_function(pending.pop())
        if python is None or python in visited or python.__module__ == hops.__name__:
            continue
        visited.add(python)
        yield python
        for _, value in _references(python):
            # functions may be called out of a tuple of them
            pending += value if isinstance(value, tuple) else (value,)


def _python_function(value: Any) -> FunctionType | None:
    """Return the Python function that numba compiles for a call of a value.

    None if the value is no such function, or if numba replaces it by another one.
    """
    python = getattr(value, "py_func", None)
    if isinstance(python, FunctionType):
        in_python = value.targetoptions.get("forceobj") or value.targetoptions.get("pyobject")
        return None if in_python else python
    # `register_jitable` makes a Python function the implementation of itself. Then numba has a
    # template for it, whose function is defined inside `register_jitable`.
    if isinstance(value, FunctionType) and not value.__module__.startswith("numpy"):
        typing = cpu_target.typing_context
        typing.refresh()
        templates = getattr(typing.resolve_value_type(value), "templates", ())
        implementations = [getattr(template, "_overload_func", None) for template in templates]
        is_jitable = implementations and all(
            getattr(implementation, "__qualname__", "").startswith("register_jitable.")
            for implementation in implementations
        )
        return value if is_jitable else None
    return None


def _names(function: FunctionType) -> set[str]:
    """Return the names of globals and attributes in a function."""
    return {name for code in _nested_codes(function.__code__) for name in code.co_names}


def _nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Iterate over the code of a function and of the functions defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested_codes(constant)


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Iterate over the global and enclosing names that a function uses, and their values.

    A name is followed through modules: ``np.random.rand`` is one reference, to the function. In
    bytecode it is ``LOAD_GLOBAL np``, ``LOAD_ATTR random``, ``LOAD_ATTR rand``: so a reference is
    complete when another instruction follows.
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosed = {name: cell.cell_contents for name, cell in cells}
    lookups: dict[str, Callable[[str], Any]] = {
        "LOAD_GLOBAL": lambda name: function.__globals__.get(name, getattr(builtins, name, None)),
        "LOAD_DEREF": enclosed.get,
    }
    for code in _nested_codes(function.__code__):
        # the reference that has been read so far, such as ``np.random``; empty if there is none
        name, value = "", None
        for instruction in dis.get_instructions(code):
            operation, argument = instruction.opname, instruction.argval
            # these may stand between the loads of one reference
            if operation in ("EXTENDED_ARG", "PUSH_NULL"):
                continue
            if name and operation in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                name, value = f"{name}.{argument}", getattr(value, argument, None)
                continue
            # the instruction ends the reference, and may begin the next one
            if name:
                yield name, value
            name = argument if operation in lookups else ""
            value = lookups[operation](argument) if name else None
        if name:
            yield name, value
