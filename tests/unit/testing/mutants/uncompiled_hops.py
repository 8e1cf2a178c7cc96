"""A hop-by-hop routing with a function that does not compile, and that no default uses."""

import hop_kernels
from right import RightHops

from routelab.kernels.hops import hop_kernel


@hop_kernel
def writes_to_tables(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Write where functions only read."""
    tables[0] = 0
    return hop_kernels.hop(tables, packets, packet, queues, switch, channel, vc, random, out)


class HasAnUncompiledHop(RightHops):
    name = "has-an-uncompiled-hop"
    caught = "contract", "uncompiled_hops.writes_to_tables: expected a function that Numba can"
