"""routelab: experiments with routing algorithms for HPC interconnects.

In a notebook or a script, ``import routelab`` gives `evaluate`, `topology`, `route`, `prove`,
`simulate` and `plugins`. They are loaded when they are first used: importing the package itself
stays cheap, as every command and every job does it. Their types are in ``__init__.pyi``; importing
them here, in whatever way, would make them part of the sources of every job.
"""

from __future__ import annotations

from routelab._runtime.numba_hook import compare_flags_fast, register_locator

__version__ = "0.1.0"

_NOTEBOOK = (
    "RoutedNetwork",
    "SimulatedNetwork",
    "evaluate",
    "plugins",
    "prove",
    "route",
    "simulate",
    "topology",
)

__all__ = [
    "RoutedNetwork",
    "SimulatedNetwork",
    "__version__",
    "evaluate",
    "plugins",
    "prove",
    "route",
    "simulate",
    "topology",
]

register_locator()
compare_flags_fast()


def __getattr__(name: str) -> object:
    if name in _NOTEBOOK:
        from importlib import import_module

        from routelab._runtime.platforms import unsupported_platform

        if problem := unsupported_platform():
            raise ImportError(problem)
        return getattr(import_module("routelab.notebook"), name)
    raise AttributeError(f"module 'routelab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_NOTEBOOK]
