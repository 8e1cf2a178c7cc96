"""What a schedule holds is what the program says, round for round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import (
    ISEND,
    SEND,
    Collective,
    Loop,
    Program,
    UnsupportedError,
)
from routelab.simulation.flow.collectives import collective_block
from routelab.simulation.flow.schedule import MAX_TAPE, schedule
from routelab.toolkit import BlockBuilder

RANKS = 3


def ring(bytes_):
    at = np.arange(RANKS)
    return BlockBuilder(RANKS).send_receive(at, (at + 1) % RANKS, bytes_, (at - 1) % RANKS).build()


BLOCKS = [ring(1), ring(10), BlockBuilder(RANKS).compute(np.arange(RANKS), 5.0).build()]
CALLS = [
    Collective("alltoall", 1000),
    Collective("allreduce", 8),
    Collective("bcast", 50_000, root=2),
    Collective("barrier"),
    Collective("reduce", 64, groups=(np.array([0, 2], np.int32),)),
]
STEPS = st.recursive(
    st.sampled_from(BLOCKS + CALLS),
    lambda inner: st.builds(Loop, st.lists(inner, max_size=3).map(tuple), st.integers(0, 4)),
    max_leaves=6,
)
PARTS = st.lists(STEPS, max_size=3).map(tuple)


def cost(block):
    """Messages, bytes and operations of a block."""
    sends = (block.kind == SEND) | (block.kind == ISEND)
    return np.array([sends.sum(), block.amount[sends].sum(), block.amount[block.kind == 0].sum()])


def unrolled(steps):
    """The blocks of steps in order, loops done and collectives replaced, one by one."""
    for step in steps:
        if isinstance(step, Loop):
            for _ in range(step.times):
                yield from unrolled(step.steps)
        elif isinstance(step, Collective):
            yield collective_block(step, RANKS)
        else:
            yield step


def content(block):
    return tuple(
        part.tobytes() for part in (block.start, block.kind, block.peer, block.amount, block.tag)
    )


@given(before=PARTS, timed=PARTS, after=PARTS)
def test_the_tape_is_the_program_unrolled(before, timed, after):
    program = Program(RANKS, timed, "drawn", before, after)
    plan = schedule(program)
    contents = [content(plan.blocks[number]) for number in plan.tape]
    first, last = plan.timed
    for part, steps in (
        (contents[:first], before),
        (contents[first:last], timed),
        (contents[last:], after),
    ):
        assert part == [content(block) for block in unrolled(steps) if len(block.kind)]
    assert len({content(block) for block in plan.blocks}) == len(plan.blocks) == len(plan.names)
    assert plan.rounds == plan.total_rounds


@given(before=PARTS, timed=PARTS, after=PARTS, iterations=st.integers(1, 3))
def test_nothing_is_lost_when_rounds_are_cut(before, timed, after, iterations):
    program = Program(RANKS, timed, "drawn", before, after)
    plan = schedule(program, iterations=iterations)
    total = sum(
        (times * cost(block) for times, block in zip(plan.repeats(), plan.blocks, strict=True)),
        np.zeros(3),
    )
    straight = program.point_to_point()
    calls = [
        (times * cost(collective_block(step, RANKS)))
        for step, times in program.walk()
        if isinstance(step, Collective)
    ]
    counted = sum(calls, np.zeros(3))
    assert total[0] == straight.messages.sum() + counted[0]
    assert total[1] == straight.bytes.sum() + counted[1]
    assert total[2] == sum(
        times * cost(step)[2] for step, times in program.walk() if not isinstance(step, Collective)
    )
    assert plan.rounds == min(plan.total_rounds, iterations)
    rounds = [
        plan.tape[begin:end]
        for begin, end in zip(plan.round_start, plan.round_start[1:], strict=False)
    ]
    assert all(np.array_equal(each, rounds[0]) and len(each) for each in rounds)
    if rounds:
        assert plan.timed[0] <= plan.round_start[0] < plan.round_start[-1] <= plan.timed[1]


def test_the_loop_that_is_cut_is_the_one_with_most_in_it():
    few, many = Loop((BLOCKS[0],), 3), Loop((BLOCKS[1], Loop((BLOCKS[2],), 2)), 5)
    inside_one_round = Loop((few, many), 1)
    plan = schedule(Program(RANKS, (inside_one_round,), "two loops"), iterations=2)
    assert plan.tape.tolist() == [0, 0, 0, 1, 2, 2, 1, 2, 2]
    assert plan.round_start.tolist() == [3, 6, 9]
    assert (plan.rounds, plan.total_rounds) == (2, 5)
    assert plan.repeats().tolist() == [3, 5, 10]


def test_a_choice_reaches_the_blocks():
    program = Program(4, (Collective("alltoall", 8),), "one call")
    bruck = schedule(program, {"alltoall": "bruck"})
    assert cost(bruck.blocks[0])[:2].tolist() == [8, 8 * 16]


def test_a_loop_of_very_many_rounds_is_cut_or_refused():
    program = Program(RANKS, (Loop((Loop((BLOCKS[0],), 100),), 10**9),), "long")
    plan = schedule(program, iterations=4)
    assert len(plan.tape) == 400
    assert plan.repeats().tolist() == [10**11]
    assert MAX_TAPE < 100 * 10**9
    with pytest.raises(UnsupportedError, match=r"1000000000 rounds with 100 blocks.*iterations"):
        schedule(program)


def test_bytes_between_ranks_are_those_of_all_rounds():
    def message(source, target, amount):
        builder = BlockBuilder(3)
        return builder.send(source, target, amount).receive(target, source, amount).build()

    program = Program(
        ranks=3,
        before=(message(2, 0, 7),),
        timed=(Loop((message(0, 1, 10), Loop((message(1, 2, 3),), 2)), 5),),
        convention="a test",
    )
    expected = np.array([[0, 50, 0], [0, 0, 30], [7, 0, 0]])
    assert (schedule(program).bytes_between() == expected).all()
    assert (schedule(program, iterations=2).bytes_between() == expected).all()
