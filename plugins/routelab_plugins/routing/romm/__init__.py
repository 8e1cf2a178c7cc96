"""romm: every packet goes via a random switch on one of its shortest paths.

Nesson and Johnsson, *ROMM Routing on Mesh and Torus Networks*, SPAA 1995, doi
10.1145/215399.215455: randomized, oblivious, multi-phase, minimal. Modelled with two phases: a
switch is drawn uniformly from the box between source and destination, including corners, and
dimension order leads to it and to the destination. If their distance is half an even ring, the
side of the box is random.

Virtual channels: those of dimension order twice, once for each phase.
"""

from __future__ import annotations

from routelab.api import Capabilities, HopProgram, Topology
from routelab.kernels.order_hops import order_hop
from routelab.toolkit.families.grid_hops import (
    RingParameters,
    bubble_classes,
    count_orders,
    count_ring_classes,
    grid_diameter,
    grid_tables,
    whole_grid,
)
from routelab.toolkit.families.grid_routing import OrderRouting
from routelab_plugins import works

from .kernels import inject


class Romm(OrderRouting):
    """Two phases of dimension order inside the minimal quadrant."""

    name = "romm"
    summary = "Routes through a random switch of the minimal quadrant (ROMM, two phases)"
    citations = (works.NESSON1995("two-phase minimal randomized routing"),)
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        multipath=True,
        tolerates_failures=False,
        flow_control="bubble",
        virtual_channels=None,
    )
    Parameters = RingParameters
    phases = 2

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is not an undamaged torus or mesh.
        """
        options, grid = self.parameters, whole_grid(topology)
        orders = count_orders(options.order, grid)
        return HopProgram(
            hop=order_hop,
            inject=inject,
            tables=grid_tables(
                topology, deadlock=options.deadlock, order=options.order, ties=options.ties
            ),
            phases=2,
            # Classes of one phase: each order that may be drawn has separate ones.
            vc_classes=orders * count_ring_classes(grid, options.deadlock),
            # under bubble flow control these are the classes of both phases, one for each order
            bubble=bubble_classes(grid, options.deadlock, classes=2 * orders),
            max_hops=grid_diameter(grid),
        )
