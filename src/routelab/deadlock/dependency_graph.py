"""Channel dependency graphs of hop-by-hop algorithms, as rows of bits.

Vertices are resources (a class of virtual channels of a channel). A packet that holds a resource
waits for channels that leave the switch behind it. So all edges from a resource fit into one short
row of bits, on networks of any size: bit ``port * classes + class``, where the port is the position
of the next channel among those that leave the switch.

1. Kernels search the reachable states and set the bits (`search_in_chunks`).
2. `edges_from_bits` turns the rows into edges, for the search of cycles.
3. For the edges of a cycle, `bit_positions` gives their bits, and a second search finds the packets
   that cause them.

The graph of a table is built by `routelab.kernels.dependency.dependency_graph`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.api.topology import BoolArray, Int32Array, Int64Array

AnyFindings = TypeVar("AnyFindings", bound=Any)


def channel_ports(topology: Topology) -> Int32Array:
    """Return source, target and port of each channel; shape (C, 3)."""
    start, channels = topology.outgoing
    port = np.empty(topology.num_channels, np.int32)
    port[channels] = np.arange(topology.num_channels) - start[topology.channel_source[channels]]
    return np.column_stack((topology.channel_source, topology.channel_target, port))


def words_per_row(topology: Topology, classes: int) -> int:
    """Return the number of words of a row, with a bit for each resource of the next switch."""
    ports = int(np.diff(topology.outgoing[0]).max(initial=0))
    return (ports * classes + 63) // 64


def edges_from_bits(
    topology: Topology, classes: int, rows: NDArray[np.uint64]
) -> tuple[Int64Array, Int64Array]:
    """Return the edges of a graph: resources that are held, and awaited ones, ascending."""
    held, bit = np.nonzero(unpack_bits(rows))
    port, awaited_class = np.divmod(bit, classes)
    first_channel, channels = topology.outgoing
    next_switch = topology.channel_target[held // classes]
    awaited_channel = channels[first_channel[next_switch] + port].astype(np.int64)
    awaited = awaited_channel * classes + awaited_class
    order = np.lexsort((awaited, held))
    return held[order].astype(np.int64), awaited[order]


def bit_positions(
    topology: Topology, classes: int, source: Int32Array, target: Int32Array
) -> Int64Array:
    """Return row and bit of edges, and −1 for the pair that causes each; shape (K, 3)."""
    port = channel_ports(topology)[target // classes, 2].astype(np.int64)
    bit = port * classes + target % classes
    return np.column_stack((source, bit, np.full(len(source), -1))).astype(np.int64)


def unpack_bits(rows: NDArray[np.uint64]) -> BoolArray:
    """Return the bits of each row, the lowest of the first word first."""
    size, words = rows.shape
    octets = rows.astype("<u8").view(np.uint8).reshape(size, words * 8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(np.bool_)


def search_in_chunks(
    explore: Callable[[Int32Array, AnyFindings], None],
    items: Int32Array,
    findings: AnyFindings,
    num_searched: Callable[[], int],
    chunk: int,
) -> None:
    """Search pairs or legs until all are searched, the search stops, or all queries are answered.

    Between two chunks, a search can be interrupted.

    Parameters
    ----------
    explore : callable
        Searches some items and updates the findings.
    items : int32 array, shape (N, 4)
    findings : AnyFindings
        `Findings` or `LegFindings`, updated; `longest` and `queries` go by item.
    num_searched : callable
        Returns the number of items that were searched.
    chunk : int
    """
    queries = findings.queries
    for begin in range(0, len(items), chunk):
        end = min(begin + chunk, len(items))
        open_queries = np.flatnonzero(queries[:, 2] < 0)
        explore(items[begin:end], findings._replace(longest=findings.longest[begin:end]))
        answered = open_queries[queries[open_queries, 2] >= 0]
        queries[answered, 2] += begin
        if num_searched() < end or (len(queries) and (queries[:, 2] >= 0).all()):
            break
