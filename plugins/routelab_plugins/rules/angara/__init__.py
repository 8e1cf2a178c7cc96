"""The routing rules of the Angara interconnect.

Direction order (+X+Y+Z+K−X−Y−Z−K), direction bits, and a non-standard first and last step, with
those order-violating turns that cannot close a cycle of dependencies: Mukosey, Semenov,
Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara Interconnect*, sections 2.1
and 3.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Citation,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import BoolArray
from routelab.toolkit import full_grid, lay, torus_directions

from .automata import compact, literal
from .kernels import exact_turns, theorem2_turns


class AngaraParameters(Parameters):
    """Admitted turns, and form of the graph."""

    turns: Literal["theorem2", "exact", "none"] = parameter(
        "theorem2",
        description="Order-violating turns of first and last steps: by the paper's Theorem 2, "
        "every turn that keeps rings free of cycles (exact), or none",
    )
    form: Literal["auto", "minimal", "merged", "literal"] = parameter(
        "auto",
        description="Form of the routing graph: the paper's vertices (literal), only states that "
        "differ in their legal continuations (merged), or without direction bits on whole tori "
        "(minimal); all give the same shortest routes",
    )


class AngaraRules(RulesPlugin):
    """Direction order, direction bits, first step, last step, safe extra turns."""

    name = "angara"
    summary = "Angara hardware: direction order and bits, first/last step, safe extra turns"
    citations = (
        Citation("mukosey2020", "routing graph (section 3.1), safe turns (section 3.2, Theorem 2)"),
    )
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    Parameters = AngaraParameters

    def supports(self, topology: Topology) -> str | None:
        """Require the direction labels of a torus or mesh."""
        return torus_directions(topology).reason

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes, in the form of the parameter."""
        options: AngaraParameters = self.parameters
        n = len(topology.directions) // 2
        form = options.form
        if form == "auto":
            form = "minimal" if full_grid(topology) is not None else "merged"
        automaton = literal(n) if form == "literal" else compact(n, bits=form == "merged")
        return lay(
            topology,
            automaton,
            safe_turns(topology, options.turns),
            turn_set=f"angara/{options.turns}",
            minimal_only=form == "minimal",
            prune=form != "literal",
        )


def safe_turns(topology: Topology, rule: str) -> BoolArray | None:
    """Return the order-violating turns that `rule` admits.

    Parameters
    ----------
    rule : {"theorem2", "exact", "none"}

    Returns
    -------
    permitted : bool array, shape (C, D), or None
        ``permitted[c, d]``: a packet that arrived in direction d may turn into channel c.
    """
    if rule == "none":
        return None
    labels = torus_directions(topology)
    if rule == "theorem2":
        permitted: BoolArray = theorem2_turns(
            topology.channel_source,
            topology.channel_direction,
            topology.channel_target,
            (labels.out_channel, labels.in_channel),
            labels.opposite,
            labels.sign,
        )
    else:
        # a complete ring is one part, any other channel is a separate part
        ring = topology.channel_ring.astype(np.int64)
        alone = np.arange(topology.num_channels) + ring.max(initial=-1) + 1
        _, part = np.unique(np.where(ring >= 0, ring, alone), return_inverse=True)
        permitted = exact_turns(
            part.astype(np.int32),
            int(part.max(initial=-1)) + 1,
            topology.channel_direction,
            topology.channel_target,
            labels.out_channel,
            labels.opposite,
            labels.sign,
        )
    return permitted
