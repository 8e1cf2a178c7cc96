"""Channel dependency graphs of hop-by-hop algorithms, as rows of bits.

Vertices are resources (a class of virtual channels of a channel). A packet that holds a resource
waits for channels that leave the switch behind it. So all edges from a resource fit into one short
row of bits, on networks of any size: bit ``port * classes + class``, where the port is the position
of the next channel among those that leave the switch.

1. Kernels search the reachable states and set the bits (`search_in_chunks`).
2. `edges_from_bits` turns the rows into edges, for the search of cycles.
3. For the edges of a cycle, `dependency_queries` gives their bits, and a second search finds the
   packets that cause them.

The graph of a table is built by `routelab.kernels.dependency.dependency_graph`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.deadlock.kernels.packet_states import PORT, Q_CAUSE

AnyFindings = TypeVar("AnyFindings", bound=Any)


def channel_ports(topology: Topology) -> Int32Array:
    """Return source, target and port of each channel; shape (C, 3).

    The port is the position of the channel among those that leave its source.
    """
    start, channels = topology.outgoing
    port = np.empty(topology.num_channels, np.int32)
    port[channels] = np.arange(topology.num_channels) - start[topology.channel_source[channels]]
    return np.column_stack((topology.channel_source, topology.channel_target, port))


def words_per_row(topology: Topology, classes: int) -> int:
    """Return the number of 64-bit words of a row, with a bit for each resource of any switch."""
    ports = int(np.diff(topology.outgoing[0]).max(initial=0))
    return (ports * classes + 63) // 64


def edges_from_bits(
    topology: Topology, classes: int, awaited_bits: NDArray[np.uint64]
) -> tuple[Int64Array, Int64Array]:
    """Return the edges of a dependency graph: the held resource of each, and the awaited one.

    Row r of `awaited_bits` has the edges from resource r. Its bit ``port * classes + class`` is the
    edge to that class of the channel that leaves the switch at the end of r's channel by that port.
    Edges are sorted by the held resource, then by the awaited one.
    """
    held, bit = np.nonzero(unpack_bits(awaited_bits))
    port, awaited_class = np.divmod(bit, classes)
    # the channels that leave a switch, in the order of their ports, begin at outgoing_start
    outgoing_start, outgoing_channels = topology.outgoing
    next_switch = topology.channel_target[held // classes]
    awaited_channel = outgoing_channels[outgoing_start[next_switch] + port].astype(np.int64)
    awaited = awaited_channel * classes + awaited_class
    order = np.lexsort((awaited, held))
    return held[order].astype(np.int64), awaited[order]


def dependency_queries(
    topology: Topology, classes: int, held: Int32Array, awaited: Int32Array
) -> Int64Array:
    """Return queries for a second search, which finds a pair or a leg that causes each edge.

    Columns `Q_ROW` and `Q_BIT`: where the search sets the bit of the edge, see `edges_from_bits`;
    `Q_CAUSE`: −1, which the search replaces by the index of the pair or leg. Shape (K, 3).
    """
    port = channel_ports(topology)[awaited // classes, PORT].astype(np.int64)
    bit = port * classes + awaited % classes
    return np.column_stack((held, bit, np.full(len(held), -1))).astype(np.int64)


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
    """Search pairs or legs in chunks, between which Ctrl-C can interrupt the search.

    Ends when all are searched, when `explore` stops early, or when all queries are answered.

    Parameters
    ----------
    explore : callable
        Searches a chunk of the items and updates the findings. It may leave out the last items of
        the chunk, because of a fault or the limit of states.
    items : int32 array, shape (N, 4)
        Pairs or legs.
    findings : AnyFindings
        `Findings` or `LegFindings`, updated. `longest` has a number for each item, and `queries`
        names items as causes.
    num_searched : callable
        Returns the number of items that were searched in all chunks.
    chunk : int
        Largest number of items of a call of `explore`.
    """
    queries = findings.queries
    for begin in range(0, len(items), chunk):
        end = min(begin + chunk, len(items))
        open_queries = np.flatnonzero(queries[:, Q_CAUSE] < 0)
        # `explore` numbers the items of a chunk from 0 on: so it gets the entries of `longest` for
        # this chunk alone, and the causes that it writes into queries are too small by `begin`.
        explore(items[begin:end], findings._replace(longest=findings.longest[begin:end]))
        answered = open_queries[queries[open_queries, Q_CAUSE] >= 0]
        queries[answered, Q_CAUSE] += begin
        has_stopped_early = num_searched() < end
        # a search without queries goes on to the last item
        all_answered = len(queries) > 0 and (queries[:, Q_CAUSE] >= 0).all()
        if has_stopped_early or all_answered:
            break
