"""Decorators that compile functions, with nothing that this package does not need.

Numba compiles for every ``@numba.njit`` function a wrapper to call it from Python, and one to call
it through a pointer. For a function that takes many arrays, the wrappers take longer to compile
than the function itself. `jit` leaves out the second wrapper, `helper` and `inline` leave out both.

Numba compiles a helper, and functions of NumPy such as `np.zeros`, again for every set of options
of the kernels that call it. So all kernels have the same options.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import register_jitable

jit = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""Compile a function that Python code calls; a decorator. Other threads run beside it."""


def helper(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function into each kernel that calls it; a decorator.

    Python code that calls a helper runs it uncompiled.

    Parameters
    ----------
    **options
        Of `numba.njit`.
    """
    decorate: Callable[[Callable[..., Any]], Callable[..., Any]]
    decorate = register_jitable(no_cfunc_wrapper=True, **options)
    return decorate


inline = helper(_nrt=False, forceinline=True)
"""Insert the code of a function at every call; a decorator. The function must not allocate."""
