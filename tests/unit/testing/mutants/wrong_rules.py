"""Wrong rules; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
from right import AnyWalk

from routelab.api import Capabilities, RoutingGraph, UnsupportedError
from routelab.testing.inputs.graphs import all_walks
from routelab.toolkit import build_grid


class SaysTrue(AnyWalk):
    name = "says-true"
    caught = "supports", "but returned True"

    def supports(self, topology):
        return True


class CannotSay(AnyWalk):
    name = "cannot-say"
    caught = "supports", "supports() raised IndexError"

    def supports(self, topology):
        return None if topology.channel_source[0] >= 0 else "odd"


class RaisesIts(AnyWalk):
    name = "raises-its-reason"
    caught = "supports", "return the text"

    def supports(self, topology):
        raise UnsupportedError("too lazy")


class Fickle(AnyWalk):
    name = "fickle"
    caught = "supports", "first and 'the mood is bad'"
    calls = itertools.count()

    def supports(self, topology):
        return "the mood is bad" if next(self.calls) % 2 else None


class CrashesOnNothing(AnyWalk):
    name = "crashes-on-nothing"
    caught = "result", "wrong_rules.py, line"

    def routing_graph(self, topology):
        topology.channel_source[0]
        return all_walks(topology)


class OfAnother(AnyWalk):
    name = "of-another"
    caught = "result", "another topology"

    def routing_graph(self, topology):
        return all_walks(build_grid("torus", (3, 3), wrap=True))


class ChangesItsInput(AnyWalk):
    name = "changes-its-input"
    caught = "input-unchanged", "channel_latency"

    def routing_graph(self, topology):
        object.__setattr__(topology, "channel_latency", topology.channel_latency + 1)
        return all_walks(topology)


class WritesToItsInput(AnyWalk):
    name = "writes-to-its-input"
    caught = "result", "tried to write into its input"

    def routing_graph(self, topology):
        topology.channel_latency[:] = 1
        return all_walks(topology)


class NothingBegins(AnyWalk):
    name = "nothing-begins"
    caught = "begins", "the begin vertex of switch 0 is not accepting"

    def routing_graph(self, topology):
        count = topology.num_switches
        switches = np.arange(count)
        channels = np.arange(topology.num_channels)
        source, target = topology.channel_source, topology.channel_target
        return RoutingGraph.create(
            topology,
            vertex_switch=np.tile(switches, 2),
            accepting=np.arange(2 * count) >= count,
            begin=switches,
            edge_source=np.concatenate((source, source + count)),
            edge_target=np.concatenate((target, target)) + count,
            edge_channel=np.tile(channels, 2),
        )


class LeavesOneOut(AnyWalk):
    name = "leaves-one-out"
    caught = "reachable", "no legal route, such as 1 to 0"

    def routing_graph(self, topology):
        right = all_walks(topology)
        kept = right.edge_target != 0
        return RoutingGraph.create(
            topology,
            vertex_switch=right.vertex_switch,
            accepting=right.accepting,
            begin=right.begin,
            edge_source=right.edge_source[kept],
            edge_target=right.edge_target[kept],
            edge_channel=right.edge_channel[kept],
        )


class TwoHopsAtLeast(AnyWalk):
    """No route of one hop, and a claim that all are as short as can be."""

    name = "two-hops-at-least"
    capabilities = Capabilities(minimal=True)
    caught = "minimal", "2 hops, 1 are enough"

    def routing_graph(self, topology):
        count = topology.num_switches
        source, target = topology.channel_source, topology.channel_target
        return RoutingGraph.create(
            topology,
            vertex_switch=np.tile(np.arange(count), 3),
            accepting=np.arange(3 * count) // count != 1,
            begin=np.arange(count),
            edge_source=np.concatenate([source + state * count for state in range(3)]),
            edge_target=np.concatenate([target + count * min(s + 1, 2) for s in range(3)]),
            edge_channel=np.tile(np.arange(topology.num_channels), 3),
        )


class ClaimsPlain(AnyWalk):
    name = "claims-plain"
    capabilities = Capabilities(flow_control="plain")
    caught = "deadlock-free", "all legal routes, under plain flow control"


class ClaimsBubble(AnyWalk):
    name = "claims-bubble"
    capabilities = Capabilities(flow_control="bubble")
    caught = "deadlock-free", "all shortest legal routes, under bubble flow control"

    def routing_graph(self, topology):
        return replace(all_walks(topology), minimal_only=True)


class RefusesAll(AnyWalk):
    name = "refuses-all"
    caught = "applies", "none of the inputs"

    def supports(self, topology):
        return "not today"


class NotForTori(AnyWalk):
    name = "not-for-tori"
    capabilities = Capabilities(families=("mesh", "torus"))
    caught = "families", "it claims torus and supports no such network"

    def supports(self, topology):
        return "a torus" if topology.family == "torus" else None


class NeedsAllParts(AnyWalk):
    name = "needs-all-parts"
    caught = "failures", "torus works and failed-torus does not"

    def supports(self, topology):
        return "a part failed" if topology.failed_switches else None


class ForgetsToRefuse(AnyWalk):
    name = "forgets-to-refuse"
    capabilities = Capabilities(tolerates_failures=False)
    caught = "failures", "refuse it in supports()"


class NeverEnds(AnyWalk):
    name = "never-ends"
    caught = "result", "took longer than 0.7 s (/"

    def routing_graph(self, topology):
        while topology.num_switches == 2:
            time.sleep(0.1)
        return all_walks(topology)
