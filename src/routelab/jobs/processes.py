"""Processes as /proc shows them, and reliable killing of all descendants of this process.

Descendants are found through the lists of children in /proc. A supervisor becomes a subreaper
first: then a process whose parent ends becomes its child, and no descendant can escape.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

TICKS = os.sysconf("SC_CLK_TCK")
"""Units of CPU time per second in /proc."""
PAGE = os.sysconf("SC_PAGE_SIZE")

Key: TypeAlias = tuple[int, int]
"""PID and start time: unlike a PID alone, never used again on the same boot."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37


@dataclass(frozen=True, slots=True)
class Process:
    """The values of /proc/PID/stat.

    Attributes
    ----------
    pid, parent : int
    state : str
        State of the first thread: R running or runnable, S asleep, Z ended, ...
    threads : int
    start : int
        Start time, in ticks since boot.
    own_ticks : int
        CPU time (user and system) of all threads, also of ended ones.
    child_ticks : int
        CPU time of ended children that the process has waited for, and of theirs.
    resident : int
        Resident memory, in bytes.
    """

    pid: int
    parent: int
    state: str
    threads: int
    start: int
    own_ticks: int
    child_ticks: int
    resident: int = 0

    @property
    def key(self) -> Key:
        """Key that identifies the process among all processes since boot."""
        return self.pid, self.start

    @property
    def ended(self) -> bool:
        """Whether all threads have ended, and only the parent's wait is missing."""
        return self.state in "ZX" and self.threads <= 1

    @property
    def ticks(self) -> int:
        """CPU time of the process and the children that it has waited for."""
        return self.own_ticks + self.child_ticks


def read_process(pid: int) -> Process | None:
    """Read a process from /proc; None if it does not exist."""
    content = _read(f"/proc/{pid}/stat")
    if content is None:
        return None
    # the name, in parentheses, may contain anything
    fields = content[content.rindex(b")") + 2 :].split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        state=fields[0].decode("ascii"),
        threads=int(fields[17]),
        start=int(fields[19]),
        own_ticks=int(fields[11]) + int(fields[12]),
        child_ticks=int(fields[13]) + int(fields[14]),
        resident=int(fields[21]) * PAGE,
    )


def thread_states(pid: int) -> str:
    """Return one letter per thread; an empty string if the process does not exist."""
    states = ""
    for thread in _threads(pid):
        content = _read(f"/proc/{pid}/task/{thread}/stat")
        if content is not None:
            states += chr(content[content.rindex(b")") + 2])
    return states


def proportional_memory(pid: int) -> int:
    """Return the PSS of a process in bytes: pages that n processes share count 1/n.

    The kernel walks all pages of the process: about 10 ms per GB.
    """
    for line in (_read(f"/proc/{pid}/smaps_rollup") or b"").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def children(pid: int, thread: int | None = None) -> list[int]:
    """Return the PIDs of the children of a process, or of one of its threads.

    The list may lack a child while one of its siblings is waited for.
    """
    if not _kernel_lists_children():
        return _parents().get(pid, [])
    threads = _threads(pid) if thread is None else [thread]
    lists = (_read(f"/proc/{pid}/task/{task}/children") for task in threads)
    return [int(child) for pids in lists if pids for child in pids.split()]


def read_tree(pids: Collection[int]) -> list[Process]:
    """Read processes and all their descendants.

    Each process is read before its children. So the CPU time of a child that ends meanwhile is
    never found twice, in the child and in its parent.
    """
    tree: dict[int, Process] = {}
    pending = list(pids)
    by_parent = None if _kernel_lists_children() else _parents()
    for pid in pending:  # grows while it is walked
        process = None if pid in tree else read_process(pid)
        if process is None:
            continue
        tree[pid] = process
        if by_parent is not None:
            pending += by_parent.get(pid, [])
        elif process.threads == 1:
            pending += children(pid, pid)
        else:
            pending += children(pid)
    return list(tree.values())


