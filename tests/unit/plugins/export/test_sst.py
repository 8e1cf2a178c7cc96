"""Files for SST: as its reader takes them, step by step, and no damaged ones."""

from __future__ import annotations

import json
import random
import re
import sys
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from types import ModuleType

import networkx as nx
import numpy as np
import pytest
from random_tables import weighted_table

import routelab
from routelab.api import InputError, RouteTable, Topology
from routelab.results.exports import table_mismatch
from routelab.routing.export import read_export, write_export
from routelab.routing.prove import prove_routes
from routelab.toolkit import build_grid
from routelab.toolkit.machine import Machine
from routelab_plugins.export.sst import NETWORK, ROUTES, RUN, SST

MACHINE = Machine(link_bandwidth=12.5e9, injection_bandwidth=3.125e9, hop_latency=6e-8)
SEEDS = range(30)


def irregular():
    """A random network of 12 switches without three of its links, with routes from up/down."""
    return routelab.route(
        "random-irregular~switches=12,terminals=2,fail_links=3", "sssp@up-down"
    ).table


def several_paths(seed=1):
    """One to three simple paths for every pair, of any length and weight."""
    generator = random.Random(seed)
    graph = nx.random_regular_graph(4, 9, seed=seed)
    ends = [(a, b) for pair in graph.edges for a, b in (pair, pair[::-1])]
    generator.shuffle(ends)
    number = {pair: channel for channel, pair in enumerate(ends)}
    terminals = [*range(9), 4, 0, 4]
    generator.shuffle(terminals)
    topology = Topology.create(
        num_switches=9,
        switch_names=[f'<{switch}> & "{switch}"\r' for switch in range(9)],
        channel_source=[a for a, _ in ends],
        channel_target=[b for _, b in ends],
        terminal_switch=terminals,
        terminal_names=[f"host {terminal}" for terminal in range(12)],
    )

    def weighted_paths(source, target):
        paths = [[source]]
        if source != target:
            paths = list(nx.all_simple_paths(graph, source, target, cutoff=4))
            paths = generator.sample(paths, min(len(paths), generator.choice([1, 2, 3])))
        shares = [generator.random() + 0.1 for _ in paths]
        return [
            (share / sum(shares), [number[pair] for pair in pairwise(path)])
            for path, share in zip(paths, shares, strict=True)
        ]

    return weighted_table(topology, weighted_paths)


TABLES = {
    "torus": lambda: routelab.route("torus~dims=4x3x2,terminals=2", "dor").table,
    "dragonfly": lambda: routelab.route("dragonfly~a=4,p=2", "dfsssp").table,
    "irregular": irregular,
    "several paths": several_paths,
}


@pytest.fixture(scope="module", params=TABLES, ids=lambda name: name.replace(" ", "-"))
def table(request):
    return TABLES[request.param]()


class Imported:
    """What SST makes of a file: the rules of its reader, one after the other."""

    def __init__(self, text):
        graph = nx.read_graphml(BytesIO(text.encode()))
        assert not graph.is_directed()
        assert not graph.is_multigraph()
        # the ids are texts, so routers are numbered by the order of the nodes
        assert not any(isinstance(node, int) for node in graph)
        order = {node: router for router, node in enumerate(graph)}
        self.attributes = [graph.nodes[node] for node in graph]
        self.graph = nx.relabel_nodes(graph, order)
        self.router_of_endpoint = []
        for router, node in enumerate(self.attributes):
            assert type(node["endpoints"]) is int
            assert node["endpoints"] > 0
            self.router_of_endpoint += [router] * node["endpoints"]

    def terminal_of_endpoint(self):
        return [terminal for node in self.attributes for terminal in json.loads(node["terminals"])]

    def walk(self, source, target, path, channels_per_port):
        """Forward a packet; return the routers that it visits and the virtual channels."""
        at, hops, visited, left = source, 0, [source], list(path)
        while left and path[-1] != at:
            towards = left.pop(0)
            assert self.graph.has_edge(at, towards)
            hops += 1
            assert hops < channels_per_port
            at = towards
            visited.append(at)
        assert at == target
        assert not left
        return visited


