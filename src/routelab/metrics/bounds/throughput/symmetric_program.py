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
    """Classes of pairs, channels and flows.

    A pair is a source and a node; a flow is that of a source over a channel.

    Attributes
    ----------
    source, node : int64 array, shape (P,)
        The first pair of each class.
    pair_size : int64 array, shape (P,)
        Pairs of each class.
    channel_class : int64 array, shape (C,)
    channel : int64 array, shape (Q,)
        The first channel of each class.
    row, flow, sign : int64 arrays, shape (E,)
        A flow of class ``flow[i]`` enters (+1) or leaves (−1) the node of pair class ``row[i]``.
    load, carried : int64 arrays, shape (F,)
        A channel of class ``load[i]`` carries a flow of class ``carried[i]``.
    flows : int
        Number of classes of flows.
    """

    source: Int64Array
    node: Int64Array
    pair_size: Int64Array
    channel_class: Int64Array
    channel: Int64Array
    row: Int64Array
    flow: Int64Array
    sign: Int64Array
    load: Int64Array
    carried: Int64Array
    flows: int


def fold(problem: FlowProblem) -> Folding | None:
    """Find classes; return None if there are too many, as in networks without symmetry."""
    network, num_nodes = problem.network, len(problem.demand)
    ends = network.channel_source, network.channel_target
    sends = problem.demand.sum(axis=1) > 0
    # 1. First colours: channels by capacity; pairs by demand (rounded, because it is a sum), and
    #    pairs of a node with itself by an odd colour.
    _, demand_class = np.unique(np.round(problem.demand, 12), return_inverse=True)
    pair: Colours = 2 * demand_class.reshape(num_nodes, num_nodes).astype(np.uint64)
    pair[np.arange(num_nodes), np.arange(num_nodes)] += np.uint64(1)
    _, capacity_class = np.unique(problem.capacity, return_inverse=True)
    channel: Colours = capacity_class.astype(np.uint64)
    # 2. Refine the colours until a round tells no more of them apart.
    num_colours = 0
    for _ in range(MOST_ROUNDS):
        new_num_colours = len(np.unique(pair[sends])) + len(np.unique(channel))
        if new_num_colours > MOST_PAIRS + MOST_FLOWS:
            return None
        if new_num_colours == num_colours:
            break
        num_colours = new_num_colours
        pair, channel = refine_colours(*ends, pair, channel, sends)
    return _fold_by_colour(problem, sends, pair, channel)


def _fold_by_colour(
    problem: FlowProblem,
    sends: NDArray[np.bool_],
    pair: Colours,
    channel: Colours,
) -> Folding | None:
    """Return the classes of pairs, channels and flows by colour; None if there are too many."""
    network = problem.network
    ends = network.channel_source, network.channel_target
    # 1. One pair and one channel of each class stand for all of it.
    senders = np.flatnonzero(sends)
    _, first_pair, size = np.unique(pair[senders], return_index=True, return_counts=True)
    if len(first_pair) > MOST_PAIRS:
        return None
    # np.unique counts the elements of the array row by row
    source, node = senders[first_pair // len(pair)], first_pair % len(pair)
    _, representative, channel_class = np.unique(channel, return_index=True, return_inverse=True)
    # 2. The channels that enter and leave the node of each pair: behind each other, if channels are
    #    sorted by that end.
    row_pieces, via_pieces, sign_pieces = [], [], []
    for end, direction in ((network.channel_target, 1), (network.channel_source, -1)):
        by_end = np.argsort(end, kind="stable")
        start = np.searchsorted(end[by_end], node)
        degree = np.searchsorted(end[by_end], node + 1) - start
        # 0, 1, … degree − 1 for each pair
        rank = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
        row_pieces.append(np.repeat(np.arange(len(node)), degree))
        via_pieces.append(by_end[np.repeat(start, degree) + rank])
        sign_pieces.append(np.full(len(rank), direction))
    row, via = np.concatenate(row_pieces), np.concatenate(via_pieces)
    # 3. Classes of the pair's flows over them, and of the flows of all senders over each channel.
    #    Each flow enters some node, so the first are all that there are.
    colour = hop_colours(*ends, pair, channel, source[row], via)
    carrying = np.repeat(representative, len(senders))
    carried = hop_colours(*ends, pair, channel, np.tile(senders, len(representative)), carrying)
    colours, flow = np.unique(colour, return_inverse=True)
    if len(colours) > MOST_FLOWS:
        return None
    return Folding(
        source=source,
        node=node,
        pair_size=size,
        channel_class=channel_class.astype(np.int64),
        channel=representative,
        row=row,
        flow=flow.astype(np.int64),
        sign=np.concatenate(sign_pieces),
        load=np.repeat(np.arange(len(representative)), len(senders)),
        carried=np.searchsorted(colours, carried),
        flows=len(colours),
    )


def solve_sustained(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest load that all pairs sustain together; None if time runs out."""
    program = LinearProgram()
    load = program.add_variables(1, cost=-1.0)
    inflow = _add_flows(program, problem, folding)
    # net inflow of a node − load × demand >= 0
    demand = problem.demand[folding.source, folding.node]
    is_remote = folding.source != folding.node
    program.add_entries(inflow[is_remote], np.repeat(load, is_remote.sum()), -demand[is_remote])
    return _solve(program, folding, seconds)


def solve_accepted(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest traffic that arrives if pairs may be served in part; None if out of time."""
    program = LinearProgram()
    # a variable for each class of pairs with a demand: what such a pair gets
    demand = problem.demand[folding.source, folding.node]
    sending = np.flatnonzero(demand > 0)
    accepted = np.concatenate(
        [program.add_variables(1, cost=-float(size)) for size in folding.pair_size[sending]]
    )
    inflow = _add_flows(program, problem, folding)
    program.add_entries(inflow[sending], accepted, -1.0)
    limits = program.add_rows(np.full(len(sending), -np.inf), demand[sending])
    program.add_entries(limits, accepted, 1.0)
    return _solve(program, folding, seconds)


def _add_flows(program: LinearProgram, problem: FlowProblem, folding: Folding) -> Int64Array:
    """Add the flows, and rows: first one for each class of channels, then one for each of pairs.

    Returns the rows of pairs: what enters a node minus what leaves it, which the node receives.
    It is not negative, except at the source itself, where the flow begins.
    """
    flows = program.add_variables(folding.flows)
    no_lower_limit = np.full(len(folding.channel), -np.inf)
    capacity = program.add_rows(no_lower_limit, problem.capacity[folding.channel])
    program.add_entries(capacity[folding.load], flows[folding.carried], 1.0)
    least_inflow = np.where(folding.source == folding.node, -np.inf, 0.0)
    inflow = program.add_rows(least_inflow, np.full(len(least_inflow), np.inf))
    program.add_entries(inflow[folding.row], flows[folding.flow], folding.sign)
    return inflow


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
