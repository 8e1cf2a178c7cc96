"""Small networks of the same kind as large ones."""

from __future__ import annotations

from math import prod

import numpy as np

from routelab.api import Topology
from routelab.toolkit import build_grid, full_grid


def small_network(topology: Topology, max_switches: int) -> Topology | None:
    """Build a small network of the same kind; return None if that is impossible.

    Only for a torus or mesh without failures. Each dimension keeps its parity: an even size becomes
    4 at most, an odd one 5, or 3 if the total is too large; then the last dimensions are omitted.
    With at most 64 switches, 8x8x8 becomes 4x4x4, and 7x7x7 becomes 3x3x5.
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
    # `build_grid` makes all dimensions rings, or all lines. With 2 switches these are the same.
    wraps = {wrap for size, wrap in zip(grid.dims, grid.wrap, strict=True) if size > 2}
    is_mixed = len(wraps) > 1
    if is_mixed:
        return None
    dims = [min(size, 4 if size % 2 == 0 else 5) for size in grid.dims]
    while prod(dims) > max_switches and 5 in dims:
        dims[dims.index(5)] = 3
    while prod(dims) > max_switches and len(dims) > 1:
        dims.pop()
    terminals = min(2, int(np.bincount(topology.terminal_switch, minlength=1).max()))
    return build_grid(topology.family, dims, wrap=True in wraps, terminals=max(terminals, 1))
