"""Limits of CPU time, memory and idle time of a job, enforced by the process that waits for it.

A signal to a process inside a compiled kernel waits until the kernel returns, so a job cannot
stop itself. The job runs in a child process, see `routelab.jobs.child`; its parent watches it here.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from routelab.jobs import run_lifetime
from routelab.jobs.cpu_time import CpuTime
from routelab.jobs.meter import COMPILE_SECONDS, Compile, Meter, current_meter
from routelab.jobs.processes import (
    Descendants,
    Process,
    proportional_memory,
    read_process,
    thread_states,
)
from routelab.jobs.signals import Interruptions

if TYPE_CHECKING:
    from routelab.results.outcome import Status
    from routelab.study.study import Limits

FIRST_PAUSE = 0.01
PAUSE = 0.1
"""Time between two looks at a job, in seconds; shorter at first."""
LONGEST_PAUSE = 2.0
"""Time between two looks at a job of very many processes, or one without limits."""
SHARE = 0.01
"""Part of a core that supervision may use."""


@dataclass(frozen=True)
class Failure:
    """Why a job was stopped or ended without a result.

    Attributes
    ----------
    status : {"unsupported", "failed", "timeout"}
    reason : str
    memory : bool
        Whether the limit of memory was reached.
    """

    status: Status
    reason: str
    memory: bool = field(default=False, compare=False, repr=False)


class Supervisor:
    """Observer of a job, which checks at intervals whether it breaks a limit."""

    def __init__(
        self,
        child: int,
        tree: Descendants,
        limits: Callable[[], Limits | None],
        meter: Meter,
    ) -> None:
        self._child = child
        self._tree = tree
        self._limits = limits
        self._meter = meter
        self._cpu = CpuTime()
        self._outer = current_meter()
        self._compiled = Compile(0, meter.compile.seconds)
        self._compile_begin = 0.0
        self._item = 0
        self._item_begin = 0.0
        self._idle = 0.0
        self._last_look = time.monotonic()
        self._last_cpu = 0.0
        self._next_pss = 0.0

    def wait(self, interruptions: Interruptions) -> int | Failure | None:
        """Return the status of the ended child, why it was stopped, or None after a signal."""
        poll = select.poll()
        handle = os.pidfd_open(self._child)
        watch_handles = run_lifetime.watch_handles()
        for watched in (handle, interruptions.handle, *watch_handles):
            poll.register(watched, select.POLLIN)
        shortest_pause = pause = FIRST_PAUSE
        try:
            while True:
                ready = {ready_handle for ready_handle, _ in poll.poll(pause * 1000)}
                if ready.intersection(watch_handles):
                    run_lifetime.kill_descendants_and_exit()
                if interruptions.arrived:
                    return None
                if handle in ready:
                    return os.waitpid(self._child, 0)[1]
                begin = time.thread_time()
                failure = self._check_limits(pause)
                if failure is not None:
                    return failure
                cost = time.thread_time() - begin
                shortest_pause = min(1.5 * shortest_pause, PAUSE)
                pause = min(max(shortest_pause, cost / SHARE), LONGEST_PAUSE)
                if self._limits() is None and self._outer is None:
                    pause = LONGEST_PAUSE
        finally:
            os.close(handle)
            self._add_to_outer_meter(Compile(0, self._meter.compile.seconds))

    def _check_limits(self, pause: float) -> Failure | None:
        """Return the exceeded limit after stopping the child for it; None if it may go on."""
        # the meter first: later compilation is charged at the next look at the earliest
        item = self._meter.item
        compiled = self._meter.compile
        processes = self._tree.read()
        self._cpu.update(processes)
        for process in processes:
            if process.pid != self._child:
                seconds = self._tree.reap(process)
                if seconds is not None:
                    self._cpu.end(process.pid, seconds)
        if compiled.running and compiled.running != self._compiled.running:
            self._compile_begin = self._cpu.seconds
        self._add_to_outer_meter(compiled)
        limits = self._limits()
        if limits is None:
            return None
        used = self._used(item.version)
        self._idle = self._idle_seconds(processes, pause)
        failure = self._failure(limits, used - item.spare, processes)
        if failure is not None and self._stop_child_at(item.version) and self._limits() is not None:
            return failure
        return None

    def _add_to_outer_meter(self, compiled: Compile) -> None:
        """Add compilation to the outer meter: the supervisor above does not charge it either."""
        outer = self._outer
        if outer is not None:
            outer.add_compile(compiled.seconds - self._compiled.seconds)
            if compiled.running != self._compiled.running:
                if self._compiled.running:
                    outer.end_compile(0.0)
                if compiled.running:
                    outer.begin_compile()
        self._compiled = compiled

    def _used(self, item: int) -> float:
        """Return the CPU time of the present item without compilation."""
        total = self._cpu.seconds
        compiled = self._compiled.seconds
        if self._compiled.running:
            compiled += total - self._compile_begin
        # all compilation together: a job may compile small kernels for ever
        charged = total - min(compiled, COMPILE_SECONDS)
        if item != self._item:
            self._item = item
            self._item_begin = charged
            self._idle = 0.0
        return charged - self._item_begin

    def _idle_seconds(self, processes: list[Process], pause: float) -> float:
        """Return for how long no process of the job has used or waited for a processor."""
        now = time.monotonic()
        # if this process itself was stopped, it does not know what happened meanwhile
        elapsed = min(now - self._last_look, 2 * pause)
        self._last_look = now
        total, before = self._cpu.seconds, self._last_cpu
        self._last_cpu = total
        if total > before or any("R" in thread_states(process.pid) for process in processes):
            return 0.0
        return self._idle + elapsed

    def _failure(self, limits: Limits, used: float, processes: list[Process]) -> Failure | None:
        """Return which limit `used` CPU seconds, idle time or memory exceed; None if none."""
        place = _place(self._meter)
        if used > limits.seconds:
            text = f"reached its limit of {limits.seconds:g} CPU-s (limits.seconds)"
            return Failure("timeout", text + place)
        if self._idle > limits.idle_seconds:
            text = f"reached its limit of {limits.idle_seconds:g} idle seconds"
            return Failure("timeout", f"{text} (limits.idle_seconds){place}")
        if self._memory_exceeds(limits.memory_gb * 1e9, processes):
            text = f"reached its limit of {limits.memory_gb:g} GB (limits.memory_gb)"
            return Failure("failed", text + place, memory=True)
        return None

    def _memory_exceeds(self, limit: float, processes: list[Process]) -> bool:
        """Return whether the processes take more memory, shared pages counted once."""
        if sum(process.resident for process in processes) <= limit:
            return False
        begin = time.thread_time()
        if time.monotonic() < self._next_pss:
            return False
        exceeds = sum(proportional_memory(process.pid) for process in processes) > limit
        self._next_pss = time.monotonic() + (time.thread_time() - begin) / SHARE
        return exceeds

    def _stop_child_at(self, version: int) -> bool:
        """Stop the child and return whether it still works on an item, not on the next one."""
        os.kill(self._child, signal.SIGSTOP)
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            process = read_process(self._child)
            if process is None or process.state in "tTZX":
                break
            time.sleep(0.001)
        if self._meter.item.version == version:
            return True
        os.kill(self._child, signal.SIGCONT)
        return False


def explain_missing_result(code: int, meter: Meter) -> Failure:
    """Return why a job has no result although its process was not stopped."""
    ending = f"ended with exit code {code}" if code else "ended"
    return Failure("failed", f"its process {ending} without a result{_place(meter)}")


def explain_signal(number: int, meter: Meter) -> Failure:
    """Return why a job has no result that a signal killed."""
    try:
        name = signal.Signals(number).name
    except ValueError:  # real-time signals have none
        name = f"signal {number}"
    return Failure("failed", f"the process was killed by {name}{_place(meter)}")


def _place(meter: Meter) -> str:
    return f" in {meter.text}" if meter.text else ""
