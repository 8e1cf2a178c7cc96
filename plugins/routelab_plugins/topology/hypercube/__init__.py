"""Hypercubes: a switch for every binary number, linked if the numbers differ in one digit.

Harary, Hayes and Wu, *A Survey of the Theory of Hypercube Graphs*, Computers & Mathematics with
Applications 15(4), 1988, doi 10.1016/0898-1221(88)90213-1. The bisection is half of the switches,
because a face has the fewest links to the rest: Bezrukov, *Edge Isoperimetric Problems on Graphs*.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Parameters, Topology, TopologyPlugin, parameter
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
)
from routelab.toolkit.grids import grid_directions
from routelab_plugins import works


class HypercubeSize(Parameters):
    """Size of the hypercube."""

    dims: int = parameter(ge=1, le=19, description="Number of dimensions; 2^dims switches")
    terminals: int = parameter(1, ge=1, le=10_000, description="Terminals at each switch")


class HypercubeParameters(FailureParameters, HypercubeSize):
    """Size of the hypercube, and its failures."""


class Hypercube(TopologyPlugin):
    """A grid with two switches along each dimension."""

    name = "hypercube"
    summary = "Hypercube: 2^n switches, linked where one binary digit differs"
    citations = (works.HARARY1988("definition and distances of the hypercube"),)
    Parameters = HypercubeParameters

    def build(self) -> Topology:
        """Build the hypercube.

        The binary digits of a switch's number, the highest first, are its coordinates and its name:
        switch 1 of three dimensions is ``0.0.1``. Port d leads along dimension d. Channels have the
        direction labels of a mesh of size 2 in every dimension, so that routings for meshes apply:
        dimension order is e-cube routing.

        Raises
        ------
        InputError
            If more parts shall fail than exist.
        """
        parameters = self.parameters
        n, count = parameters.dims, 2**parameters.dims
        check_size(self.name, count, n * count // 2)
        switch = np.arange(count)
        coordinates = switch[:, np.newaxis] >> np.arange(n - 1, -1, -1) & 1
        # Each link once, from its end with the digit 0. The other end has 1 there, so its number is
        # higher by the value of the digit: dimension 0 is the highest binary digit.
        low, dimension = np.nonzero(coordinates == 0)
        digit_value = 1 << (n - 1 - dimension)
        return linked_network(
            self.name,
            switch_names=[".".join(map(str, row)) for row in coordinates.tolist()],
            ends=np.stack((low, low + digit_value), axis=1),
            ports=np.stack((dimension, dimension), axis=1),
            terminal_switch=np.repeat(switch, parameters.terminals),
            parameters={
                "dims": [2] * n,
                "wrap": [False] * n,
                "terminals_per_switch": parameters.terminals,
            },
            facts={
                "cables": {f"dimension {d}": count // 2 for d in range(n)},
                "diameter": n,
                # a digit differs from that of half of all switches, none of which is itself
                "mean_distance": n * (count // 2) / (count - 1),
                "bisection_links": count // 2,
            },
            coordinates=coordinates,
            # directions 0 … n − 1 raise a coordinate, n … 2n − 1 lower it
            directions=grid_directions(n),
            channel_direction=np.stack((dimension, dimension + n), axis=1),
            failures=parameters,
        )
