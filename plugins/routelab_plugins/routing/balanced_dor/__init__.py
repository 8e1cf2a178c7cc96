"""Balanced dimension-order routing on whole tori and meshes.

After Montañana, Koibuchi, Matsutani and Amano, *Balanced Dimension-Order Routing for k-ary
n-cubes*, ICPP Workshops 2009. This is our reading, because that paper was not available to us. It
is based on the description by Mukosey et al. (*Optimized Graph Based Routing Algorithm for the
Angara Interconnect*, section 1.1, reference 17): packets are forwarded over dimension order
"depending on relative position of a source-destination network node pair", simple enough for
hardware, without regard to asymmetric networks and faults. We read it so:

- The *relative position* is the offset between the coordinates of source and target, the shorter
  way round every ring.
- It decides the order of the dimensions, once for the whole route. `order=rotated`: the natural
  order begun at dimension (sum of the offsets) mod n, so that all n orders are used alike.
  `order=longest`: the dimension with the longest distance first, equal ones in natural order; an
  open hardware implementation of that name (ProNoC) also compares distances, but at every hop,
  which does not give an order of dimensions. `order=natural`: plain dimension order.
- An offset of half an even ring goes the positive way if the source's coordinate in that
  dimension plus the distance in the others is even, so that both directions carry the same.

Deadlock: a single order of dimensions is deadlock-free under bubble flow control, several together
are not. So each order has a separate virtual channel: n for `rotated` (fewer where fewer orders
occur), up to n! for `longest`, 1 for `natural`. The Angara interconnect has one channel for
deterministic routing and forbids most of these turns: there it serves for comparison only.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Parameters,
    RouteTable,
    RoutingPlugin,
    Topology,
    UnsupportedError,
    parameter,
)
from routelab.toolkit import full_grid, torus_directions
from routelab_plugins import works

from .kernels import LONGEST, NATURAL, ROTATED, channels_of_routes, steps_and_orders

RULES = {"rotated": ROTATED, "longest": LONGEST, "natural": NATURAL}


class BalancedDorParameters(Parameters):
    """Order of the dimensions."""

    order: Literal["rotated", "longest", "natural"] = parameter(
        "rotated",
        description="Order of the dimensions for a pair: natural order that starts at (sum of "
        "offsets) mod n, longest distance first, or natural order for all pairs",
    )


class BalancedDor(RoutingPlugin):
    """The relative position of source and target chooses the order of dimensions."""

    name = "balanced-dor"
    summary = "Dimension order chosen by the relative position of source and target (our reading)"
    citations = (
        works.MONTANANA2009("the idea, not the details"),
        works.MUKOSEY2020("description of the idea (section 1.1, reference 17)"),
    )
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        tolerates_failures=False,
        flow_control="bubble",
        virtual_channels=None,
    )
    Parameters = BalancedDorParameters

    def supports(self, topology: Topology) -> str | None:
        """Require an undamaged torus or mesh."""
        if torus_directions(topology).reason is not None:
            return torus_directions(topology).reason
        if full_grid(topology) is None:
            return (
                "needs a whole torus or mesh: it follows coordinates and cannot avoid failed parts"
            )
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Compute one minimal route per pair; O(total hops).

        Raises
        ------
        UnsupportedError
            If the topology is not an undamaged torus or mesh.
        """
        grid = full_grid(topology)
        if grid is None or topology.coordinates is None:
            raise UnsupportedError(self.supports(topology) or "needs coordinates")
        steps, orders = steps_and_orders(
            coordinates=topology.coordinates,
            dims=np.array(grid.dims),
            wrap=np.array(grid.wrap),
            endpoints=topology.endpoints,
            rule=RULES[self.parameters.order],
        )
        hops = channels_of_routes(
            steps=steps,
            orders=orders,
            endpoints=topology.endpoints,
            out_channel=torus_directions(topology).out_channel,
            channel_target=topology.channel_target,
        )
        lengths = np.abs(steps).sum(axis=1)
        # The virtual channel of a pair is the number of its order among those in use. An order,
        # read as the digits of a number in base n, has a number of its own: 2 0 1 is 19.
        dimensions = orders.shape[1]
        order_code = orders @ (dimensions ** np.arange(dimensions)[::-1])
        _, pair_vc = np.unique(order_code, return_inverse=True)
        return RouteTable.from_lengths(
            topology,
            lengths,
            hops,
            hop_vc=np.repeat(pair_vc.reshape(-1), lengths),
            flow_control="bubble",
        )
