"""Random failures in any network; grids have their own, which know the whole grid."""

from __future__ import annotations

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Topology


def with_random_failures(
    topology: Topology, *, switches: int = 0, links: int = 0, seed: int = 0
) -> Topology:
    """Let random switches fail, then random links between those that are left.

    With one seed more failures include the fewer, as long as the number of failed switches is the
    same where links are compared. A link fails with both of its channels.

    Parameters
    ----------
    topology : Topology
    switches, links : int
        How many fail.
    seed : int

    Raises
    ------
    InputError
        If more shall fail than there are, or no switch with a terminal is left.
    """
    # raw output: unlike that of Generator's methods it is the same in every numpy
    rank = np.random.PCG64(seed).random_raw(topology.num_switches + len(topology.links))
    failed = np.argsort(rank[: topology.num_switches], kind="stable")[:switches]
    alive = np.ones(topology.num_switches, dtype=np.bool_)
    alive[failed] = False
    first = topology.links[:, 0]
    live = alive[topology.channel_source[first]] & alive[topology.channel_target[first]]
    candidates = np.flatnonzero(live)
    for kind, wanted, left in (
        ("switches", switches, topology.num_switches),
        ("links", links, len(candidates)),
    ):
        if wanted > left:
            raise InputError(f"fail_{kind}: {wanted} {kind} cannot fail, only {left} are left")
    order = np.argsort(rank[topology.num_switches :][candidates], kind="stable")
    cut = topology.links[candidates[order[:links]]]
    return topology.without(switches=failed.tolist(), channels=cut.reshape(-1).tolist())
