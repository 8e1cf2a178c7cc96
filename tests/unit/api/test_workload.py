"""Blocks are closed or refused, and programs add up what their loops do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import (
    ALL,
    IRECV,
    ISEND,
    SEND,
    Block,
    Collective,
    Job,
    Loop,
    PluginError,
    Program,
)
from routelab.toolkit import BlockBuilder, build_grid


def ring(ranks, size):
    at = np.arange(ranks)
    return BlockBuilder(ranks).send_receive(at, (at + 1) % ranks, size, (at - 1) % ranks).build()


@given(
    messages=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9)),
        max_size=20,
    ),
    order=st.randoms(use_true_random=False),
)
def test_the_kth_send_meets_the_kth_receive(messages, order):
    builder, receives = BlockBuilder(4), list(messages)
    # receives of different pairs and tags may be posted in any order
    keys = sorted({message[:3] for message in messages}, key=lambda _: order.random())
    receives.sort(key=lambda message: keys.index(message[:3]))
    for source, target, tag, size in messages:
        builder.isend(source, target, size, tag)
    for source, target, tag, size in receives:
        builder.ireceive(target, source, size, tag)
    block = builder.wait(np.arange(4)).build()
    rank = block.rank_of()
    met = {}
    for send in np.flatnonzero((block.kind == SEND) | (block.kind == ISEND)).tolist():
        receive = int(block.receive_of[send])
        assert block.kind[receive] == IRECV
        assert (rank[receive], block.peer[receive]) == (block.peer[send], rank[send])
        assert block.tag[receive] == block.tag[send]
        assert block.amount[receive] == block.amount[send]
        key = rank[send], block.peer[send], block.tag[send]
        # first come, first served
        assert met.get(key, -1) < receive
        met[key] = receive
    assert (block.receive_of >= 0).sum() == len(set(block.receive_of.tolist()) - {-1})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda b: b.send(0, 1, 8), "from rank 0 to rank 1 with tag 0 there are 1 more sends than"),
        (lambda b: b.receive(0, 1, 8), "from rank 1 to rank 0 with tag 0 there are 1 more receive"),
        (lambda b: b.send(0, 1, 8, 1).receive(1, 0, 8, 2), "rank 1 with tag 1 there are 1 more"),
        (lambda b: b.send(0, 1, 8).receive(1, 0, 9), "sends 8 bytes to rank 1, which receives 9"),
        (lambda b: b.isend(0, 1, 8).receive(1, 0, 8), "rank 0 never waits for 1 of its requests"),
        (lambda b: b.wait(0, 0), "rank 0 waits for request 0 of 0 open ones"),
        (lambda b: b.send(0, 2, 8).receive(1, 0, 8), "peer names a rank that does not exist"),
        (lambda b: b.send(2, 0, 8), "ranks are 0 to 1"),
        (lambda b: b.compute(0, -1), "amount holds a negative number"),
        (lambda b: b.compute(0, np.inf), "amount holds a negative number"),
    ],
)
def test_open_blocks_are_rejected(build, message):
    with pytest.raises(PluginError, match=message):
        build(BlockBuilder(2)).build()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"start": [0, 1]}, "start must rise"),
        ({"tag": [0]}, "differ in length"),
        ({"kind": [9, 0]}, "a value that is not a kind of operation"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, message):
    right = {"start": [0, 2], "kind": [0, 0], "peer": [-1, -1], "amount": [1, 2], "tag": [0, 0]}
    with pytest.raises(PluginError, match=message):
        Block.create(**right | changed)


def test_waits_count_open_requests_from_the_oldest():
    builder = BlockBuilder(2).isend(0, 1, 1).isend(0, 1, 2).isend(0, 1, 3)
    builder.wait(0, 1).wait(0, 1).wait(0, 0)
    for size in (1, 2, 3):
        builder.receive(1, 0, size)
    assert builder.build().peer[3:6].tolist() == [1, 1, 0]
    with pytest.raises(PluginError, match="waits for request 1 of 1 open ones"):
        BlockBuilder(1).isend(0, 0, 1).ireceive(0, 0, 1).wait(0, 0).wait(0, 1).build()


def test_sums_go_through_loops_and_keep_messages_to_oneself():
    alone = BlockBuilder(2).isend(1, 1, 5).ireceive(1, 1, 5).wait(1, ALL).build()
    program = Program(
        2, (Loop((ring(2, 10), Loop((alone,), 4)), 3),), "", before=(ring(2, 1),), after=(alone,)
    )
    sums = program.point_to_point()
    assert sums.source.tolist() == [0, 1, 1]
    assert sums.target.tolist() == [1, 0, 1]
    assert sums.messages.tolist() == [4, 4, 13]
    assert sums.bytes.tolist() == [31, 31, 65]


def test_calls_are_counted_by_name_bytes_and_size_of_group():
    halves = (np.array([0, 1], np.int32), np.array([2, 3], np.int32))
    matrix = np.arange(16).reshape(4, 4)
    steps = (
        Loop((Collective("bcast", 8), Collective("bcast", 8, groups=halves)), 5),
        Collective("bcast", 8, root=1),
        Collective("alltoallv", matrix=matrix),
        Loop((Collective("barrier"),), 0),
    )
    calls = Program(4, steps, "").calls()
    assert [(call.name, call.bytes, call.ranks, call.calls) for call in calls] == [
        ("alltoallv", 120, 4, 1),
        ("bcast", 8, 2, 5),
        ("bcast", 8, 4, 6),
    ]


def test_blocks_and_programs_have_the_same_ranks():
    with pytest.raises(PluginError, match="a block has 3 ranks, the program 4"):
        Program(4, (Loop((ring(3, 1),), 2),), "")
    with pytest.raises(PluginError, match="a negative number of rounds"):
        Program(3, (Loop((ring(3, 1),), -1),), "")


def test_a_placed_job_has_a_rank_for_each_terminal_named():
    job = Job.placed([3, 3, 0], build_grid("torus", (4,), wrap=True))
    assert (job.ranks, job.terminal.tolist()) == (3, [3, 3, 0])
