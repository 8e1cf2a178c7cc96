"""Work in a child process, which stops immediately when interrupted, even inside a kernel.

The parent only waits. When the child has ended, or this process is to end, it kills everything that
the child has started. It need not load Numba, so this module imports nothing that does.
"""

from __future__ import annotations

import faulthandler
import math
import os
import pickle
import select
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

from routelab.jobs import processes
from routelab.jobs.limits import Failure, explain_end, explain_memory, set_limits

if TYPE_CHECKING:
    from routelab.study.study import Limits

Result = TypeVar("Result")

LOOK_SECONDS = 60
"""Time between two looks at the CPU time of a child with all its processes."""
MAX_IDLE_LOOKS = 5
"""Number of looks in a row without new CPU time after which a child counts as hung."""

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = "\x1b[?25h"


class Ending(NamedTuple):
    """How a child ended.

    Attributes
    ----------
    status : int
        Wait status, from `os.waitpid`.
    hung : bool
        Whether it was killed because all its processes only waited.
    trace : str
        Lines of Python code at which a signal ended it, by faulthandler; empty if unknown.
    """

    status: int
    hung: bool
    trace: str


def run_child(
    work: Callable[[], int],
    *,
    may_wait: bool = False,
    parent_death_signal: signal.Signals = signal.SIGKILL,
) -> Ending:
    """Run `work` in a child process; no process that it has started survives it.

    Parameters
    ----------
    work : callable
        Returns an exit code. If it raises anything, the exit code is 1.
    may_wait : bool
        Let the child wait as long as it wants without using CPU time.
    parent_death_signal : signal
        Signal that the kernel sends to the child if this process is killed.

    Raises
    ------
    RuntimeError
        If this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a child process needs the main thread of its parent")
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # then nobody can wait for children
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # 1. Text in the buffers would be printed twice, as the child has a copy of them.
    _flush()
    earlier_children = processes.present_children()
    parent = os.getpid()
    with processes.adopt_orphans(), tempfile.TemporaryFile() as trace, _defer_signals() as deferred:
        # The handler of signals appends to the first list and reads the second one.
        arrived_signals, children_to_kill = deferred
        try:
            # 2. Fork. Until the end of this block, a signal such as SIGTERM only kills the child.
            #    This process gets it at the end, when the child's processes are killed, too.
            child = os.fork()
            if child == 0:  # it never returns into the code of its parent
                code = 1
                try:
                    _begin_child(parent, parent_death_signal, trace)
                    result = work()
                    # the kernel keeps the lowest 8 bits only: 256 would be success
                    code = result if 0 <= result <= 255 else 1
                except BaseException:
                    with suppress(BaseException):
                        traceback.print_exc()
                finally:
                    try:
                        _flush()
                    finally:
                        os._exit(code)
            # 3. A signal that arrived before the child was listed has not killed it.
            children_to_kill.append(child)
            if arrived_signals:
                os.kill(child, signal.SIGKILL)
            hung = _wait_for_end(child, may_wait)
            # 4. Once it was waited for, its PID may be that of another process.
            children_to_kill.clear()
            _, status = os.waitpid(child, 0)
        finally:
            processes.end_children(spared=earlier_children)
        trace.seek(0)
        return Ending(status, hung, trace.read().decode("utf-8", "replace"))


def _begin_child(parent: int, parent_death_signal: signal.Signals, trace: IO[bytes]) -> None:
    """Let this process end with its parent, and write its stack to `trace` if a signal ends it."""
    processes.die_with_parent(parent, parent_death_signal)
    # A terminal interrupts all its processes; only the parent reacts, and kills this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent's handlers only note a signal; here it must end the process, unless it is ignored,
    # as after nohup.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # for crashes such as SIGSEGV
    faulthandler.enable(trace, all_threads=False)
    # for the limit of CPU time; with `chain`, the signal then ends the process as usual
    faulthandler.register(signal.SIGXCPU, trace, all_threads=False, chain=True)


def _wait_for_end(child: int, may_wait: bool) -> bool:
    """Wait for the end of a child; return whether it was killed because it hung.

    The child stays a zombie, so that its status can still be read.
    """
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)  # readable when the child has ended
    # below any CPU time, so that the first look never counts as idle
    used_seconds, idle_looks = -1.0, 0
    try:
        # `poll` returns an empty list after its time, in milliseconds; None is no time limit
        while not poll.poll(None if may_wait else 1000 * LOOK_SECONDS):
            seconds = processes.cpu_seconds(child)
            # The sum may be less than before, if one of the processes has ended.
            idle_looks = idle_looks + 1 if seconds <= used_seconds else 0
            used_seconds = seconds
            if idle_looks == MAX_IDLE_LOOKS:
                # The signal of a CPU limit, for its handler: faulthandler writes the stack, which
                # takes less than a second.
                os.kill(child, signal.SIGXCPU)
                poll.poll(1000)
                os.kill(child, signal.SIGKILL)
                return True
        return False
    finally:
        os.close(handle)


@contextmanager
def _defer_signals() -> Iterator[tuple[list[int], list[int]]]:
    """Delay signals that would end this process, such as SIGTERM, until the end of the block.

    So none interrupts a fork, or the killing of a child's processes.

    Yields
    ------
    arrived_signals : list of int
        Numbers of signals that have arrived in the block.
    children_to_kill : list of int
        The caller adds PIDs of children, which a signal kills immediately.
    """
    arrived_signals: list[int] = []
    children_to_kill: list[int] = []

    def note_and_kill(number: int, _: FrameType | None) -> None:
        arrived_signals.append(number)
        for child in children_to_kill:
            os.kill(child, signal.SIGKILL)

    # None is a handler that was not set by Python, and could not be set again.
    numbers = [n for n in _ENDING_SIGNALS if signal.getsignal(n) not in (signal.SIG_IGN, None)]
    handlers = [signal.signal(number, note_and_kill) for number in numbers]
    try:
        yield arrived_signals, children_to_kill
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        # the first of them acts now, with the handler from before the block
        if arrived_signals:
            signal.raise_signal(arrived_signals[0])


def _flush() -> None:
    # an error here must not stop the work, nor run the parent's code in the child
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def run_limited(work: Callable[[], int], limits: Limits | None = None) -> int | Failure:
    """Run `work` in a child process and return its exit code, or why it was stopped.

    Parameters
    ----------
    work : callable
        Returns an exit code. If it raises anything, the exit code is 1.
    limits : Limits, optional
        Without a limit of time it may also wait for ever.
    """

    def work_with_limits() -> int:
        set_limits(limits)
        return work()

    ending = run_child(work_with_limits, may_wait=limits is None or math.isinf(limits.seconds))
    if ending.hung or os.WIFSIGNALED(ending.status):
        return explain_end(ending.status, ending.hung, ending.trace, limits)
    return os.WEXITSTATUS(ending.status)


def run_in_child(work: Callable[[], Result], limits: Limits | None = None) -> Result:
    """Return or raise what `work` returns or raises in a child process.

    Python handles signals only after a kernel has returned, which may take minutes. The parent
    only waits, so an interruption ends the child and is raised here. Between both is a guard::

        this process ── guard ── child, which runs `work` ── programs that it has started

    If this process is killed, the guard is left to kill the child and its programs.

    Parameters
    ----------
    work : callable
        Its result must be picklable.
    limits : Limits, optional

    Raises
    ------
    StoppedError
        If the child was killed or reached a limit.
    UnexpectedError
        If `work` raises what is not an `Exception`, for example `SystemExit`.
    RoutelabError
        If the child ended without a result.
    """
    from routelab.api.errors import RoutelabError
    from routelab.jobs.plugin_errors import StoppedError

    def guard_child() -> int:
        """Run the child; write its failure to the file if it was stopped."""
        code_or_failure = run_limited(partial(_write_result, work, file), limits)
        if isinstance(code_or_failure, Failure):
            file.write(pickle.dumps((code_or_failure, None)))
            file.flush()
        return 0

    # 1. If this process is killed, the guard gets SIGTERM instead of SIGKILL, and still ends the
    #    child's programs. It watches the child, and may itself wait without using CPU time.
    with tempfile.TemporaryFile() as file:
        try:
            ending = run_child(guard_child, may_wait=True, parent_death_signal=signal.SIGTERM)
        except KeyboardInterrupt:
            if sys.stderr.isatty():  # a progress display in the child may have hidden the cursor
                sys.stderr.write(_SHOW_CURSOR)
            raise

        # 2. The file has a pair: (result, None), (failure, None) or (None, error). It is empty if a
        #    process ended before it could write.
        if os.WIFSIGNALED(ending.status):
            raise StoppedError(explain_end(ending.status, ending.hung, ending.trace, limits))
        file.seek(0)
        try:
            result_or_failure, error = pickle.load(file)
        except EOFError:
            raise RoutelabError(
                "the process ended without a result; a plugin may have called os._exit()"
            ) from None
    if isinstance(result_or_failure, Failure):
        raise StoppedError(result_or_failure)
    if limits is not None and isinstance(error, MemoryError):
        raise StoppedError(explain_memory(limits))
    if error is not None:
        raise error
    result: Result = result_or_failure
    return result


def _write_result(work: Callable[[], Result], file: IO[bytes]) -> int:
    """Do the work in the child, and write (result, None) or (None, error); return the exit code."""
    try:
        content = pickle.dumps((work(), None))
    except BaseException as raised:
        from routelab.jobs.plugin_errors import UnexpectedError, sentence

        # interruptions are ignored here, so a plugin raised what is not an Exception
        is_exception = isinstance(raised, Exception)
        error = raised if is_exception else UnexpectedError(sentence(raised))
        error.add_note(traceback.format_exc())
        try:
            content = pickle.dumps((None, error))
        except Exception:  # an exception of a plugin need not be picklable
            content = pickle.dumps((None, RuntimeError(traceback.format_exc())))
    file.write(content)
    file.flush()
    return 0
