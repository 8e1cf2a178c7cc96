"""The file of the network: dimensions, nodes with their terminals, and working links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import ge, lt

import numpy as np

from routelab.api import Direction, InputError, Topology
from routelab.toolkit import torus_directions

from .entries import LETTERS, NONE, direction_names

HEAD = "angara-network 1"
_COORDINATES = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8}))*")
_NODE = re.compile(r'node (\S+) (\S+) (".*")')
_LINK = re.compile(r"link (\S+) (\S+) (\S+)")


@dataclass(frozen=True)
class Shape:
    """A grid of Angara nodes.

    Attributes
    ----------
    dims : tuple of int
    rings : tuple of bool
        Whether the lines of each dimension are closed; lines of two nodes never are.
    """

    dims: tuple[int, ...]
    rings: tuple[bool, ...]

    def neighbour(self, node: Sequence[int], direction: int) -> tuple[int, ...] | None:
        """Return the node to which a hop leads; None outside the grid."""
        n = len(self.dims)
        d, size = direction % n, self.dims[direction % n]
        there = node[d] + (1 if direction < n else -1)
        if not 0 <= there < size and not self.rings[d]:
            return None
        return (*node[:d], there % size, *node[d + 1 :])


def node_name(coordinates: Sequence[int]) -> str:
    """Return a name such as ``0.1.0.1``."""
    return ".".join(map(str, coordinates))


def shape_of(topology: Topology) -> Shape | str:
    """Return the grid of `topology`, which may have failures, or why it is not an Angara grid."""
    reason = torus_directions(topology).reason
    if reason is not None:
        return reason
    n = len(topology.directions) // 2
    if n > len(LETTERS):
        return f"it has {n} dimensions, and Angara has at most {len(LETTERS)}"
    if topology.coordinates is None or topology.coordinates.shape[1] != n:
        return "needs a coordinate of every switch in each dimension"
    nodes = list(map(tuple, topology.coordinates.tolist()))
    if min(map(min, nodes)) < 0 or len(set(nodes)) < len(nodes):
        return "needs coordinates from 0 on, and others for each switch"
    least = tuple(int(largest) + 1 for largest in topology.coordinates.max(axis=0))
    shape = _declared_shape(topology, least) or Shape(least, _find_rings(topology, least))
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    for channel, (source, target) in enumerate(ends):
        direction = int(topology.channel_direction[channel])
        if shape.neighbour(nodes[source], direction) != nodes[target]:
            return f"{topology.channel_name(channel)} does not lead to the neighbour there"
    return shape


def _declared_shape(topology: Topology, least: tuple[int, ...]) -> Shape | None:
    """Return the declared grid, because failures and allocations may hide its original size."""
    dims, wrap = topology.attributes.get("dims"), topology.attributes.get("wrap")
    if not (isinstance(dims, list) and isinstance(wrap, list)):
        return None
    if not all(isinstance(size, int) for size in dims):
        return None
    if not len(dims) == len(wrap) == len(least) or any(map(lt, dims, least)):
        return None
    rings = zip(dims, wrap, strict=True)
    return Shape(tuple(dims), tuple(bool(ring) and size > 2 for size, ring in rings))


def _find_rings(topology: Topology, dims: tuple[int, ...]) -> tuple[bool, ...]:
    """Return which dimensions have a link from the last coordinate to the first."""
    n = len(dims)
    assert topology.coordinates is not None
    direction = topology.channel_direction
    at = topology.coordinates[topology.channel_source, direction % n]
    over = (direction < n) & (at == np.array(dims)[direction % n] - 1)
    closed = set((direction % n)[over].tolist())
    return tuple(d in closed and size > 2 for d, size in enumerate(dims))


def network_lines(topology: Topology, shape: Shape) -> Iterator[str]:
    """Iterate over the lines of the file."""
    letters = [letter for letter, ring in zip(LETTERS, shape.rings, strict=False) if ring]
    yield HEAD
    yield " ".join(("dims", *map(str, shape.dims)))
    yield " ".join(("rings", *(letters or [NONE])))
    assert topology.coordinates is not None
    nodes = [node_name(row) for row in topology.coordinates.tolist()]
    terminals: list[list[int]] = [[] for _ in nodes]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        terminals[switch].append(terminal)
    yield '# node COORDINATES TERMINALS "NAME"'
    for node, there, name in zip(nodes, terminals, topology.switch_names, strict=True):
        yield f"node {node} {','.join(map(str, there)) or NONE} {json.dumps(name)}"
    yield "# link NODE DIRECTION NODE"
    names = direction_names(len(shape.dims))
    for source, target, direction in zip(
        topology.channel_source.tolist(),
        topology.channel_target.tolist(),
        topology.channel_direction.tolist(),
        strict=True,
    ):
        yield f"link {nodes[source]} {names[direction]} {nodes[target]}"


def parse_network(text: str) -> tuple[Topology, Shape]:
    """Parse the network in a file that `network_lines` wrote.

    Raises
    ------
    InputError
        If a line is invalid; the message begins with its number.
    """
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    reader = _Reader()
    takers = [reader.head, reader.dims, reader.rings]
    for (number, line), take in zip(lines, [*takers, *[reader.part] * len(lines)], strict=False):
        try:
            take(line)
        except (InputError, ValueError) as error:
            raise InputError(f"line {number}: {error}") from None
    return reader.topology(), reader.shape


class _Reader:
    """Parser of a file's lines, in their order."""

    def __init__(self) -> None:
        self.shape = Shape((), ())
        self.nodes: list[tuple[int, ...]] = []
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.terminals: dict[int, int] = {}
        self.links: dict[tuple[int, int], int] = {}

    def head(self, line: str) -> None:
        if line != HEAD:
            raise InputError(f"{line[:40]!r}, expected {HEAD!r}")

    def dims(self, line: str) -> None:
        if not re.fullmatch(rf"dims(?: [1-9][0-9]{{0,8}}){{1,{len(LETTERS)}}}", line):
            raise InputError(f"{line!r}, expected for example 'dims 4 2 2 2'")
        dims = tuple(map(int, line.split()[1:]))
        self.shape = Shape(dims, (False,) * len(dims))

    def rings(self, line: str) -> None:
        """Read which dimensions are rings."""
        dims = self.shape.dims
        word, *letters = line.split(" ")
        long = [letter for letter, size in zip(LETTERS, dims, strict=False) if size > 2]
        if letters == [NONE]:
            letters = []
        elif not letters or letters != [letter for letter in long if letter in letters]:
            word = ""
        if word != "rings":
            raise InputError(
                f"{line!r}, expected 'rings {NONE}' or dimensions of three nodes and more, in order"
            )
        self.shape = Shape(dims, tuple(LETTERS[d] in letters for d in range(len(dims))))

    def part(self, line: str) -> None:
        node, link = _NODE.fullmatch(line), _LINK.fullmatch(line)
        if node:
            self._node(*node.groups())
        elif link:
            self._link(*link.groups())
        else:
            raise InputError(f"{line[:60]!r} is neither a node nor a link")

    def _node(self, place: str, terminals: str, name: str) -> None:
        """Add a node: its coordinates, the numbers of its terminals, and its name as JSON."""
        if not _COORDINATES.fullmatch(place):
            raise InputError(f"{place!r} are not coordinates, such as 0.1")
        node, dims = tuple(map(int, place.split("."))), self.shape.dims
        if len(node) != len(dims) or any(map(ge, node, dims)):
            raise InputError(f"there is no node {place} in a grid of {'x'.join(map(str, dims))}")
        if place in self.numbers:
            raise InputError(f"the node {place} occurs twice")
        number = self.numbers[place] = len(self.nodes)
        self.nodes.append(node)
        self.names.append(json.loads(name))
        for terminal in () if terminals == NONE else terminals.split(","):
            if not re.fullmatch(r"0|[1-9][0-9]{0,8}", terminal):
                raise InputError(f"{terminals!r} is not a list of terminals, such as 0,1 or {NONE}")
            if self.terminals.setdefault(int(terminal), number) != number:
                raise InputError(f"terminal {terminal} is already at another node")

    def _link(self, place: str, name: str, towards: str) -> None:
        """Add the link of a node in a direction; it must lead to the neighbour `towards`."""
        names = direction_names(len(self.shape.dims))
        for end in (place, towards):
            if end not in self.numbers:
                raise InputError(f"there is no node {end} above")
        if name not in names:
            raise InputError(f"there is no direction {name}, only {', '.join(names)}")
        source, direction = self.numbers[place], names.index(name)
        there = self.shape.neighbour(tuple(map(int, place.split("."))), direction)
        if there is None or node_name(there) != towards:
            raise InputError(f"{towards} is not the neighbour of {place} in direction {name}")
        if (source, direction) in self.links:
            raise InputError(f"the link {place} {name} occurs twice")
        self.links[source, direction] = self.numbers[towards]

    def topology(self) -> Topology:
        """Build the network.

        Raises
        ------
        InputError
            If terminals are missing or names are not unique.
        """
        n = len(self.shape.dims)
        if not self.terminals:
            raise InputError("there is no node with a terminal")
        if sorted(self.terminals) != list(range(len(self.terminals))):
            raise InputError(f"terminals are not numbered from 0 to {len(self.terminals) - 1}")
        return Topology.create(
            family="angara",
            num_switches=len(self.nodes),
            switch_names=self.names,
            terminal_switch=[self.terminals[number] for number in range(len(self.terminals))],
            channel_source=[source for source, _ in self.links],
            channel_target=list(self.links.values()),
            channel_direction=[direction for _, direction in self.links],
            channel_ring=self._rings(),
            directions=[
                Direction(name, d % n, 1 if d < n else -1)
                for d, name in enumerate(direction_names(n))
            ],
            coordinates=self.nodes,
            attributes={"dims": list(self.shape.dims), "wrap": list(self.shape.rings)},
        )

    def _rings(self) -> list[int]:
        """Return the ring of each link, −1 if it has none; it may miss links."""
        rings: dict[tuple[int, ...], int] = {}
        ring_of_link = []
        for source, direction in self.links:
            d = direction % len(self.shape.dims)
            node = self.nodes[source]
            line = (direction, *node[:d], 0, *node[d + 1 :])
            is_ring = self.shape.rings[d]
            ring_of_link.append(rings.setdefault(line, len(rings)) if is_ring else -1)
        return ring_of_link
