"""PolarFly: the polarity graphs of Erdős and Rényi, and of Brown, as networks.

Lakhotia, Besta, Monroe, Isham, Iff, Hoefler and Petrini, *PolarFly: A Cost-Effective and Flexible
Low-Diameter Topology*, SC 2022, arXiv 2208.01695. For a prime power q, the switches are the
q² + q + 1 points of the projective plane over the field of q elements, and two are linked if their
vectors are orthogonal. The q + 1 points that are orthogonal to themselves, the *quadrics*, have
degree q, all others q + 1. Any two points have exactly one common orthogonal point, so that any two
switches are at most two hops apart.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Parameters, Topology, TopologyPlugin, parameter
from routelab.api.topology import BoolArray, Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.finite_field import FiniteField, check_prime_power
from routelab.toolkit.families.groups import COORDINATE_NAMES, GROUP_COORDINATES
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
    ports_by_neighbour,
)
from routelab_plugins import works


class PolarFlySize(Parameters):
    """Size of the network."""

    q: int = parameter(5, ge=2, le=1000, description="Prime power; q² + q + 1 switches")
    terminals: int | None = parameter(
        None, ge=1, le=10_000, description="Terminals at each switch; none: (q + 1) / 2, rounded up"
    )


class PolarFlyParameters(FailureParameters, PolarFlySize):
    """Size of the network, and its failures."""


class PolarFly(TopologyPlugin):
    """Points of a projective plane, linked if their vectors are orthogonal."""

    name = "polarfly"
    summary = "PolarFly (polarity graph): diameter 2 for every prime power q"
    citations = (works.LAKHOTIA2022("definition and racks of PolarFly"),)
    Parameters = PolarFlyParameters

    def build(self) -> Topology:
        """Build the network.

        Rack 0 holds the quadrics. Each neighbour of the first quadric is the first switch of a rack
        from 1 on, which also holds the neighbours of that switch without the quadrics. Switch 2 of
        rack 3 is ``r3.2`` and has the coordinates (3, 2); otherwise switches are in ascending order
        of their vectors, whose first entry other than 0 is 1. If q is even, one of the racks has
        one switch: all its neighbours are quadrics. Port numbers follow the neighbours' numbers.
        Cables inside racks are local.

        Raises
        ------
        InputError
            If q is not a prime power, the network is too large, or more parts shall fail than
            exist.
        """
        parameters = self.parameters
        q = parameters.q
        # q + 1 quadrics have degree q, the other q² switches degree q + 1. Every link has two ends:
        # the sum of degrees is (q + 1) · q + q² · (q + 1) = q · (q + 1)².
        count, links = q * q + q + 1, q * (q + 1) ** 2 // 2
        terminals = (q + 2) // 2 if parameters.terminals is None else parameters.terminals
        check_size(self.name, count, links)
        check_prime_power(self.name, q)
        orthogonal = _orthogonal_points(FiniteField.of_order(q))
        quadric = (orthogonal == np.arange(count)[:, np.newaxis]).any(axis=1)
        points, coordinates = _racks(orthogonal, quadric)
        # `points` has the point of each switch, so its inverse has the switch of each point.
        switch_of_point = np.argsort(points)
        switch = np.repeat(np.arange(count), q + 1)
        neighbour = switch_of_point[orthogonal[points]].reshape(-1)
        # Keep each link once, from its lower end; a quadric has no link to itself.
        ends = np.stack((switch, neighbour), axis=1)[switch < neighbour]
        rack = coordinates[ends, 0]
        local = int(np.count_nonzero(rack[:, 0] == rack[:, 1]))
        return linked_network(
            self.name,
            switch_names=[f"r{rack}.{index}" for rack, index in coordinates.tolist()],
            ends=ends,
            ports=ports_by_neighbour(ends, count),
            terminal_switch=np.repeat(np.arange(count), terminals),
            parameters={
                "q": q,
                "terminals_per_switch": terminals,
                COORDINATE_NAMES: ["rack", "index"],
                GROUP_COORDINATES: [0],  # a group is a rack
            },
            facts={
                "quadrics": q + 1,
                "racks": q + 1,
                "cables": {"local": local, "global": links - local},
                "diameter": 2,
                # Two hops, but one less for the q · (q + 1)² ordered pairs with a link, out of
                # count · (count − 1) = count · q · (q + 1) pairs.
                "mean_distance": 2 - (q + 1) / count,
            },
            coordinates=coordinates,
            failures=parameters,
        )


def _orthogonal_points(field: FiniteField) -> Int64Array:
    """Return the points that are orthogonal to each point; int64, shape (q² + q + 1, q + 1).

    Points are numbered in ascending order of their vectors: (0, 0, 1), (0, 1, z), (1, y, z).
    """
    q = len(field.add)
    y, z = (axis.reshape(-1) for axis in np.indices((q, q)))
    zero, one = np.zeros_like(z), np.ones_like(z)
    # 1. Two vectors that span the plane orthogonal to each point, in the order of the points:
    #        point        first        second
    #        (0, 0, 1)    (1, 0, 0)    (0, 1, 0)
    #        (0, 1, z)    (1, 0, 0)    (0, −z, 1)
    #        (1, y, z)    (−y, 1, 0)   (−z, 0, 1)
    #    The first q elements of `z` are all elements of the field, once.
    first = np.concatenate(
        (
            [[1, 0, 0]],
            np.stack((one, zero, zero), axis=1)[:q],
            np.stack((field.negative[y], one, zero), axis=1),
        )
    )
    second = np.concatenate(
        (
            [[0, 1, 0]],
            np.stack((zero, field.negative[z], one), axis=1)[:q],
            np.stack((field.negative[z], zero, one), axis=1),
        )
    )
    # 2. The q + 1 points of that plane: first + k · second for all k, and second.
    multiples = field.multiply[np.arange(q)[:, np.newaxis], second[:, np.newaxis, :]]
    vectors = np.concatenate(
        (field.add[first[:, np.newaxis, :], multiples], second[:, np.newaxis, :]), axis=1
    )
    # 3. Divide each vector by its first entry other than 0. All multiples of a vector are the same
    #    point; the one with 1 as that entry gives the point its number.
    lead_index = (vectors != 0).argmax(axis=2)
    lead = np.take_along_axis(vectors, lead_index[..., np.newaxis], axis=2)
    inverse = (field.multiply == 1).argmax(axis=1)
    vectors = field.multiply[inverse[lead], vectors]
    # 4. Number of each point: (0, 0, 1) is 0, (0, 1, z) is 1 + z, (1, y, z) is 1 + q + y q + z.
    first_number = np.array([1 + q, 1, 0])[lead_index]
    y, z = vectors[..., 1], vectors[..., 2]
    number_after_first = np.select([lead_index == 0, lead_index == 1], [y * q + z, z], default=0)
    points: Int64Array = first_number + number_after_first
    return points


def _racks(orthogonal: Int64Array, quadric: BoolArray) -> tuple[Int64Array, Int64Array]:
    """Return the point and the coordinates (rack, index) of each switch, rack after rack.

    `orthogonal` has the points orthogonal to each point, `quadric` whether a point is orthogonal to
    itself.
    """
    # 1. The rack of each point. The first quadric's neighbours are the centres of the racks. Every
    #    other point has exactly one neighbour in common with that quadric: the centre of its rack.
    #    Quadrics have one, too, but belong to rack 0.
    first_quadric = int(np.argmax(quadric))
    neighbours = orthogonal[first_quadric]
    centres = np.sort(neighbours[neighbours != first_quadric])
    rack = np.zeros(len(quadric), dtype=np.int64)
    rack_of_centre = np.arange(1, len(centres) + 1)
    rack[orthogonal[centres]] = rack_of_centre[:, np.newaxis]
    rack[centres] = rack_of_centre
    rack[quadric] = 0
    # 2. Points by rack, the centre first, then by number.
    is_no_centre = np.ones(len(quadric), dtype=np.bool_)
    is_no_centre[centres] = False
    points = np.lexsort((np.arange(len(quadric)), is_no_centre, rack))
    racks = rack[points]
    # `racks` is ascending, so `searchsorted` finds the first switch of each switch's rack
    index = np.arange(len(points)) - np.searchsorted(racks, racks)
    return points, np.stack((racks, index), axis=1)
