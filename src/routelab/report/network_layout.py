"""Positions of the switches of networks that are not grids: levels, groups on a circle, distances.

The shape of the network decides, not its family: levels if all links join neighbouring ones, groups
if the network declares them, distances otherwise. The unit of lengths is that of
`routelab.report.network_picture`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Float64Array, Int64Array
from routelab.toolkit.families.groups import GROUP_COORDINATES, coordinate_name, switch_groups

if TYPE_CHECKING:  # takes half a second, and most pages draw no network
    import networkx as nx

LINK = 2.4
"""Median length of a link in layouts by distances."""
PITCH = 1.0
"""Distance between neighbours on a full level or in a large group."""
APART = 0.9
"""Distance to which switches push each other apart in layouts by distances."""
IN_GROUP = 0.85
"""Radius of the circle of a group with few switches."""
GROUP_GAP = 1.8
"""Distance between neighbouring groups."""
STEPS = 80
"""Steps of the layout by distances."""
LARGEST_BY_SUBTREES = 2000
"""Largest network whose levels are sorted by subtrees; larger ones keep their order."""
LARGEST_BY_DISTANCES = 400
"""Largest network laid out by distances; larger ones become a circle."""


@dataclass(frozen=True)
class SwitchLayout:
    """Positions of switches, and the texts around them.

    Attributes
    ----------
    switches : float64 array, shape (S, 2)
    rows : list of (float, str)
        Heights and names of levels.
    captions : list of (float, float, str)
        Places and names of groups.
    marks : tuple of str, length S
        Texts inside the switches, or nothing.
    hint : str
        What the texts mean, or nothing.
    """

    switches: Float64Array
    marks: tuple[str, ...]
    rows: list[tuple[float, str]] = field(default_factory=list)
    captions: list[tuple[float, float, str]] = field(default_factory=list)
    hint: str = ""


def layout_of(topology: Topology) -> SwitchLayout:
    """Lay out the switches of a network that is not a grid."""
    level = switch_levels(topology)
    if level is not None:
        return _on_levels(topology, level)
    group = switch_groups(topology)
    if group is not None and 1 < group.max(initial=0) + 1 < topology.num_switches:
        return _in_groups(topology, group)
    return SwitchLayout(_by_distances(topology), _short(topology.switch_names))


def switch_levels(topology: Topology) -> Int64Array | None:
    """Return the level of each switch, if every link joins neighbouring levels.

    The level is the coordinate with this name, or the distance from the switches with terminals.

    Returns
    -------
    level : int64 array, shape (S,), or None
        None if there are no two levels, or other links.
    """
    for level in (_named_levels(topology), _levels_above_terminals(topology)):
        if level is not None and len(np.unique(level)) > 1:
            step = level[topology.channel_target] - level[topology.channel_source]
            if topology.num_channels and (np.abs(step) == 1).all():
                return level
    return None


def _named_levels(topology: Topology) -> Int64Array | None:
    grid = topology.coordinates
    if grid is None:
        return None
    names = [coordinate_name(topology, number) for number in range(grid.shape[1])]
    return grid[:, names.index("level")].astype(np.int64) if "level" in names else None


def _levels_above_terminals(topology: Topology) -> Int64Array | None:
    """Return the distance of each switch from a terminal; None if some are not connected."""
    sources = set(topology.endpoints.tolist())
    if len(sources) == topology.num_switches:
        return None
    import networkx as nx

    reached = nx.multi_source_dijkstra_path_length(_graph(topology), sources, weight=None)
    if len(reached) < topology.num_switches:
        return None
    return np.array([reached[switch] for switch in range(topology.num_switches)], dtype=np.int64)


def _on_levels(topology: Topology, level: Int64Array) -> SwitchLayout:
    """Spread each level over the same width; terminals are at the bottom."""
    numbers = np.unique(level)
    orders = _level_orders(topology, [np.flatnonzero(level == number) for number in numbers])
    widest = max(len(order) for order in orders)
    height = max(3.0, 0.22 * widest) * PITCH
    places = np.zeros((topology.num_switches, 2))
    for row, order in enumerate(orders):
        places[order, 0] = _spread(len(order), widest)
        places[order, 1] = height * row
    rows = [(height * row, f"level {number}") for row, number in enumerate(numbers.tolist())]
    return SwitchLayout(places, _short(topology.switch_names), rows)


def _level_orders(topology: Topology, members: list[Int64Array]) -> list[Int64Array]:
    """Return the switches of each level from left to right.

    Switches with coordinates are in this order, and those of large networks in their own. Others
    are sorted by the second eigenvector of the Laplacian, which separates subtrees: Fiedler,
    Algebraic Connectivity of Graphs, 1973.
    """
    if topology.coordinates is not None:
        rank = np.lexsort(topology.coordinates.T[::-1])
        return [rank[np.isin(rank, level)] for level in members]
    if topology.num_switches > LARGEST_BY_SUBTREES:
        return members
    source, target = topology.channel_source, topology.channel_target
    laplacian = np.zeros((topology.num_switches, topology.num_switches))
    np.add.at(laplacian, (source, target), -1.0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    place = np.linalg.eigh(laplacian + laplacian.T)[1][:, 1].round(6)
    return [level[np.argsort(place[level], kind="stable")] for level in members]


def _spread(count: int, widest: int) -> Float64Array:
    return (np.arange(count) + 0.5) * PITCH * widest / count


def _in_groups(topology: Topology, group: Int64Array) -> SwitchLayout:
    """Place groups clockwise on a circle, and the switches of a group on a small circle.

    The first half of a group is on the outside: the leaves of a Megafly, one half of a Slim Fly.
    """
    members = [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]
    # 1. The radii: switches of the largest group are PITCH apart, and groups GROUP_GAP.
    group_radius = max(IN_GROUP, PITCH * max(map(len, members)) / (2 * np.pi))
    circumference = len(members) * (2 * group_radius + GROUP_GAP)
    radius = max(circumference / (2 * np.pi), group_radius + GROUP_GAP)
    # 2. The groups from the top on. The first switch is a quarter turn before the outermost point,
    #    so that the outside is the first half of the turn.
    positions = np.zeros((topology.num_switches, 2))
    captions = []
    names, marks = _group_names(topology, members)
    for number, switches in enumerate(members):
        outwards = np.pi / 2 - 2 * np.pi * number / len(members)
        angles = outwards + np.pi / 2 - 2 * np.pi * (np.arange(len(switches)) + 0.5) / len(switches)
        positions[switches] = radius * _direction(outwards) + group_radius * _direction(angles)
        x, y = (radius + group_radius + 0.8) * _direction(np.float64(outwards))
        captions.append((float(x), float(y), names[number]))
    # 3. What the texts mean, if there are any.
    hints = []
    if any(names):
        hints.append(f"At the rim: {_coordinate_names(topology, 0)}.")
    if any(marks):
        hints.append(f"In the circles: {_coordinate_names(topology, 1)}.")
    return SwitchLayout(positions, marks, captions=captions, hint=" ".join(hints))


def _group_coordinates(topology: Topology) -> tuple[list[int], list[int]]:
    """Return the numbers of coordinates that a group shares, and of the others."""
    assert topology.coordinates is not None
    shared = list(topology.attributes[GROUP_COORDINATES])
    return shared, [at for at in range(topology.coordinates.shape[1]) if at not in shared]


def _group_names(
    topology: Topology, members: Sequence[Int64Array]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the coordinates of the groups, and those of the switches inside."""
    grid = topology.coordinates
    if grid is None or GROUP_COORDINATES not in topology.attributes:
        return [""] * len(members), ("",) * topology.num_switches
    shared, inner = _group_coordinates(topology)
    names = [",".join(map(str, grid[switches[0], shared].tolist())) for switches in members]
    texts = [".".join(map(str, row)) for row in grid[:, inner].tolist()]
    return names, _short(texts)


