"""Small networks and tables for deadlock tests, written out by hand: no plugin is involved."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from routelab.api import Direction, RouteTable, Topology

Path = list[tuple[int, int]]  # hops as (channel, vc)


def ring(size: int, *, both: bool = False, claims: list[int] | None = None) -> Topology:
    """A clockwise ring (channel i: i to i + 1), or both (size + i: i to i - 1)."""
    here = np.arange(size)
    source = np.concatenate((here, here)) if both else here
    target = np.concatenate((here + 1, here - 1)) % size if both else (here + 1) % size
    return Topology.create(
        num_switches=size,
        channel_source=source,
        channel_target=target,
        channel_ring=np.repeat([0, 1], size)[: len(source)] if claims is None else claims,
    )


def torus(width: int, height: int) -> Topology:
    """A 2-D torus, switch y * width + x; channels of a switch in the order +X, +Y, -X, -Y.

    Every direction of every row and column is claimed as a ring.
    """
    source, target, direction, rings = [], [], [], []
    steps = ((1, 0), (0, 1), (-1, 0), (0, -1))
    for y in range(height):
        for x in range(width):
            for label, (dx, dy) in enumerate(steps):
                source.append(y * width + x)
                target.append((y + dy) % height * width + (x + dx) % width)
                direction.append(label)
                rings.append(label * max(width, height) + (y if dx else x))
    return Topology.create(
        num_switches=width * height,
        channel_source=source,
        channel_target=target,
        channel_direction=direction,
        channel_ring=rings,
        directions=[
            Direction("+X", 0, 1),
            Direction("+Y", 1, 1),
            Direction("-X", 0, -1),
            Direction("-Y", 1, -1),
        ],
    )


def torus_path(width: int, height: int, source: int, target: int, order: str = "XY") -> list[int]:
    """A minimal route by dimension order, ties in the positive direction."""
    here = {"X": source % width, "Y": source // width}
    goal = {"X": target % width, "Y": target // width}
    size = {"X": width, "Y": height}
    hops = []
    for axis in order:
        ahead = (goal[axis] - here[axis]) % size[axis]
        positive = 2 * ahead <= size[axis]
        for _ in range(ahead if positive else size[axis] - ahead):
            label = "XY".index(axis) + (0 if positive else 2)
            hops.append((here["Y"] * width + here["X"]) * 4 + label)
            here[axis] = (here[axis] + (1 if positive else -1)) % size[axis]
    return hops


def table_of(
    topology: Topology,
    paths: Callable[[int, int], Iterable[Path | list[int]]],
    flow_control: str = "plain",
) -> RouteTable:
    """A table from a function that gives the paths of every pair; bare channels are on vc 0."""
    pair_start, path_start, hops, weight = [0], [0], [], []
    for source in topology.endpoints.tolist():
        for target in topology.endpoints.tolist():
            hop_lists = [
                [hop if isinstance(hop, tuple) else (hop, 0) for hop in path]
                for path in ([[]] if source == target else paths(source, target))
            ]
            for path in hop_lists:
                hops += path
                path_start.append(len(hops))
                weight.append(1 / len(hop_lists))
            pair_start.append(len(path_start) - 1)
    return RouteTable.create(
        topology,
        pair_start=pair_start,
        path_start=path_start,
        path_weight=weight,
        hop_channel=[channel for channel, _ in hops],
        hop_vc=[vc for _, vc in hops],
        flow_control=flow_control,
    )


def torus_table(
    width: int, height: int, exceptions: dict[tuple[int, int], str] | None = None
) -> RouteTable:
    """XY routes on a torus under bubble flow control, some pairs in another order."""
    orders = exceptions or {}
    return table_of(
        torus(width, height),
        lambda s, t: [torus_path(width, height, s, t, orders.get((s, t), "XY"))],
        "bubble",
    )


def clockwise_ring_table(topology: Topology, hops: int, flow_control: str = "plain") -> RouteTable:
    """Routes of exactly `hops` hops on a clockwise ring, nothing else."""
    size = topology.num_switches
    return table_of(
        topology,
        lambda s, t: [[(s + i) % size for i in range(hops)]] if (t - s) % size == hops else [],
        flow_control,
    )


def random_table(seed: int) -> RouteTable:
    """A random table: rings, tori and random networks, right and wrong claims, several paths."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(5)
    if kind == 0:
        topology = ring(int(rng.integers(3, 7)), both=bool(rng.integers(2)))
    elif kind == 1:
        width, height = rng.integers(3, 5, size=2).tolist()
        turned = rng.random() * 0.2 * rng.integers(2)
        return table_of(
            torus(width, height),
            lambda s, t: [torus_path(width, height, s, t, "YX" if rng.random() < turned else "XY")],
            "bubble",
        )
    elif kind == 2:
        return _random_ring_table(rng)
    else:
        topology = _random_network(rng)
    vcs = int(rng.integers(1, 4))
    return table_of(topology, lambda s, t: list(_random_paths(rng, topology, s, t, vcs)))


def _random_ring_table(rng: np.random.Generator) -> RouteTable:
    """Routes once around a ring on two virtual channels, whose claims are right but for one."""
    size = int(rng.integers(3, 6))
    claims = np.repeat([0, 1], size)
    mistake = rng.integers(4)
    if mistake == 1:
        claims[rng.integers(2 * size)] = rng.integers(-1, 3)  # a channel is missing, or in another
    elif mistake == 2:
        claims[:] = 0  # both directions under one number
    elif mistake == 3:
        claims[:size] = np.repeat([0, 2], (size - 2, 2))  # two lines
    changes = 0.05 * rng.integers(2)

    def paths(source: int, target: int) -> Iterable[Path]:
        for vc in np.flatnonzero(rng.random(2) < 0.7).tolist():
            hops = range(source, source + (target - source) % size)
            yield [(hop % size, vc ^ int(rng.random() < changes)) for hop in hops]

    return table_of(ring(size, both=True, claims=claims.tolist()), paths)


def _random_network(rng: np.random.Generator) -> Topology:
    size = int(rng.integers(3, 7))
    count = int(rng.integers(size, 4 * size))
    source = rng.integers(size, size=count)
    target = (source + rng.integers(1, size, size=count)) % size
    cycle = rng.permutation(size)
    return Topology.create(
        num_switches=size,
        channel_source=np.concatenate((source, cycle)),
        channel_target=np.concatenate((target, np.roll(cycle, -1))),
        # the added cycle is a true ring; what else is claimed is nearly always false
        channel_ring=np.concatenate((rng.integers(-1, 3, size=count), np.full(size, 7))),
    )


def _random_paths(
    rng: np.random.Generator, topology: Topology, source: int, target: int, vcs: int
) -> Iterable[Path]:
    """Up to two random walks to the target that are not too long."""
    start, channel = topology.outgoing
    for _ in range(rng.integers(3)):
        here, walk = source, []
        while here != target and len(walk) < 6:
            hop = int(rng.choice(channel[start[here] : start[here + 1]]))
            walk.append((hop, int(rng.integers(vcs)) if rng.random() < 0.3 else 0))
            here = int(topology.channel_target[hop])
        if here == target:
            yield walk
