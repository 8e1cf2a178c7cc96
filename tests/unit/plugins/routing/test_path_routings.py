"""Routings along simple paths: their tables, the choice among stored paths."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from routelab.api import Topology, run_tables
from routelab.deadlock import check_table
from routelab.kernels import hops as abi
from routelab.routing.routing import Routing
from routelab.testing.inputs.networks import NETWORKS
from routelab.toolkit import build_grid
from routelab.toolkit.families.simple_paths import shortest_simple_paths


def reason(text: str, topology: Topology, vcs: int) -> str | None:
    return Routing.from_name(text).supports(topology, vcs)


def pool(topology: Topology, source: int, target: int, k: int, seed: int) -> list[list[int]]:
    paths = shortest_simple_paths(topology, k, seed)
    pair = source * len(topology.endpoints) + target
    start = paths.hop_start
    return [
        paths.hops[start[path] : start[path + 1]].tolist()
        for path in range(paths.pair_start[pair], paths.pair_start[pair + 1])
    ]


@pytest.mark.parametrize("name", ["petersen", "parallel-links", "several-terminals", "mesh"])
def test_ksp_spreads_packets_over_the_k_shortest_paths(name) -> None:
    network = NETWORKS[name]()
    table = Routing.from_name("ksp~k=5,seed=3").table(network)
    for source, target in permutations(network.endpoints.tolist(), 2):
        expected = pool(network, source, target, 5, 3)
        assert table.paths(source, target) == expected
        pair = table.pair(source, target)
        paths = range(table.pair_start[pair], table.pair_start[pair + 1])
        for path in paths:
            assert table.path_weight[path] == pytest.approx(1 / len(expected))
            hops = slice(table.path_start[path], table.path_start[path + 1])
            assert table.hop_vc[hops].tolist() == list(range(table.path_length[path]))
    assert check_table(table).proven


def test_ksp_leaves_pairs_without_a_path_without_a_route() -> None:
    network = NETWORKS["two-components"]()
    table = Routing.from_name("ksp").table(network)
    for source, target in permutations(range(6), 2):
        # a ring of three has two ways round
        assert len(table.paths(source, target)) == (2 if source // 3 == target // 3 else 0)


def test_ksp_ugal_names_the_pair_and_the_number_of_virtual_channels() -> None:
    assert reason("ksp-ugal", NETWORKS["two-components"](), 8) == "no path leads from 0 to 3"
    petersen = NETWORKS["petersen"]()
    longest = shortest_simple_paths(petersen, 8, 0).longest[0]
    assert reason("ksp-ugal", petersen, longest) is None
    answer = reason("ksp-ugal", petersen, longest - 1)
    assert f"has {longest} hops" in answer
    assert f"raise vcs to {longest}" in answer


def cost_of(queues, path: list[int], vcs: int) -> int:
    """Queue behind the first channel times hops; packets of four flits."""
    rows = queues[vcs * path[0] : vcs * (path[0] + 1)]
    return 4 * int((rows[:, abi.CAPACITY] - rows[:, abi.CREDITS]).sum()) * len(path)


@pytest.mark.parametrize("compare", ["two", "all"])
@pytest.mark.parametrize("threshold", [0, 40])
def test_ksp_ugal_takes_the_path_with_the_shorter_queue_times_hops(compare, threshold) -> None:
    network = build_grid("torus", (4, 4), wrap=True)
    text = f"ksp-ugal~k=6,seed=2,compare={compare},threshold={threshold},queue=channel"
    vcs = shortest_simple_paths(network, 6, 2).longest[0]
    program = Routing.from_name(text).prepare(network, vcs)
    run = run_tables(program, network, vcs, capacity=8, unit_flits=4, packet_flits=4)
    rng, longer = np.random.default_rng(1), 0
    out = np.zeros((1, 3), np.int32)
    for word in rng.integers(2**64, size=300, dtype=np.uint64):
        random = abi.RandomWord(word)
        run.queues[:, abi.CREDITS] = rng.choice([0, 4, 8], p=[0.2, 0.3, 0.5], size=run.buffers)
        source, target = rng.choice(16, size=2, replace=False).tolist()
        packets = np.zeros((1, abi.PACKET_COLUMNS), np.int32)
        packets[0, [abi.SOURCE, abi.TARGET, abi.DESTINATION]] = source, target, target
        packets[0, abi.WAYPOINT] = -1
        program.inject(
            run.tables, program.reals.copy(), packets, 0, run.queues, program.hop, random, out
        )
        taken, here = [], source
        while here != target:
            last = (taken[-1], len(taken) - 1) if taken else (-1, -1)
            assert program.hop(run.tables, packets, 0, run.queues, here, *last, random, out) == 1
            assert out[0].tolist() == [out[0, 0], len(taken), 0]
            taken.append(int(out[0, 0]))
            packets[0, abi.HOPS] += 1
            here = int(network.channel_target[taken[-1]])
        paths = pool(network, source, target, 6, 2)
        if compare == "all":
            costs = [(cost_of(run.queues, path, vcs), len(path)) for path in paths]
            assert taken in [paths[k] for k in range(len(paths)) if costs[k] == min(costs)]
        else:
            other = paths[abi.pick_word(word, len(paths))]
            shortest = [path for path in paths if len(path) == len(paths[0])]
            minimal = shortest[abi.pick_word(np.uint64(abi.word_after(word)), len(shortest))]
            least, most = (cost_of(run.queues, path, vcs) for path in (minimal, other))
            assert taken == (minimal if least <= most + threshold else other)
        longer += len(taken) > len(paths[0])
    assert 10 < longer < 200
