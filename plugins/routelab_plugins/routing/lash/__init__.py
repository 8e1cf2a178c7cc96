"""lash: shortest destination-based routes on any network, in layers by first fit.

Skeie, Lysne, Theiss, *Layered Shortest Path (LASH) Routing in Irregular System Area Networks*,
IPDPS 2002. The paper leaves open which shortest route a pair gets; here it is the one of P-SSSP.

Tori need fewer layers with `p-sssp~root=destination@dimension-order@first-fit`: OpenSM's engine
orders dimensions, too, with its option for meshes.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class Lash(Composition):
    """`p-sssp~root=destination@unrestricted@first-fit`: selection, rules and layers."""

    name = "lash"
    summary = "Shortest routes on any network, each in the first layer without a cycle (LASH)"
    citations = (works.SKEIE2002("LASH"),)
    capabilities = Capabilities(
        minimal=True, flow_control="plain", virtual_channels=None, destination_based=True
    )
    rules = "unrestricted"
    selection = "p-sssp~root=destination"
    layers = "first-fit"
