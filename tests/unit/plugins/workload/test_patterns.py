"""Patterns against what their definitions say, place by place."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from routelab.api import ISEND, Block, Collective, Job
from routelab.registry.instances import load
from routelab.toolkit import build_grid

TORUS = build_grid("torus", (4, 2, 2, 2), wrap=True)
PLACES = list(product(range(4), range(2), range(2), range(2)))
RANK_AT = {place: rank for rank, place in enumerate(PLACES)}
ON_TORUS = Job.placed(np.arange(32), TORUS)


def sent(text, job):
    """Bytes from rank to rank, and how many messages each pair has."""
    sums = load("workload", text).program(job).point_to_point()
    return {
        (s, t): (m, b)
        for s, t, m, b in zip(
            sums.source.tolist(),
            sums.target.tolist(),
            sums.messages.tolist(),
            sums.bytes.tolist(),
            strict=True,
        )
    }


def pairs(text, job=ON_TORUS):
    return set(sent(text, job))


def moved(change):
    """Pairs of ranks if place p sends to change(p)."""
    return {
        (RANK_AT[place], RANK_AT[change(*place)]) for place in PLACES if change(*place) != place
    }


def shifted(by, ranks=32):
    return {(rank, (rank + by) % ranks) for rank in range(ranks)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("neighbor", shifted(1)),
        ("neighbor~ways=two", shifted(1) | shifted(-1)),
        (
            "neighbor~by=coordinate",
            moved(lambda a, b, c, d: ((a + 1) % 4, 1 - b, 1 - c, 1 - d)),
        ),
        (
            "neighbor~by=coordinate,digits=each",
            moved(lambda a, b, c, d: ((a + 1) % 4, b, c, d))
            | moved(lambda a, b, c, d: (a, 1 - b, c, d))
            | moved(lambda a, b, c, d: (a, b, 1 - c, d))
            | moved(lambda a, b, c, d: (a, b, c, 1 - d)),
        ),
        ("neighbor~by=coordinate,digits=longest", moved(lambda a, *rest: ((a + 1) % 4, *rest))),
        ("tornado", shifted(15)),
        ("tornado~far=half", shifted(16)),
        ("tornado~by=coordinate", moved(lambda a, *rest: ((a + 1) % 4, *rest))),
        (
            "tornado~by=coordinate,far=half",
            moved(lambda a, b, c, d: ((a + 2) % 4, 1 - b, 1 - c, 1 - d)),
        ),
        (
            "tornado~by=coordinate,far=half,digits=longest",
            moved(lambda a, *rest: ((a + 2) % 4, *rest)),
        ),
        (
            "transpose",
            {(r * 8 + c, c * 4 + r) for r in range(4) for c in range(8)} - {(0, 0), (31, 31)},
        ),
        (
            "transpose~digits=swap",
            {(p, q) for p in range(32) for q in [(p & 3) << 3 | p & 4 | p >> 3] if p != q},
        ),
        (
            "transpose~digits=reverse",
            {(p, q) for p in range(32) for q in [int(f"{p:05b}"[::-1], 2)] if p != q},
        ),
        (
            "transpose~by=coordinate,digits=reverse",
            {
                (rank, number)
                for (a, b, c, d), rank in RANK_AT.items()
                for number in [((d * 2 + c) * 2 + b) * 4 + a]
                if rank != number
            },
        ),
        (
            "transpose~by=coordinate",
            {
                (rank, number)
                for (a, b, c, d), rank in RANK_AT.items()
                for number in [((c * 2 + d) * 4 + a) * 2 + b]
                if rank != number
            },
        ),
    ],
)
def test_a_reading_follows_its_definition(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize("ways", ["one", "two"])
@pytest.mark.parametrize("phases", ["together", "apart"])
@pytest.mark.parametrize(
    "text",
    ["transpose", "neighbor~by=coordinate,digits=each", "tornado", "tornado~far=half"],
)
def test_sizes_ways_and_rounds(text, ways, phases):
    more = "," if "~" in text else "~"
    forth = sent(f"{text}{more}size=64KiB", ON_TORUS)
    assert set(forth.values()) == {(1, 65536)}
    both = sent(f"{text}{more}size=64KiB,ways={ways},phases={phases},iterations=3", ON_TORUS)
    back = {(target, source) for source, target in forth}
    assert set(both) == (set(forth) if ways == "one" else set(forth) | back)
    assert set(both.values()) == {(3, 3 * 65536)}


def test_apart_waits_between_directions():
    def waits(phases):
        text = f"neighbor~by=coordinate,digits=each,phases={phases}"
        (loop,) = load("workload", text).program(ON_TORUS).timed
        (block,) = loop.steps
        assert isinstance(block, Block)
        kinds = block.kind[block.start[5] : block.start[6]].tolist()
        return kinds.count(5), kinds.count(ISEND)

    assert waits("together") == (1, 4)
    assert waits("apart") == (4, 4)


def test_ranks_of_a_switch_send_to_those_of_another_in_their_order():
    network = build_grid("torus", (3, 2), wrap=True)
    # two ranks at each switch, placed from the last switch to the first
    job = Job.placed(np.repeat(np.arange(5, -1, -1), 2), network)
    assert pairs("neighbor~by=coordinate,digits=longest", job) == {
        (2 * s + slot, 2 * t + slot)
        for s in range(6)
        for slot in range(2)
        # switch 5 - s is at ((5 - s) // 2, (5 - s) % 2)
        for t in [5 - (((5 - s) // 2 + 1) % 3 * 2 + (5 - s) % 2)]
    }


@pytest.mark.parametrize("count", range(1, 21))
@pytest.mark.parametrize("text", ["transpose", "neighbor", "tornado", "tornado~far=half"])
def test_every_number_of_ranks_is_a_permutation_or_refused(text, count):
    job = Job(count)
    reason = load("workload", text).supports(job)
    if reason is not None:
        assert reason == "every rank would send to itself"
        assert count < 3 or text == "transpose"
        return
    messages = sorted(pairs(text, job))
    assert len({source for source, _ in messages}) == len({target for _, target in messages})
    assert len(messages) == len({source for source, _ in messages})


@pytest.mark.parametrize(
    ("text", "job", "reason"),
    [
        ("tornado", Job(2), "every rank would send to itself"),
        ("transpose", Job(7), "every rank would send to itself"),
        ("transpose~digits=swap", Job(12), "needs a power of two of ranks, not 12"),
        ("neighbor~by=coordinate", Job(8), "needs the positions of the ranks"),
        ("neighbor~by=coordinate", Job.placed([0, 1], TORUS), "here are from 0 to 1"),
        ("osu-alltoall", Job(1), "two ranks or more"),
    ],
)
def test_undefined_patterns_are_rejected(text, job, reason):
    assert reason in load("workload", text).supports(job)


def test_osu_alltoall_times_calls_with_barriers_between_them():
    program = load("workload", "osu-alltoall~size=1MB,iterations=5").program(Job(8))
    assert [(call.name, call.bytes, call.ranks, call.calls) for call in program.calls()] == [
        ("alltoall", 1_000_000, 8, 5),
        ("barrier", 0, 8, 4),
    ]
    last = program.timed[-1]
    assert isinstance(last, Collective)
    assert (last.name, last.algorithm) == ("alltoall", "")
    fixed = load("workload", "osu-alltoall~algorithm=linear").program(Job(8))
    assert [step.algorithm for step, _ in fixed.walk()] == ["linear"]
    assert fixed.calls()[0].bytes == 1 << 20
