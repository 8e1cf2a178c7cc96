"""Routings that decide hop by hop: their virtual channels, and all that packets come to."""

from __future__ import annotations

from typing import Any

from routelab.api import HopProgram, RoutingPart, Topology, needed_classes
from routelab.deadlock.hop_states import Exploration, explore_states, too_large
from routelab.registry.instances import Routing
from routelab.stages.programs import part_of
from routelab.testing.results import Skipped

TRIED = (*range(1, 13), 16, 32, 64)
"""Numbers of virtual channels that a routing is asked about, until it supports one."""


def part(routing: Routing) -> RoutingPart:
    """A routing, those that it is built on handed in."""
    return part_of(routing)


def least_channels(routing: RoutingPart, topology: Topology) -> tuple[int, Any]:
    """The least number of virtual channels that a routing supports, and its answer: None.

    Where it supports none, the last number and its reason.
    """
    count, answer = 0, None
    for count in TRIED:
        answer = routing.supports(topology, count)
        if answer is None or not isinstance(answer, str):
            break
    return count, answer


def states(program: HopProgram, topology: Topology, virtual_channels: int) -> Exploration:
    """All that packets of a program come to.

    Raises
    ------
    Skipped
        If the network is too large.
    """
    large = too_large(topology, needed_classes(program))
    if large:
        raise Skipped(large)
    exploration = explore_states(program, topology, virtual_channels)
    if not exploration.complete:
        raise Skipped(f"there are too many states: {exploration.coverage}")
    return exploration
