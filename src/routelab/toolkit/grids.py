"""Grid-shaped networks: tori, meshes, and their parts after failures and allocations.

A switch of a whole grid has an *original index*: row-major over its coordinates, the last
coordinate fastest. Directions run +X +Y +Z +K −X −Y −Z −K (then D5, D6, … behind K), so channel
(switch, direction) has the opposite channel (neighbour, direction ± n).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from routelab.api.errors import InputError
from routelab.api.parameters import Dims, Integers, Parameters, Words, parameter
from routelab.api.topology import BoolArray, Direction, Int64Array, Topology
from routelab.toolkit.allocation import connected_set, free_box

MAX_SWITCHES = 1_000_000
"""Largest whole grid that is built; a larger one is probably a typing error."""


def _dims_problem(dims: Sequence[int]) -> str | None:
    """Return why a grid of these sizes cannot be built; None if it can."""
    if not dims:
        return "dims: a grid needs at least one dimension, such as dims=4x2"
    sizes = "x".join(map(str, dims))
    if min(dims) < 2:
        return f"dims: every dimension must be at least 2, got {sizes}; leave out those of size 1"
    if prod(dims) > MAX_SWITCHES:
        return f"dims: {sizes} has {prod(dims)} switches, the limit is {MAX_SWITCHES}"
    return None


def _check_dims(dims: tuple[int, ...]) -> tuple[int, ...]:
    problem = _dims_problem(dims)
    if problem:
        raise ValueError(problem)
    return dims


class GridParameters(Parameters):
    """Parameters that all grid-shaped topologies share; `build_grid` takes them by name."""

    dims: Annotated[Dims, AfterValidator(_check_dims)] = parameter(
        description="Switches along each dimension, each at least 2, e.g. 4x2x2x2"
    )
    terminals: int = parameter(1, ge=1, le=10_000, description="Terminals at each switch")
    failed_switches: Integers = parameter(
        (), description="Original indices of failed switches, e.g. 3+7"
    )
    failed_links: Words = parameter(
        (), description="Failed links, each as the original indices of its ends, e.g. 0-1+3-7"
    )
    fail_switches: int = parameter(
        0, ge=0, description="Number of further switches that fail at random"
    )
    fail_links: int = parameter(
        0, ge=0, description="Number of further links that fail at random, between live switches"
    )
    seed: int = parameter(0, ge=0, description="Seed of the random failures and of the allocation")
    nodes: Integers = parameter(
        (), description="Original indices of allocated switches; the others are left out"
    )
    allocate: int = parameter(
        0, ge=0, description="Number of live switches that a scheduler allocates at random; 0: all"
    )
    shape: Literal["connected", "box"] = parameter(
        "connected",
        description="Shape of the allocation: a connected set that grows at random from a random "
        "switch, or the most compact sub-box that is free, at a random place",
    )


class TorusParameters(GridParameters):
    """Parameters of tori, whose rings may close with a shift."""

    twist: Words = parameter(
        (),
        description="Rings that close with a shift, e.g. XZ4+YZ4: behind the last switch along X, "
        "and along Y, comes the first one 4 further along Z",
    )


@dataclass(frozen=True)
class Grid:
    """Shape of a whole grid.

    Attributes
    ----------
    dims : tuple of int
    wrap : tuple of bool
        Whether the lines of each dimension are rings.
    twist : tuple of tuple of int
        ``twist[d][e]``: how far a ring of dimension d is shifted along dimension e where it closes,
        0 to ``dims[e] - 1``; empty if no ring is shifted.
    """

    dims: tuple[int, ...]
    wrap: tuple[bool, ...]
    twist: tuple[tuple[int, ...], ...] = ()


def grid_directions(dimensions: int) -> tuple[Direction, ...]:
    """List the labels +X +Y … −X −Y … of a grid with that many dimensions."""
    return tuple(
        Direction(f"{mark}{name}", d, sign)
        for mark, sign in (("+", 1), ("-", -1))
        for d, name in enumerate(_dimension_names(dimensions))
    )


def _dimension_names(dimensions: int) -> list[str]:
    """Return the names X Y Z K D5 D6 … of the first dimensions."""
    return [*"XYZK", *(f"D{d + 1}" for d in range(4, dimensions))][:dimensions]


def parse_twist(words: Sequence[str], dims: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the shifts that words such as ``XZ4`` stand for, as `Grid.twist`.

    Raises
    ------
    InputError
        If a word does not name two rings of the grid and a shift below the size of the second; if
        a ring is shifted twice along one dimension; if shifts form a cycle, as X along Y and Y
        along X do.
    """
    names = _dimension_names(len(dims))
    twist = np.zeros((len(dims), len(dims)), dtype=np.int64)
    for word in words:
        # A hyphen may separate a dimension that has a number from the shift, as in XD5-12.
        match = re.fullmatch(
            r"(?P<ring>[XYZK]|D[0-9]+)(?P<along>[XYZK]|D[0-9]+)-?(?P<shift>[0-9]{1,7})", word
        )
        if (
            not match
            or not {match["ring"], match["along"]} <= {*names}
            or match["ring"] == match["along"]
        ):
            known = ", ".join(names)
            raise InputError(
                f"twist: {word!r} is not a shift; write two of the dimensions {known} and a number "
                "of switches, such as XY2"
            )
        ring, along = names.index(match["ring"]), names.index(match["along"])
        shift = int(match["shift"])
        if min(dims[ring], dims[along]) < 3:
            raise InputError(f"twist: {word}: a dimension of size 2 is a single link and no ring")
        if not 0 < shift < dims[along]:
            raise InputError(f"twist: {word}: the shift must be from 1 to {dims[along] - 1}")
        if twist[ring, along]:
            raise InputError(f"twist: {match['ring']} is shifted along {match['along']} twice")
        twist[ring, along] = shift
    if _has_cyclic_shifts(twist):
        raise InputError("twist: shifts must not lead back to the dimension that they began with")
    return tuple(map(tuple, twist.tolist())) if words else ()


