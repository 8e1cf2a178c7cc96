"""angara-balanced: near-optimal tables under the rules of the Angara hardware.

All safe extra turns (`turns=exact`) and the selection `balanced`.
"""

from routelab.api import Capabilities, Citation, Composition


class AngaraBalanced(Composition):
    """`balanced@angara~turns=exact`."""

    name = "angara-balanced"
    summary = "Angara rules with all safe extra turns, balanced routes; next to optimal"
    citations = (
        Citation(
            key="mukosey2020",
            title="Optimized Graph Based Routing Algorithm for the Angara Interconnect",
            authors="Mukosey, Anatoly and Semenov, Alexander and Tretiakov, Alexander",
            year=2021,
            venue="arXiv:2110.00851",
            cited_for="the hardware's rules (section 3); which turns are safe is decided exactly",
            doi="10.48550/arXiv.2110.00851",
        ),
    )
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=exact"
    selection = "balanced"
