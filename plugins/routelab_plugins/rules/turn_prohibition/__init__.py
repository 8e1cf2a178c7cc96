"""Turn prohibition on any network.

Starobinski, Karpovsky, Zakrevski, *Application of Network Calculus to General Topologies using
Turn-Prohibition*, IEEE/ACM Transactions on Networking 11(3), 2003, pages 411–421, doi
10.1109/TNET.2003.813040. Take a switch with the fewest links, prohibit all turns at it, remove it,
and go on with the rest. Its links still carry what begins or ends at the switch. The abstract was
read, which states the bound of one third of all turns; what follows on cut switches is our reading,
with a separate proof. Turns have no weights here.

If the rest falls apart, one part is the main one. Every other part is entered over one link only,
to its *gate*: turns at the removed switch between the gates' links, and between these and links to
the main part, stay legal, all others are prohibited. A gate is removed last of its part.

No cycle of dependencies: look at the first switch of a cycle that is removed. The cycle passes it
between two parts, so it enters a part other than the main one over the gate and leaves it over the
gate. Inside the part this is a walk from the gate back to it; the first switch removed there is
another one, and the walk passes it in the same way, in a smaller part, and so on. Every pair has a
route, because a gate is reached from all of its part, and all links of the gate may follow.
"""

from __future__ import annotations

from itertools import permutations

from routelab.api import Capabilities, RoutingGraph, RulesPlugin, Topology
from routelab.toolkit.irregular import (
    TURN_COLUMNS,
    Turn,
    neighbours_of,
    one_way_channel,
    turn_graph,
)
from routelab_plugins import works


class TurnProhibition(RulesPlugin):
    """All turns prohibited at one switch after the other, those with few links first."""

    name = "turn-prohibition"
    summary = "Prohibits turns at switches with few links first (turn prohibition)"
    citations = (works.STAROBINSKI2003("the turn-prohibition algorithm"),)
    capabilities = Capabilities(minimal=False, flow_control="plain")
    columns = TURN_COLUMNS

    def supports(self, topology: Topology) -> str | None:
        """Require links in both directions."""
        return one_way_channel(topology)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes; see `routelab.toolkit.irregular.turn_graph`."""
        prohibited = prohibited_turns(neighbours_of(topology))
        return turn_graph(topology, prohibited, turn_set="turn-prohibition")


def prohibited_turns(neighbours: list[list[int]]) -> list[Turn]:
    """Return the prohibited turns of a network, as (before, switch, after) of three switches.

    Switches are removed one after the other. In a ring of switches 0, 1, 2 switch 0 is removed
    first: the turns 1-0-2 and 2-0-1 are prohibited. The rest is a line, where no turn has to be.
    Takes O(S (S + L)) steps for S switches and L links.
    """
    neighbours_left = [set(adjacent) for adjacent in neighbours]
    turns: list[Turn] = []
    # Connected parts of the rest, each with its gate; −1 for a part that was the main one at every
    # removal so far.
    switches = set(range(len(neighbours_left)))
    parts = [(part, -1) for part in _connected_parts(switches, neighbours_left)]
    while parts:
        part, gate = parts.pop()
        while len(part) > 1:
            # 1. Remove a switch with the fewest links. The gate remains to the end: packets enter
            #    the part there, so no turn at it is prohibited.
            switch = min(part - {gate}, key=lambda s: (len(neighbours_left[s]), s))
            part.remove(switch)
            # 2. The rest may fall into pieces (not at a switch with one link). The piece with the
            #    gate is the main one, or the largest if there is no gate. Each other piece gets a
            #    gate: its first neighbour of the removed switch.
            pieces = (
                _connected_parts(part, neighbours_left)
                if len(neighbours_left[switch]) > 1
                else [part]
            )
            main = next((piece for piece in pieces if gate in piece), max(pieces, key=len))
            gates = {min(neighbours_left[switch] & piece) for piece in pieces if piece is not main}
            # 3. Prohibit all turns at the switch, but not those from one piece to another over
            #    gates: they join the pieces.
            for before, after in permutations(sorted(neighbours_left[switch]), 2):
                between_gates = before in gates and after in gates
                leaves_by_gate = before in gates and after in main
                enters_by_gate = before in main and after in gates
                if not (between_gates or leaves_by_gate or enters_by_gate):
                    turns.append((before, switch, after))
            for neighbour in neighbours_left[switch]:
                neighbours_left[neighbour].remove(switch)
            parts += [(piece, min(gates & piece)) for piece in pieces if piece is not main]
            part = main
    return turns


def _connected_parts(switches: set[int], neighbours: list[set[int]]) -> list[set[int]]:
    """Return the connected parts of the network of some switches, ordered by first switch."""
    parts: list[set[int]] = []
    unreached = set(switches)
    for first in sorted(switches):
        if first not in unreached:
            continue
        unreached.remove(first)
        part, stack = {first}, [first]
        while stack:
            newly_reached = neighbours[stack.pop()] & unreached
            unreached -= newly_reached
            part |= newly_reached
            stack += newly_reached
        parts.append(part)
    return parts
