"""Traces come back as they were written, and what is wrong in one is told by its line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import (
    COMPUTE,
    Block,
    Collective,
    InputError,
    Loop,
    Program,
)
from routelab.toolkit import BlockBuilder
from routelab.toolkit.workloads.trace_reader import read_trace
from routelab.toolkit.workloads.traces import LIST, write_trace

RANKS = 3

BY_SMPIRUN = """\
0 init
1 init
2 init
0 compute 1.14812
0 irecv 2 5 100 1
0 isend 1 5 100 1
0 wait 2 0 5
0 wait 0 1 5
1 irecv 0 5 100 1
1 isend 2 5 100 1
1 waitall 2
2 irecv 1 5 100 1
2 isend 0 5 100 1
2 waitall 2
0 send 1 9 7 0
1 recv 0 9 7 0
0 sendRecv 50 1 50 2 2 2
1 sendRecv 50 2 50 0 2 2
2 sendRecv 50 0 50 1 2 2
0 alltoall 1000 1000 6 6
1 alltoall 1000 1000 6 6
2 alltoall 1000 1000 6 6
0 allreduce 100 0 0
1 allreduce 100 0 0
2 allreduce 100 0 0
0 bcast 100 1 0
1 bcast 100 1 0
2 bcast 100 1 0
0 reduce 100 0 2 0
1 reduce 100 0 2 0
2 reduce 100 0 2 0
0 allgather 3 3 1 1
1 allgather 3 3 1 1
2 allgather 3 3 1 1
0 alltoallv 10 1 2 3 10 1 2 3 1 1
1 alltoallv 16 2 3 4 16 2 3 4 1 1
2 alltoallv 22 3 4 5 22 3 4 5 1 1
0 barrier
1 barrier
2 barrier
0 finalize
1 finalize
2 finalize
"""
"""What smpirun -trace-ti of SimGrid 3.32 wrote of a small program of 3 ranks, in one file."""


def blocks_with(draw):
    """A closed block: messages in random order, requests waited for in random order."""
    builder, requests = BlockBuilder(RANKS), [0] * RANKS
    pairs = st.tuples(st.integers(0, RANKS - 1), st.integers(0, RANKS - 1))
    for source, target in draw(st.lists(pairs, max_size=6)):
        size, tag = draw(st.integers(0, 10**7)), draw(st.integers(0, 2))
        builder.isend(source, target, size, tag).ireceive(target, source, size, tag)
        requests[source] += 1
        requests[target] += 1
    for rank in range(RANKS):
        builder.compute(rank, draw(st.floats(0, 1e9)))
        while requests[rank]:
            whole = draw(st.booleans())
            builder.wait(rank, -1 if whole else draw(st.integers(0, requests[rank] - 1)))
            requests[rank] = 0 if whole else requests[rank] - 1
    builder.send(0, 1, 5).receive(1, 0, 5)
    return builder.build()


BLOCKS = st.composite(blocks_with)()
CALLS = st.one_of(
    st.builds(
        Collective, st.sampled_from(["alltoall", "allreduce", "allgather"]), st.integers(1, 10**9)
    ),
    st.builds(
        Collective, st.sampled_from(["bcast", "reduce"]), st.integers(1, 10**9), st.integers(0, 2)
    ),
    st.just(Collective("barrier")),
    st.lists(st.integers(0, 9), min_size=9, max_size=9).map(
        lambda cells: Collective("alltoallv", matrix=np.array(cells).reshape(3, 3))
    ),
)


def unrolled(steps):
    for step in steps:
        if isinstance(step, Loop):
            for _ in range(step.times):
                yield from unrolled(step.steps)
        else:
            yield step


def words(program):
    """Every rank's operations and calls, in order."""
    sequences = [[] for _ in range(program.ranks)]
    for step in unrolled(program.steps):
        for rank, sequence in enumerate(sequences):
            if isinstance(step, Block):
                part = slice(step.start[rank], step.start[rank + 1])
                sequence += zip(
                    *(getattr(step, name)[part].tolist() for name in ("kind", "amount", "tag")),
                    step.peer[part].tolist(),
                    strict=True,
                )
            else:
                matrix = None if step.matrix is None else step.matrix.tolist()
                sequence.append((step.name, step.bytes, step.root, matrix))
    return sequences


