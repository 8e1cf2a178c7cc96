"""Reachability: the naive twin and a partial table by hand."""

import naive_metrics as naive
from hypothesis import given
from random_tables import tables

from routelab.api import RouteTable, Topology
from routelab.metrics import destination_based, pairs, reachable_pairs


@given(tables())
def test_reachability_is_that_of_the_definition(table):
    found = naive.routes(table)
    assert pairs(table.topology) == len(found)
    assert reachable_pairs(table) == sum(bool(ways) for ways in found.values())


@given(tables())
def test_destination_based_is_what_the_definition_says(table):
    assert destination_based(table) == naive.destination_based(table)


def test_a_one_way_line_by_hand():
    line = Topology.create(
        num_switches=3, channel_source=[0, 1], channel_target=[1, 2], terminal_switch=[0, 0, 2]
    )
    table = RouteTable.from_lengths(line, [[0, 2], [-1, 0]], [0, 1])
    assert pairs(line) == 6
    # two on switch 0 reach each other, and both reach switch 2
    assert reachable_pairs(table) == 4
    assert destination_based(table)
