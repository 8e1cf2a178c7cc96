"""Small networks that stand for large ones of the same kind."""

from __future__ import annotations

from math import prod

import numpy as np

from routelab.api import Topology
from routelab.toolkit import build_grid, full_grid


def small_network(topology: Topology, most: int) -> Topology | None:
    """A small network of the same kind; None if there is none.

    Of a whole torus or mesh: rings and lines keep their parity, even ones get at most 4 switches
    and odd ones at most 5, or 3 where that is too many together; then the last dimensions are left
    out. Every switch has one terminal, or two where the network has more than one at a switch:
    enough to tell whether packets that go by terminal share channels.

    Parameters
    ----------
    topology : Topology
    most : int
        Switches that it may have.
    """
    grid = full_grid(topology)
    if grid is None:
        return None
    closed = {wrap for size, wrap in zip(grid.dims, grid.wrap, strict=True) if size > 2}
    if len(closed) > 1:
        return None
    dims = [min(size, 4 if size % 2 == 0 else 5) for size in grid.dims]
    while prod(dims) > most and 5 in dims:
        dims[dims.index(5)] = 3
    while prod(dims) > most and len(dims) > 1:
        dims.pop()
    terminals = min(2, int(np.bincount(topology.terminal_switch, minlength=1).max()))
    return build_grid(topology.family, dims, wrap=True in closed, terminals=max(terminals, 1))
