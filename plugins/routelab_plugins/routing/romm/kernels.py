"""Choice of a random switch on a shortest path."""

from routelab.kernels.grid_hops import minimal_directions, switch_in_quadrant
from routelab.kernels.hops import DESTINATION, SOURCE, WAYPOINT, another, inject_kernel, inverted


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Set the packet's WAYPOINT to a random switch of a minimal quadrant.

    The quadrant has all switches on shortest paths in the given directions; half a ring is crossed
    in a random direction. Returns 0, which the engine ignores.
    """
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    backwards = minimal_directions(tables, source, target, random)
    # The directions were drawn from the sequence of words that starts at `random`. The inverted
    # word starts another sequence, so that the switch does not depend on the same draws.
    second_random = another(inverted(random))
    packets[packet, WAYPOINT] = switch_in_quadrant(tables, source, target, backwards, second_random)
    return 0
