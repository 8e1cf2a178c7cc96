"""angara-bfs: the first table generator of the Angara interconnect.

Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*, Algorithms 1 and 2, with the extra turns of Theorem 2.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class AngaraBfs(Composition):
    """`bfs@angara~turns=theorem2`: a selection, and rules with a parameter."""

    name = "angara-bfs"
    summary = "Angara rules, breadth-first trees (the paper's BFS)"
    citations = (works.MUKOSEY2020("Algorithms 1 and 2, Theorem 2"),)
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=theorem2"
    selection = "bfs"
