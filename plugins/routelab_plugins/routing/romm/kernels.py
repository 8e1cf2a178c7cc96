"""Choice of a random switch on a shortest path."""

from routelab.kernels.grid_hops import minimal_directions, switch_in_quadrant
from routelab.kernels.hops import DESTINATION, SOURCE, WAYPOINT, another, inject_kernel, inverted


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Draw a switch of a minimal quadrant; half a ring is crossed in a random direction."""
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    backwards = minimal_directions(tables, source, target, random)
    # another sequence of random words than the directions were drawn from
    second_random = another(inverted(random))
    packets[packet, WAYPOINT] = switch_in_quadrant(tables, source, target, backwards, second_random)
    return 0
