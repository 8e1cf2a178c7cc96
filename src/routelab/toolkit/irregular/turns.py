"""Routing graphs of rules that prohibit turns: pairs of links that follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.columns import Column
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Int64Array, Topology
from routelab.toolkit.reductions import merged

Turn = tuple[int, int, int]
"""Three switches: a packet comes from the first, and leaves the second for the third."""

TURN_COLUMNS = (
    Column(
        "prohibited_turns",
        "turns from one link into another that the rules prohibit; parallel cables count as one "
        "link",
        heading="prohibited turns",
        unit="turns",
        better="lower",
        group="Prohibited turns",
    ),
    Column(
        "prohibited_share",
        "prohibited turns / all turns",
        heading="share of prohibited turns",
        better="lower",
        decimals=3,
        group="Prohibited turns",
    ),
)
"""Columns of the facts that `turn_graph` adds."""


def turn_graph(
    topology: Topology,
    prohibited: Iterable[Turn],
    *,
    turn_set: str,
    facts: Mapping[str, float | str] | None = None,
    channel_facts: Mapping[str, ArrayLike] | None = None,
    merge: bool = True,
) -> RoutingGraph:
    """Build the routing graph of all routes without prohibited turns and without turns back.

    A state is the channel that a packet came by. Parallel cables count as one link: a turn is
    prohibited between all of them, and a packet never turns from a cable into its twin.

    Parameters
    ----------
    topology : Topology
    prohibited : iterable of Turn
    turn_set, facts, channel_facts
        See `RoutingGraph`.
    merge : bool
        Whether to merge channels that have the same legal continuations into one state.
    """
    num_switches, num_channels = topology.num_switches, topology.num_channels
    source = topology.channel_source.astype(np.int64)
    target = topology.channel_target.astype(np.int64)
    start, leaving = topology.outgoing
    channels = np.arange(num_channels)
    # 1. All pairs of a channel, `before`, and one that leaves its target, `after`. If 3 channels
    #    leave the target of channel 0, and 2 that of channel 1, `before` is 0 0 0 1 1, and
    #    `number_at_target`, the number of `after` among those that leave the target, is 0 1 2 0 1.
    degree = np.diff(start)[target]
    before = np.repeat(channels, degree)
    first_pair = np.cumsum(degree) - degree
    number_at_target = np.arange(len(before)) - np.repeat(first_pair, degree)
    after = leaving[start[target[before]] + number_at_target]
    # 2. Pairs that are neither turns back nor prohibited.
    keys = _turn_keys(source[before], target[before], target[after], num_switches=num_switches)
    prohibited_turns = np.array(sorted(set(prohibited)), dtype=np.int64).reshape(-1, 3)
    a, b, c = prohibited_turns.T
    prohibited_keys = _turn_keys(a, b, c, num_switches=num_switches)
    allowed = (source[before] != target[after]) & ~np.isin(keys, prohibited_keys)
    # 3. The number of all turns: at each switch, from every neighbour to every other one. Parallel
    #    cables have the same number here, so each neighbour counts once.
    links = np.unique(source * num_switches + target)
    num_neighbours = np.bincount(links // max(num_switches, 1))  # by the source of the link
    num_turns = int((num_neighbours * (num_neighbours - 1)).sum())
    # 4. The automaton. Vertex s is a packet that begins at switch s, vertex num_switches + c one
    #    that came by channel c.
    begin = np.arange(num_switches)
    graph = RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((begin, target)),
        accepting=np.ones(num_switches + num_channels, dtype=np.bool_),
        begin=begin,
        edge_source=np.concatenate((source, before[allowed] + num_switches)),
        edge_target=np.concatenate((channels, after[allowed])) + num_switches,
        edge_channel=np.concatenate((channels, after[allowed])),
        turn_set=turn_set,
        facts={
            **(facts or {}),
            "prohibited_turns": len(prohibited_turns),
            "prohibited_share": len(prohibited_turns) / num_turns if num_turns else 0.0,
        },
        channel_facts=channel_facts,
        prohibited=prohibited_turns,
    )
    return merged(graph) if merge else graph


def _turn_keys(a: Int64Array, b: Int64Array, c: Int64Array, *, num_switches: int) -> Int64Array:
    """Return a number for each turn, different for different turns."""
    return (a * num_switches + b) * num_switches + c
