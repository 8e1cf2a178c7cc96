"""What every file format is read into, and the topology made of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from routelab.api import InputError, Topology

MAX_TERMINALS = 10_000
"""Terminals at one switch; more are taken for a slip of the pen."""


@dataclass(frozen=True)
class Node:
    """A switch as the file has it; `place` says where, `terminals` is None where not given."""

    key: str
    place: str
    label: str = ""
    terminals: int | None = None


@dataclass(frozen=True)
class Edge:
    """A link as the file has it; `directed` is None where the file's default holds."""

    source: str
    target: str
    place: str
    capacity: float = 1.0
    latency: float = 0.0
    directed: bool | None = None


@dataclass
class Network:
    """A file's content: nodes by key, in order, and edges."""

    directed: bool = False
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def declare(self, node: Node) -> None:
        """Add a node that must be new.

        Raises
        ------
        InputError
            If it has no name or the name of another one.
        """
        if not node.key:
            raise InputError(f"{node.place}: a node has no name")
        if node.key in self.nodes:
            raise InputError(
                f"{node.place}: node {node.key!r} was already named at "
                f"{self.nodes[node.key].place}; give every node a name of its own"
            )
        self.nodes[node.key] = node

    def check_ends(self) -> None:
        """Require every edge's ends to be declared.

        Raises
        ------
        InputError
            If one is not.
        """
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self.nodes:
                    raise InputError(
                        f"{edge.place}: an edge leads to node {end!r}, which is not declared"
                    )

    def declare_ends(self) -> None:
        """Add the ends of all edges as nodes: in order of number if all names are numbers.

        Other names stay in the order in which they appear.
        """
        places = {
            end: edge.place for edge in reversed(self.edges) for end in (edge.target, edge.source)
        }
        names = list(
            dict.fromkeys(end for edge in self.edges for end in (edge.source, edge.target))
        )
        if all(name.isdecimal() and len(name) <= 18 for name in names):
            names.sort(key=lambda name: (int(name), name))
        for name in names:
            self.declare(Node(name, places[name]))

    def names(self) -> list[str]:
        """Name every switch by its label if no other switch has that name, else by its key."""
        count = Counter(node.label for node in self.nodes.values())
        return [
            node.label
            if node.label
            and count[node.label] == 1
            and (node.label == node.key or node.label not in self.nodes)
            else node.key
            for node in self.nodes.values()
        ]


def whole_number(value: Any, what: str, place: str, limit: int) -> int:
    """Read a whole number from 0 to `limit` (inclusive).

    Raises
    ------
    InputError
        If `value` is none.
    """
    number = _number(value)
    if number is None or not number.is_integer() or not 0 <= number <= limit:
        raise InputError(f"{place}: {what} is {value!r}, expected a whole number from 0 to {limit}")
    return int(number)


def quantity(value: Any, what: str, place: str, *, zero: bool) -> float:
    """Read a finite positive number, or zero where that is allowed.

    Raises
    ------
    InputError
        If `value` is none.
    """
    number = _number(value)
    if number is None or not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "number that is not negative" if zero else "positive number"
        raise InputError(f"{place}: {what} is {value!r}, expected a {kind}")
    return number


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def topology_of(
    network: Network,
    path: Path,
    *,
    terminals: int,
    directed: bool | None,
    self_loops: Literal["drop", "refuse"],
) -> Topology:
    """Make the topology: an edge's channels follow one another, in the order of the file.

    Parameters
    ----------
    network : Network
    path : Path
        The file, for messages; its name becomes an attribute.
    terminals : int
        At each switch that does not say how many it has.
    directed : bool or None
        Take all edges as directed, or none; None: as the file says.
    self_loops : {"drop", "refuse"}

    Raises
    ------
    InputError
        If there is no switch, no terminal, or a self-loop that is refused.
    """
    if not network.nodes:
        raise InputError(f"{path}: no node and no edge in it")
    loops = [edge for edge in network.edges if edge.source == edge.target]
    if loops and self_loops == "refuse":
        raise InputError(
            f"{loops[0].place}: an edge joins node {loops[0].source!r} to itself; remove it or "
            "set self_loops=drop"
        )
    index = {key: number for number, key in enumerate(network.nodes)}
    at_switch = [
        terminals if node.terminals is None else node.terminals for node in network.nodes.values()
    ]
    if not any(at_switch):
        raise InputError(f"{path}: no switch has a terminal; set terminals=1")

    def channels() -> Iterator[tuple[int, int, float, float]]:
        for edge in network.edges:
            if edge.source == edge.target:
                continue
            source, target = index[edge.source], index[edge.target]
            yield source, target, edge.capacity, edge.latency
            own = network.directed if edge.directed is None else edge.directed
            if not (own if directed is None else directed):
                yield target, source, edge.capacity, edge.latency

    columns = np.array(list(channels()), dtype=np.float64).reshape(-1, 4).T
    return Topology.create(
        num_switches=len(index),
        channel_source=columns[0],
        channel_target=columns[1],
        terminal_switch=np.repeat(np.arange(len(index)), at_switch),
        channel_capacity=columns[2],
        channel_latency=columns[3],
        switch_names=network.names(),
        attributes={"file": path.name, "self_loops_dropped": len(loops)},
    )
