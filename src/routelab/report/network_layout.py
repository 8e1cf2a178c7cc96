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

MEDIAN_LINK = 2.4
"""Median length of a link in layouts by distances."""
SWITCH_PITCH = 1.0
"""Distance between neighbours on a full level or in a large group."""
MIN_DISTANCE = 0.9
"""Distance to which switches push each other apart in layouts by distances."""
MIN_GROUP_RADIUS = 0.85
"""Radius of the circle of a group with few switches; larger groups have larger circles."""
GROUP_GAP = 1.8
"""Distance between neighbouring groups."""
SPRING_STEPS = 80
"""Steps of the layout by distances."""
MAX_SORTED_SWITCHES = 2000
"""Largest network whose levels are sorted by subtrees; larger ones keep their order."""
MAX_SPRING_SWITCHES = 400
"""Largest network laid out by distances; larger ones become a circle."""


@dataclass(frozen=True)
class SwitchLayout:
    """Positions of switches, and the texts around them.

    Attributes
    ----------
    switches : float64 array, shape (S, 2)
        Position (x, y) of each switch.
    marks : tuple of str, length S
        Text inside the circle of each switch; may be empty.
    level_ticks : list of (float, str)
        Height (y) and name of each level; empty without levels.
    captions : list of (float, float, str)
        Position (x, y) and name of each group; empty without groups.
    hint : str
        Sentences for readers on what the marks and captions are; empty if there are none.
    """

    switches: Float64Array
    marks: tuple[str, ...]
    level_ticks: list[tuple[float, str]] = field(default_factory=list)
    captions: list[tuple[float, float, str]] = field(default_factory=list)
    hint: str = ""


def lay_out_switches(topology: Topology) -> SwitchLayout:
    """Lay out the switches of a network that is not a grid: by levels, groups or distances."""
    level = switch_levels(topology)
    if level is not None:
        return _lay_out_levels(topology, level)
    group = switch_groups(topology)
    if group is not None:
        # A single group, or one for each switch, would be a circle that shows no groups.
        num_groups = group.max(initial=0) + 1
        if 1 < num_groups < topology.num_switches:
            return _lay_out_groups(topology, group)
    return SwitchLayout(_spring_positions(topology), _short_texts(topology.switch_names))


def switch_levels(topology: Topology) -> Int64Array | None:
    """Return the level of each switch, if every link joins neighbouring levels.

    The level is the coordinate with the name ``level``, or else the number of hops from the nearest
    switch with terminals.

    Returns
    -------
    level : int64 array, shape (S,), or None
        None if there is only one level, or if a link joins switches of one level or skips a level.
    """
    for level in (_named_levels(topology), _levels_above_terminals(topology)):
        if level is not None and len(np.unique(level)) > 1:
            rise = level[topology.channel_target] - level[topology.channel_source]
            if topology.num_channels and (np.abs(rise) == 1).all():
                return level
    return None


def _named_levels(topology: Topology) -> Int64Array | None:
    """Return the coordinate ``level`` of each switch; None if the network has none."""
    coordinates = topology.coordinates
    if coordinates is None:
        return None
    names = [coordinate_name(topology, number) for number in range(coordinates.shape[1])]
    return coordinates[:, names.index("level")].astype(np.int64) if "level" in names else None


def _levels_above_terminals(topology: Topology) -> Int64Array | None:
    """Return the hops of each switch to the nearest switch with terminals.

    None if every switch has terminals, so all would be on one level, or if some are not connected.
    """
    terminal_switches = set(topology.endpoints.tolist())
    if len(terminal_switches) == topology.num_switches:
        return None
    import networkx as nx

    hops = nx.multi_source_dijkstra_path_length(_graph(topology), terminal_switches, weight=None)
    if len(hops) < topology.num_switches:
        return None
    return np.array([hops[switch] for switch in range(topology.num_switches)], dtype=np.int64)


