"""Work in a child process, which stops immediately when interrupted, even inside a kernel.

The parent only waits, and handles signals and limits. It kills the child with everything that the
child has started. It need not load Numba, so this module imports nothing that does.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, TypeVar

from routelab.jobs import run_lifetime
from routelab.jobs.compile_events import listen
from routelab.jobs.limits import Failure, Supervisor, explain_signal
from routelab.jobs.meter import Meter, set_current_meter
from routelab.jobs.processes import Descendants, subreaper
from routelab.jobs.signals import Interruptions

if TYPE_CHECKING:
    from routelab.study.study import Limits

Result = TypeVar("Result")

_SHOW_CURSOR = "\x1b[?25h"


def run_limited(
    work: Callable[[], int],
    limits: Limits | Callable[[], Limits | None] | None = None,
    *,
    meter: Meter | None = None,
) -> int | Failure:
    """Run `work` in a child process and return its exit code, or why it was stopped.

    No process that the job has started survives it. SIGINT, SIGTERM and SIGHUP kill the job
    before they act on this process.

    Parameters
    ----------
    work : callable
        Returns an exit code. If it raises anything, the exit code is 1.
    limits : Limits or callable, optional
        CPU time, memory and idle time of the job and everything that it starts. Infinite
        values do not limit anything. A callable returns those of the present item; None: none.
    meter : Meter, optional
        Position of the job's work; limits of time apply to each item.

    Raises
    ------
    RuntimeError
        If this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("run_limited must be called from the main thread of the process")
    meter = Meter() if meter is None else meter
    present = limits if callable(limits) else lambda: limits
    if meter.compile.running:  # an earlier job was killed while it compiled
        meter.end_compile(0.0)
    _flush()
    with Interruptions() as interruptions, run_lifetime.supervising(), subreaper():
        tree = Descendants()
        parent = os.getpid()
        handle = os.pidfd_open(parent)
        child = -1
        try:
            child = interruptions.fork()
            if child == 0:
                # the child never returns into its parent's code
                code = 1
                try:
                    run_lifetime.follow_parent(parent, handle)
                    set_current_meter(meter)
                    listen()
                    result = int(work())
                    code = result if 0 <= result <= 255 else 1
                except BaseException:
                    with suppress(BaseException):
                        traceback.print_exc()
                finally:
                    try:
                        _flush()
                    finally:
                        os._exit(code)
            ended = Supervisor(child, tree, present, meter).wait(interruptions)
        finally:
            if child:
                os.close(handle)
                tree.kill()
    if ended is None:
        # the caller's own handlers have taken the signal, and this process goes on
        return explain_signal(interruptions.arrived[0], meter)
    if isinstance(ended, Failure):
        return ended
    if os.WIFSIGNALED(ended):
        return explain_signal(os.WTERMSIG(ended), meter)
    return os.WEXITSTATUS(ended)


def _flush() -> None:
    # an error here must not stop the job, nor run the parent's code in the child
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def run_in_child(work: Callable[[], Result], limits: Limits | None = None) -> Result:
    """Return or raise what `work` returns or raises in a child process.

    Python handles signals only after a kernel has returned, which may take minutes. The parent
    only waits, so an interruption ends the child and is raised here.

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

    with tempfile.TemporaryFile() as file:
        try:
            ending = run_limited(partial(_supervise, work, file, limits))
        except KeyboardInterrupt:
            if sys.stderr.isatty():  # a progress display in the child may have hidden the cursor
                sys.stderr.write(_SHOW_CURSOR)
            raise
        if isinstance(ending, Failure):
            raise StoppedError(ending)
        file.seek(0)
        try:
            result, error = pickle.load(file)
        except EOFError:
            raise RoutelabError(
                "the process ended without a result; a plugin may have called os._exit()"
            ) from None
    if isinstance(result, Failure):
        raise StoppedError(result)
    if error is not None:
        raise error
    value: Result = result
    return value


def _supervise(work: Callable[[], Result], file: IO[bytes], limits: Limits | None) -> int:
    """Do the work in a further child: if the first process is killed, this one ends the others."""
    ending = run_limited(partial(_work, work, file), limits)
    if isinstance(ending, Failure):
        file.write(pickle.dumps((ending, None)))
        file.flush()
        return 0
    return ending


def _work(work: Callable[[], Result], file: IO[bytes]) -> int:
    """Do the work in the child, and write its pickled result or error; return the exit code."""
    # a terminal also interrupts the child; the parent handles the interruption
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        content = pickle.dumps((work(), None))
    except BaseException as raised:
        from routelab.jobs.plugin_errors import UnexpectedError, sentence

        # interruptions are ignored here, so a plugin raised what is not an Exception
        is_ordinary = isinstance(raised, Exception)
        error = raised if is_ordinary else UnexpectedError(sentence(raised))
        error.add_note(traceback.format_exc())
        try:
            content = pickle.dumps((None, error))
        except Exception:
            content = pickle.dumps((None, RuntimeError(traceback.format_exc())))
    file.write(content)
    file.flush()
    return 0
