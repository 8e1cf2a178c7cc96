"""Work in a child process, which stops immediately when interrupted, even inside a kernel."""

from __future__ import annotations

import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from typing import IO, TypeVar

from routelab.api.errors import RoutelabError
from routelab.jobs.containment import UnexpectedError, sentence
from routelab.jobs.limits import Failure, run_limited
from routelab.study.study import Limits

Result = TypeVar("Result")

_SHOW_CURSOR = "\x1b[?25h"


class StoppedError(RoutelabError):
    """The work was killed or reached a limit.

    Parameters
    ----------
    failure : Failure
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


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
    # a terminal also interrupts the child; the parent handles the interruption
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        content = pickle.dumps((work(), None))
    except BaseException as raised:
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