def saved(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / LIST


@settings(max_examples=40)
@given(steps=st.lists(BLOCKS | CALLS, max_size=4))
def test_a_program_comes_back(tmp_path_factory, steps):
    program = Program(RANKS, (Loop(tuple(steps), 2),), "drawn", before=tuple(steps[:1]))
    folder = tmp_path_factory.mktemp("trace")
    back = read_trace(saved(folder, write_trace(program)))
    # requests are told by ranks and tag: of several equal ones the first is waited for
    plain = [
        [word if isinstance(word[0], str) or word[0] != 5 else word[:3] for word in sequence]
        for sequence in words(program)
    ]
    again = [
        [word if isinstance(word[0], str) or word[0] != 5 else word[:3] for word in sequence]
        for sequence in words(back)
    ]
    assert again == plain
    first, second = program.point_to_point(), back.point_to_point()
    assert np.array_equal(first.messages, second.messages)
    assert np.array_equal(first.bytes, second.bytes)
    assert program.calls() == back.calls()


def test_traces_of_smpirun_are_read(tmp_path):
    (tmp_path / "all.txt").write_text(BY_SMPIRUN)
    program = read_trace(tmp_path / "all.txt")
    sums = program.point_to_point()
    rows = zip(sums.source, sums.target, sums.messages, sums.bytes, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [
        (0, 1, 3, 400 + 56 + 50),
        (1, 2, 2, 450),
        (2, 0, 2, 450),
    ]
    assert [(call.name, call.bytes) for call in program.calls()] == [
        ("allgather", 12),
        ("allreduce", 800),
        ("alltoall", 1000),
        ("alltoallv", 4 * 27),
        ("barrier", 0),
        ("bcast", 800),
        ("reduce", 800),
    ]
    roots = {step.name: step.root for step in program.timed if isinstance(step, Collective)}
    assert (roots["bcast"], roots["reduce"]) == (1, 2)


def test_types_without_a_name_are_those_of_init(tmp_path):
    text = "0 init 1\n1 init\n0 send 1 0 10\n1 recv 0 0 80\n0 finalize\n1 finalize\n"
    (tmp_path / "t").write_text(text)
    assert read_trace(tmp_path / "t").point_to_point().bytes.tolist() == [80]


@pytest.mark.parametrize(
    "size", ["1e6", "1000000.0", "1e+06", "1E+06", "1000000.000000", "1000000"]
)
def test_sizes_may_have_an_exponent(tmp_path, size):
    text = f"""0 init\n1 init
        0 send 1 0 {size}\n1 recv 0 0 1000000
        0 compute {size}\n0 barrier\n1 barrier
        0 bcast {size} 0\n1 bcast 1000000 0
        0 finalize\n1 finalize\n"""
    (tmp_path / "t").write_text(text)
    program = read_trace(tmp_path / "t")
    sums = program.point_to_point()
    assert (sums.source.tolist(), sums.target.tolist(), sums.bytes.tolist()) == (
        [0], [1], [1_000_000],
    )  # fmt: skip
    assert [(call.name, call.bytes) for call in program.calls()] == [
        ("barrier", 0), ("bcast", 1_000_000),
    ]  # fmt: skip
    (compute,) = (word for word in words(program)[0] if word[0] == COMPUTE)
    assert compute[1] == 1_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 send 5 0 8", "t:2: send: there is no rank 5, the last is 1"),
        ("0 send 1 0", "t:2: send needs a size, it has 2 arguments"),
        ("0 send 1 0 -8", "t:2: send: a size is '-8', not a whole number"),
        ("0 send 1 0 1e99", "t:2: send: a size is '1e99', not a whole number"),
        ("0 send 1 0 8 -1", "t:2: send: the size of the type '-1' is not known"),
        ("0 jump 1", "t:2: 'jump' is not supported; supported are init, finalize, compute"),
        ("0 compute -3", "t:2: compute needs a number of operations"),
        ("hello", "t:2: 'hello' is not an action"),
        ("0 wait 0 1 0", "t:2: nothing to wait for"),
        ("0 isend 1 0 8", "t:2: nothing waits for this isend at the end"),
        ("0 isend 1 0 8\n0 barrier", "t:2: nothing waits for this isend before a collective"),
        ("0 send 1 0 8", "at the end, does not fit together: .*from rank 0 to rank 1 with tag 0"),
        ("0 send 1 0 8\n0 barrier\n1 barrier", r"before .*t:3, does not fit together"),
        ("0 barrier", "t:2: rank 1 has ended and makes no such call"),
        ("0 bcast 8\n1 bcast 9", r"t:3: rank 1 calls bcast of 9 bytes.*rank 0 calls bcast of 8"),
        ("0 bcast 8 0\n1 bcast 8 1", "t:3: rank 1 calls bcast of 8 bytes with root 1"),
        ("0 bcast 8 2\n1 bcast 8 2", "t:2: bcast: there is no rank 2"),
        ("0 alltoallv 8 8\n1 alltoallv 8 8", "t:2: alltoallv needs a size for every rank"),
        ("3 init", "has rank 3, but nothing of rank 2"),
    ],
)
def test_wrong_lines_are_rejected_with_their_number(tmp_path, text, message):
    lines = ["0 init", text, "1 init", "0 finalize", "1 finalize"]
    (tmp_path / "t").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=message):
        read_trace(tmp_path / "t")
