"""Hamming graphs, also called HyperX and flattened butterflies.

Ahn, Binkert, Davis, McLaren and Schreiber, *HyperX: Topology, Routing, and Packaging of Efficient
Large-Scale Networks*, SC 2009, doi 10.1145/1654059.1654101: L dimensions of S_k switches, all that
differ in one coordinate joined by K_k parallel links, T terminals at each switch. K = 1 is the
Cartesian product of complete graphs.
"""

from __future__ import annotations

from math import prod
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from routelab.api import InputError, Parameters, Topology, TopologyPlugin, parameter
from routelab.api.parameters import Dims
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.groups import COORDINATE_NAMES, GROUP_COORDINATES
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
)
from routelab_plugins import works


def _check_dims(dims: tuple[int, ...]) -> tuple[int, ...]:
    """Refuse sizes that make no Hamming graph."""
    text = "x".join(map(str, dims))
    if not dims:
        raise ValueError("dims: a Hamming graph needs at least one dimension, such as dims=4x4")
    if min(dims) < 2:
        raise ValueError(
            f"dims: every dimension must be at least 2, got {text}; leave out those of size 1"
        )
    return dims


def _check_widths(widths: tuple[int, ...]) -> tuple[int, ...]:
    if not widths or min(widths) < 1:
        raise ValueError("widths: every dimension needs at least 1 link, write them as 2 or 1x2x1")
    return widths


class HammingSize(Parameters):
    """Shape of the network."""

    dims: Annotated[Dims, AfterValidator(_check_dims)] = parameter(
        description="Switches along each dimension, each at least 2, e.g. 4x4x4"
    )
    widths: Annotated[Dims, AfterValidator(_check_widths)] = parameter(
        (1,),
        description="Parallel links between two switches: one number, or one for each dimension, "
        "e.g. 1x1x2",
    )
    terminals: int = parameter(1, ge=1, le=10_000, description="Terminals at each switch")


class HammingParameters(FailureParameters, HammingSize):
    """Shape of the network, and its failures."""


class Hamming(TopologyPlugin):
    """Switches with coordinates, linked where exactly one coordinate differs."""

    name = "hamming"
    summary = "Hamming graph (HyperX): all switches of a row are linked, in every dimension"
    citations = (works.AHN2009("definition: dimensions, widths K, terminals"),)
    Parameters = HammingParameters

    def build(self) -> Topology:
        """Build the network.

        Switches are numbered by their coordinates, the last one fastest, and named by them
        (``2.0.1``). Ports are numbered by dimension, then by the neighbour's coordinate, then by
        parallel link. The bisection is a fact if all widths are equal and the smallest dimension is
        even: it halves that dimension (Lindsey's theorem, in Bezrukov, *Edge Isoperimetric Problems
        on Graphs*).

        Raises
        ------
        InputError
            If `widths` has neither one number nor one for each dimension, the network is too large,
            or more parts shall fail than exist.
        """
        parameters = self.parameters
        dims, widths = parameters.dims, self._widths()
        count = prod(dims)
        # A switch has size − 1 neighbours along a dimension; every link has two ends.
        links_along = [
            count * (size - 1) * width // 2 for size, width in zip(dims, widths, strict=True)
        ]
        check_size(self.name, count, sum(links_along))
        coordinates = np.stack(np.unravel_index(np.arange(count), dims), axis=1)
        ends, ports = _links(coordinates, dims, widths)
        # Mean distance: a coordinate of two random switches differs with probability 1 − 1/size;
        # the last factor leaves out pairs of a switch and itself.
        facts = {
            "cables": {f"dimension {d}": number for d, number in enumerate(links_along)},
            "diameter": len(dims),
            "mean_distance": sum(1 - 1 / size for size in dims) * count / (count - 1),
        }
        if len(set(widths)) == 1 and min(dims) % 2 == 0:
            # Halve the smallest dimension, of size s: each of its count / s rows then has (s / 2)²
            # pairs of linked switches in different halves.
            facts["bisection_links"] = widths[0] * min(dims) * count // 4
        # x, y, z, u, v, w, d6, d7, ...
        names = [*"xyzuvw", *(f"d{d}" for d in range(6, len(dims)))][: len(dims)]
        return linked_network(
            self.name,
            switch_names=[".".join(map(str, row)) for row in coordinates.tolist()],
            ends=ends,
            ports=ports,
            terminal_switch=np.repeat(np.arange(count), parameters.terminals),
            parameters={
                "dims": list(dims),
                "widths": list(widths),
                "terminals_per_switch": parameters.terminals,
                COORDINATE_NAMES: names,
                # a group is a row along the last dimension
                GROUP_COORDINATES: list(range(len(dims) - 1)),
            },
            facts=facts,
            coordinates=coordinates,
            failures=parameters,
        )

    def _widths(self) -> tuple[int, ...]:
        """Return the width of each dimension: the parallel links between two neighbours along it.

        A single number is the width of all dimensions.
        """
        dims, widths = self.parameters.dims, self.parameters.widths
        if len(widths) not in (1, len(dims)):
            text = "x".join(map(str, widths))
            # without the last numbers, or with further ones of 1
            suggestion = [*widths, *[1] * len(dims)][: len(dims)]
            raise InputError(
                f"hamming: widths={text} has {len(widths)} numbers for {len(dims)} dimensions; "
                f"use one number, or one for each dimension, such as widths="
                f"{'x'.join(map(str, suggestion))}"
            )
        # repeats a single number, and leaves one for each dimension as they are
        return tuple(widths) * (len(dims) // len(widths))


def _links(
    coordinates: Int64Array, dims: tuple[int, ...], widths: tuple[int, ...]
) -> tuple[Int64Array, Int64Array]:
    """Return the switches at the ends of all links, and their ports; int64, shape (L, 2) each."""
    ends, ports = [], []
    first_port = 0
    for d, (size, width) in enumerate(zip(dims, widths, strict=True)):
        # 1. Every switch with every coordinate in this dimension and every parallel link.
        switch = np.repeat(np.arange(len(coordinates)), size * width)
        coordinate = coordinates[switch, d]
        other = np.tile(np.repeat(np.arange(size), width), len(coordinates))
        parallel = np.tile(np.arange(width), len(coordinates) * size)
        # 2. Each link once, from the end with the lower coordinate.
        is_link = coordinate < other
        low, high = coordinate[is_link], other[is_link]
        switch, parallel = switch[is_link], parallel[is_link]
        stride = prod(dims[d + 1 :])  # between switches whose coordinates differ by 1
        ends.append(np.stack((switch, switch + (high - low) * stride), axis=1))
        # 3. Ports. A switch has none to itself: those to higher coordinates are one less.
        neighbour = np.stack((high - 1, low), axis=1)
        ports.append(first_port + neighbour * width + parallel[:, np.newaxis])
        first_port += (size - 1) * width
    return np.concatenate(ends), np.concatenate(ports)
