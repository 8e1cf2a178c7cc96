"""CPU time of a changing tree of processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from routelab.jobs.processes import TICKS, Process


class CpuTime:
    """CPU time of all processes of a tree, updated by repeated looks at the tree.

    The total never decreases and never counts anything twice. The time of an ended process is
    part of its parent's counter if the parent waited for it. If the parent ignores SIGCHLD, no
    counter has it; then the last seen value counts. The parent's counter shows which case applies,
    at the latest at the next look: only then is it known whether the counter includes a process
    that ended between the looks at the parent and at the process itself.
    """

    def __init__(self) -> None:
        self._last: dict[int, Process] = {}
        self._claims: dict[int, int] = {}  # of ended children, which a counter may include later
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        """Total CPU time until now, in seconds."""
        ticks = sum(process.ticks for process in self._last.values())
        return (ticks + sum(self._claims.values()) + self._ended) / TICKS

    def update(self, processes: Iterable[Process]) -> None:
        """Record all processes of the tree, each read before its children."""
        now = {process.pid: process for process in processes}
        inherited: Counter[int] = Counter()
        for process in self._last.values():
            if not self._exists(process.pid, now):
                claim = process.ticks + self._claims.pop(process.pid, 0)
                heir = self._heir(process, now)
                if heir is None:
                    self._ended += claim
                else:
                    inherited[heir] += claim
        for pid in {*self._claims, *inherited}:
            growth = now[pid].child_ticks - self._last[pid].child_ticks
            earlier = self._claims.pop(pid, 0)
            included = min(earlier, growth)
            self._ended += earlier - included
            unclaimed = inherited[pid] - (growth - included)
            if unclaimed > 0:
                self._claims[pid] = unclaimed
        self._last = now

    def end(self, pid: int, seconds: float) -> None:
        """Record that this process has waited for a child.

        Parameters
        ----------
        pid : int
        seconds : float
            CPU time of the child and the children that it had waited for.
        """
        process = self._last.pop(pid, None)
        ticks = process.ticks + self._claims.pop(pid, 0) if process else 0
        self._ended += max(ticks, seconds * TICKS)

    def _exists(self, pid: int, now: dict[int, Process]) -> bool:
        return pid in now and now[pid].start == self._last[pid].start

    def _heir(self, process: Process, now: dict[int, Process]) -> int | None:
        """Return the nearest ancestor that still exists: it may have counted the process."""
        pid = process.parent
        for _ in self._last:
            if pid not in self._last:
                return None
            if self._exists(pid, now):
                return pid
            pid = self._last[pid].parent
        return None
