"""Rules whose routes pass through phases, and turns that a network allows them in addition.

    phase      number of a link in one direction; routes never return to a lower one
    turn       (a, b, c): two links that follow each other, from switch a by switch b to switch c
    backwards  turns into a link of an earlier phase; without them, no cycle of links can form
    released   backwards turns that close no cycle in this network, so that they are legal, too

Each turn that remains prohibited would close a cycle.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from routelab.api.columns import Column
from routelab.api.plugin import RulesPlugin
from routelab.api.plugin_base import Capabilities
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Topology
from routelab.kernels.turn_release import release_turns
from routelab.toolkit.irregular.evenness import graph_of_root
from routelab.toolkit.irregular.links import neighbours_of, one_way_channel
from routelab.toolkit.irregular.trees import CoordinatedTree, Parents, coordinated_tree
from routelab.toolkit.irregular.turns import TURN_COLUMNS, Turn, turn_graph

PHASE_COLUMNS = (
    *TURN_COLUMNS,
    Column(
        "released_turns",
        "turns that the rules prohibit in general, but allow in this network because they close "
        "no cycle",
        heading="released turns",
        unit="turns",
        group="Prohibited turns",
    ),
)
"""Columns of the facts that `phase_graph` adds."""


class PhaseRules(RulesPlugin):
    """Base class of rules that give each directed link a phase, by its place in a spanning tree.

    A subclass defines `phase`. Its parameters include ``root`` and ``tree``, the root of the tree
    and the choice of parents in it.
    """

    capabilities = Capabilities(minimal=False, flow_control="plain")
    columns = PHASE_COLUMNS

    @staticmethod
    @abstractmethod
    def phase(tree: CoordinatedTree, a: int, b: int) -> int:
        """Return the phase of the channel from one switch to another."""

    def supports(self, topology: Topology) -> str | None:
        """Require links in both directions."""
        return one_way_channel(topology)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes; see `phase_graph`."""
        options = self.parameters
        return phase_graph(
            topology, self.phase, rules=self.name, root=options.root, parents=options.tree
        )


def phase_graph(
    topology: Topology,
    phase_of: Callable[[CoordinatedTree, int, int], int],
    *,
    rules: str,
    root: str,
    parents: Parents,
) -> RoutingGraph:
    """Build the automaton of routes that never return to an earlier phase, with released turns.

    Parameters
    ----------
    topology : Topology
    phase_of : function
        Called with a tree and two switches a and b; returns the phase of the link a → b. No walk
        inside a phase may close a cycle.
    rules : str
        Name of the rules, for messages and as `turn_set`.
    root : str
        Root of the tree: a switch by name or description, or ``best``, which tries several; see
        `routelab.toolkit.irregular.ROOTS_AND_BEST`.
    parents : {"even", "first"}
        See `routelab.toolkit.irregular.trees.coordinated_tree`.

    Raises
    ------
    InputError
        If the network has no switch, or none with the name of the root.
    """
    neighbours = neighbours_of(topology)

    # for `graph_of_root`, which may try several roots
    def graph_from(root_switch: int) -> RoutingGraph:
        """Return the routing graph for the tree with this root."""
        tree = coordinated_tree(neighbours, root_switch, parents)
        backwards = turns_to_earlier_phases(neighbours, lambda a, b: phase_of(tree, a, b))
        prohibited = prohibited_after_release(neighbours, backwards)
        released = len(backwards) - len(prohibited)
        return turn_graph(topology, prohibited, turn_set=rules, facts={"released_turns": released})

    return graph_of_root(topology, root, rules, graph_from)


def turns_to_earlier_phases(
    neighbours: Sequence[Sequence[int]], phase_of: Callable[[int, int], int]
) -> list[Turn]:
    """Return the turns (a, b, c) in which the link b → c has an earlier phase than a → b."""
    turns: list[Turn] = []
    for b, adjacent in enumerate(neighbours):
        next_phases = [(c, phase_of(b, c)) for c in adjacent]
        for a in adjacent:
            phase = phase_of(a, b)
            # turns back (c = a) need no prohibition: no route takes them
            turns += [(a, b, c) for c, next_phase in next_phases if c != a and next_phase < phase]
    return turns


def prohibited_after_release(
    neighbours: Sequence[Sequence[int]], prohibited: Iterable[Turn]
) -> list[Turn]:
    """Release turns that close no cycle; return the turns that remain prohibited.

    Prohibited turns become legal one after the other, unless that closes a cycle of legal turns.
    Afterwards every prohibited turn is necessary: without it there would be a cycle.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Neighbours of each switch, each once.
    prohibited : iterable of Turn
        Turns that break all cycles. They are tried in ascending order.

    Returns
    -------
    list of Turn
        Turns that remain prohibited, in ascending order.

    Raises
    ------
    ValueError
        If there is a cycle although they are prohibited.
    """
    prohibited_before = frozenset(prohibited)
    # A graph whose vertices are the links a → b in both directions. Its edges are the turns
    # (a, b, c), from a → b to b → c; those of link l are start[l]:start[l + 1].
    links = [(a, b) for a, adjacent in enumerate(neighbours) for b in adjacent]
    link_index = {link: index for index, link in enumerate(links)}
    turns = [(a, b, c) for a, b in links for c in neighbours[b] if c != a]
    # from a → b to every neighbour of b but a
    num_turns = np.array([len(neighbours[b]) - 1 for _, b in links], dtype=np.int64)
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(num_turns)))
    target = np.array([link_index[b, c] for _, b, c in turns], dtype=np.int32)
    legal = np.array([turn not in prohibited_before for turn in turns], dtype=np.bool_)
    if not release_turns(start, target, legal):  # updates `legal`
        raise ValueError("the turns that are not prohibited have a cycle")
    return [turns[index] for index in np.flatnonzero(~legal).tolist()]
