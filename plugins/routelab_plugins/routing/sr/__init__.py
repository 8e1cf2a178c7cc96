"""sr: segment-based routing with balanced routes.

Mejía, Flich, Duato, *Segment-Based Routing: A New Approach to Efficient Topology-Agnostic
Routing*, 2005. The paper balances routes with an algorithm of Flich et al. (reference 1 there);
here it is `balanced`, and ``selection=iterative-removal@segment`` is the nearest to the paper's.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class Sr(Composition):
    """`balanced@segment~restrict=local-search,root=best`: a selection, and rules."""

    name = "sr"
    summary = "Segment-based routing (SR): search for root and restrictions, balanced routes"
    citations = (works.MEJIA2005("segment-based routing"),)
    capabilities = Capabilities(minimal=False, flow_control="plain")
    rules = "segment~restrict=local-search,root=best"
    selection = "balanced"
