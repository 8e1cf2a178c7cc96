"""dor: dimension-order routing.

Dally and Seitz, *Deadlock-Free Message Routing in Multiprocessor Interconnection Networks*, 1987,
doi 10.1109/TC.1987.1676939. Ties between the two ways round an even ring are balanced by default.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class Dor(Composition):
    """`first@dimension-order`: a selection and rules."""

    name = "dor"
    summary = "Dimension-order routing, ring ties balanced"
    citations = (works.DALLY1987("dimension-order (e-cube) routing"),)
    # minimal on whole networks; round a broken link it may take the longer way of the ring
    capabilities = Capabilities(families=("torus", "mesh"), minimal=None, flow_control="bubble")
    rules = "dimension-order"
    selection = "first"