class Descendants:
    """All processes that descend from this one, except children that existed before.

    Only children of the first thread count, which also gets the orphans: processes that other
    threads start meanwhile are not touched.

    Parameters
    ----------
    everything : bool
        Do not leave out any child.
    """

    def __init__(self, everything: bool = False) -> None:
        self._pid = os.getpid()
        self._thread = None if everything else self._pid
        earlier_children = () if everything else map(read_process, children(self._pid))
        self._others = {process.key for process in earlier_children if process}
        self._known: dict[Key, Process] = {}

    def read(self) -> list[Process]:
        """Read all descendants, parents before children, also ended ones."""
        roots = children(self._pid, self._thread)
        if self._others:
            excluded_pids = {pid for pid, _ in self._others}
            candidates = (read_process(pid) for pid in roots if pid in excluded_pids)
            earlier_pids = {
                process.pid for process in candidates if process and process.key in self._others
            }
            roots = [pid for pid in roots if pid not in earlier_pids]
        tree = read_tree(roots)
        descendants = {process.key: process for process in tree if process.key not in self._others}
        for pid, start in self._known.keys() - descendants.keys():
            # a list of children may have lacked the process, or its parent has ended meanwhile
            process = read_process(pid)
            if process and process.start == start:
                descendants[process.key] = process
        self._known = descendants
        return list(descendants.values())

    def reap(self, process: Process) -> float | None:
        """Wait for an ended process that has become a child of this one.

        Returns
        -------
        seconds : float or None
            CPU time of the process and the children that it has waited for; None if this process
            must not wait for it.
        """
        if not process.ended or process.parent != self._pid:
            return None
        try:
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if not pid:
            return None
        self._known.pop(process.key, None)
        return usage.ru_utime + usage.ru_stime

    def kill(self) -> None:
        """Kill all descendants and wait until none is left.

        All are stopped before the first is killed: otherwise a process that forks could always be
        a step ahead. Processes of other users, which cannot be killed, are left alone.
        """
        stopped: set[Key] = set()
        pause = 0.0005
        # the kernel's list of our children is complete, but a scan of all processes may miss some
        empty = required = 1 if _kernel_lists_children() else 10
        while empty:
            processes = self.read()
            empty = required if processes else empty - 1
            alive = [process for process in processes if not process.ended]
            fresh = [process for process in alive if process.key not in stopped]
            for process in fresh:
                stopped.add(process.key)
                self._send(process, signal.SIGSTOP)
            for process in processes:
                self.reap(process)
            if fresh:
                continue
            for process in alive:
                self._send(process, signal.SIGKILL)
            if empty:
                time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _send(self, process: Process, number: signal.Signals) -> None:
        try:
            send_signal(process.key, number)
        except PermissionError:
            self._others.add(process.key)
            self._known.pop(process.key, None)


def kill_descendants() -> None:
    """Kill all descendants of this process and wait until none is left."""
    with subreaper():
        Descendants(everything=True).kill()


def clean_up() -> None:
    """End what an item of work has left behind, so that it does not count for the next one."""
    kill_descendants()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # peak memory begins anew


def send_signal(key: Key, number: signal.Signals) -> bool:
    """Send a signal to a process; False if it has ended, even if its PID is used again."""
    handle = open_process(*key)
    if handle is None:
        return False
    try:
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def open_process(pid: int, start: int) -> int | None:
    """Open a pidfd of a process, which is readable when it has ended; None if it is gone."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    # from here on the PID cannot be reused without this handle becoming readable
    process = read_process(pid)
    if process is None or process.start != start or process.ended:
        os.close(handle)
        return None
    return handle


def has_ended(handle: int) -> bool:
    """Return whether the process of a pidfd has ended."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def subreaper() -> Iterator[None]:
    """Let orphans among the descendants become children of this process, within the block."""
    before = ctypes.c_int()
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def set_parent_death_signal(number: int) -> None:
    """Let the kernel send a signal to this process when its parent ends; 0 for none."""
    _prctl(_PR_SET_PDEATHSIG, int(number))


def _prctl(option: int, argument: object) -> None:
    if _libc().prctl(option, argument, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _kernel_lists_children() -> bool:
    """Return whether the kernel lists children (CONFIG_PROC_CHILDREN)."""
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()


def _parents() -> dict[int, list[int]]:
    """Return the children of each process that has any, from a scan of all processes."""
    children_of: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        process = read_process(int(name)) if name.isdigit() else None
        if process:
            children_of.setdefault(process.parent, []).append(process.pid)
    return children_of


def _threads(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    return []


def _read(path: str) -> bytes | None:
    """Return the content of a file of /proc; None if it is empty or its process has ended."""
    # a supervisor reads such files all the time: this is three times as fast as pathlib
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        content = os.read(handle, 65536)
        while len(content) % 65536 == 0 and (more := os.read(handle, 65536)):
            content += more
    except OSError:  # ended meanwhile
        return None
    finally:
        os.close(handle)
    return content or None
