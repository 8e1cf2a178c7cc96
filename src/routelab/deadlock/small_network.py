"""Small networks of the same kind as large ones."""

from __future__ import annotations

from math import prod

import numpy as np

from routelab.api import Topology
from routelab.toolkit import build_grid, full_grid


def small_network(topology: Topology, max_switches: int) -> Topology | None:
    """Build a small network of the same kind; return None if that is impossible.

    For a whole torus or mesh: rings and lines keep their parity, even ones get at most 4 switches
    and odd ones at most 5, or 3 if the total is too large; then the last dimensions are omitted.
    Every switch has one terminal, or two if the network has a switch with several, which suffices
    to detect whether packets of different terminals share channels.

    Parameters
    ----------
    topology : Topology
    max_switches : int
        Largest number of switches.
    """
    grid = full_grid(topology)
    if grid is None:
        return None
    # All dimensions are rings, or all are lines; with 2 switches they are the same.
    wraps = {wrap for size, wrap in zip(grid.dims, grid.wrap, strict=True) if size > 2}
    if len(wraps) > 1:
        return None
    dims = [min(size, 4 if size % 2 == 0 else 5) for size in grid.dims]
    while prod(dims) > max_switches and 5 in dims:
        dims[dims.index(5)] = 3
    while prod(dims) > max_switches and len(dims) > 1:
        dims.pop()
    terminals = min(2, int(np.bincount(topology.terminal_switch, minlength=1).max()))
    return build_grid(topology.family, dims, wrap=True in wraps, terminals=max(terminals, 1))
