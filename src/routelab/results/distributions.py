"""Installed distributions: their versions, and the one that a plugin comes from."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from routelab._runtime.sources import owner


@cache
def distribution_version(distribution: str) -> str:
    """Return the version of an installed distribution; empty if it is not installed."""
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):
        return ""


@cache
def distribution_of(module: str) -> tuple[str, str]:
    """Return name and version of the Python package that installed the plugins of a module.

    Both are empty for a module that belongs to no installed package.
    """
    distribution = owner(module)
    return ("", "") if distribution is None else (distribution.name, distribution.version)
