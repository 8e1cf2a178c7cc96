"""dfsssp: balanced destination-based routes on any network, free of deadlock by layers.

Domke, Hoefler, Nagel, *Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS 2011,
doi 10.1109/IPDPS.2011.65.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class Dfsssp(Composition):
    """`p-sssp~root=destination@unrestricted@cycle-breaking`: selection, rules and layers.

    With ``routes=terminals`` every terminal has separate routes, as in OpenSM. This is the default
    on networks in which some switches have no terminals.
    """

    name = "dfsssp"
    summary = "Destination-based P-SSSP on any network; virtual layers break deadlocks"
    citations = (works.DOMKE2011("DFSSSP"),)
    capabilities = Capabilities(
        minimal=True, flow_control="plain", virtual_channels=None, destination_based=True
    )
    rules = "unrestricted"
    selection = "p-sssp~root=destination"
    layers = "cycle-breaking"
