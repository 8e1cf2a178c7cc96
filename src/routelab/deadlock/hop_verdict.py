"""What the checker says about a hop-by-hop algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from routelab.api import Proof, Topology, frozen_array
from routelab.api.topology import Int32Array
from routelab.deadlock.verdict import Ring, Switching

HopStatus = Literal["proven", "not-proven", "not-applicable", "not-checked"]


def _empty() -> Int32Array:
    return frozen_array(np.empty((0, 2)), np.int32)


@dataclass(frozen=True, eq=False)
class HopVerdict:
    """The outcome of `routelab.deadlock.check_hops`; arrays are read-only.

    Attributes
    ----------
    status : {"proven", "not-proven", "not-applicable", "not-checked"}
        ``not-proven`` says that the criterion fails, not that packets must deadlock.
    proof : str
        The kind of proof that was asked for.
    switching : {"virtual-cut-through", "wormhole"}
    reason : str
        One sentence for people.
    topology : Topology
    classes : int
        Of virtual channels, all phases; a resource is numbered ``channel * classes + class``.
    coverage : str
        How many states were looked at, and how.
    preconditions : tuple of str
        What the network's hardware has to guarantee for the verdict to hold.
    dependencies : int32 array, shape (D, 2)
        Pairs of resources of which the criterion speaks, ascending.
    rank : int32 array, shape (C, classes), or None
        Only of a proof: every dependency leads to a higher rank, or along one of `rings` at the
        same; −1 for resources that the criterion does not speak of.
    rings : tuple of Ring
        Only of a proof: complete rings on one class whose bubble it needs.
    cycle : tuple of (channel, class)
        Only of a refusal: resources of which each waits for the next and the last for the first.
    cycle_routes : tuple of (source, destination)
        For each dependency of the cycle a pair of switches whose packets make it.
    problems : tuple of str
        How the algorithm breaks its contract: one that does is never proven.
    small : HopVerdict or None
        Where the network was too large: about the same algorithm on a small one of its kind.
    """

    status: HopStatus
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
    small: HopVerdict | None = None

    @property
    def proven(self) -> bool:
        """Whether the algorithm was shown to be free of deadlock on `topology`."""
        return self.status == "proven"

    def describe_cycle(self) -> list[str]:
        """The cycle for people, that of the small network if it has the only one; a line each."""
        if self.small is not None:
            return self.small.describe_cycle()
        names = self.topology.switch_names
        after = (*self.cycle[1:], *self.cycle[:1])
        return [
            f"{self.topology.channel_name(a)} class {i} waits for "
            f"{self.topology.channel_name(b)} class {j} "
            f"(packets {names[source]} to {names[target]})"
            for (a, i), (b, j), (source, target) in zip(
                self.cycle, after, self.cycle_routes, strict=True
            )
        ]
