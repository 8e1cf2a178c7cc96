"""Workloads from files: all that the file has is sent, and what is wrong with it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_programs import spread

from routelab.api import InputError, Job
from routelab.registry.instances import load
from routelab.simulation.flow.schedule import schedule
from routelab.toolkit import write_trace

CELL = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9), st.integers(0, 1000))


def matrix_of(path, text):
    path.write_text(text)
    return load("workload", f"matrix~file=[{path}]")


def rows(program):
    sums = program.point_to_point()
    return list(
        zip(
            *(getattr(sums, name).tolist() for name in ("source", "target", "messages", "bytes")),
            strict=True,
        )
    )


@settings(max_examples=30)
@given(cells=st.lists(CELL, min_size=1, max_size=8, unique_by=lambda cell: cell[:2]))
def test_a_matrix_is_sent_whole(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("matrix") / "m.csv"
    lines = [",".join(map(str, cell)) for cell in cells]
    plugin = matrix_of(path, "\n".join(["src,dst,messages,bytes", *lines]) + "\n")
    assert plugin.supports(Job(6)) is None
    program = plugin.program(Job(6))
    assert rows(program) == sorted(cells)
    plan = schedule(program)
    spread([plan.blocks[number] for number in plan.tape], synchronous=True)


def test_messages_of_a_pair_are_equal_but_the_first(tmp_path):
    plugin = matrix_of(tmp_path / "m.csv", "src,dst,messages,bytes\n0,1,4,10\n1,0,1,3\n")
    (loop,) = plugin.program(Job(2)).timed
    first, rest = loop.steps
    assert sorted(first.amount[first.amount > 0].tolist()) == [3, 3, 4, 4]
    assert rest.times == 3
    assert set(rest.steps[0].amount.tolist()) == {0, 2}


def test_without_a_column_of_messages_a_pair_has_one(tmp_path):
    plugin = matrix_of(tmp_path / "m.csv", "src,dst,bytes\n0,1,10\n0,1,5\n1,0,0\n2,2,7\n")
    assert rows(plugin.program(Job(3))) == [(0, 1, 1, 15), (2, 2, 1, 7)]
    square = matrix_of(tmp_path / "s.csv", "0,8\n4,0\n")
    assert rows(square.program(Job(2))) == [(0, 1, 1, 8), (1, 0, 1, 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("src,dst,messages,bytes\n0,1,x,8\n", "line 2: 'x' is not a number of messages"),
        ("src,dst,messages,bytes\n0,1,0,8\n", "from rank 0 to rank 1 there are bytes, and 0 mess"),
        ("src,dst,messages,bytes\n0,1,1.5,8\n", "messages of a pair are not a whole number"),
        ("src,dst,bytes\n0,1,0.5\n", "bytes of a pair are not a whole number"),
        ("src,dst,messages\n0,1,1\n", "expected a header with source, target and bytes"),
    ],
)
def test_a_wrong_matrix_is_rejected(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        matrix_of(tmp_path / "m.csv", text).program(Job(2))


def test_a_job_needs_the_ranks_of_the_file(tmp_path):
    plugin = matrix_of(tmp_path / "m.csv", "src,dst,bytes\n0,5,8\n")
    assert "has 6 ranks, and the job 4" in plugin.supports(Job(4))
    assert plugin.supports(Job(9)) is None
    silent = matrix_of(tmp_path / "silent.csv", "src,dst,bytes\n0,5,0\n")
    assert "no rank sends a message" in silent.supports(Job(9))


def test_a_trace_is_the_program_it_was_written_from(tmp_path):
    program = load("workload", "npb-mg~class=S,iterations=1").program(Job(4))
    for name, text in write_trace(program).items():
        (tmp_path / name).write_text(text)
    trace = load("workload", f"trace~file=[{tmp_path / 'trace.txt'}]")
    assert trace.supports(Job(4)) is None
    assert "is a trace of 4 ranks, not of 8" in trace.supports(Job(8))
    assert trace.input_files() == [
        tmp_path / name for name in ("trace.txt", *(f"rank-{rank}.txt" for rank in range(4)))
    ]
    back = trace.program(Job(4))
    assert rows(back) == rows(program)
    assert back.calls() == program.calls()
    gone = load("workload", f"trace~file=[{tmp_path / 'gone.txt'}]")
    assert gone.input_files() == [Path(tmp_path / "gone.txt")]
