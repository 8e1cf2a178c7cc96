from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

from routelab.api import RouteTable, Topology
from routelab.config import Figure
from routelab.deadlock.verdict import Verdict
from routelab.metrics import channel_loads
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.route_data import (
    DIGITS,
    cycle_steps,
    estimate_size,
    graph_data,
    route_text,
)
from routelab.report.frames.runs import Frames


def random_table(seed, switches=7, links=13, per_terminal=False, spokes=0):
    """One or two shortest paths for each pair, with random shares; `spokes` make a wide hub."""
    rng = np.random.default_rng(seed)
    ends = [(s, (s + 1) % switches) for s in range(switches)]
    ends += [tuple(rng.choice(switches, 2, replace=False).tolist()) for _ in range(links)]
    ends += [(0, switches + spoke) for spoke in range(spokes)]
    both = [pair for a, b in ends for pair in ((a, b), (b, a))]
    source, target = zip(*both, strict=True)
    terminals = np.sort(rng.integers(0, switches, 9))
    topology = Topology.create(
        num_switches=switches + spokes,
        channel_source=source,
        channel_target=target,
        terminal_switch=terminals,
    )
    pair_start, path_start, weights, hops = [0], [0], [], []
    targets = terminals if per_terminal else topology.endpoints
    for a in topology.endpoints.tolist():
        for b in targets.tolist():
            count = 1 if a == b else int(rng.integers(0, 3))
            share = rng.dirichlet(np.ones(count)) if count else []
            for weight in share:
                hops += walk(topology, a, b, rng)
                path_start.append(len(hops))
                weights.append(weight)
            pair_start.append(len(weights))
    return RouteTable.create(
        topology,
        pair_start=pair_start,
        path_start=path_start,
        path_weight=weights,
        hop_channel=hops,
        per_terminal=per_terminal,
    )


def walk(topology, a, b, rng):
    """Channels of a random walk without a repeated switch, or of another one until it arrives."""
    while True:
        at, seen, channels = a, {a}, []
        while at != b:
            out = np.flatnonzero(topology.channel_source == at)
            free = [c for c in out.tolist() if int(topology.channel_target[c]) not in seen]
            if not free:
                break
            channels.append(int(rng.choice(free)))
            at = int(topology.channel_target[channels[-1]])
            seen.add(at)
        if at == b:
            return channels


