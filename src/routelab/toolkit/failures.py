"""Random failures in any network; `routelab.toolkit.grids` has those of grids."""

from __future__ import annotations

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Topology


def with_random_failures(
    topology: Topology, *, switches: int = 0, links: int = 0, seed: int = 0
) -> Topology:
    """Let random switches fail, then random links between the remaining ones.

    With the same seed a larger number of failures includes the smaller one; for links, this holds
    if the number of failed switches is the same. A link fails with both of its channels.

    Parameters
    ----------
    topology : Topology
    switches, links : int
        Numbers of failures.
    seed : int

    Raises
    ------
    InputError
        If more parts shall fail than exist, or no switch with a terminal remains.
    """
    # raw output is the same in every numpy, unlike that of Generator's methods
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
