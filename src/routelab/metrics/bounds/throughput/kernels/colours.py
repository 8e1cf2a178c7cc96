"""Colour refinement of a flow problem: parts that no count of neighbours can tell apart."""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def mix(value):
    """Return a hash of an unsigned 64-bit integer: the finaliser of splitmix64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@helper()
def _hop_colour(pair_colour, channel_colour, s, source, target, c):
    """Return the colour of the flow of source s over channel c, from `source` to `target`.

    The colour mixes those of the pairs (s, source) and (s, target) and of the channel. The
    constants are arbitrary: with them the two pairs enter in different ways, so that the direction
    of the channel counts.
    """
    source_hash = mix(pair_colour[s, source] + np.uint64(0x9E3779B97F4A7C15))
    return mix(source_hash ^ mix(pair_colour[s, target] ^ mix(channel_colour[c] + np.uint64(1))))


@jit
def hop_colours(
    channel_source, channel_target, pair_colour, channel_colour, flow_source, flow_channel
):
    """Return the colours of flows: of source ``flow_source[i]`` over channel ``flow_channel[i]``.

    Parameters
    ----------
    channel_source, channel_target : int32 array, shape (C,)
    pair_colour : uint64 array, shape (N, N)
        Colour of each pair of a source and a node.
    channel_colour : uint64 array, shape (C,)
    flow_source, flow_channel : int64 array, shape (H,)

    Returns
    -------
    colour : uint64 array, shape (H,)
    """
    colour = np.empty(len(flow_source), np.uint64)
    for i in range(len(flow_source)):
        s, c = flow_source[i], flow_channel[i]
        colour[i] = _hop_colour(
            pair_colour, channel_colour, s, channel_source[c], channel_target[c], c
        )
    return colour


@jit
def refine_colours(channel_source, channel_target, pair_colour, channel_colour, sends):
    """Refine colours once: pairs and channels with different neighbours get different colours.

    A pair of a source and a node gets a new colour from the flows of the source into the node and
    out of it; a channel gets one from the flows over it.

    Parameters
    ----------
    channel_source, channel_target : int32 array, shape (C,)
    pair_colour : uint64 array, shape (N, N)
        Colour of each pair of a source and a node; unchanged.
    channel_colour : uint64 array, shape (C,)
        Colour of each channel; unchanged.
    sends : bool array, shape (N,)
        Sources; pairs of other nodes keep their colours.

    Returns
    -------
    new_pair, new_channel : uint64 array
    """
    num_nodes = len(sends)
    new_pair, new_channel = pair_colour.copy(), channel_colour.copy()
    for s in range(num_nodes):
        if not sends[s]:
            continue
        for c in range(len(channel_colour)):
            source, target = channel_source[c], channel_target[c]
            hop = _hop_colour(pair_colour, channel_colour, s, source, target, c)
            # Sums do not depend on the order of the neighbours. Two arbitrary constants, so that a
            # flow out of a node counts differently from one into it.
            new_pair[s, source] += mix(hop ^ np.uint64(0xD1B54A32D192ED03))
            new_pair[s, target] += mix(hop ^ np.uint64(0xABC98388FB8FAC03))
            new_channel[c] += mix(hop)
    return new_pair, new_channel
