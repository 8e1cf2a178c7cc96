"""The switch that a spanning tree or a search starts from."""

from __future__ import annotations

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Topology
from routelab.kernels.distances import eccentricities

ROOTS = (
    "center (least eccentricity), max-degree (most channels), index (the first switch), or the "
    "name of a switch"
)
"""Choices of `root_of`, for descriptions of parameters."""

ROOTS_AND_BEST = ROOTS.replace("or the", "best (most even loads of all), or the")
"""The same for rules that find the best root, too; see `best_root`."""


def root_of(topology: Topology, choice: str, rules: str) -> int:
    """Return the switch that a parameter ``root`` names or describes.

    Parameters
    ----------
    topology : Topology
    choice : str
        Value of the parameter, one of `ROOTS`; ``degree`` is an older name of ``max-degree``.
    rules : str
        Name of the rules, for messages.

    Raises
    ------
    InputError
        If the network has no switch, or none of that name.
    """
    if topology.num_switches == 0:
        raise InputError(f"{rules}: the network has no switch")
    if choice == "index":
        return 0
    if choice in ("max-degree", "degree"):
        return int(np.argmax(np.diff(topology.outgoing[0])))
    if choice == "center":
        return int(np.argmin(eccentricities(*topology.outgoing, topology.channel_target)))
    if choice not in topology.switch_names:
        raise InputError(
            f"{rules}: root={choice} is not a switch of the network; name one, or see the other "
            f"choices: routelab plugins show rules/{rules}"
        )
    return topology.switch_names.index(choice)
