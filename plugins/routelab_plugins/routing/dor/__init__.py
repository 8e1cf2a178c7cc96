"""dor: dimension-order routing.

Dally and Seitz, *Deadlock-Free Message Routing in Multiprocessor Interconnection Networks*, 1987,
doi 10.1109/TC.1987.1676939. Ties between the two ways round an even ring are balanced by default.
"""

from routelab.api import Capabilities, Citation, Composition


class Dor(Composition):
    """`first@dimension-order`."""

    name = "dor"
    summary = "Dimension-order routing, ring ties balanced"
    citations = (
        Citation(
            key="dally1987",
            title="Deadlock-Free Message Routing in Multiprocessor Interconnection Networks",
            authors="Dally, William J. and Seitz, Charles L.",
            year=1987,
            venue="IEEE Transactions on Computers C-36(5), pp. 547-553",
            cited_for="dimension-order (e-cube) routing",
            doi="10.1109/TC.1987.1676939",
        ),
    )
    # minimal on whole networks; round a broken link it may take the longer way of the ring
    capabilities = Capabilities(families=("torus", "mesh"), minimal=None, flow_control="bubble")
    rules = "dimension-order"
    selection = "first"
