"""Containment: turns exceptions into outcomes of jobs, and into messages of one sentence."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from routelab._runtime import progress
from routelab.api import InputError, PluginError, RoutelabError, UnsupportedError
from routelab.jobs.limits import Failure
from routelab.registry.catalogue import QuarantinedError
from routelab.results.outcome import Status

T = TypeVar("T")

LONGEST_REASON = 4000
"""Largest number of characters of an exception's message."""


class UnexpectedError(PluginError):
    """Code, usually of a plugin, raised an unexpected exception; the cause has the traceback."""


class StoppedError(RoutelabError):
    """The work was killed or reached a limit.

    Parameters
    ----------
    failure : Failure
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class LostInputError(UnsupportedError):
    """A network or table that a job reads has no result; this job then has the same outcome.

    Parameters
    ----------
    status : {"unsupported", "failed", "timeout"}
        Status of the network or table.
    reason : str
    """

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status


def run_contained(work: Callable[..., T], *args: Any) -> T | Failure:
    """Call `work`, and return its result, or its exception as status and reason of an outcome.

    Two exceptions pass: an interruption of the user, and `MemoryError`, which the worker explains
    by the job's limit.
    """
    try:
        return work(*args)
    except LostInputError as error:
        return Failure(error.status, str(error))
    except QuarantinedError as error:
        return Failure("failed", str(error))
    except (UnsupportedError, InputError) as error:
        # an input error here means that parameters do not fit this network
        return Failure("unsupported", readable(error))
    except MemoryError:
        raise
    except BaseException as error:
        # A child ignores SIGINT, so a KeyboardInterrupt there is one that a plugin has raised.
        is_child = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        if isinstance(error, KeyboardInterrupt) and not is_child:
            raise
        traceback.print_exc()
        # what the process was doing, such as "dor: metric cost"
        activity = f"{progress.current}: " if is_child and progress.current else ""
        return Failure("failed", f"{activity}{sentence(error)}")


@contextmanager
def as_unexpected_error() -> Iterator[None]:
    """Turn an unexpected exception, including `SystemExit`, into an error of one sentence.

    Raises
    ------
    UnexpectedError
    """
    try:
        yield
    except (RoutelabError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise UnexpectedError(sentence(error)) from error


def sentence(error: BaseException) -> str:
    """Return an exception in one sentence, with the place where it was raised."""
    if isinstance(error, RoutelabError):
        return readable(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(readable(error).split())
    return f"{type(error).__name__}: {message} ({frame.filename}, line {frame.lineno})"


def readable(error: BaseException) -> str:
    """Return the text of an exception for messages: shortened, without control characters."""
    try:
        text = str(error).strip()
    except Exception:
        text = "its message cannot be read"
    text = "".join(
        character if character.isprintable() or character in "\n\t" else "\ufffd"
        for character in text
    )
    if len(text) > LONGEST_REASON:
        return f"{text[:LONGEST_REASON]}…"
    return text or "no reason given"
