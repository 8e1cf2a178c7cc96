"""Routing graphs from rules about directions.

Direction-ordered routings define the next legal hops of a packet by the directions of its hops so
far. Such rules are a small automaton over direction labels; `graph_from_automaton` applies it to a
network.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import BoolArray, Topology
from routelab.toolkit.kernels import reachable


@dataclass
class DirectionAutomaton:
    """States and transitions over direction labels; every route begins in state 0.

    Add states with `state` and transitions with `move`; all states accept, so that a route may end
    at every switch.

    Attributes
    ----------
    names : list of str
        Name of each state.
    moves : list of (int, int, int, int)
        Transitions: state, direction of the hop, next state, and the direction of the hop before it
        if the turn needs a permission (`permitted_after` of `move`), else −1.
    """

    names: list[str] = field(default_factory=list)
    moves: list[tuple[int, int, int, int]] = field(default_factory=list)

    def state(self, name: str) -> int:
        """Add a state and return its number."""
        self.names.append(name)
        return len(self.names) - 1

    def move(self, state: int, direction: int, next_state: int, permitted_after: int = -1) -> None:
        """Add a transition: a packet in `state` may hop in `direction` and is then in `next_state`.

        With `permitted_after` (the direction of the hop that led to `state`) the turn is legal
        only where the mask given to `graph_from_automaton` permits it.
        """
        self.moves.append((state, direction, next_state, permitted_after))


def add_ordered_moves(
    automaton: DirectionAutomaton, n: int, *, bits: bool
) -> dict[tuple[int, frozenset[int]], int]:
    """Add direction order, and direction bits if `bits`, to an automaton.

    Directions 0..n-1 are the positive ones of n dimensions, n..2n-1 the negative ones; a packet
    uses them in ascending order. Direction bits forbid the negative direction of a dimension
    that was crossed positively; so the state of a packet holds only those positive dimensions
    whose negative direction is yet to come. Without bits, the automaton also allows +X and later
    -X. Use it only where no shortest route does that: on a whole torus or mesh. U-turns are
    omitted, because no shortest route has one.

    The caller adds the moves out of state 0, the first hops: a first hop in direction d that obeys
    the order leads to ``states[d, frozenset()]``.

    Returns
    -------
    states : dict
        State of a packet by the direction of its last hop, and the set of dimensions that it
        crossed positively before and could still go back in; without bits, this set is empty.
    """
    # Two dimensions: after +X +Y the key is (1, {0}), since -X is forbidden and yet to come.
    none_crossed: frozenset[int] = frozenset()
    states = {(d, none_crossed): automaton.state(f"{d}") for d in range(2 * n)}
    pending = list(states)
    while pending:
        last, crossed_before = pending.pop()
        crossed = crossed_before | {last} if last < n else crossed_before
        for following in range(last, 2 * n):
            is_u_turn = following == last + n
            if is_u_turn or (bits and following - n in crossed):
                continue
            if following < n:
                # `following` itself is part of the key as the last direction.
                remembered = crossed - {following}
            else:
                # Negative directions before `following` cannot come any more.
                remembered = frozenset(j for j in crossed if j > following - n)
            key = (following, remembered if bits else none_crossed)
            if key not in states:
                states[key] = automaton.state(f"{following} after {sorted(remembered)}")
                pending.append(key)
            automaton.move(states[last, crossed_before], following, states[key])
    return states


def graph_from_automaton(
    topology: Topology,
    automaton: DirectionAutomaton,
    permitted: BoolArray | None = None,
    *,
    turn_set: str = "",
    minimal_only: bool = False,
    prune: bool = True,
) -> RoutingGraph:
    """Return the routing graph of `automaton` on `topology`.

    Parameters
    ----------
    permitted : bool array, shape (C, D), optional
        ``permitted[c, d]``: a packet whose last hop went in direction d may take channel c by a
        transition that has `permitted_after`. If omitted, no such transition is legal.
    prune : bool
        Omit vertices that no route reaches; if False, every switch has a vertex for every state.

    Examples
    --------
    >>> from routelab.toolkit import DirectionAutomaton, build_grid, graph_from_automaton
    >>> anywhere = DirectionAutomaton()
    >>> state = anywhere.state("any")
    >>> for direction in range(4):
    ...     anywhere.move(state, direction, state)
    >>> graph_from_automaton(build_grid("mesh", (3, 3), wrap=False), anywhere).num_edges
    24
    """
    # Vertex s · num_states + k is switch s in state k. A transition of the automaton becomes one
    # edge for each channel of its direction; packets begin in state 0.
    num_states = len(automaton.names)
    sources, targets, channels = [], [], []
    channels_by_direction = [
        np.flatnonzero(topology.channel_direction == d) for d in range(len(topology.directions))
    ]
    for state, direction, next_state, permitted_after in automaton.moves:
        usable = channels_by_direction[direction]
        if permitted_after >= 0:
            if permitted is None:
                continue
            usable = usable[permitted[usable, permitted_after]]
        sources.append(topology.channel_source[usable].astype(np.int64) * num_states + state)
        targets.append(topology.channel_target[usable].astype(np.int64) * num_states + next_state)
        channels.append(usable)
    graph = RoutingGraph.create(
        topology,
        vertex_switch=np.repeat(np.arange(topology.num_switches), num_states),
        accepting=np.ones(topology.num_switches * num_states, dtype=np.bool_),
        begin=np.arange(topology.num_switches) * num_states,
        # The empty list, because `concatenate` needs an array also if no transition is legal.
        edge_source=np.concatenate([*sources, []]),
        edge_target=np.concatenate([*targets, []]),
        edge_channel=np.concatenate([*channels, []]),
        turn_set=turn_set,
        minimal_only=minimal_only,
    )
    return prune_unreachable(graph) if prune else graph


def prune_unreachable(graph: RoutingGraph) -> RoutingGraph:
    """Return the graph without the vertices that no begin vertex reaches."""
    is_reached = reachable(graph.edge_start, graph.edge_target, graph.begin)
    # The vertices that remain get new numbers, in their order. Edges out of them lead to vertices
    # that remain, too.
    new_vertex = np.cumsum(is_reached) - 1
    remains = is_reached[graph.edge_source]
    return RoutingGraph.create(
        graph.topology,
        vertex_switch=graph.vertex_switch[is_reached],
        accepting=graph.accepting[is_reached],
        begin=new_vertex[graph.begin],
        edge_source=new_vertex[graph.edge_source[remains]],
        edge_target=new_vertex[graph.edge_target[remains]],
        edge_channel=graph.edge_channel[remains],
        turn_set=graph.turn_set,
        minimal_only=graph.minimal_only,
    )
