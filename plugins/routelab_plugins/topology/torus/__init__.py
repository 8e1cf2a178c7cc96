"""Tori of any number of dimensions, whole, damaged or partly allocated.

Where a ring closes, it may be shifted along other dimensions. In tori whose dimensions differ in
size this shortens routes and balances the loads: Cámara et al., *Twisted Torus Topologies for
Enhanced Interconnection Networks*, IEEE TPDS 21(12), 2010. Known cases, k switches on the short
sides:

    k x 2k        dims=4x8,twist=XY4            rings along X are shifted along Y
    k x k x 2k    dims=4x4x8,twist=XZ4+YZ4      "doubly twisted": both short sides, along Z
    k x 2k x 2k   dims=4x8x8,twist=XY4+XZ4      the short side, along both long ones

The last two are the graphs of the face-centred and the body-centred cubic lattice: Camarero et al.,
*Symmetric Interconnection Networks from Cubic Crystal Lattices*, arXiv:1311.2019.

Ring d is shifted by a vector t_d, so the network is the integer grid modulo the vectors
``dims[d] * e_d - t_d``. No shift leads back to its own dimension, so that these are triangular and
the network has as many switches as the plain torus. All translations of the grid are symmetries.

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
        works.CAMARA2010("rings that close with a shift"),
        works.CAMARERO2013("the graphs of cubic lattices among them"),
    )
    Parameters = TorusParameters

    def build(self) -> Topology:
        """Build the torus; see `routelab.toolkit.build_grid`."""
        return build_grid("torus", wrap=True, **dict(self.parameters))
