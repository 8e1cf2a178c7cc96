"""The file of the network: dimensions, nodes with their terminals, and working links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import lt

import numpy as np

from routelab.api import Direction, InputError, Topology
from routelab.toolkit import torus_directions

from .entries import LETTERS, NONE, direction_names

HEAD = "angara-network 1"
_COORDINATES = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8}))*")
_NODE = re.compile(r'node (?P<node>\S+) (?P<terminals>\S+) (?P<name>".*")')
_LINK = re.compile(r"link (?P<source>\S+) (?P<direction_name>\S+) (?P<target>\S+)")


@dataclass(frozen=True)
class Shape:
    """A grid of Angara nodes.

    Attributes
    ----------
    dims : tuple of int
        Nodes along each dimension.
    rings : tuple of bool
        Whether the lines of each dimension are closed; lines of two nodes never are.
    """

    dims: tuple[int, ...]
    rings: tuple[bool, ...]

    def neighbour(self, node: Sequence[int], direction: int) -> tuple[int, ...] | None:
        """Return the node to which a hop leads; None outside the grid."""
        n = len(self.dims)
        d, size = direction % n, self.dims[direction % n]
        coordinate = node[d] + (1 if direction < n else -1)
        if not 0 <= coordinate < size and not self.rings[d]:
            return None
        # in a ring of 4 nodes, 3 + 1 is node 0, and 0 - 1 is node 3
        return (*node[:d], coordinate % size, *node[d + 1 :])


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
    # The declared grid, or else the smallest one with all coordinates, which start at 0.
    used_dims = tuple(int(largest) + 1 for largest in topology.coordinates.max(axis=0))
    shape = _declared_shape(topology, used_dims)
    if shape is None:
        shape = Shape(used_dims, _find_rings(topology, used_dims))
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    for channel, (source, target) in enumerate(ends):
        direction = int(topology.channel_direction[channel])
        if shape.neighbour(nodes[source], direction) != nodes[target]:
            return f"{topology.channel_name(channel)} does not lead to the neighbour there"
    return shape


def _declared_shape(topology: Topology, used_dims: tuple[int, ...]) -> Shape | None:
    """Return the grid that the network's attributes declare; None if they declare no valid one.

    Where nodes failed or are not allocated, it may be larger than `used_dims`, the smallest grid
    with all coordinates.
    """
    dims, wrap = topology.attributes.get("dims"), topology.attributes.get("wrap")
    if not (isinstance(dims, list) and isinstance(wrap, list)):
        return None
    if not all(isinstance(size, int) for size in dims):
        return None
    if not len(dims) == len(wrap) == len(used_dims):
        return None
    if any(size < used for size, used in zip(dims, used_dims, strict=True)):
        return None
    # two nodes form a line, never a ring
    rings = tuple(bool(ring) and size > 2 for size, ring in zip(dims, wrap, strict=True))
    return Shape(tuple(dims), rings)


def _find_rings(topology: Topology, dims: tuple[int, ...]) -> tuple[bool, ...]:
    """Return which dimensions have a link from the last coordinate to the first."""
    n = len(dims)
    assert topology.coordinates is not None
    dimension = topology.channel_direction % n
    is_positive = topology.channel_direction < n
    coordinate = topology.coordinates[topology.channel_source, dimension]
    # a hop in positive direction from the last node of a line can only lead to its first node
    wraps_around = is_positive & (coordinate == np.array(dims)[dimension] - 1)
    closed_dimensions = set(dimension[wraps_around].tolist())
    return tuple(d in closed_dimensions and size > 2 for d, size in enumerate(dims))


def network_lines(topology: Topology, shape: Shape) -> Iterator[str]:
    """Iterate over the lines of the file."""
    ring_letters = [letter for letter, ring in zip(LETTERS, shape.rings, strict=False) if ring]
    yield HEAD
    yield " ".join(("dims", *map(str, shape.dims)))
    yield " ".join(("rings", *(ring_letters or [NONE])))
    assert topology.coordinates is not None
    nodes = [node_name(row) for row in topology.coordinates.tolist()]
    terminals_of_node: list[list[int]] = [[] for _ in nodes]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        terminals_of_node[switch].append(terminal)
    yield '# node COORDINATES TERMINALS "NAME"'
    for node, terminals, name in zip(nodes, terminals_of_node, topology.switch_names, strict=True):
        yield f"node {node} {','.join(map(str, terminals)) or NONE} {json.dumps(name)}"
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
    reader = _NetworkReader()
    # the first three lines have a fixed order; then follow nodes and links
    first_readers = [reader.read_heading, reader.read_dims, reader.read_rings]
    for i, (number, line) in enumerate(lines):
        read_line = first_readers[i] if i < len(first_readers) else reader.read_node_or_link
        try:
            read_line(line)
        except (InputError, ValueError) as error:
            raise InputError(f"line {number}: {error}") from None
    return reader.build(), reader.shape


class _NetworkReader:
    """Reader of the network's lines: the first three by their own methods, then nodes and links.

    `read_heading`, `read_dims` and `read_rings` must be called in this order.
    """

    def __init__(self) -> None:
        self.shape = Shape((), ())
        # coordinates and name of each node, and its number by coordinates as written, e.g. "0.1"
        self.nodes: list[tuple[int, ...]] = []
        self.names: list[str] = []
        self.number_of_node: dict[str, int] = {}
        self.node_of_terminal: dict[int, int] = {}
        # target of each link, by its source and direction
        self.links: dict[tuple[int, int], int] = {}

    def read_heading(self, line: str) -> None:
        if line != HEAD:
            raise InputError(f"{line[:40]!r}, expected {HEAD!r}")

    def read_dims(self, line: str) -> None:
        if not re.fullmatch(rf"dims(?: [1-9][0-9]{{0,8}}){{1,{len(LETTERS)}}}", line):
            raise InputError(f"{line!r}, expected for example 'dims 4 2 2 2'")
        dims = tuple(map(int, line.split()[1:]))
        self.shape = Shape(dims, (False,) * len(dims))  # the next line says which are rings

    def read_rings(self, line: str) -> None:
        """Read which dimensions are rings, e.g. ``rings X Z``, or ``rings -``."""
        dims = self.shape.dims
        word, *letters = line.split(" ")
        possible = [letter for letter, size in zip(LETTERS, dims, strict=False) if size > 2]
        in_order = [letter for letter in possible if letter in letters]
        is_valid = letters == [NONE] or (letters and letters == in_order)
        if word != "rings" or not is_valid:
            raise InputError(
                f"{line!r}, expected 'rings {NONE}' or dimensions of three nodes and more, in order"
            )
        self.shape = Shape(dims, tuple(LETTERS[d] in in_order for d in range(len(dims))))

    def read_node_or_link(self, line: str) -> None:
        """Read a line such as ``node 0.1 0,1 "NAME"`` or ``link 0.1 +X 1.1``."""
        node_match, link_match = _NODE.fullmatch(line), _LINK.fullmatch(line)
        if node_match:
            self._add_node(**node_match.groupdict())
        elif link_match:
            self._add_link(**link_match.groupdict())
        else:
            raise InputError(f"{line[:60]!r} is neither a node nor a link")

    def _add_node(self, node: str, terminals: str, name: str) -> None:
        """Add a node: its coordinates, the numbers of its terminals, and its name as JSON."""
        if not _COORDINATES.fullmatch(node):
            raise InputError(f"{node!r} are not coordinates, such as 0.1")
        coordinates, dims = tuple(map(int, node.split("."))), self.shape.dims
        is_in_grid = len(coordinates) == len(dims) and all(map(lt, coordinates, dims))
        if not is_in_grid:
            raise InputError(f"there is no node {node} in a grid of {'x'.join(map(str, dims))}")
        if node in self.number_of_node:
            raise InputError(f"the node {node} occurs twice")
        number = self.number_of_node[node] = len(self.nodes)
        self.nodes.append(coordinates)
        self.names.append(json.loads(name))
        for terminal in () if terminals == NONE else terminals.split(","):
            if not re.fullmatch(r"0|[1-9][0-9]{0,8}", terminal):
                raise InputError(f"{terminals!r} is not a list of terminals, such as 0,1 or {NONE}")
            if int(terminal) in self.node_of_terminal:
                raise InputError(f"the terminal {terminal} occurs twice")
            self.node_of_terminal[int(terminal)] = number

    def _add_link(self, source: str, direction_name: str, target: str) -> None:
        """Add the link of node `source` in a direction; it must lead to the neighbour there."""
        names = direction_names(len(self.shape.dims))
        for end in (source, target):
            if end not in self.number_of_node:
                raise InputError(f"there is no node {end} above")
        if direction_name not in names:
            raise InputError(f"there is no direction {direction_name}, only {', '.join(names)}")
        number, direction = self.number_of_node[source], names.index(direction_name)
        neighbour = self.shape.neighbour(self.nodes[number], direction)
        if neighbour is None or node_name(neighbour) != target:
            raise InputError(
                f"{target} is not the neighbour of {source} in direction {direction_name}"
            )
        if (number, direction) in self.links:
            raise InputError(f"the link {source} {direction_name} occurs twice")
        self.links[number, direction] = self.number_of_node[target]

    def build(self) -> Topology:
        """Build the network.

        Raises
        ------
        InputError
            If terminals are missing or names are not unique.
        """
        n = len(self.shape.dims)
        num_terminals = len(self.node_of_terminal)
        if not num_terminals:
            raise InputError("there is no node with a terminal")
        if sorted(self.node_of_terminal) != list(range(num_terminals)):
            raise InputError(f"terminals are not numbered from 0 to {num_terminals - 1}")
        return Topology.create(
            family="angara",
            num_switches=len(self.nodes),
            switch_names=self.names,
            terminal_switch=[self.node_of_terminal[terminal] for terminal in range(num_terminals)],
            channel_source=[source for source, _ in self.links],
            channel_target=list(self.links.values()),
            channel_direction=[direction for _, direction in self.links],
            channel_ring=self._number_rings(),
            directions=[
                Direction(name, d % n, 1 if d < n else -1)
                for d, name in enumerate(direction_names(n))
            ],
            coordinates=self.nodes,
            attributes={"dims": list(self.shape.dims), "wrap": list(self.shape.rings)},
        )

    def _number_rings(self) -> list[int]:
        """Return the number of each link's ring; −1 if its dimension has no rings.

        The links of one line of nodes in one direction are a ring, also if some are missing.
        """
        number_of_ring: dict[tuple[int, ...], int] = {}
        ring_of_link = []
        for source, direction in self.links:
            d = direction % len(self.shape.dims)
            if not self.shape.rings[d]:
                ring_of_link.append(-1)
                continue
            node = self.nodes[source]
            # all links of the ring have the same direction, and the same node with coordinate 0
            ring = (direction, *node[:d], 0, *node[d + 1 :])
            ring_of_link.append(number_of_ring.setdefault(ring, len(number_of_ring)))
        return ring_of_link
