"""Meshes (grids without rings) of any number of dimensions, whole, damaged or partly allocated."""

from __future__ import annotations

from routelab.api import Topology, TopologyPlugin
from routelab.toolkit import GridParameters, build_grid


class Mesh(TopologyPlugin):
    """A grid whose dimensions are lines."""

    name = "mesh"
    summary = "Mesh of any dimensions: a torus without wrap-around links"
    Parameters = GridParameters

    def build(self) -> Topology:
        """Build the mesh; see `routelab.toolkit.build_grid`."""
        return build_grid("mesh", wrap=False, **dict(self.parameters))
