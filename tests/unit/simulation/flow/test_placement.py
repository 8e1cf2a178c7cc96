"""Where ranks run: rooms are kept, files are read line by line, and optimised is no worse."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from routelab.api import InputError
from routelab.api.blocks import Block
from routelab.api.workload import Loop, Program
from routelab.registry.instances import load_routing
from routelab.simulation.flow.placement import (
    Objective,
    bytes_between,
    optimise_placement,
    placement_cost,
    rank_terminals,
    read_placement,
)
from routelab.simulation.flow.schedule import schedule
from routelab.stages.chain import reroute
from routelab.toolkit import build_grid
from routelab.toolkit.workloads.block_builder import BlockBuilder

NETWORKS = {"4x2": (4, 2), "2x2x2": (2, 2, 2)}


def table(dims, routing="dor", speeds=(1.0,)):
    network = build_grid("torus", dims, wrap=True)
    capacity = np.resize(speeds, network.num_channels)
    return reroute(load_routing(routing), replace(network, channel_capacity=capacity))


def random_bytes(ranks, seed):
    random = np.random.default_rng(seed)
    return random.integers(0, 1000, (ranks, ranks)) * (random.random((ranks, ranks)) < 0.3) * 1.0


def naive_objective(terminal, between, routes):
    """Byte after byte along its route; equal shares of several paths do not occur here."""
    loads = np.zeros(routes.topology.num_channels)
    for source, row in enumerate(between):
        for target, amount in enumerate(row):
            ends = (routes.topology.terminal_switch[terminal[k]] for k in (source, target))
            (path,) = routes.paths(*map(int, ends))
            loads[path] += amount
    capacity = routes.topology.channel_capacity
    return loads.sum(), (loads * capacity.max() / capacity).max()


@pytest.mark.parametrize(("ranks", "each"), [(8, 1), (7, 1), (32, 4), (30, 4), (5, 2), (1, 1)])
def test_block_and_cyclic_fill_as_many_terminals_as_are_needed(ranks, each):
    network = build_grid("torus", (4, 2), wrap=True)
    for name in ("block", "cyclic"):
        terminal = rank_terminals(name, ranks, network, each)
        counts = np.bincount(terminal, minlength=8)
        assert counts.sum() == ranks
        assert counts.max() <= each
        assert (counts > 0).sum() == -(-ranks // each)
    assert (np.diff(rank_terminals("block", ranks, network, each)) >= 0).all()
    cyclic = rank_terminals("cyclic", ranks, network, each)
    used = cyclic.max() + 1
    assert (np.diff(cyclic) % used == 1 % used).all()


def test_ranks_without_room_are_refused():
    network = build_grid("torus", (4, 2), wrap=True)
    with pytest.raises(InputError, match="33 ranks do not fit on 8 terminals with 4 each"):
        rank_terminals("block", 33, network, 4)


def test_a_file_lists_terminals(tmp_path):
    network = build_grid("torus", (4, 2), wrap=True)
    file = tmp_path / "ranks.txt"
    file.write_text("7 # the first\n\n# a line of its own\n0\n7\n3\n")
    assert read_placement(file) == [(1, 7), (4, 0), (5, 7), (6, 3)]
    assert rank_terminals(str(file), 4, network, 2).tolist() == [7, 0, 7, 3]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0\nx\n2\n-1\n", [":2: 'x' is not a terminal", ":4: '-1' is not a terminal"]),
        ("0\n8\n1\n2\n", [":2: terminal 8 does not exist; the network has 8"]),
        ("0\n0\n0\n1\n", [":3: terminal 0 has more than 2 ranks"]),
        ("0\n1\n", [": has 2 terminals, there are 4 ranks"]),
        ("\n", [": no line names a terminal"]),
    ],
)
def test_a_wrong_file_is_told_of_with_its_lines(tmp_path, text, told):
    file = tmp_path / "ranks.txt"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        rank_terminals(str(file), 4, build_grid("torus", (4, 2), wrap=True), 2)
    lines = str(raised.value).splitlines()
    assert [line[: len(str(file)) + len(t)] for line, t in zip(lines, told, strict=True)] == [
        f"{file}{t}" for t in told
    ]


def test_a_placement_that_is_neither_known_nor_a_file_is_refused():
    with pytest.raises(InputError, match=r"blok: No such file .* or one of block, cyclic, optim"):
        rank_terminals("blok", 4, build_grid("torus", (4, 2), wrap=True), 2)


@pytest.mark.parametrize("dims", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("speeds", [(1.0,), (100.0, 40.0, 25.0)])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_what_its_bytes_cross(dims, seed, speeds):
    routes = table(dims, speeds=speeds)
    between = random_bytes(16, seed)
    terminal = np.random.default_rng(seed).permutation(np.repeat(np.arange(8), 2)).astype(np.int32)
    found = placement_cost(terminal, between, routes)
    assert (found.byte_hops, found.largest_load) == pytest.approx(
        naive_objective(terminal, between, routes)
    )


@pytest.mark.parametrize("dims", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("ranks", [16, 13])
@pytest.mark.parametrize("seed", range(3))
def test_optimised_is_seeded_keeps_rooms_and_is_never_worse_than_block(dims, ranks, seed):
    routes = table(dims)
    between = random_bytes(ranks, seed)
    found = optimise_placement(between, routes, 2, seed)
    assert (found == optimise_placement(between, routes, 2, seed)).all()
    assert len(found) == ranks
    assert np.bincount(found, minlength=8).max() <= 2
    block = rank_terminals("block", ranks, routes.topology, 2)
    assert not placement_cost(block, between, routes) < placement_cost(found, between, routes)


def test_optimised_finds_the_best_placement_of_a_ring_that_was_shuffled():
    routes = table((6,))
    shuffled = [3, 0, 5, 1, 4, 2]
    between = np.zeros((6, 6))
    for i in range(6):
        between[shuffled[i], shuffled[(i + 1) % 6]] = between[
            shuffled[(i + 1) % 6], shuffled[i]
        ] = 5
    best = min(
        naive_objective(np.array(order), between, routes) for order in permutations(range(6))
    )
    found = naive_objective(optimise_placement(between, routes, 1, 0), between, routes)
    assert best == found == (60, 5)


def test_fewer_byte_hops_come_first_and_then_the_smaller_largest_load():
    assert Objective(1, 9) < Objective(2, 3)
    assert Objective(1, 3) < Objective(1 + 1e-12, 9)
    assert not Objective(1, 3) < Objective(1, 3)


def test_bytes_between_ranks_are_those_of_all_rounds():
    def message(source, target, amount) -> Block:
        builder = BlockBuilder(3)
        return builder.send(source, target, amount).receive(target, source, amount).build()

    program = Program(
        ranks=3,
        before=(message(2, 0, 7),),
        timed=(Loop((message(0, 1, 10), Loop((message(1, 2, 3),), 2)), 5),),
        convention="a test",
    )
    expected = np.array([[0, 50, 0], [0, 0, 30], [7, 0, 0]])
    assert (bytes_between(schedule(program)) == expected).all()
    assert (bytes_between(schedule(program, iterations=2)) == expected).all()