def _lay_out_levels(topology: Topology, level: Int64Array) -> SwitchLayout:
    """Draw each level as a horizontal line of switches, all equally wide; the lowest is below."""
    level_numbers = np.unique(level)
    levels = [np.flatnonzero(level == number) for number in level_numbers]
    levels = _sort_levels(topology, levels)
    most_switches = max(len(switches) for switches in levels)
    # The distance of levels grows with the width, or links between them would be nearly horizontal:
    # a link across the whole width rises by at least 22 % of it.
    level_distance = max(3.0, 0.22 * most_switches) * SWITCH_PITCH
    width = SWITCH_PITCH * most_switches
    positions = np.zeros((topology.num_switches, 2))
    level_ticks = []
    for height, (number, switches) in enumerate(zip(level_numbers.tolist(), levels, strict=True)):
        # Each switch is in the middle of its share of the width: 2 switches at 1/4 and 3/4 of it.
        positions[switches, 0] = (np.arange(len(switches)) + 0.5) * width / len(switches)
        positions[switches, 1] = level_distance * height
        level_ticks.append((level_distance * height, f"level {number}"))
    return SwitchLayout(positions, _short_texts(topology.switch_names), level_ticks)


def _sort_levels(topology: Topology, levels: list[Int64Array]) -> list[Int64Array]:
    """Return the switches of each level from left to right, so that few links cross.

    Switches are in the order of their coordinates. Without coordinates, they are sorted by their
    values in the second eigenvector of the Laplacian, which are close within a subtree: Fiedler,
    Algebraic Connectivity of Graphs, 1973. Large networks without coordinates keep the order of
    their switches.
    """
    if topology.coordinates is not None:
        # `lexsort` compares its last key first, and coordinate 0 comes first here.
        by_coordinates = np.lexsort(topology.coordinates.T[::-1])
        return [by_coordinates[np.isin(by_coordinates, level)] for level in levels]
    if topology.num_switches > MAX_SORTED_SWITCHES:
        return levels
    source, target = topology.channel_source, topology.channel_target
    laplacian = np.zeros((topology.num_switches, topology.num_switches))
    np.add.at(laplacian, (source, target), -1.0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    # `eigh` needs a symmetric matrix, also if some links have a single direction, and sorts by
    # eigenvalue: column 0 is constant. Values that differ by rounding errors only are equal.
    eigenvectors = np.linalg.eigh(laplacian + laplacian.T)[1]
    fiedler = eigenvectors[:, 1].round(6)
    return [level[np.argsort(fiedler[level], kind="stable")] for level in levels]


def _lay_out_groups(topology: Topology, group: Int64Array) -> SwitchLayout:
    """Place groups clockwise on a large circle, and the switches of a group on a small one.

    The first half of a group is on the outside: the leaves of a Megafly, one half of a Slim Fly.
    """
    groups = [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]
    # 1. The radii. Along the small circle, switches of the largest group are at least
    #    `SWITCH_PITCH` apart; along the large one, neighbouring small circles `GROUP_GAP`.
    largest_size = max(map(len, groups))
    small_radius = max(MIN_GROUP_RADIUS, SWITCH_PITCH * largest_size / (2 * np.pi))
    circumference = len(groups) * (2 * small_radius + GROUP_GAP)
    # Two or three groups are closer in a straight line than along the circle. So a small circle is
    # also at least `GROUP_GAP` from the centre.
    large_radius = max(circumference / (2 * np.pi), small_radius + GROUP_GAP)
    # 2. The groups from the top on, clockwise: angles fall.
    positions = np.zeros((topology.num_switches, 2))
    captions = []
    names, marks, hint = _group_texts(topology, groups)
    for number, switches in enumerate(groups):
        outwards = np.pi / 2 - 2 * np.pi * number / len(groups)
        # Switches go clockwise, too. They begin a quarter turn before the outermost point of the
        # small circle, so that the first half of them is on its outer half.
        clockwise = 2 * np.pi * (np.arange(len(switches)) + 0.5) / len(switches)
        angles = outwards + np.pi / 2 - clockwise
        centre = large_radius * _unit_vectors(outwards)
        positions[switches] = centre + small_radius * _unit_vectors(angles)
        # the name stands outside the group
        x, y = (large_radius + small_radius + 0.8) * _unit_vectors(np.float64(outwards))
        captions.append((float(x), float(y), names[number]))
    return SwitchLayout(positions, marks, captions=captions, hint=hint)


def _group_texts(
    topology: Topology, groups: Sequence[Int64Array]
) -> tuple[list[str], tuple[str, ...], str]:
    """Return a name for each group, a text for each switch, and what these texts mean.

    A group is called after the coordinates that its switches share, a switch after its other ones:
    with coordinates (group, switch), switch (2, 5) has the text ``5`` in the group ``2``. All texts
    are empty if the network does not say which coordinates a group shares.

    Parameters
    ----------
    topology : Topology
    groups : sequence of int64 array
        Switches of each group.
    """
    coordinates = topology.coordinates
    if coordinates is None or GROUP_COORDINATES not in topology.attributes:
        return [""] * len(groups), ("",) * topology.num_switches, ""
    shared = list(topology.attributes[GROUP_COORDINATES])
    others = [dimension for dimension in range(coordinates.shape[1]) if dimension not in shared]
    names = [",".join(map(str, coordinates[switches[0], shared].tolist())) for switches in groups]
    marks = _short_texts([".".join(map(str, row)) for row in coordinates[:, others].tolist()])
    hints = []
    for where, texts, dimensions in (
        ("At the rim", names, shared),
        ("In the circles", marks, others),
    ):
        if any(texts):
            axes = ", ".join(coordinate_name(topology, dimension) for dimension in dimensions)
            hints.append(f"{where}: {axes}.")
    return names, marks, " ".join(hints)


def _short_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts with an empty one for each that does not fit into the circle of a switch."""
    return tuple(text if len(text) <= 3 else "" for text in texts)


def _unit_vectors(angles: Float64Array | float) -> Float64Array:
    """Return unit vectors; shape of the angles with a last axis of (x, y)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _graph(topology: Topology) -> nx.Graph:
    """Return the switches and links of a network, without directions and parallel channels."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(topology.num_switches))
    ends = np.column_stack([topology.channel_source, topology.channel_target])
    graph.add_edges_from(ends.tolist())
    return graph


def _spring_positions(topology: Topology) -> Float64Array:
    """Return positions (x, y) of a layout in which links pull their switches together as springs.

    Switches of a network that is too large for it are placed on a circle.
    """
    import networkx as nx

    num_switches = topology.num_switches
    if num_switches > MAX_SPRING_SWITCHES:
        angles = 2 * np.pi * np.arange(num_switches) / num_switches
        return SWITCH_PITCH * num_switches / (2 * np.pi) * _unit_vectors(angles)
    graph = _graph(topology)
    position_of = nx.spring_layout(graph, seed=1, iterations=SPRING_STEPS)
    positions = np.array([position_of[switch] for switch in range(num_switches)])
    if not graph.number_of_edges():
        return _push_apart(positions)
    # Scale the layout until the median link is at least `MEDIAN_LINK` long and 90 % of the switches
    # are at least `SWITCH_PITCH` from the nearest other one. If many switches nearly coincide, that
    # would need a huge scale. So their distance counts as at least a fifth of the median link, and
    # `_push_apart` separates them. (1e-9: all switches at one position would divide by zero.)
    ends = np.array(graph.edges)
    link_lengths = np.hypot(*(positions[ends[:, 0]] - positions[ends[:, 1]]).T)
    median_link = float(np.median(link_lengths))
    nearest_distances = _distances(positions).min(axis=1)
    pitch = max(float(np.percentile(nearest_distances, 10)), 0.2 * median_link, 1e-9)
    scale = max(MEDIAN_LINK / max(median_link, 1e-9), SWITCH_PITCH / pitch)
    return _push_apart(positions * scale)


def _distances(positions: Float64Array) -> Float64Array:
    """Return the distance between any two switches; infinite between a switch and itself."""
    distances = np.hypot(*(positions[:, np.newaxis] - positions).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances)


def _push_apart(positions: Float64Array) -> Float64Array:
    """Return positions in which no two switches are closer than `MIN_DISTANCE`, if possible.

    Pairs that are too close are moved away from each other.
    """
    # A push can bring a switch close to a third one, so this is repeated, but not for ever.
    for _ in range(100):
        # 0.99, because a pair that was pushed has the distance only up to rounding errors
        close_pairs = np.argwhere(np.triu(_distances(positions) < 0.99 * MIN_DISTANCE))
        if not len(close_pairs):
            break
        a, b = close_pairs.T
        direction = positions[b] - positions[a]
        length = np.hypot(*direction.T)
        # Switches at one position have no direction to each other. Any will do that differs from
        # pair to pair, such as an angle of a + 0.7 b.
        coincide = length <= 1e-6
        direction = np.where(coincide[:, np.newaxis], _unit_vectors(a + 0.7 * b), direction)
        direction /= np.maximum(np.hypot(*direction.T), 1e-9)[:, np.newaxis]
        # Each of the two moves by half of the missing distance; `add.at` sums a switch's pushes.
        push = 0.5 * (MIN_DISTANCE - length)[:, np.newaxis] * direction
        positions = positions.copy()
        np.add.at(positions, a, -push)
        np.add.at(positions, b, push)
    return positions
