"""The routing graph: which routes are legal.

A routing graph is a small automaton laid over a network (Mukosey et al., *Optimized Graph Based
Routing Algorithm for the Angara Interconnect*, section 3). Its vertices are (switch, state)
pairs, and each of its edges is a hop over one channel. A route is legal if and only if some path
from its source's begin vertex to an accepting vertex of its target has the same channels. The
paper's explicit end vertices are the accepting marks here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.contents import Contents
from routelab.api.errors import InputError
from routelab.api.topology import BoolArray, Int16Array, Int32Array, Topology, frozen_array
from routelab.kernels.graph import GraphArrays, reverse_adjacency
from routelab.kernels.legality import prescribed_channels

if TYPE_CHECKING:
    from routelab.api.route_table import RouteTable


@dataclass(frozen=True, eq=False)
class RoutingGraph(Contents):
    """An automaton of legal routes over `topology`; arrays are read-only.

    A vertex is a switch with what the rules must remember of a packet that is there. Under
    up*/down* rules, for example, each switch has two: one for packets that may still go up, and one
    for those that have gone down.

    Attributes
    ----------
    topology : Topology
    vertex_switch : int32 array, shape (V,)
        Switch of each vertex.
    accepting : bool array, shape (V,)
        Whether a route may stop at the vertex (be ejected to a terminal of its switch).
    begin : int32 array, shape (S,)
        Vertex at which routes from each switch start.
    edge_start : int32 array, shape (V + 1,)
        CSR offsets: edges ``edge_start[v]:edge_start[v + 1]`` leave vertex v.
    edge_target, edge_channel : int32 array, shape (E,)
        Vertex that an edge leads to, and the channel that its hop uses.
    turn_set : str
        Name of the set of turns that the edges allow, such as ``angara/exact``, for reports and
        bounds; ``""`` if the name of the rules says enough.
    minimal_only : bool
        The graph is exact only for shortest routes: longer paths in it may break the rules.
    facts : mapping of str to number or str
        Results of the rules on the network, such as ``{"segments": 43}``. The rules plugin
        declares a column for each.
    channel_facts : mapping of str to int32 array, shape (C,)
        Results with a number for each channel, such as the segment that it belongs to (0 for none),
        for tables and pictures of channels.
    prohibited : int32 array, shape (N, 3)
        Turns that the rules prohibit, each as three switches: a packet from the first must not
        leave the second for the third. For reports only, and empty for rules that are not defined
        by turns; the edges decide which routes are legal.
    vertex_vc : int16 array, shape (V,), or None
        Virtual channel of hops that lead to each vertex; None if the rules leave virtual channels
        to a layers plugin.

    Examples
    --------
    >>> from routelab.api import RoutingGraph, Topology
    >>> pair = Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    >>> free = RoutingGraph.create(
    ...     pair, vertex_switch=[0, 1], accepting=[True, True], begin=[0, 1],
    ...     edge_source=[0, 1], edge_target=[1, 0], edge_channel=[0, 1],
    ... )
    >>> free.num_edges
    2
    """

    topology: Topology
    vertex_switch: Int32Array
    accepting: BoolArray
    begin: Int32Array
    edge_start: Int32Array
    edge_target: Int32Array
    edge_channel: Int32Array
    turn_set: str = ""
    minimal_only: bool = False
    facts: Mapping[str, float | str] = field(default_factory=lambda: MappingProxyType({}))
    channel_facts: Mapping[str, Int32Array] = field(default_factory=lambda: MappingProxyType({}))
    prohibited: Int32Array = field(default_factory=lambda: frozen_array(np.empty((0, 3)), np.int32))
    vertex_vc: Int16Array | None = None

    @classmethod
    def create(
        cls,
        topology: Topology,
        *,
        vertex_switch: ArrayLike,
        accepting: ArrayLike,
        begin: ArrayLike,
        edge_source: ArrayLike,
        edge_target: ArrayLike,
        edge_channel: ArrayLike,
        turn_set: str = "",
        minimal_only: bool = False,
        facts: Mapping[str, float | str] | None = None,
        channel_facts: Mapping[str, ArrayLike] | None = None,
        prohibited: ArrayLike = (),
        vertex_vc: ArrayLike | None = None,
    ) -> RoutingGraph:
        """Build a routing graph from a list of edges in any order, and check it.

        Edges that leave one vertex are sorted by channel (this is the natural tie order).

        Raises
        ------
        InputError
            If an index is out of range. If an edge's channel does not join the switches of the
            edge's vertices. If a begin vertex belongs to another switch. If a fact of the channels
            does not have one number per channel, or another fact is neither a number nor a text. If
            a prohibited turn is not three switches. If `vertex_vc` is not one number from 0 on for
            each vertex, or the graph is not deterministic, so that a hop could have several.
        """
        # 1. Edges and begin vertices. Check the vertices first: the tests on channels index with
        #    them.
        switch = np.asarray(vertex_switch, dtype=np.int32)
        source = np.asarray(edge_source, dtype=np.int32)
        target = np.asarray(edge_target, dtype=np.int32)
        channel = np.asarray(edge_channel, dtype=np.int32)
        starts = np.asarray(begin, dtype=np.int32)
        num_vertices = len(switch)
        for name, index in (("edge_source", source), ("edge_target", target), ("begin", starts)):
            if index.size and (index.min() < 0 or index.max() >= num_vertices):
                raise InputError(
                    f"routing graph: {name} names a vertex outside 0..{num_vertices - 1}"
                )
        if channel.size and (channel.min() < 0 or channel.max() >= topology.num_channels):
            raise InputError("routing graph: edge_channel names a channel that does not exist")
        invalid_edges = np.flatnonzero(
            (topology.channel_source[channel] != switch[source])
            | (topology.channel_target[channel] != switch[target])
        )
        if invalid_edges.size:
            edge = invalid_edges[0]
            raise InputError(
                f"routing graph: edge {edge} uses channel "
                f"{topology.channel_name(int(channel[edge]))}, which does not join its vertices"
            )
        if not np.array_equal(switch[starts], np.arange(topology.num_switches)):
            raise InputError("routing graph: begin must hold one vertex on each switch, in order")
        # 2. Facts, and turns for reports.
        for name, fact in (facts or {}).items():
            if not isinstance(fact, int | float | np.number | str):
                raise InputError(
                    f"routing graph: fact {name!r} is {fact!r}, expected a number or a text"
                )
        channel_numbers = {
            name: frozen_array(numbers, np.int32) for name, numbers in (channel_facts or {}).items()
        }
        for name, numbers in channel_numbers.items():
            if numbers.shape != (topology.num_channels,):
                raise InputError(
                    f"routing graph: {name} has shape {numbers.shape}, expected one number for "
                    f"each of {topology.num_channels} channels"
                )
        turns = np.asarray(prohibited, dtype=np.int32).reshape(-1, 3)
        if turns.size and (turns.min() < 0 or turns.max() >= topology.num_switches):
            raise InputError("routing graph: a prohibited turn has a switch that does not exist")
        # 3. Sort the edges by source, then by channel, then by target (the last key of lexsort is
        #    the first to sort by).
        order = np.lexsort((target, channel, source))
        edge_start = np.zeros(num_vertices + 1, dtype=np.int64)
        np.cumsum(np.bincount(source, minlength=num_vertices), out=edge_start[1:])
        graph = cls(
            topology=topology,
            vertex_switch=frozen_array(switch, np.int32),
            accepting=frozen_array(accepting, np.bool_),
            begin=frozen_array(starts, np.int32),
            edge_start=frozen_array(edge_start, np.int32),
            edge_target=frozen_array(target[order], np.int32),
            edge_channel=frozen_array(channel[order], np.int32),
            turn_set=turn_set,
            minimal_only=minimal_only,
            facts=MappingProxyType(dict(facts or {})),
            channel_facts=MappingProxyType(channel_numbers),
            prohibited=frozen_array(turns, np.int32),
            vertex_vc=None if vertex_vc is None else frozen_array(vertex_vc, np.int16),
        )
        graph._check_virtual_channels()
        # computed now and stored, so that `changes` finds what is written to the arrays later
        _ = graph.checksums
        return graph

    def _check_virtual_channels(self) -> None:
        """Refuse virtual channels that are not one number for each vertex, or not unique to a hop.

        A hop gets the virtual channel of the vertex that it leads to. If two edges over its channel
        leave one vertex, it leads to two vertices, so its virtual channel would not be unique.
        """
        if self.vertex_vc is None:
            return
        if self.vertex_vc.shape != (self.num_vertices,) or self.vertex_vc.min(initial=0) < 0:
            raise InputError(
                "routing graph: vertex_vc must hold one virtual channel, from 0 on, for each vertex"
            )
        if not self.deterministic:
            raise InputError(
                "routing graph: a vertex with virtual channels has two edges over one channel"
            )

    @classmethod
    def of_walks(cls, topology: Topology, turn_set: str = "") -> RoutingGraph:
        """Return the bare network as an automaton: one vertex per switch, every walk is legal."""
        switches = np.arange(topology.num_switches)
        return cls.create(
            topology,
            vertex_switch=switches,
            accepting=np.ones(topology.num_switches, dtype=np.bool_),
            begin=switches,
            edge_source=topology.channel_source,
            edge_target=topology.channel_target,
            edge_channel=np.arange(topology.num_channels),
            turn_set=turn_set,
        )

    @property
    def num_vertices(self) -> int:
        """Number of vertices, without the implied end vertices (one per switch)."""
        return len(self.vertex_switch)

    @property
    def num_edges(self) -> int:
        """Number of edges that use a channel; the implied ejections are not counted."""
        return len(self.edge_target)

    @cached_property
    def edge_source(self) -> Int32Array:
        """Vertex that each edge leaves; int32, shape (E,)."""
        return frozen_array(
            np.repeat(np.arange(self.num_vertices), np.diff(self.edge_start)), np.int32
        )

    @cached_property
    def deterministic(self) -> bool:
        """Whether no two edges over one channel leave a vertex.

        Then a route is one path of the graph: its channels determine the vertices that it visits.
        """
        # edges are sorted by source and channel, so two such edges would be neighbours
        source, channel = self.edge_source, self.edge_channel
        return not bool(np.any((source[1:] == source[:-1]) & (channel[1:] == channel[:-1])))

    def virtual_channels(self, table: RouteTable) -> Int16Array:
        """Return the virtual channel that the rules prescribe for each hop; int16, shape (H,).

        It is 0 for all hops if the rules prescribe none. It is also 0 for a hop that the rules
        forbid and for all hops behind it on the path, because such a hop leads to no vertex.
        """
        if self.vertex_vc is None:
            return np.zeros(len(table.hop_channel), dtype=np.int16)
        hop_vc: Int16Array = prescribed_channels(
            graph=self.arrays,
            vertex_vc=self.vertex_vc,
            pair_start=table.pair_start,
            path_start=table.path_start,
            hop_channel=table.hop_channel,
            sources=table.topology.endpoints,
            num_destinations=table.num_destinations,
        )
        return hop_vc

    @cached_property
    def arrays(self) -> GraphArrays:
        """Arrays of the graph for kernels, edges of a vertex in the natural order (by channel)."""
        return self.ordered(None)

    def ordered(self, channel_rank: ArrayLike | None) -> GraphArrays:
        """Return the arrays for kernels, edges of a vertex in ascending rank of their channel.

        Searches visit edges in this order, so it decides between equally good routes.

        Parameters
        ----------
        channel_rank : array of int, shape (C,), or None
            A permutation of the channels; None keeps the natural order.
        """
        target, channel = self.edge_target, self.edge_channel
        if channel_rank is not None:
            rank = np.asarray(channel_rank)
            order = np.lexsort((target, rank[channel], self.edge_source))
            target, channel = (
                frozen_array(target[order], np.int32),
                frozen_array(channel[order], np.int32),
            )
        in_start, in_edge = reverse_adjacency(target, self.num_vertices)
        return GraphArrays(
            num_channels=self.topology.num_channels,
            vertex_switch=self.vertex_switch,
            accepting=self.accepting,
            begin=self.begin,
            edge_start=self.edge_start,
            edge_source=self.edge_source,
            edge_target=target,
            edge_channel=channel,
            in_start=frozen_array(in_start, np.int32),
            in_edge=frozen_array(in_edge, np.int32),
        )
