"""Shape of fat trees, for routings that go by the digits of switches."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from routelab.api.errors import UnsupportedError
from routelab.api.topology import Int32Array, Int64Array, Topology

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FatTree:
    """Shape of a fat tree, and the coordinates of its switches.

    All tuples have an entry for each level of switches; level 0 is that of the leaves. Entry i is
    about the links between level i and the nodes below, which are terminals for i = 0. `down`, `up`
    and `parallel` are the lists m, w and p of PGFT(h; m; w; p).

    The tree with ``down`` (2, 2, 2) and ``up`` (1, 2, 2) has 4 switches on each level, with the
    indices 0 to 3, and ``copies`` (1, 2, 4) and ``leaves`` (1, 2, 4). On level 1, the switches 0
    and 1 are both above the leaves 0 and 1, the switches 2 and 3 above the leaves 2 and 3. On level
    2, all switches are above all leaves.

    Attributes
    ----------
    down : tuple of int
        Children of a switch; for leaves, terminals.
    up : tuple of int
        Parents of each child, so of a node of the level below.
    parallel : tuple of int
        Parallel links to each child.
    copies : tuple of int
        Switches of a level that are above the same leaves: the product of `up` to that level.
    leaves : tuple of int
        Leaves below a switch.
    terminals : int
        Terminals at each leaf.
    level, index : int64 array, shape (S,)
        Coordinates of the switches. Switches of level i with the same index // copies[i] are above
        the same leaves; the leaf with index j is below those with the number j // leaves[i].
    out_channel : int32 array, shape (S, ports)
        Channel at each port of a switch, −1 if it is missing. Ports to children come first.
    """

    down: Levels
    up: Levels
    parallel: Levels
    copies: Levels
    leaves: Levels
    terminals: int
    level: Int64Array
    index: Int64Array
    out_channel: Int32Array

    @property
    def height(self) -> int:
        """Number of levels of switches."""
        return len(self.down)

    @property
    def whole(self) -> bool:
        """Whether no switch and no link is missing.

        It suffices to count them: `read_fat_tree` has checked that all that exist belong to the
        tree.
        """
        # level i has copies[i] switches above each of prod(down[i + 1 :]) groups of leaves
        sizes = [prod(self.down[i + 1 :]) * self.copies[i] for i in range(self.height)]
        links = sum(sizes[i] * self.up_ports(i) for i in range(self.height))
        # a link between switches has two channels
        return len(self.level) == sum(sizes) and 2 * links == int((self.out_channel >= 0).sum())

    def down_ports(self, level: int) -> int:
        """Return the number of ports to child switches; leaves have terminals as children."""
        return self.down[level] * self.parallel[level] if level else 0

    def up_ports(self, level: int) -> int:
        """Return the number of ports to parents."""
        above = level + 1
        return self.up[above] * self.parallel[above] if above < self.height else 0


def read_fat_tree(topology: Topology) -> FatTree:
    """Return the shape of a network of the topology ``fat-tree``, which may be damaged.

    Raises
    ------
    UnsupportedError
        If the network is not a fat tree, or if its switches and channels are not those of the tree
        that its attributes describe.
    """
    if topology.family != "fat-tree":
        raise UnsupportedError(
            f"needs a network of the topology fat-tree, this one is {topology.family!r}"
        )
    down, up, parallel = (_levels(topology, name) for name in ("down", "up", "parallel"))
    terminals = topology.attributes.get("terminals_per_leaf")
    coordinates = topology.coordinates
    if (
        not len(down) == len(up) == len(parallel) >= 2
        or not isinstance(terminals, int)
        or coordinates is None
        or coordinates.shape[1] != 2
    ):
        raise UnsupportedError(
            "the network calls itself a fat tree, but has no coordinates (level, index) or no "
            "attributes down, up, parallel and terminals_per_leaf; build it with the topology "
            "fat-tree"
        )
    height = len(down)
    level, index = coordinates.astype(np.int64).T
    # The channels by switch and port. No switch of the tree has more than `tree_ports` (the first
    # entries are those of terminals, which have none). A switch of the network that has more gets
    # its columns here, and is found to be inconsistent below.
    tree_ports = max(np.multiply(down, parallel)[1:]) + max(np.multiply(up, parallel)[1:])
    ports = topology.source_port
    width = max(int(tree_ports), int(ports.max(initial=0)) + 1)
    out_channel = np.full((topology.num_switches, width), -1, np.int32)
    numbered = np.flatnonzero(ports >= 0)
    out_channel[topology.channel_source[numbered], ports[numbered]] = numbered
    tree = FatTree(
        down=down,
        up=up,
        parallel=parallel,
        copies=tuple(prod(up[: i + 1]) for i in range(height)),
        leaves=tuple(prod(down[1 : i + 1]) for i in range(height)),
        terminals=terminals,
        level=level,
        index=index,
        out_channel=out_channel,
    )
    if not _is_consistent(topology, tree):
        raise UnsupportedError(
            "the network calls itself a fat tree, but its coordinates, ports or channels are not "
            "those of the fat tree that its attributes describe; build it with the topology "
            "fat-tree"
        )
    return tree


def _levels(topology: Topology, name: str) -> Levels:
    """Return the numbers of an attribute such as ``down``; () if it is none or no list."""
    values = topology.attributes.get(name)
    if not isinstance(values, list | tuple):
        return ()
    return tuple(value for value in values if isinstance(value, int) and value >= 1)


def _is_consistent(topology: Topology, tree: FatTree) -> bool:
    """Return whether all switches and channels are those of the tree; some may be missing."""
    # 1. Levels exist, and only leaves have terminals.
    level, index = tree.level, tree.index
    if level.min() < 0 or level.max() >= tree.height or (level[topology.endpoints] > 0).any():
        return False
    # 2. Indices are in range, and no two switches have the same coordinates.
    copies = np.array(tree.copies)
    sizes = np.array([prod(tree.down[i + 1 :]) for i in range(tree.height)]) * copies
    if (index < 0).any() or (index >= sizes[level]).any():
        return False
    coordinate_pair = tree.index + sizes.max() * level
    if len(np.unique(coordinate_pair)) < len(level):
        return False
    # 3. Each channel has a port of its own: others would be missing in `out_channel`.
    source, port = topology.channel_source, topology.source_port
    if int((tree.out_channel >= 0).sum()) < topology.num_channels:
        return False
    # 4. Channels at up ports lead to the next level, channels at down ports to the one before.
    source_level, target_level = level[source], level[topology.channel_target]
    first_up = np.array([tree.down_ports(i) for i in range(tree.height)])[source_level]
    num_ports = first_up + np.array([tree.up_ports(i) for i in range(tree.height)])[source_level]
    rises = port >= first_up
    if (port >= num_ports).any() or (target_level != source_level + np.where(rises, 1, -1)).any():
        return False
    # 5. Targets. Written in digits, the index of the lower end of a link is (subtree, child, copy)
    #    and that of the upper end (subtree, parent, copy). A channel that rises keeps the subtree
    #    and the copy, drops the child and chooses the parent by its port; one that falls does the
    #    opposite. See `_links` of the topology ``fat-tree``.
    upper = np.maximum(source_level, target_level)
    upper_copies, lower_copies = copies[upper], copies[upper - 1]
    children, links = np.array(tree.down)[upper], np.array(tree.parallel)[upper]
    source_index = index[source]
    copy = source_index % lower_copies
    parent, child = (port - first_up) // links, port // links
    subtree_above = source_index // lower_copies // children
    index_above = subtree_above * upper_copies + parent * lower_copies + copy
    subtree_below = source_index // upper_copies
    index_below = (subtree_below * children + child) * lower_copies + copy
    expected = np.where(rises, index_above, index_below)
    return bool((index[topology.channel_target] == expected).all())
