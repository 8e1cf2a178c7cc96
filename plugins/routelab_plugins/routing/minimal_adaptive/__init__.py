"""minimal-adaptive: fully adaptive minimal routing with an escape.

A packet takes any channel that comes nearer to its destination, the one with the emptiest buffer
behind it first, on any adaptive virtual channel; while none of them has room it may escape to
dimension order. Duato, *A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks*, IEEE
TPDS 4(12), 1993, doi 10.1109/71.250114. With `escape=bubble` (virtual channel 0, two virtual
channels in all) it is the adaptive bubble router of Puente et al., JPDC 61(9), 2001, doi
10.1006/jpdc.2001.1746; with `escape=dateline` virtual channels 0 and 1 are the escape.
"""

from __future__ import annotations

from routelab.api import HopProgram, Topology
from routelab.toolkit.families.grid_hops import (
    bubble_classes,
    count_ring_classes,
    grid_diameter,
    grid_tables,
    whole_grid,
)
from routelab.toolkit.families.grid_routing import EscapeRouting
from routelab_plugins import works

from .kernels import hop


class MinimalAdaptive(EscapeRouting):
    """Takes any shortest path, preferring empty buffers."""

    name = "minimal-adaptive"
    summary = "Adaptive shortest routes by occupancy, with dimension order as escape"
    citations = (
        works.DUATO1993("escape channels"),
        works.PUENTE2001("an escape under bubble flow control"),
    )

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is not an undamaged torus or mesh.
        """
        options, grid = self.parameters, whole_grid(topology)
        # Classes 0 … num_escape_classes − 1 are the escape. The next one is adaptive and gets the
        # rest of the virtual channels.
        num_escape_classes = count_ring_classes(grid, options.escape)
        adaptive_class = num_escape_classes
        # A packet has a minimal channel in each dimension, and two half-way round an even ring.
        even_rings = sum(
            ring and size % 2 == 0 for size, ring in zip(grid.dims, grid.wrap, strict=True)
        )
        most_minimal_channels = len(grid.dims) + even_rings
        return HopProgram(
            hop=hop,
            tables=grid_tables(
                topology,
                [adaptive_class, adaptive_class + 1],  # first adaptive class, and the end
                deadlock=options.escape,
                ties=options.ties,
            ),
            vc_classes=num_escape_classes + 1,
            rest=adaptive_class,
            candidates=most_minimal_channels + 1,  # and the escape
            by_occupancy=True,
            # random ties change the escape that hop offers
            fixed=options.ties != "random",
            bubble=bubble_classes(grid, options.escape, classes=1),
            max_hops=grid_diameter(grid),
        )
