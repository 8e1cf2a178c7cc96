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
        Pairs of resources in the criterion, ascending. Empty if every hop uses a higher class on a
        network where they are not collected.
    rank : int32 array, shape (C, classes), or None
        Only for a proof: every dependency leads to a higher rank, or along one of `rings` at the
        same rank; −1 for resources outside the criterion.
    rings : tuple of Ring
        Only for a proof: complete rings on one class whose bubble it needs.
    cycle : tuple of (channel, class)
        Only for a refusal: resources that wait for each other in cyclic order.
    cycle_routes : tuple of (source, destination)
        A pair of switches whose packets cause each dependency of the cycle.
    problems : tuple of str
        Violations of the contract; an algorithm with violations is never proven.
    allowed_routes : AllowedRoutes or None
        The longest route, pairs with long routes, dead ends, and states that need more virtual
        channels than there are, over the examined pairs.
    partial : bool
        Whether it is unproven because there are too many states, without a fault in the examined
        ones, or too many dependencies of escapes.
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
