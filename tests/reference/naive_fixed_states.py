"""Reachable states of algorithms that use class n for the n-th hop, in plain sets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from routelab.api import Topology

Allowed = Callable[[int, int, int], list[int]]
"""From source, target and switch to the switches where a packet may go next."""
State = tuple[int, int, int, int]
"""Source, target, switch, hops."""


class NaiveFixedStates:
    """Every state of every pair of switches with terminals.

    A packet that has crossed h channels leaves over class h; with `classes` classes, a state with
    as many hops is too far. Links are not parallel.
    """

    def __init__(self, topology: Topology, allowed: Allowed, classes: int) -> None:
        self.dependencies: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        self.longest = 0
        self.longest_of: dict[tuple[int, int], int] = {}
        self.dead_ends: set[tuple[int, int, int]] = set()
        self.short: set[State] = set()
        self.states: set[State] = set()
        ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        channel = {pair: number for number, pair in enumerate(ends)}
        for source, target in permutations(topology.endpoints.tolist(), 2):
            states = {(source, target, source, 0)}
            todo = list(states)
            # over which channel packets come to a state
            came: dict[State, set[int]] = {todo[0]: set()}
            while todo:
                state = todo.pop()
                here, hops = state[2:]
                onward = allowed(source, target, here)
                if not onward:
                    self.dead_ends.add((source, target, here))
                if hops == classes and onward:
                    self.short.add(state)
                    continue
                for there in onward:
                    after = (source, target, there, hops + 1)
                    came.setdefault(after, set()).add(channel[here, there])
                    if there != target and after not in states:
                        states.add(after)
                        todo.append(after)
            self.states |= states
            self.longest_of[source, target] = max(state[3] for state in came)
            for state in states - self.short:
                for first in came[state]:
                    for there in allowed(source, target, state[2]):
                        second = channel[state[2], there]
                        hops = state[3]
                        self.dependencies.add(((first, hops - 1), (second, hops)))
        self.longest = max(self.longest_of.values(), default=0)
