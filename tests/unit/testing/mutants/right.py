"""Plugins that keep every promise; the mutants derive from them and break one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import hop_kernels
import numpy as np

from routelab.api import (
    Capabilities,
    Collective,
    Column,
    ContextMetricPlugin,
    Demand,
    Direction,
    HopProgram,
    HopRoutingPlugin,
    LayersPlugin,
    Loop,
    Measurement,
    Messages,
    MetricPlugin,
    Parameters,
    Program,
    RoutingGraph,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    Topology,
    TopologyPlugin,
    TrafficPlugin,
    WorkloadPlugin,
    pack_tables,
    parameter,
)
from routelab.testing.bare_network import bare_lengths
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.legal_routes import first_paths, shortest_legal_routes
from routelab.toolkit import BlockBuilder


class RingParameters(Parameters):
    switches: int = parameter(5, ge=3, description="switches in the ring")


class RightTopology(TopologyPlugin):
    """A ring of links: switch i has coordinate i."""

    name = "right"
    summary = "A ring"
    Parameters = RingParameters

    def build(self):
        return self.ring()

    def ring(self, **changed):
        n = self.parameters.switches
        up, down = np.arange(n), np.roll(np.arange(n), -1)
        parts = {
            "family": "ring",
            "num_switches": n,
            "channel_source": np.concatenate((up, down)),
            "channel_target": np.concatenate((down, up)),
            "channel_direction": np.repeat((0, 1), n),
            "channel_ring": np.repeat((0, 1), n),
            "directions": (Direction("+X", 0, 1), Direction("-X", 0, -1)),
            "coordinates": up.reshape(-1, 1),
        }
        return Topology.create(**parts | changed)


class RightRules(RulesPlugin):
    """One hop from anywhere to anywhere, so nothing can wait for anything."""

    name = "right"
    summary = "One hop"
    capabilities = Capabilities(minimal=True, flow_control="plain")

    def supports(self, topology):
        ends = set(zip(topology.channel_source, topology.channel_target, strict=True))
        missing = topology.num_switches * (topology.num_switches - 1) - len(ends)
        return f"{missing} pairs have no channel" if missing else None

    def routing_graph(self, topology):
        return self.graph(topology)

    def graph(self, topology, **changed):
        parts = {
            "vertex_switch": np.repeat(np.arange(topology.num_switches), 2),
            "accepting": np.ones(2 * topology.num_switches, dtype=bool),
            "begin": 2 * np.arange(topology.num_switches),
            "edge_source": 2 * topology.channel_source,
            "edge_target": 2 * topology.channel_target + 1,
            "edge_channel": np.arange(topology.num_channels),
        }
        return RoutingGraph.create(topology, **parts | changed)


class AnyWalk(RightRules):
    """All networks, every walk; not free of deadlock."""

    name = "any-walk"
    capabilities = Capabilities()

    def supports(self, topology):
        return None

    def routing_graph(self, topology):
        return all_walks(topology)


class SelectionParameters(Parameters):
    choice: Literal["first", "last"] = parameter("first", description="which of equal routes")
    seed: int = parameter(0, ge=0, description="no meaning")


class RightSelection(SelectionPlugin):
    """The first shortest legal route."""

    name = "right"
    summary = "The first route"
    capabilities = Capabilities(minimal=True)
    Parameters = SelectionParameters

    def select(self, graph):
        return first_paths(shortest_legal_routes(graph))


class RightLayers(LayersPlugin):
    """A hop's virtual channel is its place in the path: nothing waits for a lower one."""

    name = "right"
    summary = "Hop by hop"
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)

    def assign(self, table):
        first = np.repeat(table.path_start[:-1], table.path_length)
        return table.with_vcs(np.arange(len(table.hop_vc)) - first, "plain")


class AsItIs(LayersPlugin):
    """No virtual channels, and no claim."""

    name = "as-it-is"
    summary = "Nothing"
    capabilities = Capabilities(multipath=True)

    def assign(self, table):
        return table.with_vcs(np.zeros_like(table.hop_vc))


