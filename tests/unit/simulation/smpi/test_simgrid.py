"""What SimGrid is told, and what becomes of its answers; a script stands in for it."""

from __future__ import annotations

import os
import select

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import ALL, COMPUTE, WAIT, Program
from routelab.simulation.flow.schedule import schedule
from routelab.simulation.smpi import simgrid as smpi
from routelab.simulation.smpi.blocks import smpi_program
from routelab.toolkit import BlockBuilder
from routelab.toolkit.machine import Machine

PLATFORM = '<host id="t0" speed="2000000000.0f"/><host id="t1" speed="2000000000.0f"/>'
RANKS = 3


def two_ranks(rounds=1):
    block = BlockBuilder(2).send(0, 1, 100).receive(1, 0, 100).build()
    return schedule(Program(2, (block,) * rounds, "one message"))


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts a script in the place of smpirun."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def install(text):
        program = folder / "smpirun"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    return install


def run(**more):
    return smpi.replay(two_ranks(), PLATFORM, ["t0", "t1"], Machine(), **more)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        # a wrong rank count, say, ends with 0 and without a time
        ("echo 'no connecting path' >&2", "exit code 0\n    no connecting path"),
        ("echo 'Simulated time: 1 seconds' >&2; exit 3", "exit code 3"),
    ],
)
def test_no_time_is_an_error(fake, script, said):
    fake(script)
    with pytest.raises(smpi.SmpiError) as raised:
        run()
    assert said in str(raised.value)


def test_a_deadlock_is_an_error_though_it_has_a_time(fake):
    """SimGrid 3.32 says so on the way, then tells a time and ends with 0."""
    fake(
        "echo '[0.0] [ker_engine/CRITICAL] Oops! Deadlock detected, some activities' >&2\n"
        "echo '[0.0] [ker_engine/INFO] Actor 1 (0@t0): waiting for communication' >&2\n"
        "echo '[0.0] [ker_engine/INFO] Actor 2 (1@t1): waiting for communication' >&2\n"
        "echo '[0.0] Simulated time: 0 seconds.' >&2"
    )
    with pytest.raises(smpi.SmpiError, match=r"2 of 2 ranks .* \(ranks 0, 1\).*raise eager_bytes"):
        run()


def test_nothing_is_left_running_when_time_is_over(fake, tmp_path):
    """The script starts another process, as smpirun does."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    fake(f"exec > {pipe}; echo started; sleep 300 & wait")
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reader:
        # a busy machine may need longer to start the script
        for limit in (0.5, 5.0, 50.0):
            with pytest.raises(smpi.SmpiError, match=f"more than {limit:g} s"):
                run(limit=limit)
            if started := reader.read(100):
                break
        assert started == b"started\n"
        # the pipe ends with the last process that has it open
        assert select.select([reader], [], [], 60)[0], "a process goes on"
        assert reader.read(100) == b""


def test_the_timed_part_is_the_difference_to_the_part_before(fake):
    """The script takes a second for every send of rank 0."""
    fake(
        'n=$(grep -c send rank-0.txt); echo "Simulated time: ${n:-0} seconds" >&2; '
        'test -s "$(head -n 1 trace.txt)"'
    )
    block = BlockBuilder(2).send(0, 1, 100).receive(1, 0, 100).build()
    program = Program(2, timed=(block,) * 3, before=(block,) * 2, after=(block,), convention="")
    assert smpi.replay(schedule(program), PLATFORM, ["t0", "t1"], Machine()).seconds == 3.0


def test_thresholds_include_the_largest_eager_message():
    options = smpi.settings(Machine(eager_bytes=1000, handshake=True))
    assert {
        "--cfg=smpi/async-small-thresh:1001",
        "--cfg=smpi/send-is-detached-thresh:1001",
        "--cfg=smpi/lat-factor:0:1.0;1016:2.0",
        "--cfg=network/weight-S:0",
    } <= set(options)
    options = smpi.settings(Machine(eager_bytes=1e18, handshake=False), fair=False)
    assert f"--cfg=smpi/async-small-thresh:{2**31 - 1}" in options
    assert not any("weight-S" in option for option in options)


@st.composite
def programs(draw):
    """Messages with few tags, many of them equal, in an order that ends."""
    builder = BlockBuilder(RANKS)
    ends = st.tuples(st.integers(0, RANKS - 1), st.integers(0, RANKS - 1), st.integers(0, 1))
    for source, target, tag in draw(st.lists(ends, max_size=12)):
        builder.ireceive(target, source, 10 * tag, tag)
        builder.isend(source, target, 10 * tag, tag)
        if draw(st.booleans()):
            builder.wait(target, 0)
    for rank in range(RANKS):
        builder.compute(rank, rank)
        builder.wait(rank)
    return builder.build()


@given(programs(), st.sampled_from([0.0, 1e-6]))
def test_messages_stay_the_same_and_have_tags_of_their_own(block, overhead):
    scheduled = schedule(Program(RANKS, (block, block), ""))
    program = smpi_program(scheduled, 2, Machine(overhead=overhead), 1e9)
    first, second = program.timed
    assert first is second
    meant, kept = [], []
    for blocks, messages in ((block, meant), (first, kept)):
        ranks = blocks.rank_of()
        talks = np.flatnonzero(blocks.receive_of >= 0)
        places = np.cumsum((blocks.kind != COMPUTE) & (blocks.kind != WAIT))
        for send in talks.tolist():
            met = int(blocks.receive_of[send])
            ends = (ranks[send], places[send], ranks[met], places[met])
            messages.append([*map(int, ends), float(blocks.amount[send])])
    assert kept == meant
    ranks = first.rank_of()
    sends = np.flatnonzero(first.receive_of >= 0)
    keys = list(zip(ranks[sends], first.peer[sends], first.tag[sends], strict=True))
    assert len(set(keys)) == len(keys)


def test_overhead_is_before_sends_and_after_receives():
    builder = BlockBuilder(2).send(0, 1, 8).compute(0, 5).receive(1, 0, 8)
    builder.ireceive(0, 1, 4).ireceive(0, 1, 4).isend(0, 1, 4).wait(0)
    builder.isend(1, 0, 4).isend(1, 0, 4).receive(1, 0, 4).wait(1)
    program = smpi_program(
        schedule(Program(2, (builder.build(),), "")), 1, Machine(overhead=1e-6), 2e9
    )
    (block,) = program.timed
    computing = [
        block.amount[(block.rank_of() == rank) & (block.kind == COMPUTE)].tolist()
        for rank in range(2)
    ]
    # two sends and two receives each, and what rank 0 computes itself; rank 1 sends twice
    assert computing == [[2000, 5, 2000, 2000, 2000], [2000, 2000, 2000, 2000]]
    assert not ((block.kind == WAIT) & (block.peer == ALL)).any()
