"""Trees of processes: CPU time that never shrinks, and an end that nothing escapes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.jobs import processes
from routelab.jobs.cpu_time import CpuTime
from routelab.jobs.processes import (
    TICKS,
    Descendants,
    Process,
    children,
    open_process,
    proportional_memory,
    read_process,
    send_signal,
    subreaper,
    thread_states,
)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def process(pid: int, parent: int, own: int, waited: int = 0, state: str = "S") -> Process:
    return Process(pid, parent, state, 1, pid, own, waited)


def ticks(cpu: CpuTime) -> float:
    return round(cpu.seconds * TICKS, 6)


FAMILY = [process(2, 1, 10), process(3, 2, 5)]


@pytest.mark.parametrize(
    ("readings", "totals"),
    [
        # waited for, or not
        ([FAMILY, [process(2, 1, 10, 7)]], [15, 17]),
        ([FAMILY, [process(2, 1, 11)], [process(2, 1, 11)]], [15, 16, 16]),
        # the parent was read before it waited, its child was looked for after that
        ([FAMILY, [process(2, 1, 10)], [process(2, 1, 10, 6)]], [15, 15, 16]),
        # a whole branch ends
        ([[*FAMILY, process(4, 3, 20)], *[[process(2, 1, 10, 25)]] * 2], [35, 35, 35]),
        # a PID is used again
        ([FAMILY, [process(2, 1, 10), Process(3, 2, "S", 1, 99, 1, 0)]], [15, 16]),
    ],
)
def test_time_of_every_process_counts_once(
    readings: list[list[Process]], totals: list[float]
) -> None:
    cpu = CpuTime()
    for reading, total in zip(readings, totals, strict=True):
        cpu.update(reading)
        assert ticks(cpu) == total


def test_orphans_count_with_the_final_time_of_the_kernel() -> None:
    cpu = CpuTime()
    cpu.update([process(2, 1, 10), process(4, 1, 5, state="Z")])
    cpu.end(4, 7 / TICKS)
    assert ticks(cpu) == 17
    cpu.update([process(2, 1, 10)])
    assert ticks(cpu) == 17


class Simulation:
    """Processes that compute, fork and end in random order, and a true account of their time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.own = {2: 0}
        self.waited = {2: 0}
        self.parent = {2: 1}
        self.waits = {2: True}
        self.zombies: set[int] = set()
        self.next = 3
        self.true = 0

    def step(self) -> None:
        alive = [pid for pid in self.own if pid not in self.zombies]
        pid = self.random.choice(alive)
        match self.random.randrange(4):
            case 0 | 1:
                used = self.random.randrange(20)
                self.own[pid] += used
                self.true += used
            case 2:
                self.own[self.next] = self.waited[self.next] = 0
                self.parent[self.next] = pid
                self.waits[self.next] = self.random.random() < 0.5
                self.next += 1
            case 3 if pid != 2:
                for child in [child for child, parent in self.parent.items() if parent == pid]:
                    self.parent[child] = 1
                self.zombies.add(pid)
                parent = self.parent[pid]
                if parent != 1:
                    if self.waits[parent]:
                        self.waited[parent] += self.own[pid] + self.waited[pid]
                    self.remove(pid)

    def remove(self, pid: int) -> None:
        self.zombies.discard(pid)
        for table in (self.own, self.waited, self.parent):
            del table[pid]

    def read(self) -> list[Process]:
        """Read parents before children, while things go on."""
        found: list[Process] = []
        pending = [1]
        seen: set[int] = set()
        for parent in pending:
            for pid in [child for child in self.own if self.parent[child] == parent]:
                if pid not in self.own or pid in seen:
                    continue
                seen.add(pid)
                state = "Z" if pid in self.zombies else "S"
                found.append(
                    Process(pid, self.parent[pid], state, 1, pid, self.own[pid], self.waited[pid])
                )
                pending.append(pid)
                if self.random.random() < 0.3:
                    self.step()
        # as `Descendants.read`: nothing that still exists is missing
        for pid in [pid for pid in self.own if pid not in seen]:
            state = "Z" if pid in self.zombies else "S"
            found.append(
                Process(pid, self.parent[pid], state, 1, pid, self.own[pid], self.waited[pid])
            )
        return found


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_the_total_never_decreases_and_never_exceeds_the_used_time(seed: int, steps: int) -> None:
    simulation = Simulation(seed)
    cpu = CpuTime()
    before = 0.0
    for _ in range(60):
        for _ in range(steps):
            simulation.step()
        found = simulation.read()
        cpu.update(found)
        assert before <= ticks(cpu) <= simulation.true
        for each in found:
            if each.pid in simulation.zombies and each.ended and each.parent == 1:
                used = simulation.own[each.pid] + simulation.waited[each.pid]
                simulation.remove(each.pid)
                cpu.end(each.pid, used / TICKS)
        assert before <= ticks(cpu) <= simulation.true
        before = ticks(cpu)


