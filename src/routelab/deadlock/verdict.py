"""Verdict on a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from routelab.api import FlowControl, Topology, frozen_array
from routelab.api.topology import Int16Array, Int32Array
from routelab.api.verdicts import Status

Switching = Literal["virtual-cut-through", "wormhole"]


def _empty() -> Int32Array:
    return frozen_array(np.empty((0, 2)), np.int32)


@dataclass(frozen=True)
class Ring:
    """A complete unidirectional ring on one virtual channel.

    Attributes
    ----------
    vc : int
    channels : tuple of int
        Channels in cyclic order.
    """

    vc: int
    channels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The outcome of `routelab.deadlock.check_table`; arrays are read-only.

    Attributes
    ----------
    status : {"proven", "cycle", "unproven", "not enough input"}
    flow_control : {"plain", "bubble"}
        Flow control of the check.
    reason : str
        One sentence for reports: the proof, the cycle, or why the check does not apply.
    preconditions : tuple of str
        What the network's hardware has to guarantee for the verdict to hold.
    vc_numbers : tuple of int
        The V virtual channels that routes use, ascending. Resource ``channel * V + v`` is number
        ``vc_numbers[v]`` of the channel.
    dependencies : int32 array, shape (D, 2)
        Every pair of resources that some path uses one after the other, ascending; empty if the
        check does not apply.
    rank : int32 array, shape (C, V), or None
        Only for a proof: the rank of every resource that a path uses, −1 for the others.
    rings : tuple of Ring
        Only for a proof: the rings with cyclic dependencies, whose bubble the proof needs.
    cycle : tuple of (channel, vc)
        Only of a refusal: resources of which each waits for the next and the last for the first.
    cycle_routes : tuple of (source, target)
        Source and target switch of a route that causes each dependency of the cycle.
    """

    status: Status
    flow_control: FlowControl
    reason: str
    preconditions: tuple[str, ...]
    vc_numbers: tuple[int, ...]
    dependencies: Int32Array = field(default_factory=_empty)
    rank: Int32Array | None = None
    rings: tuple[Ring, ...] = ()
    cycle: tuple[tuple[int, int], ...] = ()
    cycle_routes: tuple[tuple[int, int], ...] = ()

    @property
    def proven(self) -> bool:
        """Whether the table is proven free of deadlock."""
        return self.status == "proven"

    def describe_cycle(self, topology: Topology) -> list[str]:
        """Describe the cycle in one line per dependency: two resources, and a route with both."""
        return [
            f"{held} waits for {wanted} ({route})"
            for held, wanted, route in self.cycle_steps(topology)
        ]

    def cycle_steps(self, topology: Topology) -> list[tuple[str, str, str]]:
        """Return the cycle as texts: a resource, the next one, and a route that uses both.

        Channels are described by `Topology.link_name`.
        """
        names = topology.switch_names
        held = [f"{topology.link_name(channel)} vc {vc}" for channel, vc in self.cycle]
        routes = [
            f"route {names[source]} to {names[target]}" for source, target in self.cycle_routes
        ]
        return list(zip(held, held[1:] + held[:1], routes, strict=True))


def used_numbers(vc: Int16Array) -> tuple[int, ...]:
    """Return the virtual channels in use, ascending; 0 if there are none."""
    if not vc.max(initial=0):
        return (0,)
    return tuple(np.unique(vc).tolist())
