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


@dataclass(frozen=True, eq=False)
class Folding:
    """Classes of pairs, channels and flows.

    Attributes
    ----------
    source, node : int64 array, shape (P,)
        The first pair of each class: a source and a node.
    pair_size : int64 array, shape (P,)
        Pairs of each class.
    channel_class : int64 array, shape (C,)
    channel : int64 array, shape (Q,)
        The first channel of each class.
    row, flow, sign : int64 arrays
        Flow classes that enter (+1) and leave (−1) the node of each class of pairs.
    load, carried : int64 arrays
        Classes of channels and of the flows that they carry, with repetitions.
    flows : int
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
    network, nodes = problem.network, len(problem.demand)
    ends = network.channel_source, network.channel_target
    sends = problem.demand.sum(axis=1) > 0
    kind = np.unique(np.round(problem.demand, 12), return_inverse=True)[1]
    pair: Colours = 2 * kind.reshape(nodes, nodes).astype(np.uint64)
    pair[np.arange(nodes), np.arange(nodes)] += np.uint64(1)
    channel: Colours = np.unique(problem.capacity, return_inverse=True)[1].astype(np.uint64)
    count = 0
    for _ in range(MOST_ROUNDS):
        folded_size = len(np.unique(pair[sends])) + len(np.unique(channel))
        if folded_size > MOST_PAIRS + MOST_FLOWS:
            return None
        if folded_size == count:
            break
        count = folded_size
        pair, channel = refine_colours(*ends, pair, channel, sends)
    return _classes(problem, sends, pair, channel)


def _classes(
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
    source, node = senders[first_pair // len(pair)], first_pair % len(pair)
    _, representative, channel_class = np.unique(channel, return_index=True, return_inverse=True)
    # 2. The channels that enter and leave the node of each pair: behind each other, if channels are
    #    sorted by that end.
    row, via, sign = [], [], []
    for end, direction in ((ends[1], 1), (ends[0], -1)):
        order = np.argsort(end, kind="stable")
        start = np.searchsorted(end[order], node)
        stop = np.searchsorted(end[order], node + 1)
        row.append(np.repeat(np.arange(len(node)), stop - start))
        many = stop - start
        place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        via.append(order[np.repeat(start, many) + place])
        sign.append(np.full(len(row[-1]), direction))
    rows, vias = np.concatenate(row), np.concatenate(via)
    # 3. Classes of the pair's flows over them, and of the flows of all senders over each channel.
    #    Each flow enters some node, so the first are all that there are.
    colour = hop_colours(*ends, pair, channel, source[rows], vias)
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
        row=rows,
        flow=flow.astype(np.int64),
        sign=np.concatenate(sign),
        load=np.repeat(np.arange(len(representative)), len(senders)),
        carried=np.searchsorted(colours, carried),
        flows=len(colours),
    )


def solve_sustained(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest load that all pairs sustain together; None if time runs out."""
    program = LinearProgram()
    load = program.add_variables(1, cost=-1.0)
    conserved = _add_flows(program, problem, folding)
    demand = problem.demand[folding.source, folding.node]
    inner = folding.source != folding.node
    program.add_entries(conserved[inner], np.repeat(load, inner.sum()), -demand[inner])
    return _solve(program, folding, seconds)


def solve_accepted(problem: FlowProblem, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Find the largest traffic that arrives if pairs may be served in part."""
    program = LinearProgram()
    demand = problem.demand[folding.source, folding.node]
    sending = np.flatnonzero(demand > 0)
    accepted = np.concatenate(
        [program.add_variables(1, cost=-float(size)) for size in folding.pair_size[sending]]
    )
    conserved = _add_flows(program, problem, folding)
    program.add_entries(conserved[sending], accepted, -1.0)
    limits = program.add_rows(np.full(len(sending), -np.inf), demand[sending])
    program.add_entries(limits, accepted, 1.0)
    return _solve(program, folding, seconds)


def _add_flows(program: LinearProgram, problem: FlowProblem, folding: Folding) -> Int64Array:
    """Add flows, capacities (the first rows) and the inflow of all nodes; return their rows.

    What enters a node and does not leave it is received there; a source has no limit.
    """
    flows = program.add_variables(folding.flows)
    channels = len(folding.channel)
    capacity = program.add_rows(np.full(channels, -np.inf), problem.capacity[folding.channel])
    program.add_entries(capacity[folding.load], flows[folding.carried], 1.0)
    supply = np.where(folding.source == folding.node, -np.inf, 0.0)
    conserved = program.add_rows(supply, np.full(len(supply), np.inf))
    program.add_entries(conserved[folding.row], flows[folding.flow], folding.sign)
    return conserved


def _solve(program: LinearProgram, folding: Folding, seconds: float) -> SearchOutcome | None:
    """Return the optimum of a program and the dual value of each channel; None if not solved."""
    optimum = solve_program(program, seconds)
    if optimum is None:
        return None
    objective, row_dual = optimum
    size = np.bincount(folding.channel_class)
    dual = np.maximum(-row_dual[: len(size)], 0.0) / size
    return SearchOutcome(-objective, -objective, dual[folding.channel_class])