def decode(data, text):
    """The channels and shares of all pairs, by the published format only."""
    terminals = data["terminals"]
    endpoints = sorted(set(terminals))
    pairs = text.split(",")
    routes = []
    for number, pair in enumerate(pairs):
        source = endpoints[number * len(endpoints) // len(pairs)]
        paths = [path.partition(":") for path in pair.split("|")] if pair else []
        found = []
        for digits, _, share in paths:
            at, channels = source, []
            while digits:
                code, digits = digits[: data["width"]], digits[data["width"] :]
                slot = sum(DIGITS.index(d) * 62**k for k, d in enumerate(reversed(code)))
                out = [c for c, end in enumerate(data["source"]) if end == at]
                channels.append(out[slot])
                at = data["target"][channels[-1]]
            found.append((channels, float(share) if share else 1 / len(paths)))
        routes.append(found)
    return routes


@pytest.mark.parametrize(
    ("seed", "per_terminal", "spokes"), [(1, False, 0), (2, True, 0), (3, False, 70), (4, True, 70)]
)
def test_the_routes_of_the_page_are_those_of_the_table(seed, per_terminal, spokes):
    table = random_table(seed, per_terminal=per_terminal, spokes=spokes)
    data = json.loads(json.dumps(graph_data(table.topology)))
    assert data["width"] == (2 if spokes else 1)
    routes = decode(data, route_text(table))
    assert len(routes) == len(table.pair_start) - 1
    for pair, found in enumerate(routes):
        paths = range(table.pair_start[pair], table.pair_start[pair + 1])
        expected = [
            table.hop_channel[table.path_start[k] : table.path_start[k + 1]].tolist() for k in paths
        ]
        # a switch has no hops to itself, which needs no text
        assert [channels for channels, _ in found] == [hops for hops in expected if hops]
        shares = [table.path_weight[k] for k in paths if expected[k - paths[0]]]
        assert [share for _, share in found] == pytest.approx(shares, abs=1e-6)


def test_the_size_of_routes_is_known_before_they_are_written():
    for seed in range(5):
        table = random_table(seed)
        assert 0.5 < estimate_size(table) / len(route_text(table)) < 2


@pytest.mark.parametrize("per_terminal", [False, True])
def test_the_pairs_of_a_channel_add_up_to_its_load(per_terminal):
    table = random_table(5, per_terminal=per_terminal)
    data = graph_data(table.topology)
    terminals = data["terminals"]
    endpoints = sorted(set(terminals))
    targets = [1] * len(terminals) if per_terminal else [terminals.count(at) for at in endpoints]
    loads = np.zeros(table.topology.num_channels)
    for pair, found in enumerate(decode(data, route_text(table))):
        source, target = divmod(pair, len(targets))
        for channels, share in found:
            loads[channels] += share * terminals.count(endpoints[source]) * targets[target]
    assert loads == pytest.approx(channel_loads(table), abs=1e-4)
    assert loads.max() > 1


def test_steps_of_a_cycle_are_found_by_the_ports_of_parallel_channels():
    topology = Topology.create(
        num_switches=3,
        channel_source=[0, 0, 1, 2],
        channel_target=[1, 1, 2, 0],
        source_port=[4, 5, 1, 1],
        switch_names=["a waits for b", "b", "c"],
    )
    verdict = Verdict(
        "not-proven", "plain", "", (), 2, cycle=((1, 0), (2, 1), (3, 0)), cycle_routes=((0, 2),) * 3
    )
    lines = verdict.describe_cycle(topology)
    assert cycle_steps(topology, "\n".join(lines)) == tuple(zip((1, 2, 3), lines, strict=True))


def test_routes_that_are_too_large_are_left_out_with_a_message(world, monkeypatch):
    world.add("a", "4x2")
    world.add("b", "4x2")
    table = random_table(6)
    monkeypatch.setattr(
        "routelab.report.figures.network_panels.load_routes", lambda path, topology: table
    )
    for record in world.records:
        (record.directory / "routes.npz").touch()
    monkeypatch.setattr(
        "routelab.report.figures.kinds.network.MAX_ROUTE_TEXT", 3 * estimate_size(table) // 2
    )
    spec = Figure(kind="network", colour="load")
    first, second = draw_figure(spec, Frames(world.records), [], "").inline.panels
    assert first.routes.text == route_text(table)
    assert not first.routes.note
    assert not second.routes.text
    assert "leaves out the routes" in second.routes.note


def test_routes_of_very_many_pairs_are_not_read(world, monkeypatch):
    world.add("a", "4x2")
    (world.records[0].directory / "routes.npz").write_text("unreadable")
    monkeypatch.setattr("routelab.report.figures.network_panels.MAX_PAIRS", 8 * 8 - 1)
    spec = Figure(kind="network", colour="load")
    (panel,) = draw_figure(spec, Frames(world.records), [], "").inline.panels
    assert not panel.routes.text
    assert "too many pairs of switches" in panel.routes.note


def test_routes_of_large_pictures_are_compressed_or_left_out(world, monkeypatch):
    world.add("a", "4x2")
    table = random_table(6)
    monkeypatch.setattr(
        "routelab.report.figures.network_panels.load_routes", lambda path, topology: table
    )
    (world.records[0].directory / "routes.npz").touch()
    kind = "routelab.report.figures.kinds.network"
    monkeypatch.setattr(f"{kind}.MAX_CHANNELS_IN_PAGE", 23)
    frames = Frames(world.records)
    spec = Figure(kind="network", colour="load")
    inline = draw_figure(spec, frames, [], "").inline
    (drawing,) = inline.packed.values()
    (panel,) = inline.panels
    packed = json.loads(zlib.decompress(base64.b64decode(panel.packed)))
    assert packed["routes"] == route_text(table)
    # now the routes do not fit beside the drawing
    monkeypatch.setattr(f"{kind}.MAX_PACKED", len(drawing) + 200)
    (panel,) = draw_figure(spec, frames, [], "").inline.panels
    assert "routes" not in json.loads(zlib.decompress(base64.b64decode(panel.packed)))
    assert "kB are left for compressed routes of this figure" in panel.routes.note