def _coordinate_names(topology: Topology, part: int) -> str:
    """Return the names of the coordinates that a group shares (0), or of the others (1)."""
    return ", ".join(coordinate_name(topology, at) for at in _group_coordinates(topology)[part])


def _short(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that fit into a circle, and nothing instead of others."""
    return tuple(text if len(text) <= 3 else "" for text in texts)


def _direction(angles: Float64Array | float) -> Float64Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _graph(topology: Topology) -> nx.Graph:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(topology.num_switches))
    ends = np.column_stack([topology.channel_source, topology.channel_target])
    graph.add_edges_from(ends.tolist())
    return graph


def _by_distances(topology: Topology) -> Float64Array:
    """Return positions where links pull switches together; large networks become a circle."""
    import networkx as nx

    graph, count = _graph(topology), topology.num_switches
    if count > LARGEST_BY_DISTANCES:
        angles = 2 * np.pi * np.arange(count) / count
        return PITCH * count / (2 * np.pi) * _direction(angles)
    places = nx.spring_layout(graph, seed=1, iterations=STEPS)
    points = np.array([places[switch] for switch in range(count)])
    if not graph.number_of_edges():
        return _push_apart(points)
    ends = np.array(graph.edges)
    median = float(np.median(np.hypot(*(points[ends[:, 0]] - points[ends[:, 1]]).T)))
    crowded = float(np.percentile(_distances(points).min(axis=1), 10))
    scale = max(LINK / max(median, 1e-9), PITCH / max(crowded, 0.2 * median, 1e-9))
    return _push_apart(points * scale)


def _distances(points: Float64Array) -> Float64Array:
    distances = np.hypot(*(points[:, np.newaxis] - points).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances)


def _push_apart(points: Float64Array) -> Float64Array:
    """Move switches that are closer than `APART` away from each other."""
    for _ in range(100):
        close = np.argwhere(np.triu(_distances(points) < 0.99 * APART))
        if not len(close):
            break
        a, b = close.T
        way = points[b] - points[a]
        length = np.hypot(*way.T)
        # switches at one place move in a direction that depends on their numbers
        way = np.where(length[:, np.newaxis] > 1e-6, way, _direction(a + 0.7 * b))
        way /= np.maximum(np.hypot(*way.T), 1e-9)[:, np.newaxis]
        shift = 0.5 * (APART - length)[:, np.newaxis] * way
        points = points.copy()
        np.add.at(points, a, -shift)
        np.add.at(points, b, shift)
    return points
