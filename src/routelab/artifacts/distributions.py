"""Installed distributions: their versions, and the one that a plugin comes from."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version


@cache
def distribution_version(distribution: str) -> str:
    """Return the version of an installed distribution; empty if it is not installed."""
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):
        return ""


def distribution_of(module: str) -> tuple[str, str]:
    """Return name and version of the distribution that declares a plugin in `module`.

    A module that no entry point names (it may define further plugins) belongs to the distribution
    with plugins in the same top-level package. Both are empty for a plugin that is not installed.
    """
    found = _plugin_distributions()
    return found.get(module) or found.get(module.partition(".")[0]) or ("", "")


@cache
def _plugin_distributions() -> dict[str, tuple[str, str]]:
    """Return distribution and version by plugin module and by top-level package."""
    found: dict[str, tuple[str, str]] = {}
    for distribution in distributions():
        points = [one for one in distribution.entry_points if one.group.startswith("routelab.")]
        if points:
            # each of the two reads and parses the metadata
            where = (distribution.name, distribution.version)
            for point in points:
                found.setdefault(point.module, where)
                found.setdefault(point.module.partition(".")[0], where)
    return found
