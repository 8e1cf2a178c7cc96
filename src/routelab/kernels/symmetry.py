"""Translations of a network: images of switches and channels, and invariance of graphs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class SymmetryArrays(NamedTuple):
    """A group of translations as plain arrays (S switches, D directions, Q classes); read-only.

    The group is a product of cyclic groups, one for each dimension with a `period` above 1, that
    add multiples of `step` to a switch's coordinate. `orbit` is the first switch of each switch's
    orbit, with the least coordinates; the orbits of switches with terminals are the classes, with
    these switches as ``representative``. Built by `routelab.toolkit.source_symmetry`.
    """

    source_class: NDArray[np.int32]
    representative: NDArray[np.int32]
    orbit: NDArray[np.int32]
    coordinates: NDArray[np.int32]
    period: NDArray[np.int32]
    step: NDArray[np.int32]
    stride: NDArray[np.int32]
    switch_at: NDArray[np.int32]
    channel_source: NDArray[np.int32]
    channel_direction: NDArray[np.int16]
    channel_at: NDArray[np.int32]


@jit
def fill_images(symmetry, shift, switch_image, channel_image):
    """Compute the images of all switches and channels under a translation.

    Parameters
    ----------
    symmetry : SymmetryArrays
    shift : int32 array, shape (n,)
        Added to the coordinates, modulo the period; 0 if the period is 1.
    switch_image : int32 array, shape (S,)
        Overwritten.
    channel_image : int32 array, shape (C,)
        Overwritten.
    """
    moves = False
    for d in range(len(shift)):
        moves |= shift[d] != 0
    if not moves:
        for s in range(len(switch_image)):
            switch_image[s] = s
        for c in range(len(channel_image)):
            channel_image[c] = c
        return
    coordinates, period, stride = symmetry.coordinates, symmetry.period, symmetry.stride
    switch_at, channel_at = symmetry.switch_at, symmetry.channel_at
    for s in range(len(switch_image)):
        position = 0
        for d in range(len(shift)):
            x = coordinates[s, d] + shift[d]
            if shift[d] != 0 and x >= period[d]:
                x -= period[d]
            position += x * stride[d]
        switch_image[s] = switch_at[position]
    # a channel moves with its source and keeps its direction
    for s in range(len(switch_image)):
        for d in range(channel_at.shape[1]):
            if channel_at[s, d] >= 0:
                channel_image[channel_at[s, d]] = channel_at[switch_image[s], d]


@helper()
def source_images(symmetry, source, switch_image, channel_image):
    """Fill the images under the translation from the class's representative to `source`."""
    shift = np.zeros(len(symmetry.period), np.int32)
    for d in range(len(shift)):
        if symmetry.period[d] > 1:
            x = symmetry.coordinates[source, d]
            shift[d] = x - x % symmetry.step[d]
    fill_images(symmetry, shift, switch_image, channel_image)


@jit
def keeps_routes(graph, switch_image, channel_image):
    """Return whether a permutation of switches and channels preserves legal routes and order.

    Walks a deterministic graph and its image in parallel: the edges of a vertex must correspond to
    those of its image, in the same order.

    Parameters
    ----------
    graph : GraphArrays
    switch_image : int32 array, shape (S,)
    channel_image : int32 array, shape (C,)
    """
    image = np.full(len(graph.vertex_switch), -1, np.int32)
    stack = np.empty(len(graph.vertex_switch), np.int32)
    top = 0
    for s in range(len(graph.begin)):
        v, w = graph.begin[s], graph.begin[switch_image[s]]
        if image[v] >= 0:
            if image[v] != w:
                return False
            continue
        image[v] = w
        stack[top] = v
        top += 1
    while top:
        top -= 1
        v = stack[top]
        w = image[v]
        first_edge, first_image_edge = graph.edge_start[v], graph.edge_start[w]
        if graph.accepting[v] != graph.accepting[w]:
            return False
        if graph.edge_start[v + 1] - first_edge != graph.edge_start[w + 1] - first_image_edge:
            return False
        for k in range(graph.edge_start[v + 1] - first_edge):
            if (
                channel_image[graph.edge_channel[first_edge + k]]
                != graph.edge_channel[first_image_edge + k]
            ):
                return False
            a, b = graph.edge_target[first_edge + k], graph.edge_target[first_image_edge + k]
            if image[a] < 0:
                image[a] = b
                stack[top] = a
                top += 1
            elif image[a] != b:
                return False
    return True
