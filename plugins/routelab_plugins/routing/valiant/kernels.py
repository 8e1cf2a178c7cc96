"""Choice of the random intermediate switch."""

from routelab.kernels.hops import WAYPOINT, appended, inject_kernel, pick


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Draw a switch with terminals, all with the same probability.

    Arrays behind those of the base: how many such switches there are, and which.
    """
    count = tables[appended(tables, 0)]
    packets[packet, WAYPOINT] = tables[appended(tables, 1) + pick(random, count)]
    return 0
