"""Routes that follow the order of a certificate, for example of a table of the routing `words`.

A certificate of `routelab route` or `routelab prove` gives each channel, on each virtual channel
that it uses, a rank, and all dependencies of the proven table rise in rank. So do those of every
other route whose hops rise in rank: the certificate is a *word*, and all its subsequences are legal
together. As rules they get bounds of their own (how low could the load be in this order?), and any
selection can choose among them.

    per=hop    a hop takes the next occurrence of its channel: vertex (channel, virtual channel)
    per=pair   a packet keeps its virtual channel: vertex (channel, virtual channels that remain)

Under ``per=pair`` the rules leave the virtual channel open until the last hop, so they do not
prescribe it: a layers plugin such as `first-fit` chooses, and may need more virtual channels.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from typing_extensions import override

from routelab.api import (
    Capabilities,
    InputError,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.toolkit.input_files import MAX_TEXT, read_text

Ranks = dict[int, list[tuple[int, int]]]
"""Rank and virtual channel of each occurrence of a channel, ascending."""


class WordsParameters(Parameters):
    """File of the certificate."""

    file: Path = parameter(description="Certificate (certificate.json) of a table on this network")
    per: Literal["hop", "pair"] = parameter(
        "hop",
        description="Whether a packet may change its virtual channel (hop) or keeps it (pair)",
    )


class Words(RulesPlugin):
    """Routes whose hops rise in the ranks of a certificate."""

    name = "words"
    summary = "Routes that follow the order of channels in a certificate"
    capabilities = Capabilities(minimal=False, tolerates_failures=False, virtual_channels=None)
    Parameters = WordsParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def supports(self, topology: Topology) -> str | None:
        """Require the network of the certificate.

        Raises
        ------
        InputError
            If the file is not a certificate.
        """
        names = topology.switch_names
        ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        channels = [
            (topology.channel_name(channel), names[source], names[target])
            for channel, (source, target) in enumerate(ends)
        ]
        if _read_certificate(self.parameters.file).channels == channels:
            return None
        return f"{self.parameters.file} is a certificate of another network: its channels differ"

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of all routes whose hops rise in the certificate's order.

        Raises
        ------
        InputError
            If the file is not a certificate.
        """
        ranks = _read_certificate(self.parameters.file).ranks
        first, channels = (array.tolist() for array in topology.outgoing)
        leaving = [channels[start:end] for start, end in pairwise(first)]
        target = topology.channel_target.tolist()
        find_next_state = _next_occurrence if self.parameters.per == "hop" else _remaining_channels
        # A vertex is a channel with a state of the packets that came over it: (rank, virtual
        # channel) of the hop, or the virtual channels that remain. The first vertices, one for each
        # switch, are for packets that begin; others are numbered as they are reached.
        vertex_number: dict[tuple[int, Any], int] = {}
        vertex_switch = list(range(topology.num_switches))
        edges: list[tuple[int, int, int]] = []
        vertices: list[tuple[int, Any]] = [(-1, None)] * topology.num_switches
        for vertex, (channel, state) in enumerate(vertices):  # grows while it is read
            for next_channel in leaving[vertex_switch[vertex]]:
                next_state = find_next_state(ranks, channel, state, next_channel)
                if next_state is None:
                    continue
                key = next_channel, next_state
                if key not in vertex_number:
                    vertex_number[key] = len(vertices)
                    vertices.append(key)
                    vertex_switch.append(target[next_channel])
                edges.append((vertex, vertex_number[key], next_channel))
        # Only per=hop prescribes the virtual channel of a hop. That of a begin vertex has no
        # meaning, because no hop leads to it.
        vcs = None
        if self.parameters.per == "hop":
            vcs = [0 if state is None else state[1] for _, state in vertices]
        return RoutingGraph.create(
            topology,
            vertex_switch=vertex_switch,
            accepting=[True] * len(vertex_switch),
            begin=range(topology.num_switches),
            edge_source=[source for source, _, _ in edges],
            edge_target=[end for _, end, _ in edges],
            edge_channel=[channel for _, _, channel in edges],
            vertex_vc=vcs,
        )


def _next_occurrence(
    ranks: Ranks, _channel: int, state: tuple[int, int] | None, next_channel: int
) -> tuple[int, int] | None:
    """Return rank and virtual channel of the next hop if it goes over `next_channel` (per=hop).

    It is the first occurrence of the channel behind `state`, the rank and virtual channel of the
    last hop. A later one would be no better: what may follow it may follow the first one, too.
    None if no occurrence is left: the hop is illegal. A `state` of None allows every occurrence.
    """
    occurrences = ranks.get(next_channel, [])
    # Equal ranks are ordered by virtual channel, so pairs always rise and no cycle arises.
    position = 0 if state is None else bisect_right(occurrences, state)
    return occurrences[position] if position < len(occurrences) else None


def _remaining_channels(
    ranks: Ranks, channel: int, state: frozenset[int] | None, next_channel: int
) -> frozenset[int] | None:
    """Return the virtual channels that a packet may use if its next hop is `next_channel`.

    For packets that keep their virtual channel (per=pair): on each of these, all hops so far and
    the next one rise in rank. `state` has the virtual channels for the hops so far, the last of
    them over `channel`; None for a packet that begins. None if no virtual channel remains: the hop
    is illegal.
    """
    last_rank = {vc: rank for rank, vc in ranks.get(channel, [])}
    remaining = frozenset(
        vc
        for rank, vc in ranks.get(next_channel, [])
        if state is None or (vc in state and last_rank[vc] < rank)
    )
    return remaining or None


class _Certificate(NamedTuple):
    """What the rules need of a certificate: name, source and target of each channel, and ranks."""

    channels: list[tuple[str, str, str]]
    ranks: Ranks


def _read_certificate(path: Path) -> _Certificate:
    """Read a certificate of plain flow control."""
    try:
        content = json.loads(read_text(path, MAX_TEXT))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not a certificate in JSON") from None
    try:
        channels = [
            (str(name), str(source), str(target)) for name, source, target in content["channels"]
        ]
        resources = [
            (int(channel), int(vc), int(rank)) for channel, vc, rank in content["resources"]
        ]
        flow_control = str(content["flow_control"])
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{path}: has no channels and ranks; expected a certificate of `routelab route`"
        ) from None
    if flow_control != "plain":
        raise InputError(
            f"{path}: holds for {flow_control} flow control, where ranks need not rise inside rings"
        )
    ranks: Ranks = {}
    for channel, vc, rank in resources:
        # numbers of virtual channels are int16
        if not (0 <= channel < len(channels) and 0 <= vc < 2**15):
            raise InputError(f"{path}: channel {channel}, virtual channel {vc} cannot exist")
        ranks.setdefault(channel, []).append((rank, vc))
    return _Certificate(channels, {channel: sorted(pairs) for channel, pairs in ranks.items()})
