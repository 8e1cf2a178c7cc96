"""Requirements on plugins, and on arguments that name them.

Plugins are not trusted: they are asked whether they support an input before they get it, and must
not have changed it afterwards.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from routelab.api import (
    InputError,
    PluginError,
    RouteTable,
    RoutingGraph,
    Topology,
    UnsupportedError,
)

_NOUNS = {Topology: "network", RoutingGraph: "routing graph", RouteTable: "route table"}


def require_support(plugin_name: str, reason: str | None) -> None:
    """Raise UnsupportedError if there is a reason why a plugin does not support its input.

    Parameters
    ----------
    plugin_name : str
    reason : str or None
        The answer of ``supports()``; None if the input is supported.
    """
    if reason is not None:
        raise UnsupportedError(f"{plugin_name}: {reason}")


def require_unchanged(
    plugin_name: str | None, *values: Topology | RoutingGraph | RouteTable
) -> None:
    """Raise PluginError if a field of an input or a result differs from when it was created.

    Parameters
    ----------
    plugin_name : str or None
        The plugin that has just run and is to blame. None: the caller has not run one since it got
        the values, so it is not known what changed them, and the message names no plugin.
    *values : Topology, RoutingGraph or RouteTable
    """
    for value in values:
        changes = value.changes()
        if not changes:
            continue
        fields = f"{', '.join(changes)} of the {_NOUNS[type(value)]}"
        if plugin_name is None:
            raise PluginError(
                f"{fields} were changed in memory after it was built; build it again without the "
                "plugin that changes it"
            )
        raise PluginError(
            f"{plugin_name}: it changed {fields} in memory, so no result with it is valid; a "
            "plugin must not write to arrays that it was given or has returned"
        )


def source_line(source: Any) -> str:
    """Return where a class or method is written, as the end of a message; empty if unknown."""
    try:
        return f" ({inspect.getsourcefile(source)}, line {inspect.getsourcelines(source)[1]})"
    except (OSError, TypeError):
        return ""


def collect_errors(*functions: Callable[[], Any]) -> list[Any]:
    """Call functions that read arguments; return their results, or report all errors together.

    Raises
    ------
    InputError
        After all calls: the only error, or one with the text of all errors.
    """
    results, errors = [], []
    for function in functions:
        try:
            results.append(function())
        except InputError as error:
            errors.append(error)
    if len(errors) == 1:
        # an only error keeps its class, which decides the exit code
        raise errors[0]
    if errors:
        raise InputError("\n".join(map(str, errors)))
    return results
