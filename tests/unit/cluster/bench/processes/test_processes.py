"""A program at its limit leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routelab.cluster.bench.processes import processes
from routelab.cluster.bench.processes.processes import run_program, wait_for_group
from routelab.cluster.bench.processes.signals import StopRequest, StopSignals

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
        **more,
    )


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def assert_gone(pid):
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


def test_all_of_a_stubborn_program_is_killed_at_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.3)
    steps, groups = [], []
    ended = program(
        tmp_path, sys.executable, "-c", STUBBORN, seconds=1.5,
        on_start=groups.append, end_step=lambda: steps.append(1),
    )  # fmt: skip
    assert (ended.exit_code, ended.timed_out) == (-signal.SIGKILL, True)
    assert steps == [1]
    assert groups[1:] == [0]
    assert wait_for_group(groups[0], 5)
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


def test_a_program_that_never_stops_printing_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "MOST_OUTPUT", 100_000)
    ended = program(tmp_path, "yes")
    assert (ended.timed_out, ended.flooded) == (False, True)
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
    assert wait_for_group(groups[0], 5)


def test_ranks_in_sessions_of_their_own_are_ended_with_their_launcher(tmp_path):
    launches = "setsid sleep 600 & echo $! > pid; while [ ! -e /proc/$(cat pid)/comm ]; do :; done"
    ended = program(tmp_path, "sh", "-c", launches, mark="abc123")
    assert ended.exit_code == 0
    rank = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 5
    while alive(rank) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(rank)
    # nothing has no mark, and what has another one is let alone
    assert (processes.kill_marked(""), processes.kill_marked("abc")) == (0, 0)


def test_processes_without_variables_are_examined_again(tmp_path, monkeypatch):
    # others may be hidden for good
    processes.kill_marked("nobody")
    monkeypatch.setattr(processes, "_EXEC_SECONDS", 60.0)
    find, looks = processes._find_marked, []

    def look(wanted):
        looks.append(find(wanted))
        (tmp_path / "go").touch()
        return looks[-1]

    monkeypatch.setattr(processes, "_find_marked", look)
    # without variables until it is examined, as while a program replaces another one
    wait = f"while [ ! -e {tmp_path}/go ]; do :; done; {processes.MARK}=late exec sleep 600"
    with subprocess.Popen(["env", "-i", "/bin/sh", "-c", wait], start_new_session=True) as process:
        try:
            # while a program replaces another one, its variables are missing, too
            while Path(f"/proc/{process.pid}/comm").read_text() != "sh\n":
                time.sleep(0.001)
            while Path(f"/proc/{process.pid}/environ").read_bytes():
                time.sleep(0.001)
            assert processes.kill_marked("late") == 1
            assert process.wait(60) == -signal.SIGKILL
        finally:
            process.kill()
    marked, hidden = looks[0]
    assert not marked
    assert str(process.pid) in dict(hidden)
