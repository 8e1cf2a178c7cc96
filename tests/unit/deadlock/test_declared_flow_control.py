"""Flow control of each channel: the conditions one by one, and a search of all states."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import naive_deadlock as naive
import numpy as np
import pytest
from deadlock_cases import clockwise_ring_table, ring, table_of

from routelab.api import InputError, Topology
from routelab.deadlock import check_table
from routelab.toolkit.rings import complete_rings, ring_ids


def declare(topology, bubble=1, buffer=2):
    """The network with flow control, the same everywhere or by channel."""
    size = topology.num_channels
    return replace(
        topology,
        channel_bubble=np.broadcast_to(np.array(bubble, np.int8), size),
        channel_buffer=np.broadcast_to(np.array(buffer, np.int32), size),
    )


def ring_verdict(bubble=1, buffer=2, claims=None, **options):
    """The verdict on two hops round a ring of four channels."""
    topology = declare(ring(4, claims=claims), bubble, buffer)
    return check_table(clockwise_ring_table(topology, hops=2), "declared", **options)


def random_system(draw):
    """Routes on a ring with chords, and flow control that is often wrong somewhere."""
    size = draw.choice([3, 4])
    ends = [(s, (s + 1) % size) for s in range(size)]
    ends += [tuple(draw.sample(range(size), 2)) for _ in range(draw.choice([0, 1, 1, 2]))]
    claims = [0] * size + [-1] * (len(ends) - size)
    if draw.random() < 0.1:
        claims[draw.randrange(size)] = -1
    kept = draw.random()
    bubble = [int(kept < 0.6 and n < size) for n in range(len(ends))]
    if kept < 0.15:
        bubble = [draw.randint(0, 1) for _ in ends]
    network = Topology.create(
        num_switches=size,
        channel_source=[s for s, _ in ends],
        channel_target=[t for _, t in ends],
        channel_ring=claims,
        channel_bubble=bubble,
        channel_buffer=[2 if keeps else draw.choice([1, 1, 2]) for keeps in bubble],
    )
    routes = {}
    for _ in range(draw.randint(3, 7)):
        at = source = draw.randrange(size)
        hops, vc = [], 0
        for _ in range(draw.choice([2, 2, 3])):
            channel = draw.choice([c for c, (s, _) in enumerate(ends) if s == at])
            vc += draw.random() < 0.1
            hops.append((channel, vc))
            at = ends[channel][1]
        if at != source:
            routes.setdefault((source, at), []).append(hops)
    return network, routes


def has_unequal_ends(network):
    """Whether channels in both directions between two switches have different flow control."""
    ends = list(zip(network.channel_source.tolist(), network.channel_target.tolist(), strict=True))
    kinds = defaultdict(list)
    for pair, kind in zip(ends, network.channel_bubble.tolist(), strict=True):
        kinds[pair].append(kind)
    both = [(kinds[pair], kinds[pair[::-1]]) for pair in ends]
    return any(len(out) == len(back) and sorted(out) != sorted(back) for out, back in both)


def test_no_proven_system_deadlocks_and_most_others_are_proven():
    draw, counts = random.Random(68), {True: [0, 0], False: [0, 0]}
    while sum(map(sum, counts.values())) < 500:
        network, routes = random_system(draw)
        if has_unequal_ends(network):  # a test of its own
            continue
        table = table_of(network, lambda s, t, routes=routes: routes.get((s, t), []))
        deadlocks = naive.reaches_deadlock(table)
        if deadlocks is None:
            continue
        verdict = check_table(table, "declared")
        counts[deadlocks][verdict.proven] += 1
        assert not (deadlocks and verdict.proven)
    unproven, proven = counts[False]
    assert sum(counts[True]) > 50
    assert proven >= (unproven + proven) / 2


def test_rings_with_a_bubble_everywhere_are_proven():
    verdict = ring_verdict()
    assert (verdict.status, verdict.flow_control) == ("proven", "bubble")
    assert [proven_ring.channels for proven_ring in verdict.rings] == [(0, 1, 2, 3)]
    assert ring_verdict(bubble=0).status == "cycle"


@pytest.mark.parametrize(
    ("options", "status", "named"),
    [
        ({"bubble": [1, 1, 0, 1]}, "cycle", "2>3"),
        ({"bubble": [1, 1, -1, 1]}, "not enough input", "2>3"),
        ({"buffer": [2, 0, 2, 2]}, "not enough input", "1>2"),
        ({"buffer": [2, 2, 2, 1]}, "unproven", "3>0"),
        ({"claims": [-1] * 4}, "not enough input", "0>1"),
        ({"claims": [0, 0, 1, 1]}, "cycle", "0>1"),
        ({"switching": "wormhole"}, "unproven", "wormhole"),
    ],
)
def test_each_condition_is_checked(options, status, named):
    verdict = ring_verdict(**options)
    assert verdict.status == status
    assert named in verdict.reason


@pytest.mark.parametrize("bubble", [-1, 1])
def test_channels_that_no_route_uses_need_not_declare_anything(bubble):
    topology = declare(ring(4, both=True), bubble=[1] * 4 + [bubble] * 4, buffer=[2] * 4 + [0] * 4)
    assert check_table(clockwise_ring_table(topology, hops=2), "declared").proven


def test_a_line_is_not_proven_if_a_channel_in_use_declares_nothing():
    line = Topology.create(
        num_switches=3, channel_source=[0, 1], channel_target=[1, 2], channel_bubble=[0, -1]
    )
    table = table_of(line, lambda s, t: [[0, 1]] if (s, t) == (0, 2) else [])
    assert check_table(table, "declared").status == "not enough input"


def test_a_bubble_that_no_packet_may_enter_is_no_proof_of_a_line():
    line = Topology.create(
        num_switches=3,
        channel_source=[0, 1],
        channel_target=[1, 2],
        channel_bubble=[1, 1],
        channel_buffer=[2, 1],
    )
    table = table_of(line, lambda s, t: [[0, 1]] if (s, t) == (0, 2) else [])
    assert check_table(table, "declared").status == "unproven"
    roomy = replace(table, topology=declare(line))
    assert check_table(roomy, "declared").proven


def test_a_plain_channel_of_its_own_leaves_the_cycle():
    """The last hop of the route from 3 crosses on virtual channel 1: no bubble is needed."""
    network = declare(ring(4), bubble=0, buffer=1)
    routes = {(s, (s + 2) % 4): [[(s, 0), ((s + 1) % 4, int(s == 3))]] for s in range(4)}
    table = table_of(network, lambda s, t: routes.get((s, t), []))
    assert check_table(table, "declared").proven


# --- Cables ---


def cable(bubble, ports=None):
    """Cables between two switches: forth, back, forth, back ..."""
    count = len(bubble)
    out, back = ports or ([-1] * count, [-1] * count)
    return Topology.create(
        num_switches=2,
        channel_source=[0, 1] * (count // 2),
        channel_target=[1, 0] * (count // 2),
        source_port=out,
        target_port=back,
        channel_bubble=bubble,
        channel_buffer=[2] * count,
    )


def test_a_cable_with_a_bubble_at_one_end_is_refused_by_name():
    table = table_of(cable([1, 0]), lambda s, t: [[0]] if (s, t) == (0, 1) else [])
    with pytest.raises(InputError, match="1>0 is plain, and 0>1 keeps a bubble"):
        check_table(table, "declared")


@pytest.mark.parametrize(
    ("bubble", "ports", "differs"),
    [
        ([1, 1, 0, 0], None, False),
        ([1, 0, 0, 1], None, False),  # nobody knows which channels are one cable
        ([1, 0, 0, 0], None, True),
        ([1, 0, 0, 1], ([1, 2, 2, 1], [2, 1, 1, 2]), True),
        ([1, 0, 0, 1], ([1, 1, 2, 2], [2, 2, 1, 1]), False),  # cables cross over
        ([1, -1], None, False),
    ],
)
def test_parallel_cables_are_told_apart_by_their_ports(bubble, ports, differs):
    network = cable(bubble, ports)
    table = table_of(network, lambda s, t: [[0]] if (s, t) == (0, 1) else [])
    if differs:
        with pytest.raises(InputError, match="two ends"):
            check_table(table, "declared")
    else:
        assert check_table(table, "declared").proven


# --- Rings by labels ---


def test_one_label_of_links_both_ways_is_a_ring_each_way():
    both = ring(5, both=True)
    ends = both.channel_source.tolist(), both.channel_target.tolist()
    order = random.Random(1).sample(range(10), 10)  # files list links in any order
    source, target = ([end[c] for c in order] for end in ends)
    claims = ring_ids(source, target, ["r"] * 10)
    network = Topology.create(
        num_switches=5, channel_source=source, channel_target=target, channel_ring=claims
    )
    rings = complete_rings(network)
    assert sorted(map(len, rings)) == [5, 5]
    steps = [{(target[c] - source[c]) % 5 for c in channels} for channels in rings]
    assert sorted(map(sorted, steps)) == [[1], [4]]


@pytest.mark.parametrize(
    "links",
    [
        pytest.param([(0, 1), (1, 2), (2, 3)], id="a line"),
        pytest.param([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)], id="a figure of eight"),
        pytest.param([(0, 1), (0, 1)], id="two switches"),
        pytest.param([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], id="two rings"),
    ],
)
def test_other_shapes_keep_no_bubble(links):
    source = [end for link in links for end in link]
    target = [end for link in links for end in link[::-1]]
    claims = ring_ids(source, target, ["r"] * len(source))
    network = Topology.create(
        num_switches=max(source) + 1,
        channel_source=source,
        channel_target=target,
        channel_ring=claims,
    )
    assert complete_rings(network) == []