def test_sst_forwards_packets_on_the_routes_of_the_table(table):
    assert SST().supports(table) is None
    files = SST().export(table, MACHINE)
    network, routes = Imported(files[NETWORK]), json.loads(files[ROUTES])
    topology = table.topology
    assert len(network.graph) == topology.num_switches
    assert network.graph.number_of_edges() == len(topology.links)
    terminals = network.terminal_of_endpoint()
    assert sorted(terminals) == list(range(topology.num_terminals))
    assert topology.terminal_switch[terminals].tolist() == network.router_of_endpoint
    assert [node["name"] for node in network.attributes] == list(topology.switch_names)
    # no attribute changes the paths that SST computes for its own messages
    assert not any("weight" in data for *_, data in network.graph.edges(data=True))
    channels_per_port = int(table.path_length.max()) + 1
    for source in range(topology.num_switches):
        assert routes[str(source)].keys() == {
            str(target) for target in range(topology.num_switches) if target != source
        }
        for target, paths in routes[str(source)].items():
            visited = [
                network.walk(source, int(target), path, channels_per_port) for _, path in paths
            ]
            expected = [
                [source, *topology.channel_target[way].tolist()]
                for way in table.paths(source, int(target))
            ]
            assert visited == expected
            assert sum(weight for weight, _ in paths) == pytest.approx(1, abs=1e-12)