class RightRouting(RoutingPlugin):
    """The first shortest route, on a virtual channel of its own for every hop."""

    name = "right"
    summary = "Shortest routes"
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        flow_control="plain",
        virtual_channels=None,
        destination_based=True,
    )

    def route(self, topology):
        return RightLayers().assign(first_paths(shortest_legal_routes(all_walks(topology))))


class RightHops(HopRoutingPlugin):
    """Any shortest way; the class is the number of the hop, so nothing waits for a lower one."""

    name = "right-hop-by-hop"
    summary = "Any shortest way, a class for every hop"
    capabilities = Capabilities(minimal=True, multipath=True, virtual_channels=None)
    proof = "acyclic"
    fault = hop_kernels.RIGHT
    more = 0

    def supports(self, topology, virtual_channels):
        reason = self.cut_off(topology)
        needed = self.classes(topology)
        if reason is None and virtual_channels < needed:
            return f"needs {needed} virtual channels"
        return reason

    def cut_off(self, topology):
        lost = int((bare_lengths(topology) < 0).sum())
        return f"{lost} pairs have no way" if lost or not topology.num_channels else None

    def classes(self, topology):
        return int(bare_lengths(topology).max()) + self.more

    def prepare(self, topology, virtual_channels):
        busiest = int(np.diff(topology.outgoing[0]).max())
        every = replace(topology, terminal_switch=np.arange(topology.num_switches))
        tables = pack_tables(
            topology,
            [self.fault, topology.num_switches, topology.num_channels, busiest],
            *topology.outgoing,
            topology.channel_target,
            bare_lengths(every),
        )
        needed = self.classes(topology)
        return HopProgram(hop_kernels.hop, tables, needed, candidates=busiest, max_hops=needed)


class RightMetric(MetricPlugin):
    """A count."""

    name = "right"
    summary = "Hops of all paths"
    columns = (Column("all_hops", "hops of all paths", unit="hops", better="lower"),)

    def measure(self, table, graph):
        return [Measurement("all_hops", float(table.path_length.sum()))]


class RightContextMetric(ContextMetricPlugin):
    """What a failure costs."""

    name = "right-in-context"
    summary = "Hops of all paths without the last link"
    columns = (Column("all_hops", "hops of all paths", unit="hops", better="lower"),)
    by_default = False

    def measure_in(self, context):
        whole = context.table.topology
        lost = whole.links[-1:].reshape(-1).tolist()
        table = context.reroute(whole.without(channels=lost))
        return [Measurement("all_hops", float(table.path_length.sum()))]


class RightTraffic(TrafficPlugin):
    """A shift by a random number of ranks."""

    name = "right"
    summary = "Every terminal sends the same number of ranks further"

    def supports(self, topology):
        return "there is no destination" if topology.num_terminals < 2 else None

    def targets(self, topology, seed):
        count = topology.num_terminals
        return (np.arange(count) + 1 + np.random.PCG64(seed).random_raw() % (count - 1)) % count

    def demand(self, topology, seed):
        return Demand.permutation(self.targets(topology, seed), "a shift by rank, not to itself")

    def messages(self, topology, seed):
        targets = self.targets(topology, seed)
        return Messages.create(np.arange(len(targets) + 1), targets)


class RightWorkload(WorkloadPlugin):
    """A ring of messages, and a barrier, again and again."""

    name = "right"
    summary = "Every rank sends to the next one, several times"

    def supports(self, job):
        return "there is no destination" if job.ranks < 2 else None

    def size(self):
        return 64

    def ring(self, job):
        at = np.arange(job.ranks)
        to, source = (at + 1) % job.ranks, (at - 1) % job.ranks
        return BlockBuilder(job.ranks).send_receive(at, to, self.size(), source).build()

    def program(self, job):
        steps = (Loop((self.ring(job), Collective("barrier")), 3),)
        return Program(job.ranks, steps, "rank r to r + 1, one way, modulo the ranks")


RIGHT = (
    RightTopology,
    RightRules,
    AnyWalk,
    RightSelection,
    RightLayers,
    AsItIs,
    RightRouting,
    RightHops,
    RightMetric,
    RightContextMetric,
    RightTraffic,
    RightWorkload,
)
