"""Routings that decide hop by hop: their virtual channels and their reachable states."""

from __future__ import annotations

from typing import Any

from routelab.api import HopProgram, RoutingPart, Topology
from routelab.deadlock.reachable_states import ReachableStates, explore_states
from routelab.testing.results import Skipped

CHANNEL_COUNTS = (*range(1, 13), 16, 32, 64)
"""Numbers of virtual channels to try, until the routing supports one."""


def least_channels(routing: RoutingPart, topology: Topology) -> tuple[int, Any]:
    """Find the least number of virtual channels of `CHANNEL_COUNTS` that a routing supports.

    Returns
    -------
    num_vcs : int
        The largest of `CHANNEL_COUNTS` if the routing supports none of them.
    answer : object
        Answer of ``supports()`` for this number: None if the routing supports it, otherwise the
        reason why not. A faulty plugin may answer with anything else; then the search ends, and the
        caller reports the answer.
    """
    num_vcs, answer = 0, None
    for num_vcs in CHANNEL_COUNTS:
        answer = routing.supports(topology, num_vcs)
        # a text is the reason of a refusal: try more
        if not isinstance(answer, str):
            break
    return num_vcs, answer


def explore_or_skip(
    program: HopProgram, topology: Topology, virtual_channels: int, *, escapes: bool = False
) -> ReachableStates:
    """Explore all states that packets of a program can reach.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    virtual_channels : int
        Virtual channels per channel.
    escapes : bool
        Collect the dependencies on escape candidates, for Duato's proof.

    Raises
    ------
    Skipped
        If there are too many states.
    """
    exploration = explore_states(program, topology, virtual_channels, escapes=escapes)
    if not exploration.complete:
        raise Skipped(f"there are too many states: {exploration.coverage}")
    return exploration
