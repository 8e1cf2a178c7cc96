"""all-paths: a random one of all simple paths up to a length.

The 4-AllPaths of Camarero, Martínez and Beivide, *Polarized Routing for Large Interconnection
Networks*, IEEE Micro 42(2), 2022, doi 10.1109/MM.2021.3139392. It "selects a random route among all
the paths up to distance diameter", in a network of diameter 4.

All simple paths of a pair with at most `length` hops have the same probability. They are not
stored: tables hold the number of *walks* from each switch to each target by length. A packet draws
a walk at injection and draws again until its walk visits no switch twice. So it needs walks that
are simple often enough; networks where fewer than one in `MOST_DRAWS` is simple are refused.

The n-th hop uses the n-th class of virtual channels: Merlin and Schweitzer, *Deadlock Avoidance in
Store-and-Forward Networks - I*, IEEE Transactions on Communications 28(3), 1980, doi
10.1109/TCOM.1980.1094666.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Parameters,
    Topology,
    UnsupportedError,
    pack_tables,
    parameter,
)
from routelab.api.topology import Int32Array
from routelab.kernels.hops import STATES
from routelab.kernels.simple_paths import Arcs, count_simple_paths
from routelab.toolkit.families.graph_hops import (
    endpoint_diameter,
    endpoint_numbers,
    most_channels,
    switch_distances,
    too_large,
)
from routelab_plugins import works

from .kernels import MOST_WALKS, count_walks, hop, inject

MOST_DRAWS = 1000
"""Walks that a packet may have to draw on average to find a simple one."""
MOST_STEPS = 3e8
"""Walks of all sources together. Counting simple paths takes as many steps, some seconds."""
MOST_TABLE_ENTRIES = 100_000_000
"""Largest table of the numbers of walks: 400 MB."""
PORT_COLUMN_BITS = 31
"""Bits of a packet's column that hold ports: columns are int32 and stay positive."""


class AllPathsParameters(Parameters):
    """Which paths a packet may take."""

    length: int | None = parameter(
        None,
        ge=1,
        le=124,  # STATES * PORT_COLUMN_BITS: more hops do not fit even with ports of one bit
        description="Largest number of hops of a path (default: the largest distance between two "
        "switches with terminals)",
    )


@dataclass(frozen=True, eq=False)
class _Survey:
    """The walks from which packets of a network draw simple paths, or why they cannot draw any.

    Attributes
    ----------
    reason : str or None
        Why paths cannot be drawn; the other fields are empty then. None if they can.
    length : int
        Most hops that a path may have.
    longest : int
        Hops of the longest simple path of at most `length` hops.
    walks : int32 array, shape (P, length + 1, S)
        Number of walks by (target, hops, first switch), for the P switches with terminals as
        targets. A walk meets its target at its end only.
    """

    reason: str | None
    length: int = 0
    longest: int = 0
    walks: Int32Array | None = None


