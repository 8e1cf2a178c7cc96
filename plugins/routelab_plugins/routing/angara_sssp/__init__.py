"""angara-sssp: the table generator proposed by the Angara paper.

Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*, Algorithms 3 and 4, with the extra turns of Theorem 2.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class AngaraSssp(Composition):
    """`sssp@angara~turns=theorem2`: a selection, and rules with a parameter."""

    name = "angara-sssp"
    summary = "Angara rules, shortest paths on loads (the paper's SSSP)"
    citations = (works.MUKOSEY2020("Algorithms 3 and 4, Theorem 2"),)
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=theorem2"
    selection = "sssp"
