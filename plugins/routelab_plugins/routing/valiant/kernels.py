"""The random switch in between."""

from routelab.kernels.hops import WAYPOINT, inject_kernel, pick


@inject_kernel
def inject(tables, reals, packets, packet, queues, random):
    """Draw a switch with terminals, all alike; they stand in `tables` behind what the base has.

    The last number of the tables says how many there are.
    """
    count = tables[len(tables) - 1]
    packets[packet, WAYPOINT] = tables[len(tables) - 1 - count + pick(random, count)]
    return 0
