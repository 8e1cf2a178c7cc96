"""Fat trees: extended generalized fat trees, k-ary n-trees, and those with parallel links.

Öhring, Ibel, Das and Kumar, *On Generalized Fat Trees*, IPPS 1995: XGFT(h; m1, …, mh; w1, …, wh)
has terminals on level 0 and switches on levels 1 to h; a node of level i has m_i children, and a
node of level i − 1 has w_i parents. Petrini and Vanneschi, *k-ary n-trees: High Performance
Networks for Massively Parallel Architectures*, IPPS 1997, doi 10.1109/IPPS.1997.580853: a k-ary
n-tree is XGFT(n; k, …, k; 1, k, …, k). Zahavi adds p_i parallel links between a node of level i and
each child: PGFT(h; m; w; p) (*Fat-Tree Routing and Node Ordering Providing Contention Free Traffic
for MPI Global Collectives*, Journal of Parallel and Distributed Computing, 2012).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from routelab.api import InputError, Parameters, Topology, TopologyPlugin, parameter
from routelab.api.parameters import Dims
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.groups import COORDINATE_NAMES
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
)
from routelab_plugins import works

MAX_TERMINALS = 10_000
"""Largest number of terminals at a leaf."""

Shape = tuple[int, ...]


class FatTreeSize(Parameters):
    """Shape of the fat tree."""

    k: int | None = parameter(
        None, ge=2, le=1000, description="Children and parents in a k-ary n-tree; none: 4"
    )
    levels: int | None = parameter(
        None, ge=2, le=20, description="Levels of switches n in a k-ary n-tree; none: 3"
    )
    down: Dims | None = parameter(
        None,
        description="Instead of k and levels: children m1xm2x…; m1 terminals at each leaf, then "
        "for each level of switches above the leaves, e.g. 4x4x2",
    )
    up: Dims | None = parameter(
        None,
        description="Parents w1xw2x… to go with down: 1 leaf for each terminal, then for the "
        "switches of each level below the roots, e.g. 1x2x2",
    )
    parallel: Dims | None = parameter(
        None,
        description="Parallel links p1xp2x… between a child and each parent, 1 for terminals, "
        "e.g. 1x1x2; none: all 1",
    )
    terminals: int | None = parameter(
        None,
        ge=1,
        le=MAX_TERMINALS,
        description="Terminals at each leaf; none: k, or the first of down",
    )


class FatTreeParameters(FailureParameters, FatTreeSize):
    """Shape of the fat tree, and its failures."""


class FatTree(TopologyPlugin):
    """Levels of switches; leaves have the terminals, links join neighbouring levels."""

    name = "fat-tree"
    summary = "Fat tree: k-ary n-tree, or XGFT with any numbers of children, parents and links"
    citations = (
        works.OHRING1995("definition of extended generalized fat trees (XGFT)"),
        works.PETRINI1997("definition of k-ary n-trees"),
        works.ZAHAVI2012("parallel links (PGFT)"),
    )
    Parameters = FatTreeParameters

    def build(self) -> Topology:
        """Build the fat tree.

        Level 0 has the leaves (level 1 of the definition). Switch 4 of level 1 is ``l1.4`` and has
        the coordinates (1, 4). In the definition a switch of level i has the digits
        a_h … a_(i+1) b_i … b_1 with a_j < m_j and b_j < w_j, here its index is the number with
        these digits in mixed radix: leaves are in the order of the subtrees. Links join switches of
        levels i and i + 1 that agree in all digits but a_(i+1) and b_(i+1). Ports to children come
        first, by a_i and then parallel link, those to parents follow, by b_(i+1) and then
        parallel link.

        Raises
        ------
        InputError
            If the parameters contradict each other or describe no fat tree, the network is too
            large, or more parts shall fail than exist.
        """
        parameters = self.parameters
        down, up, parallel = self._shape()
        height = len(down)
        # `down[i]` and `up[i]` are m_(i+1) and w_(i+1) of the definition. Level i has a switch for
        # each combination of the digits in the docstring: with down=4x4x2 and up=1x2x2 the levels
        # have 4 · 2 · 1, 2 · 1 · 2 and 1 · 2 · 2 switches. `cables[i]` links join level i to the
        # next one.
        sizes = [prod(down[i + 1 :]) * prod(up[: i + 1]) for i in range(height)]
        cables = [sizes[i] * up[i + 1] * parallel[i + 1] for i in range(height - 1)]
        check_size(self.name, sum(sizes), sum(cables))
        level_links = [
            _links(i, sizes=sizes, down=down, up=up, parallel=parallel) for i in range(height - 1)
        ]
        level = np.repeat(np.arange(height), sizes)
        index = np.concatenate([np.arange(size) for size in sizes])
        terminals = down[0] if parameters.terminals is None else parameters.terminals
        return linked_network(
            self.name,
            switch_names=[f"l{i}.{j}" for i, j in zip(level.tolist(), index.tolist(), strict=True)],
            ends=np.concatenate([ends for ends, _ in level_links]),
            ports=np.concatenate([ports for _, ports in level_links]),
            terminal_switch=np.repeat(np.arange(sizes[0]), terminals),
            parameters={
                "down": list(down),
                "up": list(up),
                "parallel": list(parallel),
                "terminals_per_leaf": terminals,
                COORDINATE_NAMES: ["level", "index"],
            },
            facts={
                "switches_of_levels": sizes,
                "cables": {f"levels {i} and {i + 1}": cables[i] for i in range(height - 1)},
                **_leaf_distances(down),
                **_leaf_bisection(sizes[0], down=down, up=up, parallel=parallel),
            },
            coordinates=np.stack((level, index), axis=1),
            failures=parameters,
        )

    def _shape(self) -> tuple[Shape, Shape, Shape]:
        """Return children m, parents w and parallel links p (module docstring), each by level.

        The first number of each belongs to terminals: they are the children of leaves, and have one
        parent and one link. The default is (4, 4, 4), (1, 4, 4) and (1, 1, 1).

        Raises
        ------
        InputError
            If the parameters contradict each other or describe no fat tree.
        """
        parameters = self.parameters
        # 1. A k-ary n-tree, unless the numbers of each level are given.
        k, levels = parameters.k or 4, parameters.levels or 3
        down, up = (k,) * levels, (1, *[k] * (levels - 1))
        if parameters.down or parameters.up:
            if parameters.k or parameters.levels:
                raise InputError(
                    "fat-tree: use either k and levels (a k-ary n-tree) or down and up (any fat "
                    "tree), not both"
                )
            # one without the other differs in length, which is refused below
            down, up = parameters.down or (), parameters.up or ()
        parallel = parameters.parallel or (1,) * len(down)
        # 2. One number for each level, and at least two levels: a single one has no links.
        if len(down) != len(up):
            raise InputError(
                f"fat-tree: down has {len(down)} numbers and up has {len(up)}, but both need one "
                "for each level, such as down=4x4x2 with up=1x2x2"
            )
        if len(down) == 1:
            raise InputError(
                f"fat-tree: down={_text(down)} is a single level of switches, without links; add "
                f"one, such as down={_text(down)}x2 with up=1x1"
            )
        if down[0] > MAX_TERMINALS:
            raise InputError(
                f"fat-tree: down={_text(down)} has {down[0]:,} terminals at each leaf; the limit "
                f"is {MAX_TERMINALS:,}"
            )
        if len(parallel) != len(down):
            # Suggest the last of its numbers, after ones if they are too few: 2 becomes 1x1x2.
            suggestion = ((1,) * len(down) + parallel)[-len(down) :]
            raise InputError(
                f"fat-tree: parallel={_text(parallel)} needs {len(down)} numbers, one for each "
                f"level, such as {_text(suggestion)}"
            )
        # 3. No number below 1; one parent and one link for each terminal.
        for name, values in (("down", down), ("up", up), ("parallel", parallel)):
            if min(values) < 1:
                raise InputError(
                    f"fat-tree: {name}={_text(values)} has a number below 1; use "
                    f"{name}={_text(tuple(max(value, 1) for value in values))}"
                )
            if name != "down" and values[0] != 1:
                raise InputError(
                    f"fat-tree: {name}={_text(values)} must begin with 1, because a terminal has "
                    f"one link; use {name}={_text((1, *values[1:]))}"
                )
        return down, up, parallel


def _text(values: Shape) -> str:
    """Write numbers as a user does: ``4x4x2``."""
    return "x".join(map(str, values))


def _links(
    level: int, *, sizes: list[int], down: Shape, up: Shape, parallel: Shape
) -> tuple[Int64Array, Int64Array]:
    """Return the switches at the ends of the links from a level to the next, and their ports there.

    Both are int64, shape (L, 2), the lower switch first. The digits of a switch's index, the
    highest first, are (subtree, child, copy) for the lower and (subtree, parent, copy) for the
    upper one:

        subtree   which set of leaves is below the upper switch
        child     which part of this set is below the lower switch
        copy      which of the lower switches above this part it is
        parent    which of the upper switches linked to the lower one it is

    Lower and upper switches are linked if they agree in subtree and copy. For example, with k=2 and
    levels=3 there is one subtree below the roots, and the links from level 1 to level 2 are::

        lower switch 0 (child 0, copy 0)    to upper 0 (parent 0, copy 0) and 2 (parent 1, copy 0)
        lower switch 1 (child 0, copy 1)    to upper 1 (parent 0, copy 1) and 3 (parent 1, copy 1)
        lower switch 2 (child 1, copy 0)    to upper 0 and 2
        lower switch 3 (child 1, copy 1)    to upper 1 and 3

    Levels are counted from 0 as in `FatTree.build`: the upper switches are on level ``level + 2``
    of the definition, so they have m_(level + 2) children, which is ``down[level + 1]``.
    """
    children, parents, links = down[level + 1], up[level + 1], parallel[level + 1]
    subtrees, copies = prod(down[level + 2 :]), prod(up[: level + 1])
    subtree, child, copy, parent, link = (
        axis.reshape(-1) for axis in np.indices((subtrees, children, copies, parents, links))
    )
    first_lower = sum(sizes[:level])
    first_upper = first_lower + sizes[level]
    lower = first_lower + (subtree * children + child) * copies + copy
    upper = first_upper + (subtree * parents + parent) * copies + copy
    # Ports to children come first. Terminals, the children of leaves, take no port numbers.
    first_up_port = down[level] * parallel[level] if level else 0
    ports = np.stack((first_up_port + parent * links + link, child * links + link), axis=1)
    return np.stack((lower, upper), axis=1), ports


def _leaf_distances(down: Shape) -> dict[str, Any]:
    """Return the largest and the mean number of hops between leaves, if there are two."""
    leaves = prod(down[1:])
    if leaves == 1:
        return {}
    # Add up the distances from one leaf to all others. A route goes up to the lowest level at which
    # one switch is above both leaves, and down again: 2 · level hops. There the other leaf is below
    # another child of that switch.
    total_hops, leaves_below_child = 0, 1
    for level, children in enumerate(down[1:], start=1):
        total_hops += 2 * level * (children - 1) * leaves_below_child
        leaves_below_child *= children
    # Routes do not go up further: switches of higher levels have one child, so no other leaves.
    highest = max(level for level, children in enumerate(down) if level and children > 1)
    return {"leaf_diameter": 2 * highest, "leaf_mean_distance": total_hops / (leaves - 1)}


def _leaf_bisection(num_leaves: int, *, down: Shape, up: Shape, parallel: Shape) -> dict[str, int]:
    """Return the fewest links between two halves of the leaves, if that is known.

    It is known if every switch below the roots has as many links up as down (leaves: terminals) and
    the roots have an even number of children. It is then the number of terminals of a half:

        not fewer   Let all terminals of a half send to the other half at rate 1, spread evenly over
                    all shortest paths. No channel carries more than 1, so at least one link per
                    terminal joins the halves.
        not more    Let each half have half of the children of every root. One link per terminal
                    joins these halves.
    """
    balanced = all(  # links up from a switch of level i, and down from it
        up[i + 1] * parallel[i + 1] == down[i] * parallel[i] for i in range(len(down) - 1)
    )
    if not balanced or down[-1] % 2:
        return {}
    return {"leaf_bisection_links": num_leaves * down[0] // 2}