def _has_cyclic_shifts(twist: Int64Array) -> bool:
    """Return whether shifts lead from a dimension to itself, perhaps through others.

    XY2 with YX1 does: a ring of X is shifted along Y, whose rings are shifted along X.
    """
    # Power n holds walks of n shifts. Among n dimensions, such a walk has to repeat one.
    return bool(np.linalg.matrix_power(twist > 0, len(twist)).any())


def build_grid(
    family: str,
    dims: Sequence[int],
    wrap: bool,
    *,
    twist: Sequence[str] = (),
    terminals: int = 1,
    failed_switches: Sequence[int] = (),
    failed_links: Sequence[str] = (),
    fail_switches: int = 0,
    fail_links: int = 0,
    seed: int = 0,
    nodes: Sequence[int] = (),
    allocate: int = 0,
    shape: Literal["connected", "box"] = "connected",
) -> Topology:
    """Build a torus or mesh without its failed parts and the switches that are not allocated.

    Channels are numbered by (switch, direction). The number of a port is the index of the direction
    in which it leads out of its switch. Switches are named by their coordinates (``0.1.0.1``),
    which failures do not change. Random failures follow the explicit ones and precede the
    restriction to `nodes`; with the same seed, a larger number of failures includes the smaller
    one. Then `allocate` chooses among the remaining switches.

    Parameters
    ----------
    family : str
    dims : sequence of int
        Each at least 2.
    wrap : bool
        Close the dimensions of size 3 and more to rings. One of size 2 has a single
        bidirectional link either way (as in the Angara paper, section 5.1).
    twist : sequence of str
        Rings that close with a shift; see `parse_twist`.
    terminals : int
        Terminals at each switch.
    failed_switches, nodes : sequence of int
        Original indices; empty `nodes`: all.
    failed_links : sequence of str
        ``"a-b"`` with original indices: both channels between a and b.
    fail_switches, fail_links, seed : int
        Numbers and seed of random failures.
    allocate : int
        Number of switches to allocate at random; 0: all that remain.
    shape : {"connected", "box"}
        See `routelab.toolkit.allocation`: `connected_set` or `free_box`.

    Raises
    ------
    InputError
        If a dimension is too small, an index does not exist, or a pair is not a link; if more
        parts are to fail than exist, no switch remains, or the allocation does not fit.

    Examples
    --------
    >>> from routelab.toolkit import build_grid
    >>> build_grid("torus", (4, 2, 2), wrap=True)
    <torus: 16 switches, 16 terminals, 64 channels>
    >>> build_grid("torus", (4, 4), wrap=True, failed_switches=[5]).failed_switches
    ('1.1',)
    """
    # 1. The whole grid.
    problem = _dims_problem(dims)
    if problem:
        raise InputError(f"{family}: {problem}")
    rings = tuple(wrap and size > 2 for size in dims)
    try:
        whole = _WholeGrid(Grid(tuple(dims), rings, parse_twist(twist, dims)))
    except InputError as error:
        raise InputError(f"{family}: {error}") from None
    # 2. Failures, named ones first, then random ones; all mistakes in them are reported together.
    damage = _Damage(whole, family)
    damage.fail_named(failed_switches, failed_links)
    damage.fail_random(fail_switches, fail_links, seed)
    is_remaining = ~damage.switches
    if nodes:
        is_remaining &= damage.mark_switches("nodes", nodes)
    damage.raise_problems()
    if not is_remaining.any():
        raise InputError(f"{family}: no switch is left; fail fewer or allocate others")

    # 3. The allocation, of what works.
    working = whole.present & ~damage.channels
    if allocate:
        is_remaining = _allocate(
            whole,
            working=working,
            free=is_remaining,
            count=allocate,
            shape=shape,
            seed=seed,
            family=family,
        )
    # 4. The network that remains. Where the grid has no channel, `neighbour` is -1, which indexes
    #    some switch, but `working` is False. Switches get new numbers, and keep the names of the
    #    whole grid. The port at the other end is that of the opposite direction: of +X, that of -X.
    dimensions = len(dims)
    exists = working & is_remaining[:, None] & is_remaining[whole.neighbour]
    source, direction = np.nonzero(exists)
    target = whole.neighbour[source, direction]
    new_number = np.cumsum(is_remaining) - 1
    names = whole.names
    return Topology.create(
        family=family,
        num_switches=int(is_remaining.sum()),
        channel_source=new_number[source],
        channel_target=new_number[target],
        terminal_switch=np.repeat(np.arange(is_remaining.sum()), terminals),
        source_port=direction,
        target_port=(direction + dimensions) % (2 * dimensions),
        channel_direction=direction,
        channel_ring=whole.complete_rings(source, direction),
        directions=grid_directions(dimensions),
        coordinates=whole.coordinates[is_remaining],
        switch_names=[names[s] for s in np.flatnonzero(is_remaining)],
        failed_switches=[names[s] for s in np.flatnonzero(damage.switches)],
        failed_links=[
            f"{names[s]}-{names[whole.neighbour[s, d]]}" for s, d in np.argwhere(damage.links)
        ],
        attributes={"dims": list(dims), "wrap": list(rings)}
        | ({"twist": list(map(list, whole.grid.twist))} if twist else {}),
    )


