"""goal: Globally Oblivious, Adaptive Locally.

Singh, Dally, Gupta and Towles, *GOAL: A Load-Balanced Adaptive Routing Algorithm for Torus
Networks*, ISCA 2003, doi 10.1145/859618.859641. At injection a direction is drawn for every
dimension: on a ring of k switches a distance of D <= k / 2 is gone the short way with probability
(k - D) / k, else the long way. Then the packet is adaptive: it takes any channel in those
directions that it still needs, the one with the emptiest buffer behind it first.

The model: virtual channels 0 and 1 are the escape, dimension order in the drawn directions with a
dateline; all others are adaptive (the paper has three in all). A packet may escape at any switch
where no adaptive channel has room, and leave the escape again. The paper has a separate simulator;
here, the settings of the run determine buffers, allocation and pipeline.
`escape=bubble` has one escape channel under bubble flow control instead.
"""

from __future__ import annotations

from routelab.api import Capabilities, HopProgram, Parameters, Topology
from routelab.api.parameters import parameter
from routelab.toolkit.families.grid_hops import (
    RingDeadlock,
    bubble_classes,
    count_ring_classes,
    grid_tables,
    longest_route,
    whole_grid,
)
from routelab.toolkit.families.grid_routing import EscapeRouting
from routelab_plugins import works

from .kernels import hop, inject


class GoalParameters(Parameters):
    """Kind of escape."""

    escape: RingDeadlock = parameter(
        "dateline",
        description="Escape: dimension order on virtual channels 0 and 1 with a dateline, or on 0 "
        "under bubble flow control; all other virtual channels are adaptive",
    )


class Goal(EscapeRouting):
    """Balances load by random quadrants, and adaptively within a quadrant."""

    name = "goal"
    summary = "Directions drawn by distance at injection, then adaptive (GOAL)"
    citations = (works.SINGH2003("the algorithm"),)
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=False,
        multipath=True,
        tolerates_failures=False,
        virtual_channels=None,
    )
    Parameters = GoalParameters

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is not an undamaged torus or mesh.
        """
        options, grid = self.parameters, whole_grid(topology)
        # classes 0 … escape_classes − 1 are the escape; the next one is adaptive and gets the rest
        # of the virtual channels
        escape_classes = count_ring_classes(grid, options.escape)
        return HopProgram(
            hop=hop,
            inject=inject,
            # the array of the kernel's OWN: the adaptive class, and the end of the classes
            tables=grid_tables(
                topology, [escape_classes, escape_classes + 1], deadlock=options.escape
            ),
            vc_classes=escape_classes + 1,
            rest=escape_classes,
            # an adaptive hop in each dimension, and the escape
            candidates=len(grid.dims) + 1,
            # the emptiest buffer first
            by_occupancy=True,
            bubble=bubble_classes(grid, options.escape, classes=1),
            max_hops=longest_route(grid),
        )
