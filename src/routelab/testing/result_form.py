"""Checks that a result has the form that the contract of its kind requires."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from routelab.api import (
    Block,
    Demand,
    HopProgram,
    Measurement,
    Messages,
    Program,
    RoutelabError,
    RouteTable,
    RoutingGraph,
    Topology,
)
from routelab.testing.results import Failed

RESULTS: dict[str, type | tuple[type, ...]] = {
    "topology": Topology,
    "rules": RoutingGraph,
    "selection": RouteTable,
    "layers": RouteTable,
    "routing": (RouteTable, HopProgram),
    "metric": list,
    "traffic": tuple,
    "workload": Program,
}
"""Type of the result of each kind of plugin; of traffic: demand and messages."""


def check_form(kind: str, value: Any, output: Any) -> None:
    """Check that a result has the type of its kind, belongs to the input, and has valid arrays.

    Parameters
    ----------
    kind : str
    value, output : object
        Input and result of the plugin.

    Raises
    ------
    Failed
        If one of these is not the case.
    """
    # 1. The type. A metric's list has no arrays to check.
    expected = RESULTS[kind]
    if not isinstance(output, expected):
        types = expected if isinstance(expected, tuple) else (expected,)
        names = " or ".join(type_.__name__ for type_ in types)
        raise Failed(f"expected a {names}, found {type(output).__name__}")
    result: Any = output
    if isinstance(result, list):
        other_items = [item for item in result if not isinstance(item, Measurement)]
        if other_items:
            raise Failed(f"expected a list of Measurement, found {other_items[0]!r} in it")
        return

    # 2. Results that are made of several parts.
    if kind == "traffic":
        demand, messages = result
        _check_traffic(topology=value, demand=demand, messages=messages)
        return
    if kind == "workload":
        if result.ranks != value.ranks:
            raise Failed(f"the program is for {result.ranks} ranks, the job has {value.ranks}")
        # the same block may be a step of the program many times
        steps = {id(step): step for step, _ in result.walk()}
        for step in steps.values():
            if isinstance(step, Block):
                _check_arrays(step)
        return
    if isinstance(result, HopProgram):
        # tables[0] is where the engine appends its own block: the length that pack_tables() gives
        tables = result.tables
        if tables.ndim != 1 or not len(tables) or int(tables[0]) != len(tables):
            raise Failed("the program's tables are not of pack_tables(topology, ...)")
        return

    # 3. Networks, routing graphs and route tables.
    if kind != "topology":
        network = value if isinstance(value, Topology) else value.topology
        if result.topology is not network:
            raise Failed("the result belongs to another topology than the one that was given")
    _check_arrays(result)


def _check_traffic(topology: Topology, demand: Any, messages: Any) -> None:
    """Check demand and messages, and that they match the network's number of terminals."""
    for name, value, expected in (("demand", demand, Demand), ("messages", messages, Messages)):
        # a pattern without messages of its own draws them from the demand
        if value is None and name == "messages":
            continue
        if not isinstance(value, expected):
            raise Failed(f"{name}(): expected a {expected.__name__}, found {type(value).__name__}")
        _check_arrays(value)
        # the messages of terminal t are start[t] to start[t + 1], so there is one more start
        terminals = len(demand.rate) if name == "demand" else len(messages.start) - 1
        if terminals != topology.num_terminals:
            raise Failed(
                f"{name}() is for {terminals} terminals, but the network has "
                f"{topology.num_terminals}"
            )


def _check_arrays(result: Any) -> None:
    """Check that each array of a result is as the ``create`` of its class would make it."""
    recreated = _recreate(result)
    for field in fields(result):
        array = getattr(result, field.name)
        if isinstance(array, np.ndarray):
            _check_array(field.name, array, getattr(recreated, field.name))


def _recreate(result: Any) -> Any:
    """Rebuild a result with ``create``, which checks more than the constructor.

    The arguments of ``create`` are the fields of the result, except where noted below.
    """
    arguments = {field.name: getattr(result, field.name) for field in fields(result)}
    try:
        if isinstance(result, Block):
            arguments.pop("receive_of")  # create() finds the receive of each send
        if isinstance(result, (Block, Topology, Demand, Messages)):
            return type(result).create(**arguments)
        topology = arguments.pop("topology")
        if isinstance(result, RouteTable):
            return RouteTable.create(topology, **arguments)
        # A graph has edge_start, the first edge of each vertex; create() takes edge_source, the
        # vertex of each edge: (0, 2, 3) is (0, 0, 1).
        start = arguments.pop("edge_start")
        arguments["edge_source"] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return RoutingGraph.create(topology, **arguments)
    except (RoutelabError, ValueError, IndexError, TypeError) as error:
        raise Failed(f"{type(result).__name__}.create refuses it: {error}") from None


def _check_array(name: str, array: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Raise Failed if an array is writeable, or differs from the one that ``create`` makes."""
    if array.flags.writeable:
        raise Failed(f"{name} can be written to; make the result with its class's create()")
    if array.dtype != expected.dtype or array.shape != expected.shape:
        raise Failed(
            f"{name} is {array.dtype} of shape {array.shape}, expected {expected.dtype} of shape "
            f"{expected.shape}; make the result with its class's create()"
        )
    if not np.array_equal(array, expected):
        raise Failed(f"{name} is not in the order of create(); make the result with it")
