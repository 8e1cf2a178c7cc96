"""rdr: Random Distance Routing.

Shastry, Parker, Kapoor and Raicu, *Exploring Randomized Multipath Routing on Multi-Dimensional
Torus Networks*: every packet of a message goes its own way; at each switch one is drawn uniformly
from the neighbours that are closer to the destination. Half a ring has a closer neighbour on both
sides. The draw is made once a switch: while its channel is busy the packet waits for that one.

The paper says that two virtual channels deal with deadlock, not how. Here the drawn channel is
taken on any virtual channel but 0. On virtual channel 0 dimension order is the escape (under
bubble flow control; with `escape=dateline` on 0 and 1): a packet takes it only if the drawn channel
has no room, and is free to go on on the others at the next switch. So two virtual channels are
enough, and three with a dateline. Results count the hops that were escapes.
"""

from __future__ import annotations

from routelab.api import Capabilities, Citation, HopProgram, Topology
from routelab.toolkit.families.grid_hops import (
    bubble_classes,
    count_ring_classes,
    grid_diameter,
    grid_tables,
    whole_grid,
)
from routelab.toolkit.families.grid_routing import DUATO_1993, EscapeRouting

from .kernels import hop


class Rdr(EscapeRouting):
    """A random walk that comes nearer with every step."""

    name = "rdr"
    summary = "A random one of the closer neighbours at every switch (Random Distance Routing)"
    citations = (
        Citation(
            key="shastry2016",
            title="Exploring Randomized Multipath Routing on Multi-Dimensional Torus Networks",
            authors="Shastry, Prajakt and Parker, Daniel and Kapoor, Sanjiv and Raicu, Ioan",
            year=None,
            venue="Illinois Institute of Technology",
            cited_for="Random Distance Routing (section II)",
        ),
        DUATO_1993,
    )
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        multipath=True,
        tolerates_failures=False,
        virtual_channels=None,
    )

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """The program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is no whole torus or mesh.
        """
        options, grid = self.parameters, whole_grid(topology)
        escapes = count_ring_classes(grid, options.escape)
        return HopProgram(
            hop=hop,
            tables=grid_tables(
                topology,
                [escapes, escapes + 1],
                deadlock=options.escape,
                ties=options.ties,
            ),
            vc_classes=escapes + 1,
            rest=escapes,
            candidates=2,
            bubble=bubble_classes(grid, options.escape, 1),
            max_hops=grid_diameter(grid),
        )
