"""Exact bounds of symmetric networks: linear programs with one variable per class of flows.

The program has a flow of every source over every channel. Colour refinement finds classes of flows
and constraints that no count of neighbours can tell apart; the mean over each class of a solution
is a solution, so one variable and one constraint of each class are enough: Grohe, Kersting,
Mladenov, Selman, *Dimension Reduction via Colour Refinement*, ESA 2014. All symmetries of the
network and its traffic are used without knowing them, and the weights that the program returns
are checked on the whole network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api.topology import Int64Array
from routelab.metrics.bounds.solver import LinearProgram, solve_program
from routelab.metrics.bounds.throughput.balance import SearchOutcome
from routelab.metrics.bounds.throughput.kernels.colours import hop_colours, refine_colours
from routelab.metrics.bounds.throughput.problem import FlowProblem

Colours = NDArray[np.uint64]

MOST_PAIRS, MOST_FLOWS = 1200, 6000
"""Largest numbers of classes of pairs and of flows: a program of some seconds."""

MOST_ROUNDS = 1000
"""Largest number of rounds of colour refinement."""


@dataclass(frozen=True, eq=False)
class Folding:
    """Classes of pairs, channels and flows; each class is one variable or row of the program.

    A pair is a source and a node; a flow is that of a source over a channel. A class is represented
    by its first pair or channel.

    Attributes
    ----------
    source, node : int64 array, shape (P,)
        The first pair of each class.
    pair_size : int64 array, shape (P,)
        Number of pairs in each class.
    channel_class : int64 array, shape (C,)
        Class of each channel.
    channel : int64 array, shape (Q,)
        The first channel of each class.
    inflow_pair, inflow_flow, inflow_sign : int64 arrays, shape (E,)
        Entry i: a flow of class ``inflow_flow[i]`` enters (+1) or leaves (−1) the node of pair
        class ``inflow_pair[i]``.
    load_channel, load_flow : int64 arrays, shape (F,)
        Entry i: a channel of class ``load_channel[i]`` carries a flow of class ``load_flow[i]``.
    num_flows : int
        Number of classes of flows.
    """

    source: Int64Array
    node: Int64Array
    pair_size: Int64Array
    channel_class: Int64Array
    channel: Int64Array
    inflow_pair: Int64Array
    inflow_flow: Int64Array
    inflow_sign: Int64Array
    load_channel: Int64Array
    load_flow: Int64Array
    num_flows: int


def find_folding(problem: FlowProblem) -> Folding | None:
    """Find classes; return None if there are too many, as in networks without symmetry."""
    network, num_nodes = problem.network, len(problem.demand)
    ends = network.channel_source, network.channel_target
    sends = problem.demand.sum(axis=1) > 0
    # 1. First colours: channels by capacity, pairs by demand, which is rounded because it is a sum.
    #    Pairs of a node with itself get an odd colour, all others an even one: flow begins there.
    _, demand_class = np.unique(np.round(problem.demand, 12), return_inverse=True)
    pair_colour: Colours = 2 * demand_class.reshape(num_nodes, num_nodes).astype(np.uint64)
    pair_colour[np.arange(num_nodes), np.arange(num_nodes)] += np.uint64(1)
    _, capacity_class = np.unique(problem.capacity, return_inverse=True)
    channel_colour: Colours = capacity_class.astype(np.uint64)
    # 2. Refine the colours until a round makes no new ones.
    num_colours = 0
    for _ in range(MOST_ROUNDS):
        new_num_colours = len(np.unique(pair_colour[sends])) + len(np.unique(channel_colour))
        if new_num_colours > MOST_PAIRS + MOST_FLOWS:
            return None
        if new_num_colours == num_colours:
            break
        num_colours = new_num_colours
        pair_colour, channel_colour = refine_colours(*ends, pair_colour, channel_colour, sends)
    return _fold_by_colour(problem, sends, pair_colour, channel_colour)


def _fold_by_colour(
    problem: FlowProblem,
    sends: NDArray[np.bool_],
    pair_colour: Colours,
    channel_colour: Colours,
) -> Folding | None:
    """Return the classes of pairs, channels and flows by colour; None if there are too many."""
    network = problem.network
    ends = network.channel_source, network.channel_target
    # 1. One pair and one channel of each class represent all of it.
    senders = np.flatnonzero(sends)
    _, first_pair, size = np.unique(pair_colour[senders], return_index=True, return_counts=True)
    if len(first_pair) > MOST_PAIRS:
        return None
    # np.unique numbers the elements of the array row by row, and a row has len(pair_colour) nodes
    source, node = senders[first_pair // len(pair_colour)], first_pair % len(pair_colour)
    _, first_channel, channel_class = np.unique(
        channel_colour, return_index=True, return_inverse=True
    )
    # 2. The channels that enter and leave the node of each pair. If channels are sorted by the node
    #    at one end, those of a node follow each other: `degree` channels from index `start` on.
    pair_pieces, channel_pieces, sign_pieces = [], [], []
    for end, sign in ((network.channel_target, 1), (network.channel_source, -1)):
        by_end = np.argsort(end, kind="stable")
        start = np.searchsorted(end[by_end], node)
        degree = np.searchsorted(end[by_end], node + 1) - start
        # 0, 1, … degree − 1 for each pair
        number_at_node = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
        pair_pieces.append(np.repeat(np.arange(len(node)), degree))
        channel_pieces.append(by_end[np.repeat(start, degree) + number_at_node])
        sign_pieces.append(np.full(len(number_at_node), sign))
    inflow_pair, inflow_channel = np.concatenate(pair_pieces), np.concatenate(channel_pieces)
    # 3. Colours of the flows over these channels, and of the flows of all senders over the channel
    #    of each class. Each flow enters some node, so the former include all colours of the latter.
    inflow_colour = hop_colours(
        *ends, pair_colour, channel_colour, source[inflow_pair], inflow_channel
    )
    loading_channel = np.repeat(first_channel, len(senders))
    loading_sender = np.tile(senders, len(first_channel))
    load_colour = hop_colours(*ends, pair_colour, channel_colour, loading_sender, loading_channel)
    colours, inflow_flow = np.unique(inflow_colour, return_inverse=True)
    if len(colours) > MOST_FLOWS:
        return None
    return Folding(
        source=source,
        node=node,
        pair_size=size,
        channel_class=channel_class.astype(np.int64),
        channel=first_channel,
        inflow_pair=inflow_pair,
        inflow_flow=inflow_flow.astype(np.int64),
        inflow_sign=np.concatenate(sign_pieces),
        load_channel=np.repeat(np.arange(len(first_channel)), len(senders)),
        load_flow=np.searchsorted(colours, load_colour),
        num_flows=len(colours),
    )


def solve_sustained(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest load that all pairs sustain together; None if time runs out."""
    program = LinearProgram()
    load = program.add_variables(1, cost=-1.0)  # the program is minimised
    inflow_rows = _add_flows(program, problem, folding)
    # Net inflow of a node − load × demand >= 0. At the source itself the flow begins.
    demand = problem.demand[folding.source, folding.node]
    is_remote = folding.source != folding.node
    load_variable = np.repeat(load, is_remote.sum())
    program.add_entries(inflow_rows[is_remote], load_variable, -demand[is_remote])
    return _solve(program, folding, seconds)


