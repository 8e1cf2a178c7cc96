"""Kinds of job: one module per kind, with the class of its jobs.

A module here that defines a subclass of `routelab.jobs.job.BaseJob` with a ``kind`` and a class
method ``plan(parts)`` is a kind: it is planned, run, resumed and reported like all other kinds.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from routelab.jobs.job import BaseJob


@cache
def kinds() -> dict[str, type[BaseJob]]:
    """Return all kinds of job by name, in the order of lists."""
    job_classes = [
        value for module in _modules() for value in vars(module).values() if _is_kind(value, module)
    ]
    job_classes.sort(key=lambda job_class: job_class.order)
    return {job_class.kind: job_class for job_class in job_classes}


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{module.name}")


def _is_kind(value: object, module: ModuleType) -> bool:
    """Return whether a value of a module is a kind of job that this module defines.

    Base classes have no `kind`, and imported kinds belong to other modules.
    """
    return (
        isinstance(value, type)
        and issubclass(value, BaseJob)
        and value.__module__ == module.__name__
        and hasattr(value, "kind")
    )
