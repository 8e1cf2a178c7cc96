"""rlb: Randomized Local Balance.

Singh, Dally, Towles and Gupta, *Locality-Preserving Randomized Oblivious Routing on Torus
Networks*, SPAA 2002, doi 10.1145/564870.564873. At injection a direction is drawn for every
dimension: on a ring of k switches a distance of D <= k / 2 is gone the short way with probability
(k - D) / k, else the long way. Then a switch is drawn uniformly from the box that these
directions span, including corners, and dimension order leads to it and to the destination, always
in the drawn directions.

The order of the dimensions is `order`: one for all packets, or drawn separately for each half of
the way. Virtual channels: for each half, and each order that may be drawn, one class under bubble
flow control or two with a dateline. This assignment is ours.
"""

from __future__ import annotations

from routelab.toolkit.families.grid_routing import QuadrantRouting
from routelab_plugins import works


class Rlb(QuadrantRouting):
    """Draws directions and an intermediate switch, then uses dimension order on both halves."""

    name = "rlb"
    summary = "Routes through a random switch of a quadrant drawn by distance (RLB)"
    citations = (works.SINGH2002("the algorithm RLB"),)
    local = False
