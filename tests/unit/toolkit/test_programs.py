"""A program at its limit leaves nothing behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from routelab.cluster.bench.fabric.restore import wait_for_group
from routelab.cluster.bench.processes.signals import StopRequest, StopSignals
from routelab.toolkit import programs
from routelab.toolkit.programs import NotStartedError, run_program

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    open("child", "w").write(str(os.getpid()))
time.sleep(600)
"""


def program(tmp_path, *arguments, seconds=60.0, **more):
    return run_program(
        arguments,
        folder=tmp_path,
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
        environment=os.environ,
        seconds=seconds,
        gentle=True,
        **more,
    )


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while it is read
        return False
    return state != "Z"


def assert_gone(pid):
    until = time.monotonic() + 60
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


def await_child(tmp_path):
    """Wait until a program has written the number of its child; it is not ended before that."""
    child = tmp_path / "child"
    until = time.monotonic() + 60
    while not (child.exists() and child.read_text()) and time.monotonic() < until:
        time.sleep(0.01)


def test_all_of_a_stubborn_program_is_killed_at_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.3)
    steps, groups = [], []

    def began(group):
        groups.append(group)
        await_child(tmp_path)

    ended = program(
        tmp_path, sys.executable, "-c", STUBBORN, seconds=1.5,
        on_start=began, end_step=lambda: steps.append(1),
    )  # fmt: skip
    assert (ended.exit_code, ended.timed_out) == (-signal.SIGKILL, True)
    assert steps == [1]
    assert groups[1:] == [0]
    assert wait_for_group(groups[0], 60)
    assert_gone(int((tmp_path / "child").read_text()))


def test_processes_left_by_a_program_are_killed(tmp_path):
    """Ranks that outlive their launcher would disturb the next run."""
    steps = []
    ended = program(
        tmp_path, "sh", "-c", "sleep 600 & echo $!; exit 4", end_step=lambda: steps.append(1)
    )
    assert (ended.exit_code, ended.timed_out, steps) == (4, False, [])
    assert_gone(int((tmp_path / "out").read_text()))


def test_a_program_that_heeds_is_asked_only(tmp_path):
    steps = []
    ended = program(tmp_path, "sleep", "600", seconds=0.2, end_step=lambda: steps.append(1))
    assert (ended.exit_code, ended.timed_out, steps) == (-signal.SIGTERM, True, [])


def test_a_program_that_never_stops_printing_is_ended(tmp_path):
    ended = program(tmp_path, "yes", max_output=100_000)
    assert (tmp_path / "out").stat().st_size == 100_000
    assert (ended.timed_out, ended.printed_too_much) == (False, True)
    assert ended.exit_code == -signal.SIGTERM


def test_a_signal_while_a_program_starts_is_heeded_when_it_is_known(tmp_path):
    groups = []

    def began(group):
        groups.append(group)
        if group:
            os.kill(os.getpid(), signal.SIGTERM)
            groups.append("still here")

    with StopSignals() as signals, pytest.raises(StopRequest, match="SIGTERM"):
        program(tmp_path, "sleep", "600", on_start=began, starting=signals.hold_back)
    assert groups[1:] == ["still here", 0]
    assert wait_for_group(groups[0], 60)


def test_a_program_gets_its_input_and_environment_and_the_result_has_its_output():
    text = "ä\n" * 200_000  # more than a pipe holds, so the program must be read meanwhile
    ended = run_program(
        ["sh", "-c", 'cat; echo "$WORD" >&2; exit 3'],
        stdin=text,
        environment={"WORD": "hello", "PATH": os.environ["PATH"]},
        seconds=60,
    )
    assert (ended.stdout == text, ended.stderr, ended.exit_code) == (True, "hello\n", 3)
    assert not ended.succeeded


def test_a_program_may_ignore_its_input_and_print_no_text():
    ended = run_program(["printf", r"\377 a"], stdin="x" * 1_000_000, seconds=60)
    assert (ended.stdout, ended.succeeded) == ("\N{REPLACEMENT CHARACTER} a", True)


def test_a_slow_program_is_waited_for_longer_than_a_look(monkeypatch):
    monkeypatch.setattr(programs, "_CHECK_SECONDS", 0.01)
    ended = run_program(["sh", "-c", "cat; sleep 0.1; echo late"], stdin="early ")
    assert (ended.stdout, ended.timed_out) == ("early late\n", False)


def test_a_captured_program_at_its_limit_is_killed_with_its_children(tmp_path):
    ended = run_program(
        ["sh", "-c", "sleep 600 & echo $! > child; sleep 600"],
        folder=tmp_path,
        seconds=0.5,
        on_start=lambda _: await_child(tmp_path),
    )
    assert (ended.timed_out, ended.exit_code) == (True, -signal.SIGKILL)
    assert_gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("name", ["no-such-program", "/etc/passwd"])
def test_a_program_that_cannot_be_started_is_named(name):
    with pytest.raises(NotStartedError, match=f"cannot start {name}: (No such|Permission)"):
        run_program([name], seconds=1)
