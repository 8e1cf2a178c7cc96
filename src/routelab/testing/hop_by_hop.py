"""Routings that decide hop by hop: their virtual channels and their reachable states."""

from __future__ import annotations

from typing import Any

from routelab.api import HopProgram, RoutingPart, Topology
from routelab.deadlock.reachable_states import ReachableStates, explore_states
from routelab.testing.results import Skipped

CHANNEL_COUNTS = (*range(1, 13), 16, 32, 64)
"""Numbers of virtual channels to try, until the routing supports one."""


def least_channels(routing: RoutingPart, topology: Topology) -> tuple[int, Any]:
    """Return the least number of virtual channels that a routing supports, and None.

    If it supports no number, return the last one and the reason.
    """
    count, answer = 0, None
    for count in CHANNEL_COUNTS:
        answer = routing.supports(topology, count)
        if answer is None or not isinstance(answer, str):
            break
    return count, answer


def explore_or_skip(
    program: HopProgram, topology: Topology, virtual_channels: int, *, escapes: bool = False
) -> ReachableStates:
    """Explore all states that packets of a program can reach; see `explore_states`.

    Raises
    ------
    Skipped
        If there are too many states.
    """
    exploration = explore_states(program, topology, virtual_channels, escapes=escapes)
    if not exploration.complete:
        raise Skipped(f"there are too many states: {exploration.coverage}")
    return exploration
