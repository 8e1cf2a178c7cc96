"""Tori of any number of dimensions, whole, damaged or partly allocated.

A dimension of size 2 has one bidirectional link and no ring, as in the Angara interconnect:
Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*, section 5.1 (https://doi.org/10.48550/arXiv.2110.00851).
"""

from __future__ import annotations

from routelab.api import Topology, TopologyPlugin
from routelab.toolkit import TorusParameters, build_grid
from routelab_plugins import works


class Torus(TopologyPlugin):
    """A grid whose dimensions of size 3 and more are rings."""

    name = "torus"
    summary = "Torus of any dimensions; a dimension of size 2 is a single link"
    citations = (
        works.MUKOSEY2020("order of directions (section 2.1), dimensions of size 2 (section 5.1)"),
    )
    Parameters = TorusParameters

    def build(self) -> Topology:
        """Build the torus; see `routelab.toolkit.build_grid`."""
        return build_grid("torus", wrap=True, **dict(self.parameters))
