"""Dependencies as rows of bits, and the searches that fill them.

A packet that came over a channel waits for a channel that leaves its switch. So a short row of bits
for each resource holds all dependencies, on networks of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.api.topology import BoolArray, Int32Array, Int64Array

Found = TypeVar("Found", bound=Any)


def channel_places(topology: Topology) -> Int32Array:
    """Return source and target of each channel, and its place among those of its source; (C, 3)."""
    start, channels = topology.outgoing
    place = np.empty(topology.num_channels, np.int32)
    place[channels] = np.arange(topology.num_channels) - start[topology.channel_source[channels]]
    return np.column_stack((topology.channel_source, topology.channel_target, place))


def row_words(topology: Topology, classes: int) -> int:
    """Return the words of a row, with a bit ``place * classes + class`` for each resource."""
    places = int(np.diff(topology.outgoing[0]).max(initial=0))
    return (places * classes + 63) // 64


def edges_of(
    topology: Topology, classes: int, rows: NDArray[np.uint64]
) -> tuple[Int64Array, Int64Array]:
    """Return the dependencies of rows: resources a, then b, ascending."""
    source, bit = np.nonzero(bits_of(rows))
    start, channels = topology.outgoing
    heads = topology.channel_target[source // classes]
    channel = channels[start[heads] + bit // classes].astype(np.int64)
    target = channel * classes + bit % classes
    order = np.lexsort((target, source))
    return source[order].astype(np.int64), target[order]


def places_of(
    topology: Topology, classes: int, source: Int32Array, target: Int32Array
) -> Int64Array:
    """Return row and bit of dependencies, and −1 for the pair that causes each; shape (K, 3)."""
    place = channel_places(topology)[target // classes, 2].astype(np.int64)
    bit = place * classes + target % classes
    return np.column_stack((source, bit, np.full(len(source), -1))).astype(np.int64)


def bits_of(rows: NDArray[np.uint64]) -> BoolArray:
    """Return the bits of each row, the lowest of the first word first."""
    size, words = rows.shape
    octets = rows.astype("<u8").view(np.uint8).reshape(size, words * 8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(np.bool_)


def search_in_chunks(
    explore: Callable[[Int32Array, Found], None],
    items: Int32Array,
    findings: Found,
    done: Callable[[], int],
    chunk: int,
) -> None:
    """Search pairs or legs until all are done, the search stops, or what is wanted is found.

    Between two chunks, a search can be interrupted.

    Parameters
    ----------
    explore : callable
        Searches some items and updates the findings.
    items : int32 array, shape (N, 4)
    findings : Found
        `Findings` or `LegFindings`, updated; `longest` and `wanted` go by item.
    done : callable
        Returns the number of items that were searched.
    chunk : int
    """
    wanted = findings.wanted
    for begin in range(0, len(items), chunk):
        end = min(begin + chunk, len(items))
        open_ones = np.flatnonzero(wanted[:, 2] < 0)
        explore(items[begin:end], findings._replace(longest=findings.longest[begin:end]))
        new = open_ones[wanted[open_ones, 2] >= 0]
        wanted[new, 2] += begin
        if done() < end or (len(wanted) and (wanted[:, 2] >= 0).all()):
            break