def solve_accepted(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest traffic that arrives if pairs may be served in part; None if out of time."""
    program = LinearProgram()
    # A variable for each class of pairs with a demand: how much of it arrives. It counts once for
    # each pair of the class; negative, because the program is minimised.
    demand = problem.demand[folding.source, folding.node]
    sending = np.flatnonzero(demand > 0)
    accepted = np.concatenate(
        [program.add_variables(1, cost=-float(size)) for size in folding.pair_size[sending]]
    )
    # net inflow of a node − accepted >= 0, and accepted <= demand
    inflow_rows = _add_flows(program, problem, folding)
    program.add_entries(inflow_rows[sending], accepted, -1.0)
    demand_rows = program.add_rows(np.full(len(sending), -np.inf), demand[sending])
    program.add_entries(demand_rows, accepted, 1.0)
    return _solve(program, folding, seconds)


def _add_flows(program: LinearProgram, problem: FlowProblem, folding: Folding) -> Int64Array:
    """Add a variable for each class of flows, and the rows that limit them.

    The first rows of the program say for each class of channels: flow over it <= capacity. The next
    ones are the net inflow for each class of pairs: what enters the node minus what leaves it. It
    is not negative, except at the source itself, where the flow begins.

    Returns
    -------
    inflow_rows : int64 array, shape (P,)
        Rows of the net inflow, to which the caller adds what the node must receive.
    """
    flows = program.add_variables(folding.num_flows)
    no_lower_limit = np.full(len(folding.channel), -np.inf)
    capacity_rows = program.add_rows(no_lower_limit, problem.capacity[folding.channel])
    program.add_entries(capacity_rows[folding.load_channel], flows[folding.load_flow], 1.0)
    least_inflow = np.where(folding.source == folding.node, -np.inf, 0.0)
    inflow_rows = program.add_rows(least_inflow, np.full(len(least_inflow), np.inf))
    program.add_entries(
        inflow_rows[folding.inflow_pair], flows[folding.inflow_flow], folding.inflow_sign
    )
    return inflow_rows


def _solve(program: LinearProgram, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Return the optimum of a program and the dual value of each channel; None if not solved."""
    optimum = solve_program(program, seconds)
    if optimum is None:
        return None
    objective, row_dual = optimum
    # The rows of channel classes come first. Their upper limits have dual values of 0 or less; a
    # class shares its value evenly among its channels.
    class_size = np.bincount(folding.channel_class)
    weights = np.maximum(-row_dual[: len(class_size)], 0.0) / class_size
    # the program minimises the negative of what is attained
    return SearchOutcome(
        attained=-objective, bound=-objective, weights=weights[folding.channel_class]
    )
