"""Tree-turn: up the tree first, then down, then up links outside the tree.

Zhou, Lin, Chung, *A Tree-Turn Model for Irregular Networks*, NCA 2006, doi 10.1109/NCA.2006.10;
Zhou, Chung, *Tree-Turn Routing*, The Journal of Supercomputing, 2012, doi
10.1007/s11227-010-0477-0. Only the abstracts were available. They say that links belong to a tree
or cross it, and that their channels have six directions in a tree with coordinates. Some turns
between these directions are prohibited; the abstracts do not list them.

This plugin is our reading of the abstracts; the papers may prohibit other turns. The switches of a
breadth-first tree have two coordinates: x is the preorder number, y the level. A channel leads up
if its end has a smaller level, or the same level and a smaller x; otherwise it leads down. A route
goes up the tree first, then down over any links, then up over links outside the tree. Every other
turn is prohibited. After that each prohibited turn becomes legal again where it closes no cycle in
this network, in ascending order of its switches.

With ``tree=first``, links outside the tree have four directions: left or right along a level, up to
the right, and down to the left. Together with those of the tree they are six.

No cycle of dependencies: (y, x) falls, then rises, then falls, so no walk inside a phase closes a
cycle, and no turn leads back to an earlier phase. Released turns are checked one by one. Every pair
has a route, because up and then down the tree stays legal.
"""

from __future__ import annotations

from typing_extensions import override

from routelab.api import Parameters, parameter
from routelab.toolkit.irregular import ROOTS_AND_BEST, PhaseRules
from routelab.toolkit.irregular.trees import PARENTS, CoordinatedTree, Parents
from routelab_plugins import works


class TreeTurnParameters(Parameters):
    """Root of the tree, and the parent of each switch."""

    root: str = parameter("center", description=f"Root of the tree: {ROOTS_AND_BEST}")
    tree: Parents = parameter(
        "even", description=f"Parent of a switch among those one level above: {PARENTS}"
    )


class TreeTurn(PhaseRules):
    """Up the tree, then down, then up links outside the tree."""

    name = "tree-turn"
    summary = "Up the tree, then down, then up other links (our reading of Tree-turn)"
    citations = (
        works.ZHOU2006("tree links and cross links; our reading of the abstract"),
        works.ZHOU2012("the later version"),
    )
    Parameters = TreeTurnParameters

    @staticmethod
    @override
    def phase(tree: CoordinatedTree, a: int, b: int) -> int:
        """Return the phase of a route that takes the channel from switch a to switch b.

        0: up over a link of the tree; 1: down; 2: up over a link outside the tree. Down is to a
        greater level y, or on the same level to a greater x.
        """
        if (tree.y[b], tree.x[b]) > (tree.y[a], tree.x[a]):
            return 1
        return 0 if tree.has_link(a, b) else 2
