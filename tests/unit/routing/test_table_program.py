"""Packets follow route tables without calls of the hop function, with the same results."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import layered_tables, line, line_table, numbers, reachable_demand, routers

from routelab.api import Demand, InputError, UnsupportedError, needed_classes
from routelab.kernels.hops import hop_kernel
from routelab.kernels.table_hops import ONLY, PAIR
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid

TORUS = build_grid("torus", (4, 4), wrap=True, terminals=2)


@hop_kernel
def refuse(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Give no candidate: whoever asks loses the packet."""
    return 0


def running(topology, program, router, demand, load):
    return Simulation(topology, program, router, OpenLoop(demand, load))


def numbers_of_ways(*case):
    """What a run counts with calls of the hop function, without them, and with prefetches."""
    for follows, far in ((0, 0), (1, 0), (1, 1)):
        simulation = running(*case)
        setting = simulation._engine.setting
        assert setting[at.S_TABLE_ROUTED] == 1
        setting[at.S_TABLE_ROUTED], setting[at.S_PREFETCH] = follows, far
        simulation.run(300)
        yield simulation.examined, numbers(simulation.counts())


@settings(max_examples=40)
@given(layered_tables(3), st.data())
def test_results_are_those_of_calls_of_the_hop_function(table, data):
    router = data.draw(routers(vcs=table.virtual_channels * data.draw(st.integers(1, 2))))
    demand = reachable_demand(table)
    called, followed, prefetched = numbers_of_ways(
        table.topology, table_program(table), router, demand, data.draw(st.floats(0.1, 1.0))
    )
    assert called == followed == prefetched


def test_both_halves_of_a_way_through_a_waypoint_are_followed():
    """At the waypoint a packet draws a path once more."""
    valiant = Routing.from_name("valiant~base=dor").prepare(TORUS, 4)
    router, demand = Router(vcs=needed_classes(valiant)), Demand.uniform(TORUS, "")
    called, followed, prefetched = numbers_of_ways(TORUS, valiant, router, demand, 0.3)
    assert called == followed == prefetched


@given(layered_tables(3))
def test_pairs_with_one_path_know_where_it_begins(table):
    tables = table_program(table).tables
    begin = tables[1 + ONLY]
    for pair, place in enumerate(tables[begin : begin + len(table.pair_start) - 1]):
        paths = range(table.pair_start[pair], table.pair_start[pair + 1])
        assert place == (table.path_start[paths[0]] if len(paths) == 1 else -1)


@given(layered_tables(1), st.floats(0.1, 1.0))
def test_packets_with_one_path_do_not_look_for_others(table, load):
    """Without the list of paths, packets that look for theirs have none."""
    complete = table_program(table)
    tables = complete.tables.copy()
    begin = tables[1 + PAIR]
    tables[begin : begin + len(table.pair_start)] = 0
    router, demand = Router(vcs=table.virtual_channels), reachable_demand(table)
    results = []
    for prepared in (complete, replace(complete, tables=tables)):
        simulation = running(table.topology, prepared, router, demand, load)
        simulation.run(200)
        results.append(numbers(simulation.counts()))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("pairs", "paths", "hops"),
    [(1, 1, 2**30), (1, 2**30, 1), (2**28 * 1.5, 2**28 * 1.5, 2**29)],
)
def test_tables_beyond_32_bits_are_refused(pairs, paths, hops):
    lengths = {"pair_start": pairs + 1, "path_weight": paths, "hop_channel": hops}
    # views of one number: such tables take gigabytes
    arrays = {name: np.broadcast_to(np.int32(0), int(size)) for name, size in lengths.items()}
    with pytest.raises(UnsupportedError, match="too large"):
        table_program(SimpleNamespace(topology=TORUS, virtual_channels=1, **arrays))


@pytest.mark.parametrize("dims", [(4, 3), (3, 5), (3, 3), (2, 2, 3)])
def test_the_table_of_another_network_is_refused(dims):
    network = build_grid("torus", (3, 4), wrap=True)
    other = build_grid("torus", dims, wrap=True)
    program = table_program(route_network(network, Routing.from_name("dor"))[0].table)
    Simulation(network, program, Router(), OpenLoop(Demand.uniform(network, ""), 0.1))
    with pytest.raises(InputError, match="another network"):
        Simulation(other, program, Router(), OpenLoop(Demand.uniform(other, ""), 0.1))


@pytest.mark.parametrize("follows", [True, False])
def test_no_hop_of_a_table_is_a_call(follows):
    table = line_table(line(4))
    simulation = running(
        table.topology, table_program(table), Router(), reachable_demand(table), 0.5
    )
    simulation._engine.setting[at.S_TABLE_ROUTED] = follows
    simulation._hop = refuse
    simulation.run(300)
    assert (simulation.blocked() is None) == follows
