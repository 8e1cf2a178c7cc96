"""What hop-by-hop programs see and decide: the packet engine and its naive twin agree."""

from __future__ import annotations

from dataclasses import replace

import decision_programs as weigh
import numpy as np
from decision_programs import decision_program
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import layered_table, messages_of, routers, shortest_way
from twins import PRIORITIES, assert_same

from routelab.api import needed_classes
from routelab.toolkit import build_grid

NETWORKS = [((3, 3), True), ((4, 3), True), ((3, 3), False), ((2, 2, 2), False)]


@st.composite
def crowded(draw):
    """A network, some of its channels slow, and traffic that meets: (table, messages)."""
    dims, wrap = draw(st.sampled_from(NETWORKS))
    terminals = draw(st.integers(1, 3))
    topology = build_grid("grid", dims, wrap, terminals=terminals)
    if draw(st.booleans()):
        capacity = np.random.default_rng(terminals).choice([1.0, 0.5, 0.25], topology.num_channels)
        topology = replace(topology, channel_capacity=capacity)
    random = draw(st.randoms(use_true_random=False))
    table = layered_table(topology, lambda s, t: shortest_way(topology, s, t, random))
    count = topology.num_terminals
    # few destinations: packets of one switch compete for channels
    places = st.sampled_from(draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4)))
    lists = [draw(st.lists(places, max_size=5)) for _ in range(count)]
    return table, messages_of(lists)


@st.composite
def timed(draw, program, slow, **more):
    """Settings of routers on which one allocation a cycle is made, lanes to spare or not."""
    lanes = draw(st.integers(1, 2))
    queue = draw(st.sampled_from([0, 0, 3]))
    more.setdefault("switching", draw(st.sampled_from(["virtual-cut-through", "wormhole"])))
    if (queue or slow) and more["switching"] == "virtual-cut-through":
        more["packet_flits"] = 1
    return draw(
        routers(
            vcs=lanes * needed_classes(program),
            priority=draw(PRIORITIES),
            output_buffer_flits=queue,
            speedup=1,
            **more,
        )
    )


def agree(data, what=weigh.NOTHING, packets=1, **more):
    table, messages = data.draw(crowded())
    program = decision_program(table.topology, what, **more)
    router = data.draw(timed(program, table.topology.channel_capacity.min() < 1))
    return assert_same(table, router, messages, packets, program)


SEEN = st.sampled_from(
    [
        weigh.CLASS_FLITS,
        weigh.CLASS_PACKETS,
        weigh.CHANNEL_FLITS,
        weigh.CHANNEL_PACKETS,
    ]
)


@settings(max_examples=examples(120))
@given(SEEN, st.sampled_from(["room", "best", "best-or-escape"]), st.booleans(), st.data())
def test_a_packet_takes_what_is_there_waits_for_the_best_or_escapes(what, ranking, again, data):
    escapes = ranking == "best-or-escape" or (ranking == "room" and data.draw(st.booleans()))
    packets = 1 if ranking == "best-or-escape" else 2
    agree(data, what, packets, escapes=escapes, ranking=ranking, again=again)


@settings(max_examples=examples(40))
@given(SEEN, st.integers(1, 5), st.data())
def test_a_packet_waits_before_it_escapes(what, wait, data):
    more = {"again": True, "escape_wait": wait}
    agree(data, what, escapes=True, ranking="best-or-escape", **more)


@settings(max_examples=examples(40))
@given(
    st.sampled_from([weigh.WAITING_FLITS, weigh.WAITING_PACKETS]),
    st.sampled_from(["room", "best", "best-or-escape"]),
    st.booleans(),
    st.data(),
)
def test_packets_waiting_for_an_output_are_counted(what, ranking, again, data):
    escapes = ranking == "best-or-escape"
    agree(data, what, 2, escapes=escapes, ranking=ranking, again=again, waiting=True)


@settings(max_examples=examples(40))
@given(st.booleans(), st.booleans(), st.data())
def test_a_waypoint_is_set_and_given_up_on_the_way(again, keeps, data):
    agree(data, weigh.COUNTER, 2, turns=True, again=again, keeps_state=keeps)


@settings(max_examples=examples(40))
@given(st.booleans(), st.booleans(), st.data())
def test_inject_can_ask_for_the_offers_of_hop(waiting, keeps, data):
    agree(data, weigh.COUNTER, 2, detours=True, waiting=waiting, keeps_state=keeps)


@settings(max_examples=examples(40))
@given(st.sampled_from(["room", "best"]), st.data())
def test_a_decision_may_look_at_terminals(ranking, data):
    agree(data, weigh.TERMINALS, 2, ranking=ranking, by_terminal=True)
