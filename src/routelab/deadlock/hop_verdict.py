"""Verdict on a hop-by-hop algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from routelab.api import Proof, Topology, frozen_array
from routelab.api.topology import Int32Array
from routelab.api.verdicts import PROVEN, Status
from routelab.deadlock.allowed_routes import AllowedRoutes
from routelab.deadlock.verdict import Ring, Switching


def _empty() -> Int32Array:
    return frozen_array(np.empty((0, 2)), np.int32)


@dataclass(frozen=True, eq=False)
class HopVerdict:
    """The outcome of `routelab.deadlock.check_hops`; arrays are read-only.

    Attributes
    ----------
    status : {"proven", "proven if declared", "cycle", "broken", "unproven"}
        See `routelab.api.verdicts`.
    proof : str
        The requested kind of proof.
    switching : {"virtual-cut-through", "wormhole"}
    reason : str
        One sentence for reports.
    topology : Topology
    classes : int
        Classes of virtual channels of all phases; resource ``channel * classes + class``.
    coverage : str
        Number of explored states and pairs, and the method.
    preconditions : tuple of str
        Properties that the hardware must guarantee for the verdict to hold.
    dependencies : int32 array, shape (D, 2)
        The edges of the dependency graph that the proof examines, ascending: a held resource, and
        one that packets in it may wait for. Empty if they were not collected, because every hop
        uses a higher class.
    rank : int32 array, shape (C, classes), or None
        Only for a proof: every dependency leads to a higher rank, or along one of `rings` at the
        same rank; −1 for resources that are not in the graph.
    rings : tuple of Ring
        Only for a proof: complete rings on one class whose bubble it needs.
    cycle : tuple of (channel, class)
        Only for a refusal: packets in each of these resources may wait for the next one, in the
        last for the first.
    cycle_routes : tuple of (source, destination)
        For each resource of `cycle` a pair of switches whose packets wait for the next one there.
    problems : tuple of str
        Violations of the contract; an algorithm with violations is never proven.
    allowed_routes : AllowedRoutes or None
        Facts about the routes of the examined pairs, such as the longest one and dead ends.
    partial : bool
        The verdict is ``unproven`` only because there are too many states or dependencies: those
        that were examined have no fault.
    small : HopVerdict or None
        Verdict on a small network of the same kind, if this one is `partial`.
    """

    status: Status
    proof: Proof
    switching: Switching
    reason: str
    topology: Topology
    classes: int = 0
    coverage: str = ""
    preconditions: tuple[str, ...] = ()
    dependencies: Int32Array = field(default_factory=_empty)
    rank: Int32Array | None = None
    rings: tuple[Ring, ...] = ()
    cycle: tuple[tuple[int, int], ...] = ()
    cycle_routes: tuple[tuple[int, int], ...] = ()
    problems: tuple[str, ...] = ()
    allowed_routes: AllowedRoutes | None = None
    partial: bool = False
    small: HopVerdict | None = None

    @property
    def proven(self) -> bool:
        """Whether the algorithm is proven free of deadlock on `topology`, as it is declared."""
        return self.status in PROVEN

    def describe_cycle(self) -> list[str]:
        """Describe the cycle, or else that of the small network, in one line per dependency."""
        if self.small is not None:
            return self.small.describe_cycle()
        names = self.topology.switch_names
        next_in_cycle = (*self.cycle[1:], *self.cycle[:1])
        return [
            f"{self.topology.channel_name(held)} class {held_class} waits for "
            f"{self.topology.channel_name(awaited)} class {awaited_class} "
            f"(packets {names[source]} to {names[target]})"
            for (held, held_class), (awaited, awaited_class), (source, target) in zip(
                self.cycle, next_in_cycle, self.cycle_routes, strict=True
            )
        ]