def _allocate(
    whole: _WholeGrid,
    *,
    working: BoolArray,
    free: BoolArray,
    count: int,
    shape: str,
    seed: int,
    family: str,
) -> BoolArray:
    """Mark `count` switches of an allocation; bool, shape (S,).

    A connected allocation uses `working` channels, bool (S, 2n); a box needs `free` switches only.
    """
    try:
        if shape == "box":
            return free_box(whole.grid.dims, whole.grid.wrap, free, count, seed)
        return connected_set(lambda s: whole.neighbour[s][working[s]].tolist(), free, count, seed)
    except InputError as error:
        raise InputError(f"{family}: {error}") from None


def full_grid(topology: Topology) -> Grid | None:
    """Verify that `topology` is a whole grid and return its shape, else None.

    Only coordinates, direction labels and channels count: every switch of the product of the
    dimensions and every channel between neighbours, with the label of its dimension and sign,
    exists once, and no other channel exists. Dimensions of size 3 and more may be rings or lines;
    those of size 1 and 2 are lines. Rings close without a shift; see `whole_torus` for others.

    Examples
    --------
    >>> from routelab.toolkit import build_grid, full_grid
    >>> full_grid(build_grid("torus", (4, 2), wrap=True))
    Grid(dims=(4, 2), wrap=(True, False), twist=())
    >>> full_grid(build_grid("torus", (4, 2), wrap=True, failed_switches=[1])) is None
    True
    """
    return _verify_grid(topology, ())


