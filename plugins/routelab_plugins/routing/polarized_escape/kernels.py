"""Polarized hops on adaptive virtual channels, with an escape subnetwork."""

from routelab.kernels.families.escape_hops import ADAPTIVE_CLASS, ESCAPE_CLASS, offer_escapes
from routelab.kernels.families.polarized_hops import offer_polarized
from routelab.kernels.graph_hops import OWN
from routelab.kernels.hops import hop_kernel

LEVELS = OWN + 1
"""First array of the escape subnetwork."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer polarized hops and escapes; only escapes to a packet that has taken one."""
    count = 0
    if vc != ESCAPE_CLASS:
        count = offer_polarized(tables, packets, packet, switch, ADAPTIVE_CLASS, out)
    return offer_escapes(tables, LEVELS, packets, packet, switch, channel, vc, count, out)
