"""The kit's networks, from tiny to small; none needs a plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from routelab.api import Topology
from routelab.toolkit import build_grid
from routelab.toolkit.families.groups import GROUP_COORDINATES


def _network(num_switches: int, links: Sequence[tuple[int, int]], **more: Any) -> Topology:
    """Return a network with two opposite channels for each link between two switches."""
    return Topology.create(
        num_switches=num_switches,
        channel_source=[end for a, b in links for end in (a, b)],
        channel_target=[end for a, b in links for end in (b, a)],
        **more,
    )


def _ring(size: int, first: int = 0) -> list[tuple[int, int]]:
    """Return the links of a ring of `size` switches: 3 from switch 6 on are 6-7, 7-8, 8-6."""
    return [(first + i, first + (i + 1) % size) for i in range(size)]


def _one_way_ring() -> Topology:
    """Return five switches with a channel from each to the next, all in one ring."""
    ends = _ring(5)
    return Topology.create(
        num_switches=5,
        channel_source=[a for a, _ in ends],
        channel_target=[b for _, b in ends],
        channel_ring=[0] * 5,
    )


def _petersen() -> Topology:
    spokes = [(i, i + 5) for i in range(5)]
    star = [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return _network(10, [*_ring(5), *spokes, *star])


def _transit_switches() -> Topology:
    links = [(leaf, spine) for leaf in range(4) for spine in (4, 5)]
    return _network(6, links, terminal_switch=range(4))


NETWORKS: Mapping[str, Callable[[], Topology]] = {
    "one-switch": lambda: _network(1, []),
    "two-switches": lambda: _network(2, [(0, 1)]),
    "no-channels": lambda: _network(3, []),
    "two-components": lambda: _network(6, [*_ring(3), *_ring(3, first=3)]),
    "one-way-line": lambda: Topology.create(
        num_switches=3, channel_source=[0, 1], channel_target=[1, 2]
    ),
    "one-way-ring": _one_way_ring,
    "parallel-links": lambda: _network(4, [*_ring(4), (0, 1), (2, 3)]),
    "several-terminals": lambda: _network(3, [(0, 1), (1, 2)], terminal_switch=[0, 0, 1, 2, 2, 2]),
    "transit-switches": _transit_switches,
    "complete": lambda: _network(5, [(a, b) for a in range(5) for b in range(a)]),
    "petersen": _petersen,
    "mesh": lambda: build_grid("mesh", (3, 3), wrap=False),
    "cut-mesh": lambda: build_grid("mesh", (4, 2), wrap=False, failed_links=("2-4", "3-5")),
    "failed-torus": lambda: build_grid(
        "torus", (5, 4), wrap=True, failed_switches=(7,), failed_links=("0-4", "9-10")
    ),
    "torus-3d": lambda: build_grid("torus", (3, 2, 2), wrap=True),
    "torus": lambda: build_grid("torus", (4, 3), wrap=True),
}
"""Builders by name. ``torus`` has an even and an odd ring; ``failed-torus`` is connected."""

SEVERAL_TERMINALS: Mapping[str, Callable[[], Topology]] = {
    "torus-with-two": lambda: build_grid("torus", (4, 2), wrap=True, terminals=2),
}
"""More networks for routings, whose packets may depend on terminals."""

WITH_TERMINALS: Mapping[str, Callable[[], Topology]] = {
    "one-switch-with-four": lambda: _network(1, [], terminal_switch=[0] * 4),
    "unordered-terminals": lambda: _network(4, _ring(4), terminal_switch=[3, 1, 0, 2]),
    **SEVERAL_TERMINALS,
    "ring-of-groups": lambda: _network(
        6,
        _ring(6),
        terminal_switch=[0, 0, 1, 2, 3, 4, 5],
        coordinates=[[s // 2, s % 2] for s in range(6)],
        attributes={GROUP_COORDINATES: [0]},
    ),
    "square-torus": lambda: build_grid("torus", (4, 4), wrap=True),
}
"""More networks for patterns of traffic, with the numbers of terminals that some need."""

FAILED_VARIANTS = {"torus": "failed-torus", "mesh": "cut-mesh"}
"""Damaged variants of networks, by name of the undamaged one."""
