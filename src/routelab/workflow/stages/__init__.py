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
        job for module in _modules() for job in vars(module).values() if _is_kind(job, module)
    ]
    return {job.kind: job for job in sorted(job_classes, key=lambda job: job.order)}


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{module.name}")


def _is_kind(value: object, module: ModuleType) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, BaseJob)
        and value.__module__ == module.__name__
        and hasattr(value, "kind")
    )
