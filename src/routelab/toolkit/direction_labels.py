"""Channels by direction, for networks whose channels have the labels of a torus or mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Int8Array, Int16Array, Int32Array, Topology, frozen_array


@dataclass(frozen=True, eq=False)
class DirectionLabels:
    """Direction labels as arrays (D = 2n directions), or the reason why the network has none.

    Attributes
    ----------
    reason : str or None
        Why the topology has no usable labels; the arrays are empty then.
    sign : int8 array, shape (D,)
    dimension : int16 array, shape (D,)
    opposite : int16 array, shape (D,)
        Opposite direction.
    out_channel, in_channel : int32 array, shape (S, D)
        Channel that leaves, or arrives at, a switch in a direction; −1 for none.
    """

    reason: str | None
    sign: Int8Array
    dimension: Int16Array
    opposite: Int16Array
    out_channel: Int32Array
    in_channel: Int32Array


def torus_directions(topology: Topology) -> DirectionLabels:
    """Return the direction labels of a torus or mesh: +X +Y … −X −Y …, each once per switch.

    Examples
    --------
    >>> from routelab.toolkit import build_grid, torus_directions
    >>> torus_directions(build_grid("mesh", (3, 2), wrap=False)).out_channel[0].tolist()
    [0, 1, -1, -1]
    """
    dimensions = len(topology.directions) // 2
    expected = [(j, 1) for j in range(dimensions)] + [(j, -1) for j in range(dimensions)]
    if dimensions == 0 or [(d.dimension, d.sign) for d in topology.directions] != expected:
        return _no_labels(
            f"needs a torus or mesh with direction labels; {topology.family} has "
            + ("others" if topology.directions else "none")
        )
    if topology.num_channels and topology.channel_direction.min() < 0:
        return _no_labels("needs a direction label on every channel")
    out_channel = np.full((topology.num_switches, 2 * dimensions), -1, dtype=np.int32)
    in_channel = out_channel.copy()
    channels = np.arange(topology.num_channels)
    out_channel[topology.channel_source, topology.channel_direction] = channels
    in_channel[topology.channel_target, topology.channel_direction] = channels
    # Two channels in one direction of a switch overwrite each other, so that fewer entries than
    # channels are filled.
    if (out_channel >= 0).sum() != len(channels) or (in_channel >= 0).sum() != len(channels):
        return _no_labels("needs at most one channel in each direction of a switch")
    return DirectionLabels(
        reason=None,
        sign=frozen_array([sign for _, sign in expected], np.int8),
        dimension=frozen_array([dimension for dimension, _ in expected], np.int16),
        # Half of all directions further, the same dimension has the other sign.
        opposite=frozen_array((np.arange(len(expected)) + dimensions) % len(expected), np.int16),
        out_channel=frozen_array(out_channel, np.int32),
        in_channel=frozen_array(in_channel, np.int32),
    )


def _no_labels(reason: str) -> DirectionLabels:
    """Return empty labels with the reason why there are none."""
    empty = np.empty(0)
    return DirectionLabels(
        reason=reason,
        sign=frozen_array(empty, np.int8),
        dimension=frozen_array(empty, np.int16),
        opposite=frozen_array(empty, np.int16),
        out_channel=frozen_array(empty.reshape(0, 0), np.int32),
        in_channel=frozen_array(empty.reshape(0, 0), np.int32),
    )
