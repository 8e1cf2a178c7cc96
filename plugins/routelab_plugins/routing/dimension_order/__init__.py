"""dimension-order: dimension-order routing, decided at every switch; no table.

Dally and Seitz, *Deadlock-Free Message Routing in Multiprocessor Interconnection Networks*, IEEE
Transactions on Computers C-36(5), 1987, doi 10.1109/TC.1987.1676939. With the parameters' defaults
the routes are those of the table `dor`, channel for channel, in a network of any size.

Virtual channels: one class under bubble flow control; two with a dateline, the first until the
packet has crossed the channel between the last and the first switch of a ring. `order=rotated` and
`order=random` draw an order for each packet, and every order has a separate set of classes: n or n!
orders. On two dimensions both are the XY or YX of O1TURN (Seo et al., ISCA 2005, doi
10.1109/ISCA.2005.37).
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


class DimensionOrderRouting(OrderRouting):
    """All hops of one dimension before those of the next."""

    name = "dimension-order"
    summary = "Dimension-order routing hop by hop, for networks of any size; ring ties balanced"
    citations = (
        works.DALLY1987("dimension-order (e-cube) routing, two virtual channels a ring"),
        works.SEO2005("an order drawn for each packet (O1TURN)"),
    )
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        tolerates_failures=False,
        flow_control="bubble",
        virtual_channels=None,
    )
    Parameters = RingParameters

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
            tables=grid_tables(
                topology, deadlock=options.deadlock, order=options.order, ties=options.ties
            ),
            vc_classes=orders * count_ring_classes(grid, options.deadlock),
            # under bubble flow control each order has one class
            bubble=bubble_classes(grid, options.deadlock, classes=orders),
            max_hops=grid_diameter(grid),
        )
