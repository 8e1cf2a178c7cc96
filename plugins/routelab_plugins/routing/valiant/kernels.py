"""Choice of the random intermediate switch."""

from routelab.kernels.hops import WAYPOINT, appended, inject_kernel, pick


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Set the packet's WAYPOINT to a switch with terminals, all with the same probability.

    Array 0 behind those of the base has the number of such switches, array 1 the switches. Returns
    0, which the engine ignores.
    """
    num_endpoints = tables[appended(tables, 0)]
    packets[packet, WAYPOINT] = tables[appended(tables, 1) + pick(random, num_endpoints)]
    return 0