def whole_torus(topology: Topology) -> Grid | None:
    """Verify that `topology` is a whole grid, perhaps with shifted rings; return its shape or None.

    The shifts are those that ``attributes["twist"]`` declares. If they are not valid, only a grid
    without shifts is accepted, as by `full_grid`.
    """
    declared = topology.attributes.get("twist", ())
    dimensions = len(topology.directions) // 2
    try:
        twist = np.asarray(declared, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return full_grid(topology)
    if twist.shape != (dimensions, dimensions) or (twist < 0).any() or _has_cyclic_shifts(twist):
        return full_grid(topology)
    return _verify_grid(topology, tuple(map(tuple, twist.tolist())))


def _verify_grid(topology: Topology, twist: tuple[tuple[int, ...], ...]) -> Grid | None:
    """Return the shape of `topology` if it is a whole grid with these ring shifts, else None.

    The labels, coordinates and channels of the topology are compared with those of such a grid.
    """
    # 1. Labels, sizes and indices: each switch of the grid and each label exist once.
    labels = [(label.dimension, label.sign) for label in topology.directions]
    if topology.coordinates is None or not topology.coordinates.size:
        return None
    dimensions = topology.coordinates.shape[1]
    possible = {(d, sign) for d in range(dimensions) for sign in (1, -1)}
    if len(set(labels)) != len(labels) or not set(labels) <= possible:
        return None
    coordinates = topology.coordinates.astype(np.int64)
    dims = tuple(int(size) for size in coordinates.max(axis=0) + 1)
    if coordinates.min() < 0 or prod(dims) != topology.num_switches:
        return None
    index = np.ravel_multi_index(tuple(coordinates.T), dims)
    if (
        len(np.unique(index)) != topology.num_switches
        or topology.channel_direction.min(initial=0) < 0
    ):
        return None

    # 2. The direction of each channel in the canonical order +X +Y … −X −Y …, which the labels of
    #    the topology need not have.
    canonical = np.array([d if sign > 0 else dimensions + d for d, sign in labels], dtype=np.int64)
    direction = canonical[topology.channel_direction]
    source = topology.channel_source
    # 3. Dimensions are rings if a positive channel leaves the last switch of a line. The grid with
    #    these rings must have the same channels: no direction of a switch twice, as many as the
    #    grid, and each to the same switch.
    dimension = direction % dimensions
    at_end = coordinates[source, dimension] == np.array(dims)[dimension] - 1
    closed_dimensions = set(dimension[at_end & (direction < dimensions)].tolist())
    wrap = tuple(d in closed_dimensions and size > 2 for d, size in enumerate(dims))
    grid = Grid(dims, wrap, twist)
    whole = _WholeGrid(grid)
    channel_code = index[source] * (2 * dimensions) + direction
    num_distinct = len(np.unique(channel_code))
    if num_distinct != len(channel_code) or len(channel_code) != int(whole.present.sum()):
        return None
    expected_target = whole.neighbour[index[source], direction]
    return grid if np.array_equal(expected_target, index[topology.channel_target]) else None


class _WholeGrid:
    """Arrays of a grid without failures (S switches, n dimensions).

    Attributes
    ----------
    grid : Grid
    size, dimensions : int
        S and n.
    coordinates : int64 array, shape (S, n)
    neighbour : int64 array, shape (S, 2n)
        Switch in each direction of a switch; −1 behind the end of a line.
    present : bool array, shape (S, 2n)
        Whether there is a neighbour, and so a channel.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.size, self.dimensions = prod(grid.dims), len(grid.dims)
        index = np.arange(self.size).reshape(grid.dims)
        self.coordinates: Int64Array = np.stack(
            np.unravel_index(index.reshape(-1), grid.dims), axis=1
        ).astype(np.int64)
        self.neighbour: Int64Array = np.empty((self.size, 2 * self.dimensions), dtype=np.int64)
        for d in range(self.dimensions):
            for direction, step in ((d, 1), (self.dimensions + d, -1)):
                # Rolled by one, each switch sees its neighbour, and the last of a line sees the
                # first. Which coordinate is the last depends on the direction.
                neighbour = np.roll(index, -step, axis=d)
                last, first = (-1, 0) if step > 0 else (0, -1)
                if not grid.wrap[d]:
                    np.moveaxis(neighbour, d, 0)[last] = -1
                # A ring closes from its last switch to its first one, shifted by ``twist[d]``; the
                # channel back from the first switch to the last one undoes the shift.
                elif grid.twist:
                    closing_target = np.moveaxis(self._shifted(index, d, step), d, 0)[first]
                    np.moveaxis(neighbour, d, 0)[last] = closing_target
                self.neighbour[:, direction] = neighbour.reshape(-1)
        self.present: BoolArray = self.neighbour >= 0

    def _shifted(self, index: Int64Array, dimension: int, sign: int) -> Int64Array:
        """Return the switch to which the shift of a dimension's rings moves each switch.

        `sign` is 1, or −1 to undo the shift. The result has the shape of `index`.
        """
        dims, twist = self.grid.dims, self.grid.twist
        position = self.coordinates + sign * np.array(twist[dimension])
        # A shift may lead over the end of another ring, which shifts once more. That ends, because
        # shifts form no cycle.
        while ((position < 0) | (position >= np.array(dims))).any():
            for d in range(self.dimensions):
                overflow = position[:, d] // dims[d]
                position[:, d] -= overflow * dims[d]
                position += overflow[:, None] * np.array(twist[d])
        shifted: Int64Array = np.ravel_multi_index(tuple(position.T), dims).reshape(index.shape)
        return shifted

    @property
    def names(self) -> list[str]:
        """Names of all switches: their coordinates, such as 0.1."""
        return [".".join(map(str, row)) for row in self.coordinates.tolist()]

    def complete_rings(self, source: Int64Array, direction: Int64Array) -> NDArray[np.int64]:
        """Return each channel's ring id, −1 if its ring misses a channel or it has no ring.

        `source` and `direction` have the switch and the direction of each channel that exists.
        """
        # 1. The smallest switch and the direction identify a ring. Count its channels.
        ring_start = self._ring_starts()
        num_directions = 2 * self.dimensions
        ring_codes, ring_of_channel, num_channels = np.unique(
            ring_start[source, direction] * num_directions + direction,
            return_inverse=True,
            return_counts=True,
        )
        # 2. A complete ring has as many channels as switches. Count the switches of each ring, by
        #    its direction and smallest switch.
        first_switch, ring_direction = np.divmod(ring_codes, num_directions)
        num_switches = np.array(
            [np.bincount(starts, minlength=self.size) for starts in ring_start.T]
        )
        is_ring = np.array(self.grid.wrap)[ring_direction % self.dimensions]
        is_complete = is_ring & (num_channels == num_switches[ring_direction, first_switch])
        # 3. Complete rings are numbered from 0; the others have no id.
        return np.where(is_complete, np.cumsum(is_complete) - 1, -1)[ring_of_channel]

    def _ring_starts(self) -> Int64Array:
        """Return the smallest switch of the ring of each switch and direction; shape (S, 2n)."""
        start = np.tile(np.arange(self.size)[:, None], 2 * self.dimensions)
        for direction in range(2 * self.dimensions):
            if not self.grid.wrap[direction % self.dimensions]:
                continue
            # Pointer doubling: `smallest` is the least of the next 1, 2, 4, … switches of the ring,
            # `ahead` the switch behind these. Nothing changes once all of the ring is seen.
            smallest, ahead = start[:, direction], self.neighbour[:, direction]
            while True:
                smallest_of_both = np.minimum(smallest, smallest[ahead])
                if np.array_equal(smallest_of_both, smallest):
                    break
                smallest, ahead = smallest_of_both, ahead[ahead]
            start[:, direction] = smallest
        return start


class _Damage:
    """Failed switches and links of a whole grid, and a list of problems of the request."""

    def __init__(self, whole: _WholeGrid, family: str) -> None:
        self.whole, self.family = whole, family
        self.switches: BoolArray = np.zeros(whole.size, dtype=np.bool_)
        # A link belongs to the switch that its positive channel leaves.
        self.links: BoolArray = np.zeros((whole.size, whole.dimensions), dtype=np.bool_)
        self.problems: list[str] = []

    def raise_problems(self) -> None:
        """Raise an InputError with all problems so far."""
        if self.problems:
            raise InputError(f"{self.family}: " + "; ".join(self.problems))

    def mark_switches(self, name: str, indices: Sequence[int]) -> BoolArray:
        """Return whether each switch is in `indices`; bool, shape (S,).

        `name` is the parameter that lists them. Indices that do not exist or are listed twice are
        added to `problems`.
        """
        mask: BoolArray = np.zeros(self.whole.size, dtype=np.bool_)
        for index in indices:
            if self._exists(name, index):
                if mask[index]:
                    self.problems.append(f"{name}: switch {index} is listed twice")
                mask[index] = True
        return mask

    def _exists(self, name: str, index: int) -> bool:
        """Return whether there is a switch with this index; add a problem if not."""
        if 0 <= index < self.whole.size:
            return True
        self.problems.append(f"{name}: there is no switch {index}, only 0..{self.whole.size - 1}")
        return False

    def fail_named(self, switches: Sequence[int], links: Sequence[str]) -> None:
        """Let named switches and links fail."""
        self.switches |= self.mark_switches("failed_switches", switches)
        for word in links:
            match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", word)
            if not match:
                self.problems.append(
                    f"failed_links: {word!r} is not a link; write the indices of its two switches "
                    "as 0-1"
                )
                continue
            a, b = map(int, match.groups())
            if not (self._exists("failed_links", a) and self._exists("failed_links", b)):
                continue
            directions_to_b = np.flatnonzero(self.whole.neighbour[a] == b)
            if not directions_to_b.size:
                self.problems.append(
                    f"failed_links: {word} is not a link, switches {self._name(a)} and "
                    f"{self._name(b)} are not neighbours"
                )
                continue
            # Positive directions come first; a negative one is the link's channel back from b.
            is_positive = directions_to_b[0] < self.whole.dimensions
            link = (a if is_positive else b, directions_to_b[0] % self.whole.dimensions)
            if self.links[link]:
                self.problems.append(f"failed_links: the link {word} is listed twice")
            self.links[link] = True

    def _name(self, index: int) -> str:
        """Return the name of a switch, for messages."""
        return ".".join(map(str, self.whole.coordinates[index]))

    def fail_random(self, switches: int, links: int, seed: int) -> None:
        """Let that many further switches, then links between live switches, fail."""
        whole, ends = self.whole, self.whole.neighbour[:, : self.whole.dimensions]
        # Each switch and each link has a key, whatever has failed, so that a larger number of
        # failures includes the smaller one. Raw output is the same in every numpy, unlike that of
        # Generator's methods.
        keys = np.random.PCG64(seed).random_raw(self.switches.size + self.links.size)
        self._fail("switches", self.switches, ~self.switches, switches, keys[: whole.size])
        # Where there is no link, `ends` is -1, and `present` is False.
        live = whole.present[:, : whole.dimensions] & ~self.switches[:, None] & ~self.switches[ends]
        self._fail("links", self.links, live & ~self.links, links, keys[whole.size :])

    def _fail(
        self,
        kind: str,
        failed: BoolArray,
        working: BoolArray,
        wanted: int,
        keys: NDArray[np.uint64],
    ) -> None:
        """Let the `wanted` working switches or links with the smallest keys fail.

        Updates `failed`, the array of all switches or links.
        """
        candidates = np.flatnonzero(working)
        if wanted > len(candidates):
            self.problems.append(
                f"fail_{kind}: {wanted} {kind} cannot fail, only {len(candidates)} are left"
            )
            return
        chosen = candidates[np.argsort(keys[candidates], kind="stable")[:wanted]]
        failed.reshape(-1)[chosen] = True

    @property
    def channels(self) -> BoolArray:
        """Channels of failed links, shape (S, 2n)."""
        dimensions = self.whole.dimensions
        # A switch's negative channel belongs to the link of the neighbour there. Where a line ends,
        # neighbour -1 gives any value, for a channel that does not exist.
        negative = self.links[self.whole.neighbour[:, dimensions:], np.arange(dimensions)]
        return np.concatenate((self.links, negative), axis=1)
