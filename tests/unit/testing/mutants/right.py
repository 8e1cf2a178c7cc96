"""Plugins that keep every promise; the mutants derive from them and break one."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import hop_kernels
import numpy as np

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    Capabilities,
    Collective,
    Column,
    ContextMetricPlugin,
    Demand,
    Direction,
    EnginePlugin,
    EngineResult,
    ExportPlugin,
    FabricPlugin,
    FigureOfMerit,
    HopProgram,
    HopRoutingPlugin,
    InputError,
    Job,
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
    WorkloadModel,
    WorkloadPlugin,
    pack_tables,
    parameter,
)
from routelab.metrics import channel_load_bound
from routelab.testing.bare_network import bare_lengths
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.legal_routes import first_paths, shortest_legal_routes
from routelab.toolkit import BlockBuilder, route_lines, table_from_lines


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


class RightEngine(EnginePlugin):
    """The channel with most traffic on it decides what the network accepts."""

    name = "right-engine"
    summary = "Loads of channels in the place of packets"
    work = "traffic"
    columns = (
        Column("load", "Offered load", of=("simulations", "loads")),
        Column("offered_load", "The same", of=("simulations", "loads")),
        Column("accepted_load", "At most the bound", of=("simulations", "loads")),
        Column("saturation_load", "The bound", of=("simulations",), needs="find_saturation"),
        Column("seconds", "Time of the engine", of=("simulations",)),
    )
    clock = ("seconds",)
    brief = MappingProxyType({"find_saturation": True})

    class Parameters(Parameters):
        load: float = parameter(0.9, gt=0, le=1, description="Largest offered load")
        find_saturation: bool = parameter(False, description="Report the bound, too")

    def supports(self, case):
        return "it decides hop by hop" if case.routing.hop_by_hop else None

    def bound(self, case):
        demand = case.work.demand(case.network, 0)
        return channel_load_bound(case.routing.table(case.network), demand)

    def accepted(self, load, bound):
        return min(load, bound)

    def run(self, case):
        began, bound = time.perf_counter(), self.bound(case)
        loads = [self.parameters.load / 2, self.parameters.load]
        table = {
            "load": loads,
            "offered_load": loads,
            "accepted_load": [self.accepted(load, bound) for load in loads],
        }
        facts = {name: column[-1] for name, column in table.items()}
        if self.parameters.find_saturation:
            facts["saturation_load"] = bound
        facts["seconds"] = time.perf_counter() - began
        return EngineResult(facts, {"loads": table})


class RightWorkloadEngine(EnginePlugin):
    """Every message of every rank, one after the other over one link."""

    name = "right-workload-engine"
    summary = "All bytes one after the other"
    work = "workload"
    columns = (
        Column("completion_time_s", "When all has been sent", unit="s", of=("flows",)),
        Column("rank", "Number of the rank", of=("flow-ranks",)),
    )

    class Parameters(Parameters):
        link_bandwidth: float = parameter(1e9, gt=0, description="Bytes per second")

    def run(self, case):
        ranks = case.network.num_terminals
        program = case.work.program(Job(ranks))
        total = float(program.point_to_point().bytes.sum())
        seconds = total / self.parameters.link_bandwidth
        return EngineResult(
            {"completion_time_s": seconds}, {"flow-ranks": {"rank": list(range(ranks))}}
        )


class RightExport(ExportPlugin):
    """Numbers of switches and channels."""

    name = "right"
    summary = "Lines of text"
    capabilities = Capabilities(multipath=True)

    def supports(self, table):
        return "there is nothing to write" if not table.topology.num_channels else None

    def network(self, topology):
        ends = zip(topology.channel_source, topology.channel_target, strict=True)
        return "".join(
            [
                " ".join(topology.switch_names) + "\n",
                " ".join(map(str, topology.terminal_switch)) + "\n",
                *(f"{source} {target}\n" for source, target in ends),
            ]
        )

    def export(self, table, machine):
        channels = [str(channel) for channel in range(table.topology.num_channels)]
        routes = "".join(f"{line}\n" for line in route_lines(table, channels))
        return {"network.txt": self.network(table.topology), "routes.txt": routes}

    def read(self, files):
        if not files["network.txt"]:
            raise InputError("network.txt is empty")
        names, terminals, *channels = files["network.txt"].splitlines()
        topology = Topology.create(
            num_switches=len(names.split()),
            switch_names=names.split(),
            terminal_switch=list(map(int, terminals.split())),
            channel_source=[int(line.split()[0]) for line in channels],
            channel_target=[int(line.split()[1]) for line in channels],
        )
        routes = files["routes.txt"].splitlines()
        return table_from_lines(topology, routes, lambda _, channel: int(channel))


class RightBenchmark(BenchmarkPlugin):
    name = "right-benchmark"
    summary = "Prints its time"
    figure = "time"

    def supports(self, ranks, ranks_per_node):
        return None if ranks > 1 else "one rank has no destination"

    def executables(self, ranks):
        return ("my-benchmark", f"my-benchmark.{ranks}")

    def command(self, task):
        return (str(task.executable), "input.txt")

    def files(self, task):
        return {"input.txt": f"{task.ranks}\n"}

    def parse(self, output, task):
        found = re.fullmatch(r"time ([0-9]+\.[0-9]+) s\n", output.stdout)
        if found is None or output.exit_code:
            raise BenchmarkError("unreadable", "there is no time")
        return BenchmarkResult((FigureOfMerit("time", float(found[1]), "s", "lower"),))

    def model(self, task):
        return WorkloadModel("my-workload")

    def predicted(self, facts, task):
        if "timed_s" not in facts:
            return ()
        return (FigureOfMerit("time", facts["timed_s"], "s", "lower"),)


class RightFabric(FabricPlugin):
    name = "right-fabric"
    summary = "Says which routing it is, and that it is none any more"

    def problems(self, job):
        return [] if len(job.hosts) > 1 else ["one host has nothing to route"]

    def apply(self, job, switch):
        switch.run(["switch", job.routing], 5)

    def restore(self, job, switch):
        switch.run(["switch", "back"], 5)


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
    RightEngine,
    RightWorkloadEngine,
    RightExport,
    RightBenchmark,
    RightFabric,
)
