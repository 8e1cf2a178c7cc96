"""Whether a result is what the kind's contract says, however it was put together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from routelab.api import (
    Measurement,
    RoutelabError,
    RouteTable,
    RoutingGraph,
    Topology,
)
from routelab.testing.results import Failed

RESULTS: dict[str, type] = {
    "topology": Topology,
    "rules": RoutingGraph,
    "selection": RouteTable,
    "layers": RouteTable,
    "routing": RouteTable,
    "metric": list,
}
"""What a plugin of each kind makes."""


def check_form(kind: str, value: Any, found: Any) -> None:
    """Check a result's type, owner, arrays and form.

    Parameters
    ----------
    kind : str
    value, found : object
        What the plugin was given and what it made of it.

    Raises
    ------
    Failed
    """
    expected = RESULTS[kind]
    if not isinstance(found, expected):
        raise Failed(f"expected a {expected.__name__}, found {type(found).__name__}")
    result: Any = found
    if isinstance(result, list):
        others = [item for item in result if not isinstance(item, Measurement)]
        if others:
            raise Failed(f"expected a list of Measurement, found {others[0]!r} in it")
        return
    if kind != "topology":
        network = value if isinstance(value, Topology) else value.topology
        if result.topology is not network:
            raise Failed("the result belongs to another topology than the one that was given")
    made = _made_again(result)
    for field in fields(result):
        array = getattr(result, field.name)
        if isinstance(array, np.ndarray):
            _check_array(field.name, array, getattr(made, field.name))


def _made_again(result: Any) -> Any:
    """The same through ``create``, which checks what the bare constructor does not."""
    parts = {field.name: getattr(result, field.name) for field in fields(result)}
    try:
        if isinstance(result, Topology):
            return Topology.create(**parts)
        topology = parts.pop("topology")
        if isinstance(result, RouteTable):
            return RouteTable.create(topology, **parts)
        start = parts.pop("edge_start")
        parts["edge_source"] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return RoutingGraph.create(topology, **parts)
    except (RoutelabError, ValueError, IndexError, TypeError) as error:
        raise Failed(f"{type(result).__name__}.create refuses it: {error}") from None


def _check_array(name: str, found: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> None:
    if found.flags.writeable:
        raise Failed(f"{name} can be written to; make the result with its class's create()")
    if found.dtype != made.dtype or found.shape != made.shape:
        raise Failed(
            f"{name} is {found.dtype} of shape {found.shape}, expected {made.dtype} of shape "
            f"{made.shape}; make the result with its class's create()"
        )
    if not np.array_equal(found, made):
        raise Failed(f"{name} is not in the order of create(); make the result with it")