def test_own_process() -> None:
    found = read_process(os.getpid())
    assert found is not None
    assert found.parent == os.getppid()
    assert found.own_ticks <= time.process_time() * TICKS + 2
    assert found.resident > 5e6
    assert not found.ended
    assert "R" in thread_states(os.getpid())
    assert 0 < proportional_memory(os.getpid()) <= 1.1 * found.resident
    assert read_process(2**22 + 1) is None
    assert thread_states(2**22 + 1) == ""
    assert proportional_memory(2**22 + 1) == 0


def test_a_name_with_parentheses_and_spaces(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as other:
        try:
            # the name is known only when the program has been started
            name = f"/proc/{other.pid}/comm"
            assert wait_until(lambda: Path(name).read_text() == "a) R 1 (b\n")
            found = read_process(other.pid)
            assert found is not None
            assert found.parent == os.getpid()
        finally:
            other.kill()


def test_signals_hit_no_process_that_uses_the_pid_again() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        found = read_process(other.pid)
        assert found is not None
        assert not send_signal((other.pid, found.start + 1), signal.SIGKILL)
        assert open_process(other.pid, found.start + 1) is None
        assert other.poll() is None
        assert send_signal(found.key, signal.SIGKILL)
        assert other.wait() == -signal.SIGKILL


BOMB = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid()
end = time.monotonic() + 30
while time.monotonic() < end:
    # each process is soon replaced by its child, so that a list of processes is outdated
    if os.fork():
        time.sleep(float(sys.argv[1]))
        os._exit(0)
"""


@pytest.fixture(params=["lists of children", "all processes"])
def lists(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    complete: bool = request.param == "lists of children"
    if not complete:
        monkeypatch.setattr(processes, "_kernel_lists_children", lambda: False)
    return complete


def test_processes_that_keep_forking_do_not_escape(lists: bool, tmp_path: Path) -> None:
    pause = "0.002" if lists else "0.05"  # a look at all processes is slow
    mark = str(tmp_path)
    other = subprocess.Popen(["sleep", "60"])
    with subreaper():
        tree = Descendants()
        command = [sys.executable, "-c", BOMB, pause, mark]
        bombs = [subprocess.Popen(command).pid for _ in range(3)]
        assert wait_until(lambda: all(map(ended, bombs)))
        tree.kill()
        assert tree.read() == []
    assert not any(marked(mark) for _ in range(20))
    assert other.poll() is None
    other.kill()
    other.wait()


def ended(pid: int) -> bool:
    found = read_process(pid)
    return found is None or found.ended


def marked(mark: str) -> list[str]:
    """Find processes by an argument, by other means than parents."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark in file.read_text():
                found.append(file.parent.name)
    return found


@pytest.mark.usefixtures("lists")
def test_children_and_grandchildren_are_found() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"]) as shell:
        assert wait_until(lambda: len(children(shell.pid)) == 2)
        assert shell.pid in children(os.getpid())
        tree = processes.read_tree([shell.pid])
        assert [each.pid for each in tree] == [shell.pid, *children(shell.pid)]
        for each in tree:
            os.kill(each.pid, signal.SIGKILL)


def test_the_role_of_a_subreaper_ends_with_the_block() -> None:
    script = """
import os, sys, time
from routelab.jobs.processes import subreaper

def parent_of_orphan():
    ours, theirs = os.pipe()
    if os.fork() == 0:
        parent = os.getpid()
        if os.fork():
            os._exit(0)
        while os.getppid() == parent:
            time.sleep(0.01)
        os.write(theirs, str(os.getppid()).encode())
        os._exit(0)
    return int(os.read(ours, 100))

with subreaper():
    with subreaper():
        pass
    assert parent_of_orphan() == os.getpid()
assert parent_of_orphan() != os.getpid()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_process_that_a_list_lacks_for_once_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Descendants()
    with subprocess.Popen(["sleep", "60"]) as other:
        assert [each.pid for each in tree.read()] == [other.pid]
        with monkeypatch.context() as patch:
            patch.setattr(processes, "children", lambda pid, thread=None: [])
            assert [each.pid for each in tree.read()] == [other.pid]
        other.kill()
    assert tree.read() == []
