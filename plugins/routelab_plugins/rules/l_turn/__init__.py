"""L-turn: left and up first, then right, then left and down.

Koibuchi, Funahashi, Jouraku, Amano, *L-turn Routing: An Adaptive Routing in Irregular Networks*,
ICPP 2001, doi 10.1109/ICPP.2001.952084. Only the abstract was available. It calls the rules
"left-up-first turn routing" and says that a specific spanning tree balances the traffic. The
paper's tree and its list of prohibited turns are not in it.

This is a reading of that; the paper may prohibit other turns. The switches of a breadth-first tree
have two coordinates: x is the preorder number, y the level. A channel leads to the left or to the
right, and up, down or along its level. A route takes channels to the left that do not lead down
first, then channels to the right, then channels to the left and down. Every other turn is
prohibited. After that each prohibited turn becomes legal again where it closes no cycle in this
network, in ascending order of its switches.

No cycle of dependencies: x falls, then rises, then falls, so no walk inside a phase closes a cycle,
and no turn leads back to an earlier phase. Released turns are checked one by one. Every pair has a
route, because a child is right of its parent and below it: up and then down the tree stays legal.

Fewer turns between directions could be prohibited: only those from right to left. But this is
up*/down* by preorder, and under up*/down* no turn can be released. A prohibited turn leads from a
over b to c, where a and c come before b. If it were legal, the tree's route from c to a would close
a cycle with it.
"""

from __future__ import annotations

from typing_extensions import override

from routelab.api import Parameters, parameter
from routelab.toolkit.irregular import ROOTS_AND_BEST, PhaseRules
from routelab.toolkit.irregular.trees import PARENTS, CoordinatedTree, Parents
from routelab_plugins import works


class LTurnParameters(Parameters):
    """Root of the tree, and the parent of each switch."""

    root: str = parameter("center", description=f"Root of the tree: {ROOTS_AND_BEST}")
    tree: Parents = parameter(
        "first", description=f"Parent of a switch among those one level above: {PARENTS}"
    )


class LTurn(PhaseRules):
    """Left and up, then right, then left and down."""

    name = "l-turn"
    summary = "Left and up first, then right, then left and down (our reading of L-turn)"
    citations = (works.KOIBUCHI2001("left-up first; our reading of the abstract"),)
    Parameters = LTurnParameters

    @staticmethod
    @override
    def phase(tree: CoordinatedTree, a: int, b: int) -> int:
        """Return the phase of a route that takes the channel from switch a to switch b.

        0: to the left (a smaller x) and not down; 1: to the right; 2: to the left and down, which
        is to a greater level y.
        """
        if tree.x[b] > tree.x[a]:
            return 1
        return 2 if tree.y[b] > tree.y[a] else 0
