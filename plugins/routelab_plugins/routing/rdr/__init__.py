"""rdr: Random Distance Routing.

Shastry, Parker, Kapoor and Raicu, *Exploring Randomized Multipath Routing on Multi-Dimensional
Torus Networks*: packets of a message are routed separately; each switch draws one of the neighbours
that are closer to the destination uniformly. At half a ring, both neighbours are closer. The draw
is made once per switch: the packet waits for the drawn channel while it is busy.

The paper states that two virtual channels avoid deadlock, but not how. Here the drawn channel is
taken on any virtual channel but 0. On virtual channel 0 dimension order is the escape (under
bubble flow control; with `escape=dateline` on 0 and 1): a packet takes it only if the drawn channel
has no room, and may continue on the others at the next switch. So two virtual channels are enough,
and three with a dateline. Results count the hops that were escapes.
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


class Rdr(EscapeRouting):
    """Random walk in which every step comes nearer."""

    name = "rdr"
    summary = "A random neighbour closer to the target at every switch (Random Distance Routing)"
    citations = (
        works.SHASTRY2016("Random Distance Routing (section II)"),
        works.DUATO1993("escape channels"),
    )

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is not an undamaged torus or mesh.
        """
        options, grid = self.parameters, whole_grid(topology)
        # The first classes are the escape: one, or two with a dateline. The next one is adaptive
        # and gets the rest of the virtual channels.
        adaptive_class = count_ring_classes(grid, options.escape)
        return HopProgram(
            hop=hop,
            tables=grid_tables(
                topology,
                [adaptive_class, adaptive_class + 1],  # first adaptive class, and the end
                deadlock=options.escape,
                ties=options.ties,
            ),
            vc_classes=adaptive_class + 1,
            rest=adaptive_class,
            # the drawn channel and the escape
            candidates=2,
            bubble=bubble_classes(grid, options.escape, classes=1),
            max_hops=grid_diameter(grid),
        )
