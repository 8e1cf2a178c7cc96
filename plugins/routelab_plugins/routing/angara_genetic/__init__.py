"""angara-genetic: a genetic search over Angara tables.

Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*, section 4.2, with the extra turns of Theorem 2.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class AngaraGenetic(Composition):
    """`genetic@angara~turns=theorem2`: a selection, and rules with a parameter."""

    name = "angara-genetic"
    summary = "Angara rules, genetic search (the paper's Genetic)"
    citations = (works.MUKOSEY2020("section 4.2, Theorem 2"),)
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=theorem2"
    selection = "genetic"
