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

_UNFIT_BUFFERS: tuple[tuple[int, Status, str], ...] = (
    (0, "not enough input", "with a bubble and without a declared size of the buffer"),
    (1, "unproven", "with a bubble and room for one packet only, which none may take"),
)
"""Sizes of buffers that cannot keep a bubble, in packets (0: not declared, 1: too small), each with
the verdict and its reason."""


def require_equal_ends(topology: Topology) -> None:
    """Refuse a cable with a bubble at one end only.

    Raises
    ------
    InputError
        Names the cable.
    """
    # 1. The channels of each cable, by its two ends: (switch, port) each.
    cables: dict[tuple[tuple[int, int], ...], list[int]] = {}
    sources = zip(topology.channel_source.tolist(), topology.source_port.tolist(), strict=True)
    targets = zip(topology.channel_target.tolist(), topology.target_port.tolist(), strict=True)
    for channel, (source, target) in enumerate(zip(sources, targets, strict=True)):
        ends: tuple[tuple[int, int], ...] = (source, target)
        # without ports, parallel cables cannot be distinguished, and are compared together
        if min(source[1], target[1]) < 0:
            ends = (source[0], -1), (target[0], -1)
        cables.setdefault(ends, []).append(channel)
    # 2. Compare both directions: 0 is plain, 1 a bubble, −1 not declared. Of parallel cables that
    #    cannot be distinguished, only the numbers of bubbles can be compared, so they are sorted.
    bubble = topology.channel_bubble
    for ends, forward in cables.items():
        backward = cables.get(ends[::-1], [])
        forward_bubbles, backward_bubbles = sorted(bubble[forward]), sorted(bubble[backward])
        # different numbers: some channels are one-way, and nothing says which
        all_two_way = len(forward) == len(backward)
        all_declared = min(forward_bubbles + backward_bubbles) >= 0
        if all_two_way and all_declared and forward_bubbles != backward_bubbles:
            # plain channels come first, those with a bubble last, and there are both
            channels = sorted(forward + backward, key=lambda channel: int(bubble[channel]))
            plain_name = topology.link_name(channels[0])
            bubble_name = topology.link_name(channels[-1])
            raise InputError(
                f"the two ends of a cable differ: {plain_name} is plain, and {bubble_name} keeps a "
                "bubble; both directions need the same flow control"
            )


def find_obstacle(topology: Topology, used: BoolArray, switching: str) -> tuple[Status, str]:
    """Check conditions 1 to 3 of the module's docstring for the channels that routes use.

    Condition 1 concerns the network alone: a violation is an error in its declaration. Conditions 2
    and 3 concern the channels that routes use: a violation is a verdict on these routes.

    Parameters
    ----------
    topology : Topology
        Declares flow control.
    used : bool array, shape (C,)
        Channels of the routes.
    switching : {"virtual-cut-through", "wormhole"}

    Returns
    -------
    status : Status
        The verdict if condition 2 or 3 is violated. Otherwise "proven", which proves nothing yet:
        callers use it only with an obstacle.
    obstacle : str
        Which condition is violated, and where; empty if none is.

    Raises
    ------
    InputError
        If condition 1 is violated: the two ends of a cable differ.
    """
    # Condition 1.
    require_equal_ends(topology)
    # Condition 2. Bubbles: 0 is plain, 1 a bubble, −1 not declared.
    bubble, buffer = topology.channel_bubble, topology.channel_buffer
    undeclared = used & (bubble < 0)
    if undeclared.any():
        return "not enough input", _describe_use(
            topology, undeclared, "without declared flow control"
        )
    # Condition 3: virtual cut-through, and room for two packets.
    with_bubble = used & (bubble == 1)
    if with_bubble.any() and switching != "virtual-cut-through":
        return "unproven", f"bubble flow control needs virtual cut-through, not {switching}"
    for packets, status, text in _UNFIT_BUFFERS:
        unfit = with_bubble & (buffer == packets)
        if unfit.any():
            return status, _describe_use(topology, unfit, text)
    return "proven", ""


def _describe_use(topology: Topology, channels: BoolArray, text: str) -> str:
    """Return ``routes use A to B and 3 others`` and a text that says what is wrong with these."""
    first, *others = np.flatnonzero(channels).tolist()
    noun = "others" if len(others) > 1 else "other"
    more = f" and {len(others)} {noun}" if others else ""
    return f"routes use {topology.link_name(first)}{more} {text}"


def rings_with_bubble(topology: Topology) -> list[list[int]]:
    """Return the complete rings all of whose channels declare a bubble."""
    return [ring for ring in complete_rings(topology) if (topology.channel_bubble[ring] == 1).all()]


def explain_cycle(topology: Topology, channels: Int64Array) -> tuple[Status, str]:
    """Return the verdict on a cycle that no ring with a bubble allows, and the reason.

    A bubble on some channels of the cycle makes it harmless only if their ring meets condition 4 of
    the module's docstring, and the cycle is that ring.

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
        The end of the sentence that reports the cycle.
    """
    bubble, name = topology.channel_bubble, topology.link_name
    complete_ring = {channel: ring for ring in complete_rings(topology) for channel in ring}
    with_bubble = channels[bubble[channels] == 1].tolist()
    # The first channel whose ring does not meet condition 4 explains why the bubble does not help.
    for channel in with_bubble:
        if topology.channel_ring[channel] < 0:
            why = f"; {name(channel)} keeps a bubble, and no whole ring that has it is declared"
            return "not enough input", why
        if channel not in complete_ring:
            return "cycle", f"; the channels of the ring of {name(channel)} are no complete ring"
        for ring_channel in complete_ring[channel]:
            if bubble[ring_channel] != 1:
                why = f"; the ring of {name(channel)} keeps no bubble, because {name(ring_channel)}"
                if bubble[ring_channel] == 0:
                    return "cycle", f"{why} is plain"
                return "not enough input", f"{why} declares no flow control"
    # All these rings keep their bubbles, but the cycle leaves one of them.
    return "cycle", " that is not one complete ring" if with_bubble else ""
