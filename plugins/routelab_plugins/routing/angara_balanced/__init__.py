"""angara-balanced: near-optimal tables under the rules of the Angara hardware.

All safe extra turns (`turns=exact`) and the selection `balanced`.
"""

from routelab.api import Capabilities, Composition
from routelab_plugins import works


class AngaraBalanced(Composition):
    """`balanced@angara~turns=exact`: a selection, and rules with a parameter."""

    name = "angara-balanced"
    summary = "Angara rules with all safe extra turns, and balanced routes with near-optimal loads"
    citations = (
        works.MUKOSEY2020(
            "the hardware's rules (section 3); which turns are safe is decided exactly",
        ),
    )
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=exact"
    selection = "balanced"
