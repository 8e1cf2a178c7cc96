"""Segment-based routing (SR) on any network.

Mejía, Flich, Duato, *Segment-Based Routing: A New Approach to Efficient Topology-Agnostic
Routing*, 2005; with Reinemo and Skeie at IPDPS 2006, doi 10.1109/IPDPS.2006.1639341. The links are
partitioned into segments: cycles and paths, each found between switches of earlier ones. Inside
every segment one pair of opposite turns is prohibited; where, is a free choice.

The paper leaves open in which order links are tried, where the restriction goes, and what happens
at bridges; its Figure 2 never sets ``subnet`` of the switches of a segment, and tries switches of
the current path again. Here:

- Subnets are what remains connected without any one of its links; bridges lie in no segment.
- ``order=greedy`` is Figure 2: depth first, neighbours in ascending order. ``order=shortest``
  always takes the shortest of all segments that are possible, which seldom makes unitary ones.
- A unitary segment, a link between two visited switches, is restricted at the end with fewer
  earlier links, against these only; never where its subnet starts.

No cycle of dependencies: among the segments of a cycle, take the one that was found last. Its inner
switches have no other links on the cycle, so the cycle runs through the whole segment, over its
restriction. A cycle over bridges has a subnet that it enters and leaves by the bridge at its start,
where no restriction is, and the same holds there. Every pair has a route: by induction, what is
inside a segment reaches both or one of its ends, and may turn there into any earlier link.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Int32Array
from routelab.toolkit.irregular import (
    ROOTS_AND_BEST,
    TURN_COLUMNS,
    best_root,
    neighbours_of,
    one_way_channel,
    root_of,
    turn_graph,
)
from routelab.toolkit.irregular.subnets import subnets_of
from routelab_plugins import works

from .placement import Placement, RestrictedLoads
from .search import Segment, find_segments


class SegmentParameters(Parameters):
    """Search for segments, and places of restrictions."""

    order: Literal["shortest", "greedy"] = parameter(
        "shortest",
        description="Order of the search: the shortest possible segment next, or depth first as "
        "in the paper's Figure 2",
    )
    restrict: Literal["middle", "first", "end", "local-search"] = parameter(
        "middle",
        description="Switch of a segment with the restriction: by position, or moved while this "
        "evens out the channel loads",
    )
    root: str = parameter(
        "center", description=f"Switch that the search starts from: {ROOTS_AND_BEST}"
    )


class SegmentRules(RulesPlugin):
    """One pair of opposite turns prohibited in every segment."""

    name = "segment"
    summary = "Prohibits one pair of opposite turns in each segment of links (SR)"
    citations = (
        works.MEJIA2005("segments and their restrictions (Figure 2)"),
        works.MEJIA2006("the published version"),
    )
    capabilities = Capabilities(minimal=False, flow_control="plain")
    columns = (
        *TURN_COLUMNS,
        Column(
            "segments",
            "`segment`: segments of links; as many as independent cycles",
            group="Prohibited turns",
        ),
        Column(
            "unitary_segments",
            "`segment`: segments that are a single link and take several restrictions",
            heading="segments of one link",
            better="lower",
            group="Prohibited turns",
        ),
        Column(
            "restrictions",
            "`segment`: pairs of opposite turns that are prohibited",
            heading="prohibited pairs of turns",
            better="lower",
            group="Prohibited turns",
        ),
        Column(
            "segment_list",
            "`segment`: switches of each segment and its restrictions, one segment per line",
            heading="segments and restrictions",
            group="Prohibited turns",
        ),
        Column(
            "segment",
            "`segment`: number of the channel's segment, from 1 in the order of the search; 0 for "
            "bridges",
            of=("channels",),
            nominal=True,
            group="Channels",
        ),
    )
    Parameters = SegmentParameters

    def supports(self, topology: Topology) -> str | None:
        """Require links in both directions."""
        return one_way_channel(topology)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes; see `routelab.toolkit.irregular.turn_graph`."""
        options: SegmentParameters = self.parameters
        neighbours = neighbours_of(topology)
        # the local search starts from restrictions in the middle
        position = "middle" if options.restrict == "local-search" else options.restrict

        def restrict_segments(root: int) -> tuple[list[Segment], Placement]:
            """Find the segments from a root on, and restrict each."""
            # Every switch may start a subnet, but the root's subnet comes first.
            subnets = subnets_of(neighbours, [root, *range(topology.num_switches)])
            segments = find_segments(subnets, neighbours, options.order)
            placement = Placement(segments, topology.num_switches)
            placement.choose(position)
            return segments, placement

        # 1. The switch where the search begins: named, or the one with the most even loads.
        needs_loads = options.root == "best" or options.restrict == "local-search"
        loads = RestrictedLoads(topology) if needs_loads else None
        if options.root == "best" and loads is not None:

            def unevenness_of(root: int) -> float:
                _, placement = restrict_segments(root)
                return loads.prohibit_only(placement.turns)

            root = best_root(topology, unevenness_of, max_tries=loads.max_comparisons)
        else:
            root = root_of(topology, options.root, self.name)

        # 2. Segments and their restrictions, which may move as long as loads become more even.
        segments, placement = restrict_segments(root)
        if options.restrict == "local-search" and loads is not None:
            placement.even_out(loads)

        # 3. All turns but the prohibited ones are legal.
        return turn_graph(
            topology,
            placement.turns,
            turn_set="segment",
            facts={
                "segments": len(segments),
                "unitary_segments": sum(segment.kind == "unitary" for segment in segments),
                "restrictions": len(placement.restrictions),
                "segment_list": _describe(topology, segments, placement),
            },
            channel_facts={"segment": _channel_segments(topology, segments)},
        )


def _describe(topology: Topology, segments: list[Segment], placement: Placement) -> str:
    """Return one line per segment: its number, kind, switches and restrictions."""
    names = topology.switch_names
    lines = []
    chosen = zip(segments, placement.options, placement.chosen, strict=True)
    for number, (segment, options, choice) in enumerate(chosen, 1):
        path = " ".join(names[switch] for switch in segment.switches)
        turns = ", ".join(f"{names[a]}-{names[b]}-{names[c]}" for a, b, c in options[choice])
        lines.append(f"{number} {segment.kind}: {path}; prohibited {turns}")
    return "\n".join(lines)


def _channel_segments(topology: Topology, segments: list[Segment]) -> Int32Array:
    """Return the number of each channel's segment, from 1; 0 for bridges; int32, shape (C,)."""
    number_of_link: dict[tuple[int, int], int] = {}
    for number, segment in enumerate(segments, 1):
        for source, target in segment.links:
            number_of_link[source, target] = number_of_link[target, source] = number
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    return np.array([number_of_link.get(pair, 0) for pair in ends], dtype=np.int32)
