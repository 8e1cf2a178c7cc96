"""Installed distributions: their versions, and which one a plugin comes from."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version


@cache
def release(distribution: str) -> str:
    """Version of an installed distribution; empty if it is not installed."""
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):
        return ""


def origin(module: str) -> tuple[str, str]:
    """Name and version of the distribution that declares a plugin in `module`.

    A module that no entry point names (a plugin may be defined beside the one that is named)
    belongs to the distribution with plugins in the same top-level package. Both are empty for a
    plugin that is not installed.
    """
    found = _declared()
    return found.get(module) or found.get(module.partition(".")[0]) or ("", "")


@cache
def _declared() -> dict[str, tuple[str, str]]:
    """Distribution and version by plugin module and by top-level package."""
    found: dict[str, tuple[str, str]] = {}
    for distribution in distributions():
        for point in distribution.entry_points:
            if point.group.startswith("routelab."):
                where = (distribution.name, distribution.version)
                found.setdefault(point.module, where)
                found.setdefault(point.module.partition(".")[0], where)
    return found