class AllPaths(HopRoutingPlugin):
    """Routes packets over simple paths up to a length, all with the same probability."""

    name = "all-paths"
    summary = "Random simple path up to a given length; a virtual channel per hop"
    citations = (
        works.CAMARERO2022("4-AllPaths"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    proof = "acyclic"
    Parameters = AllPathsParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require short enough paths between all pairs, and a virtual channel per hop."""
        survey = _survey_paths(topology, self.parameters.length)
        if survey.reason is None and virtual_channels < survey.longest:
            return (
                f"paths have up to {survey.longest} hops and each needs a virtual channel; the "
                f"routers have {virtual_channels}: raise vcs to {survey.longest} or lower length"
            )
        return survey.reason

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        if reason := self.supports(topology, virtual_channels):
            raise UnsupportedError(reason)
        survey = _survey_paths(topology, self.parameters.length)
        assert survey.walks is not None  # only a survey with a reason has none
        # A packet stores its path as the port of each hop. A column of 31 bits has room for
        # `column_ports` of them: for 10 if a port takes 3 bits.
        port_bits = _port_bits(topology)
        column_ports = PORT_COLUMN_BITS // port_bits
        starts, channels = topology.outgoing
        return HopProgram(
            hop=hop,
            inject=inject,
            # each with the constant by which the kernels find it
            tables=pack_tables(
                topology,
                [topology.num_switches, survey.length, port_bits, column_ports],  # HEAD
                endpoint_numbers(topology),  # ENDPOINT_NUMBER
                survey.walks,  # WALKS
                starts,  # STARTS
                topology.channel_target[channels],  # TARGETS
                channels,  # CHANNELS
            ),
            # at least one class, also if a single switch has all terminals
            vc_classes=max(1, survey.longest),
            max_hops=survey.longest,
        )


@lru_cache(maxsize=1)
def _survey_paths(topology: Topology, length: int | None) -> _Survey:
    """Count the simple paths and walks of at most `length` hops (None: the diameter).

    If packets cannot draw paths, only the reason is returned.
    """
    # 1. The length: a path between any two switches with terminals has to fit.
    if reason := too_large(topology):
        return _Survey(reason)
    distance, names, ends = switch_distances(topology), topology.switch_names, topology.endpoints
    diameter = endpoint_diameter(topology, distance)
    if diameter is None:
        return _Survey("some pairs of switches with terminals have no path")
    # the diameter is 0 if only one switch has terminals
    max_hops = max(1, diameter if length is None else length)
    if max_hops < diameter:
        endpoint_distance = distance[np.ix_(ends, ends)]  # by (target, source)
        target, source = np.unravel_index(endpoint_distance.argmax(), endpoint_distance.shape)
        return _Survey(
            f"{names[ends[source]]} and {names[ends[target]]} are {diameter} hops apart, paths "
            f"have at most {max_hops}: raise length to {diameter}"
        )
    # 2. Walks, which the table holds. Their number is estimated before the table is allocated.
    starts, channels = topology.outgoing
    next_switch = topology.channel_target[channels]
    if reason := _size_problem(topology, max_hops):
        return _Survey(reason)
    walks = np.empty((len(ends), max_hops + 1, topology.num_switches), np.int32)
    if not count_walks(starts, next_switch, ends, walks):
        return _Survey(
            f"two switches have more than {MOST_WALKS} walks of up to {max_hops} hops between "
            "them: lower length"
        )
    # 3. Simple paths among these walks: a packet draws walks until one is simple, so the pair with
    #    the fewest of them decides whether drawing ends soon enough.
    arcs = Arcs(
        starts,
        channels,
        topology.channel_target,
        *topology.incoming,
        topology.channel_source,
    )
    num_simple, longest = count_simple_paths(arcs, ends, max_hops)
    # Both by (source, target). The walk without hops from a switch to itself does not count. That
    # pair has no simple path, and packets draw none for it: it counts with 0 draws.
    num_walks = walks[:, 1:, ends].sum(axis=1, dtype=np.int64).T
    mean_draws = np.divide(
        num_walks, num_simple, out=np.zeros(num_walks.shape), where=num_simple > 0
    )
    source, target = np.unravel_index(mean_draws.argmax(), mean_draws.shape)
    if mean_draws.max() > MOST_DRAWS:
        return _Survey(
            f"only {num_simple[source, target]} of {num_walks[source, target]} walks from "
            f"{names[ends[source]]} to {names[ends[target]]} of up to {max_hops} hops visit no "
            "switch twice, and drawing one would take too long: lower length"
        )
    return _Survey(reason=None, length=max_hops, longest=longest, walks=walks)


def _size_problem(topology: Topology, length: int) -> str | None:
    """Return why paths of up to `length` hops are too many, or too long for a packet's columns.

    None if they are neither.
    """
    ends = topology.endpoints
    # a packet stores the port of each hop in its STATES columns of PORT_COLUMN_BITS bits
    most_hops = STATES * (PORT_COLUMN_BITS // _port_bits(topology))
    if length > most_hops:
        return f"a packet has room for {most_hops} hops, paths have up to {length}: lower length"
    entries = len(ends) * (length + 1) * topology.num_switches
    if entries > MOST_TABLE_ENTRIES:
        return f"the table of walks would take {4 * entries // 10**6} MB: lower length"
    # The walks of each length from each switch to anywhere, first those without hops. A walk with
    # one hop more is a channel and a walk from its end.
    num_walks, total = np.ones(topology.num_switches), 0.0
    for _ in range(length):
        walks_after_channel = num_walks[topology.channel_target]
        num_walks = np.zeros_like(num_walks)
        np.add.at(num_walks, topology.channel_source, walks_after_channel)
        total += num_walks[ends].sum()
    if total > MOST_STEPS:
        return f"about {total:.0e} walks of up to {length} hops would be counted: lower length"
    return None


def _port_bits(topology: Topology) -> int:
    """Return how many bits hold any port number of a switch; at least 1, as it is a divisor."""
    return max(1, (most_channels(topology) - 1).bit_length())
