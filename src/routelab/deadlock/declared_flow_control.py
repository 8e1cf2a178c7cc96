"""Flow control that a network declares channel by channel, and what a proof may rely on.

A network may say of each channel whether the buffers behind it are *plain* or keep a *bubble*, how
many packets they hold, and which channels form a ring (`Topology.channel_bubble`, `channel_buffer`
and `channel_ring`). Nothing of this is guessed from the shape of the network. A ring keeps a bubble
under these conditions (V. Puente et al., The adaptive bubble router, J. Parallel Distrib. Comput.
61, 2001, doi 10.1006/jpdc.2001.1746), and each of them is checked:

1. Both directions of a cable declare the same, so that the routers at its two ends agree.
2. Every channel that routes use declares its flow control.
3. A packet enters a buffer that keeps a bubble only where room for two is left. So the buffer
   holds at least two packets, and switching is virtual cut-through.
4. The channels of the ring are one complete ring, and all of them keep the bubble.

Rings that meet all of them may have cycles of dependencies, as `table_checker` argues. That
argument also holds where other channels are plain, because it uses only that a packet can move
into an empty buffer, whose room is at least one, or two where 3 asks for them.
"""

from __future__ import annotations

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.topology import BoolArray, Int64Array
from routelab.api.verdicts import Status
from routelab.toolkit.rings import complete_rings

PRECONDITION = "channels have the flow control, the buffers and the rings that the network declares"

_TOO_SMALL: tuple[tuple[int, Status, str], ...] = (
    (0, "not enough input", "with a bubble and without a declared size of the buffer"),
    (1, "unproven", "with a bubble and room for one packet only, which none may take"),
)
"""Sizes of buffers that cannot keep a bubble or are not known, and the verdict."""


def require_equal_ends(topology: Topology) -> None:
    """Refuse a cable with a bubble at one end only.

    Raises
    ------
    InputError
        Names the cable.
    """
    cables: dict[tuple[tuple[int, int], ...], list[int]] = {}
    sources = zip(topology.channel_source.tolist(), topology.source_port.tolist(), strict=True)
    targets = zip(topology.channel_target.tolist(), topology.target_port.tolist(), strict=True)
    for channel, (source, target) in enumerate(zip(sources, targets, strict=True)):
        ends: tuple[tuple[int, int], ...] = (source, target)
        # without ports, parallel cables cannot be told apart, and are compared together
        if min(source[1], target[1]) < 0:
            ends = (source[0], -1), (target[0], -1)
        cables.setdefault(ends, []).append(channel)
    bubble = topology.channel_bubble
    for ends, channels in cables.items():
        back = cables.get(ends[::-1], [])
        forth, opposite = sorted(bubble[channels]), sorted(bubble[back])
        if len(forth) == len(opposite) and forth != opposite and min(forth + opposite) >= 0:
            both = sorted(channels + back, key=lambda channel: int(bubble[channel]))
            plain, other = topology.link_name(both[0]), topology.link_name(both[-1])
            raise InputError(
                f"the two ends of a cable differ: {plain} is plain, and {other} keeps a bubble; "
                "both directions need the same flow control"
            )


def find_obstacle(topology: Topology, used: BoolArray, switching: str) -> tuple[Status, str]:
    """Return why no criterion applies to routes on the network; an empty text if one does.

    Parameters
    ----------
    topology : Topology
        Declares flow control.
    used : bool array, shape (C,)
        Channels of the routes.
    switching : {"virtual-cut-through", "wormhole"}

    Raises
    ------
    InputError
        If the two ends of a cable differ.
    """
    require_equal_ends(topology)
    bubble, buffer = topology.channel_bubble, topology.channel_buffer
    undeclared = used & (bubble < 0)
    if undeclared.any():
        return "not enough input", _say(topology, undeclared, "without declared flow control")
    kept = used & (bubble == 1)
    if kept.any() and switching != "virtual-cut-through":
        return "unproven", f"bubble flow control needs virtual cut-through, not {switching}"
    for packets, status, text in _TOO_SMALL:
        small = kept & (buffer == packets)
        if small.any():
            return status, _say(topology, small, text)
    return "proven", ""


def _say(topology: Topology, channels: BoolArray, text: str) -> str:
    """Name the first of some channels in use, and the number of the others."""
    first, *others = np.flatnonzero(channels).tolist()
    more = f" and {len(others)} other{'s' * (len(others) > 1)}" if others else ""
    return f"routes use {topology.link_name(first)}{more} {text}"


def rings_with_bubble(topology: Topology) -> list[list[int]]:
    """Return the complete rings all of whose channels declare a bubble."""
    return [ring for ring in complete_rings(topology) if (topology.channel_bubble[ring] == 1).all()]


def explain_cycle(topology: Topology, channels: Int64Array) -> tuple[Status, str]:
    """Return why the bubbles of the channels of a cycle do not help, and the verdict.

    Parameters
    ----------
    topology : Topology
    channels : int array
        Channels of a cycle of dependencies.

    Returns
    -------
    status : {"cycle", "not enough input"}
        Not enough input if the network does not declare a ring, or a part of one.
    reason : str
        Goes on after the description of the cycle.
    """
    bubble, name = topology.channel_bubble, topology.link_name
    ring_of = {channel: ring for ring in complete_rings(topology) for channel in ring}
    kept = channels[bubble[channels] == 1].tolist()
    for channel in kept:
        if topology.channel_ring[channel] < 0:
            why = f"; {name(channel)} keeps a bubble, and no whole ring that has it is declared"
            return "not enough input", why
        if channel not in ring_of:
            return "cycle", f"; the channels of the ring of {name(channel)} are no complete ring"
        for other in ring_of[channel]:
            if bubble[other] != 1:
                why = f"; the ring of {name(channel)} keeps no bubble, because {name(other)}"
                if bubble[other] == 0:
                    return "cycle", f"{why} is plain"
                return "not enough input", f"{why} declares no flow control"
    return "cycle", " that is not one complete ring" if kept else ""
