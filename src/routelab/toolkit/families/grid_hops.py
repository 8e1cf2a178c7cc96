"""Parameters, checks and tables of hop-by-hop algorithms on whole tori and meshes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import factorial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator

from routelab.api.errors import InputError, UnsupportedError
from routelab.api.hops import HopProgram, pack_tables
from routelab.api.parameters import Parameters, parameter
from routelab.api.topology import Int32Array, Topology
from routelab.kernels.grid_hops import TIES_BALANCED, TIES_POSITIVE, TIES_RANDOM
from routelab.kernels.order_hops import quadrant_hop, quadrant_inject
from routelab.toolkit.families.dimension_orders import check_order, dimension_sequence
from routelab.toolkit.grids import Grid, full_grid

Ties = Literal["balanced", "random", "positive"]
RingDeadlock = Literal["bubble", "dateline"]

_TIES = {"balanced": TIES_BALANCED, "random": TIES_RANDOM, "positive": TIES_POSITIVE}
_DRAWN = ("rotated", "random")
_NAMED = ("natural", "reversed", "longest", "shortest", *_DRAWN)

HopOrder = Annotated[str, AfterValidator(lambda order: check_order(order, _NAMED))]
"""An order of dimensions for all packets, or random for each packet: rotated, random."""

_WHOLE = "needs a whole torus or mesh: it follows coordinates and cannot route around failures"


_TIES_TEXT = (
    "Ways round half an even ring: by the parity of the coordinates of source, target and the "
    "switch where the ring is entered (balanced), by a random bit, or positive"
)


class OrderParameters(Parameters):
    """Parameters of algorithms that give each order of dimensions virtual channels of its own."""

    deadlock: RingDeadlock = parameter(
        "bubble",
        description="Rings are kept free by bubble flow control, or by two classes of virtual "
        "channels before and behind a dateline",
    )
    order: HopOrder = parameter(
        "natural",
        description="Order of dimensions: natural, reversed, longest or shortest first, a list "
        "such as 2+0+1, or drawn for each packet from the rotations of the natural order "
        "(rotated) or from all orders (random); each drawn order has separate virtual channels",
    )


class RingParameters(OrderParameters):
    """Parameters of algorithms with orders of dimensions that choose the shorter direction."""

    ties: Ties = parameter("balanced", description=_TIES_TEXT)


class EscapeParameters(Parameters):
    """Parameters of adaptive algorithms that escape to dimension-order routing."""

    escape: RingDeadlock = parameter(
        "bubble",
        description="Escape: dimension order on virtual channel 0 under bubble flow control, or "
        "on 0 and 1 with a dateline; all other virtual channels are adaptive",
    )
    ties: Ties = parameter("balanced", description=f"Of the escape. {_TIES_TEXT}")


def whole_grid(topology: Topology) -> Grid:
    """Return the shape of a whole torus or mesh.

    Raises
    ------
    UnsupportedError
        If the network is another one.
    """
    grid = full_grid(topology)
    if grid is None:
        raise UnsupportedError(_WHOLE)
    return grid


def grid_problem(
    topology: Topology,
    virtual_channels: int,
    deadlock: RingDeadlock,
    order: str = "natural",
    phases: int = 1,
) -> str | None:
    """Return why an algorithm on coordinates does not apply; None if it does.

    Parameters
    ----------
    topology : Topology
    virtual_channels : int
    deadlock : {"bubble", "dateline"}
    order : str
    phases : int
        Parts of a route, each with separate classes for every order: 2 if packets first go to an
        intermediate switch.
    """
    grid = full_grid(topology)
    if grid is None:
        return _WHOLE
    if deadlock == "bubble" and any(grid.wrap):
        in_ring = np.array(grid.wrap)[_channel_dimensions(topology)]
        if (topology.channel_ring[in_ring] < 0).any():
            return "bubble flow control needs a network that declares which channels form rings"
    try:
        orders = count_orders(order, grid)
    except InputError as error:
        return str(error)
    ring_classes = count_ring_classes(grid, deadlock)
    needed = phases * orders * ring_classes
    if virtual_channels < needed:
        return (
            f"needs {needed} virtual channels ({phases} x {orders} orders of dimensions x "
            f"{ring_classes} for rings); available: {virtual_channels}"
        )
    return None


def escape_problem(topology: Topology, virtual_channels: int, escape: RingDeadlock) -> str | None:
    """Return why an adaptive algorithm with that escape does not apply; None if it does."""
    # Escapes need 2 virtual channels at most. Pretend that these exist: too few are reported below,
    # with the adaptive one.
    problem = grid_problem(topology, max(virtual_channels, 2), escape)
    if problem is None:
        needed = count_ring_classes(whole_grid(topology), escape) + 1
        if virtual_channels < needed:
            return (
                f"needs {needed} virtual channels, {needed - 1} of them for escapes; "
                f"available: {virtual_channels}"
            )
    return problem


def count_ring_classes(grid: Grid, deadlock: RingDeadlock) -> int:
    """Return the number of classes that break ring deadlocks: 2 with a dateline, else 1."""
    return 2 if deadlock == "dateline" and any(grid.wrap) else 1


def bubble_classes(grid: Grid, deadlock: RingDeadlock, classes: int) -> tuple[int, ...]:
    """Return the numbers of the classes that need bubble flow control: all `classes`, or none."""
    return tuple(range(classes)) if deadlock == "bubble" and any(grid.wrap) else ()


def count_orders(order: str, grid: Grid) -> int:
    """Return the number of orders of dimensions that packets draw from; 1 for a fixed order.

    Raises
    ------
    InputError
        If `order` lists another number of dimensions than the grid has.
    """
    dimensions = len(grid.dims)
    if order == "random":
        return factorial(dimensions)
    if order == "rotated":
        return dimensions
    dimension_sequence(order, grid.dims)  # raises the error
    return 1


def grid_diameter(grid: Grid) -> int:
    """Return the hops of a shortest route between the switches that are farthest apart."""
    return sum(
        size // 2 if ring else size - 1 for size, ring in zip(grid.dims, grid.wrap, strict=True)
    )


def longest_route(grid: Grid) -> int:
    """Return the hops of the longest route without a complete ring and without reversals."""
    return sum(grid.dims) - len(grid.dims)


def quadrant_program(topology: Topology, options: OrderParameters, *, local: bool) -> HopProgram:
    """Return the program of Randomized Local Balance (`routelab.kernels.order_hops`).

    A packet draws a direction in each dimension. The quadrant has the switches that routes from its
    source to its target in these directions can pass. The packet goes to a random switch of the
    quadrant, then to its target: two phases. This is RLB, or RLBth if `local`, of Singh, Dally,
    Towles and Gupta, *Locality-Preserving Randomized Oblivious Routing on Torus Networks*.

    Parameters
    ----------
    topology : Topology
    options : OrderParameters
    local : bool
        Whether distances below a quarter of a ring always take the short direction.

    Raises
    ------
    UnsupportedError
        If the network is not a whole torus or mesh.
    """
    grid = whole_grid(topology)
    phases, orders = 2, count_orders(options.order, grid)
    # Routes of different phases or orders use no common virtual channel, so that they do not wait
    # for each other in a cycle; each has the classes that its rings need.
    classes = phases * orders * count_ring_classes(grid, options.deadlock)
    own_array = [int(local)]  # read by `quadrant_inject`
    return HopProgram(
        hop=quadrant_hop,
        inject=quadrant_inject,
        tables=grid_tables(topology, own_array, deadlock=options.deadlock, order=options.order),
        vc_classes=classes,
        bubble=bubble_classes(grid, options.deadlock, classes),
        max_hops=longest_route(grid),
    )


def grid_tables(
    topology: Topology,
    *arrays: ArrayLike,
    deadlock: RingDeadlock = "bubble",
    order: str = "natural",
    ties: Ties = "balanced",
) -> Int32Array:
    """Pack the tables that `routelab.kernels.grid_hops` describes; `arrays` follow from OWN on.

    Raises
    ------
    UnsupportedError
        If the network is not a whole torus or mesh.
    InputError
        If `order` lists another number of dimensions than the grid has.
    """
    grid = whole_grid(topology)
    assert topology.coordinates is not None
    dimensions = len(grid.dims)
    # by (switch, direction): positive directions, then negative ones
    out_channel = np.full((topology.num_switches, 2 * dimensions), -1, dtype=np.int64)
    sign = np.array([label.sign for label in topology.directions])[topology.channel_direction]
    direction = _channel_dimensions(topology) + np.where(sign > 0, 0, dimensions)
    out_channel[topology.channel_source, direction] = np.arange(topology.num_channels)
    grid_point = np.ravel_multi_index(tuple(topology.coordinates.T), grid.dims)
    orders = _orders(order, grid)
    return pack_tables(
        topology,
        [dimensions, count_ring_classes(grid, deadlock), _TIES[ties], len(orders)],
        grid.dims,
        np.array(grid.wrap),
        topology.coordinates,
        out_channel,
        topology.parity,
        orders,
        np.argsort(grid_point),  # the switch at each grid point
        *arrays,
    )


def _orders(order: str, grid: Grid) -> Sequence[Sequence[int]]:
    """Return the orders of dimensions that packets draw from, or the only one."""
    natural = list(range(len(grid.dims)))
    if order == "random":
        return list(permutations(natural))
    if order == "rotated":
        return [natural[first:] + natural[:first] for first in natural]
    return [dimension_sequence(order, grid.dims)]


def _channel_dimensions(topology: Topology) -> Int32Array:
    dimension = np.array([label.dimension for label in topology.directions], dtype=np.int32)
    return dimension[topology.channel_direction]