def test_files_come_back_as_the_table_on_the_virtual_channels_of_sst(table, tmp_path):
    files = SST().export(table, MACHINE)
    exported = SST().read(files)
    assert table_mismatch(table, exported) is None
    assert exported.topology.terminal_names == table.topology.terminal_names
    for path in range(table.num_paths):
        hops = slice(*exported.path_start[path : path + 2])
        assert exported.hop_vc[hops].tolist() == list(range(1, table.path_length[path] + 1))
    assert exported.virtual_channels == table.path_length.max() + 1
    write_export(files, tmp_path)
    assert table_mismatch(table, read_export(tmp_path)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_any_weights_and_numbers_come_back(seed):
    table = several_paths(seed)
    assert SST().supports(table) is None
    assert table_mismatch(table, SST().read(SST().export(table, MACHINE))) is None


def test_prove_finds_the_loads_of_the_table_and_no_cycle(tmp_path):
    """In SST, the hops of a route are on ascending virtual channels."""
    result = routelab.route("torus~dims=5x5", "sssp@unrestricted")
    write_export(SST().export(result.table, MACHINE), tmp_path)
    proof = prove_routes(tmp_path)
    assert proof.status == "proven"
    for name in ("max_load", "mean_hops", "max_hops"):
        assert proof.facts[name] == result.facts[name]


class Recorder:
    """Stand-in for the modules of SST: writes down calls and the values of attributes."""

    def __init__(self, calls, name):
        self.__dict__.update(_calls=calls, _name=name)

    def __setattr__(self, name, value):
        self._calls.append((f"{self._name}.{name}", value))
        self.__dict__[name] = value

    def __getattr__(self, name):
        def call(*args, **options):
            self._calls.append((f"{self._name}.{name}()", (args, options)))
            return 24 if name == "getNumNodes" else None

        return call


MODULES = {
    "base": ("System", "hr_router"),
    "endpoint": ("OfferedLoadJob",),
    "interface": ("EndpointNIC",),
    "targetgen": ("UniformTarget",),
    "topology": ("topoAny",),
}


def run(files, folder, monkeypatch):
    """Run the script on stand-ins; return the calls in their order."""
    write_export(files, folder)
    calls = []

    def maker(name):
        def make(*args, **options):
            calls.append((f"{name}()", (args, options)))
            return Recorder(calls, name)

        return make

    for module in ("sst", "sst.merlin"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    for module, names in MODULES.items():
        stub = ModuleType(f"sst.merlin.{module}")
        vars(stub).update({name: maker(name) for name in names})
        monkeypatch.setitem(sys.modules, stub.__name__, stub)
    script = folder / RUN
    exec(compile(script.read_text(), str(script), "exec"), {"__file__": str(script)})
    return calls


def test_the_script_has_thirty_lines_and_calls_sst_in_order(tmp_path, monkeypatch):
    table = TABLES["torus"]()
    files = SST().export(table, MACHINE)
    assert len(files[RUN].splitlines()) <= 30
    assert max(map(len, files[RUN].splitlines())) <= 100
    calls = run(files, tmp_path, monkeypatch)
    assert [name for name, _ in calls if "()" in name] == [
        "topoAny()",
        "hr_router()",
        "topoAny.import_graph()",
        "EndpointNIC()",
        "EndpointNIC.addPlugin()",
        "topoAny.getNumNodes()",
        "OfferedLoadJob()",
        "System()",
        "OfferedLoadJob.setEndpointNIC()",
        "UniformTarget()",
        "System.setTopology()",
        "System.allocateNodes()",
        "System.build()",
    ]
    value = dict(calls)
    assert value["topoAny.import_graph()"] == ((str(tmp_path / NETWORK),), {})
    assert value["topoAny.routing_mode"] == "source_routing"
    assert value["topoAny.vcs_per_vn"] == int(table.path_length.max()) + 1
    assert value["EndpointNIC()"][1]["use_reorderLinkControl"] is True
    (plugin,), options = value["EndpointNIC.addPlugin()"]
    assert plugin == "sourceRoutingPlugin"
    # SST looks up integers, and a pair's paths are tuples of weight and routers
    assert options["routing_table"] == {
        source: {
            target: [
                (1.0, table.topology.channel_target[way].tolist())
                for way in table.paths(source, target)
            ]
            for target in range(24)
            if target != source
        }
        for source in range(24)
    }
    assert value["OfferedLoadJob()"] == ((0, 24), {})
    assert value["System.allocateNodes()"][0][1:] == ("linear",)


def test_speeds_of_the_machine_are_in_the_script(tmp_path, monkeypatch):
    table = TABLES["torus"]()
    value = dict(run(SST().export(table, MACHINE), tmp_path / "limited", monkeypatch))
    assert (value["hr_router.link_bw"], value["hr_router.xbar_bw"]) == ("100Gb/s", "200Gb/s")
    assert value["EndpointNIC.link_bw"] == value["OfferedLoadJob.link_bw"] == "25Gb/s"
    for name in ("topoAny.link_latency", "hr_router.input_latency", "hr_router.output_latency"):
        assert value[name] == "20000ps"
    fast = replace(table.topology, channel_capacity=np.full(table.topology.num_channels, 2.5))
    table = replace(table, topology=fast)
    machine = Machine(link_bandwidth=1e9 / 3, hop_latency=0)
    value = dict(run(SST().export(table, machine), tmp_path / "unlimited", monkeypatch))
    assert value["hr_router.link_bw"] == value["EndpointNIC.link_bw"] == "6.666666667Gb/s"
    assert value["topoAny.link_latency"] == "1ps"


def refusal(topology, next_hops=None, **options):
    """Why a table of shortest routes, or of next hops, is refused."""
    if next_hops is None:
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(range(topology.num_switches))
        for c, ends in enumerate(
            zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        ):
            graph.add_edge(*ends, key=c)
        next_hops = np.full((topology.num_switches, len(topology.endpoints)), -1)
        for column, target in enumerate(topology.endpoints.tolist()):
            for source, path in nx.single_target_shortest_path(graph, target).items():
                if source != target:
                    next_hops[source, column] = min(graph[path[0]][path[1]])
    return SST().supports(RouteTable.from_next_hops(topology, next_hops, **options))


def test_tables_that_sst_cannot_run_are_refused_with_the_reason():
    ring = build_grid("torus", (5,), wrap=True, terminals=2)
    assert refusal(ring) is None
    alone = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    assert "no links" in refusal(alone)
    capacity = np.ones(ring.num_channels)
    assert refusal(replace(ring, channel_capacity=2 * capacity)) is None
    capacity[3] = 4
    assert "different capacities" in refusal(replace(ring, channel_capacity=capacity))
    spine = Topology.create(
        num_switches=3,
        switch_names=["a", "b", "spine"],
        channel_source=[0, 2, 1, 2],
        channel_target=[2, 0, 2, 1],
        terminal_switch=[0, 1],
    )
    assert "switch spine has no terminals" in refusal(spine)
    doubled = Topology.create(
        num_switches=2, channel_source=[0, 0, 1, 1], channel_target=[1, 1, 0, 0]
    )
    assert "several links" in refusal(doubled)
    one_way = Topology.create(num_switches=3, channel_source=[0, 1, 2], channel_target=[1, 2, 0])
    assert "only one direction" in refusal(one_way)
    assert "some pairs have no route" in refusal(ring, np.full((5, 5), -1))
    to_terminals = np.repeat(np.flatnonzero(ring.channel_direction == 0)[:, None], 10, axis=1)
    assert "lead to terminals" in refusal(ring, to_terminals, per_terminal=True)


@pytest.mark.parametrize(
    ("lengths", "hops"),
    [
        # from 0 to 1, back, and to 1 again
        ([[0, 3], [1, 0]], [0, 1, 0, 1]),
        # from 0 to 0 over 1
        ([[2, 1], [1, 0]], [0, 1, 0, 1]),
    ],
)
def test_a_route_that_sst_would_cut_short_is_refused(lengths, hops):
    pair = Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    table = RouteTable.from_lengths(pair, lengths, hops)
    assert "visits its target before its end" in SST().supports(table)


def lose_line(text, mark, generator):
    """Drop one of the lines that begin with a mark."""
    lines = text.splitlines(keepends=True)
    lines.pop(
        generator.choice([n for n, line in enumerate(lines) if line.strip().startswith(mark)])
    )
    return "".join(lines)


def damaged_paths(text, damage, generator):
    """The routes with one pair's first path and weight changed by `damage`."""
    routes = json.loads(text)
    row = routes[generator.choice(list(routes))]
    target = generator.choice(list(row))
    row[target] = damage(row[target], generator)
    return json.dumps(routes)


def detour(paths, generator):
    """Insert the path's own last router: there is no link from a router to itself."""
    (weight, path), *others = paths
    return [[weight, [*path, path[-1]]], *others]


def jump(paths, generator):
    (weight, path), *others = paths
    return [[weight, [generator.choice([9, 99, -1, "0", None, 0.5]), *path]], *others]


def reweighted(paths, generator):
    (weight, path), *others = paths
    factor = generator.choice([0.5, 2, -1, 0, 1 + 1e-5, float("nan"), float("inf")])
    return [[weight * factor, path], *others]


def textual(paths, generator):
    (weight, path), *others = paths
    return [[generator.choice([str(weight), None, True, [weight]]), path], *others]


def drop_last_channel(text):
    """Make the opposite of the last channel its own opposite, so that numbers have no gap."""
    numbers = re.findall(r'"channel">(\d+)</data><data key="opposite">(\d+)', text)
    last = max((number for ends in numbers for number in ends), key=int)
    other = next(n for ends in numbers if last in ends for n in ends if n != last)
    return text.replace(f'channel">{last}<', f'channel">{other}<').replace(
        f'opposite">{last}<', f'opposite">{other}<'
    )


DAMAGES = {
    "a lost node": (NETWORK, lambda text, g: lose_line(text, "<node", g)),
    "a lost edge": (NETWORK, lambda text, g: lose_line(text, "<edge", g)),
    "a cut network": (NETWORK, lambda text, g: text[: g.randrange(len(text) - 12)]),
    "a link with one channel": (NETWORK, lambda text, _: drop_last_channel(text)),
    "a directed network": (NETWORK, lambda text, g: text.replace("undirected", "directed")),
    "cut routes": (ROUTES, lambda text, g: text[: g.randrange(len(text) - 2)]),
    "a lost source": (ROUTES, lambda text, g: without_source(text, g)),
    "a lost pair": (ROUTES, lambda text, g: without_target(text, g)),
    "no path": (ROUTES, lambda text, g: damaged_paths(text, lambda paths, _: [], g)),
    "a path over no link": (ROUTES, lambda text, g: damaged_paths(text, jump, g)),
    "a path beyond its target": (ROUTES, lambda text, g: damaged_paths(text, detour, g)),
    "wrong weights": (ROUTES, lambda text, g: damaged_paths(text, reweighted, g)),
    "weights that are no numbers": (ROUTES, lambda text, g: damaged_paths(text, textual, g)),
}


def without_source(text, generator):
    routes = json.loads(text)
    del routes[generator.choice(list(routes))]
    return json.dumps(routes)


def without_target(text, generator):
    routes = json.loads(text)
    row = routes[generator.choice(list(routes))]
    del row[generator.choice(list(row))]
    return json.dumps(routes)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(damage):
    name, change = DAMAGES[damage]
    for seed in SEEDS:
        files = SST().export(several_paths(seed), MACHINE)
        damaged = change(files[name], random.Random(seed))
        with pytest.raises(InputError, match=f"sst: {name} cannot be read: "):
            SST().read(files | {name: damaged})


@pytest.mark.parametrize("name", [NETWORK, ROUTES])
def test_missing_files_are_named(name):
    files = SST().export(several_paths(), MACHINE)
    with pytest.raises(InputError, match=f"sst: {name} not found"):
        SST().read({other: text for other, text in files.items() if other != name})


def test_a_changed_script_is_no_damage():
    table = several_paths()
    files = SST().export(table, MACHINE)
    assert table_mismatch(table, SST().read(files | {RUN: "print('my own run')\n"})) is None
