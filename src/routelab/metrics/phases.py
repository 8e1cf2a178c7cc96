"""Loads of an all-to-all exchange in phases.

MPI libraries exchange large messages pairwise: in every phase each rank sends to one other, and
the next phase begins when the slowest message has arrived. So the busiest channels of the phases
predict the time better than the busiest channel of the whole table. Rank i is terminal i.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Float64Array
from routelab.metrics.capacity import channel_factors
from routelab.metrics.kernels.phases import phase_maxima

Pattern = Literal["xor", "shift"]


def phase_loads(table: RouteTable, pattern: Pattern) -> Float64Array | None:
    """Find the relative load of the busiest channel in every phase.

    Parameters
    ----------
    table : RouteTable
    pattern : {"xor", "shift"}
        In phase p rank i sends to ``i ^ p``, or to ``(i + p) mod T``.

    Returns
    -------
    maxima : float64 array, shape (T − 1,), or None
        For phases 1 to T − 1, in messages; a pair without a route sends nothing. None for ``"xor"``
        if the number T of terminals is not a power of two: ``i ^ p`` may be no rank then.
    """
    topology = table.topology
    ranks = topology.num_terminals
    # a power of two has one bit, which ranks - 1 lacks: 8 & 7 == 0
    if pattern == "xor" and ranks & (ranks - 1):
        return None
    # the pair from rank i to rank j has the number first_pair[i] + terminal_destination[j]
    first_pair = topology.terminal_endpoint * table.num_destinations
    maxima: Float64Array = phase_maxima(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        rank_row=first_pair,
        rank_destination=table.terminal_destination,
        shift=pattern == "shift",
        factor=channel_factors(topology),
        load=np.zeros(topology.num_channels),  # scratch
    )
    return maxima


def phase_load(table: RouteTable, pattern: Pattern) -> float | None:
    """Sum the phases' maximum relative loads; None if `phase_loads` returns None."""
    maxima = phase_loads(table, pattern)
    return None if maxima is None else float(maxima.sum())
