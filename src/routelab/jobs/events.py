"""Log of the events of jobs: lines of JSON that a run of the workflow reads.

Batches append to one file. A line is written in one piece, so that lines of many processes do not
mix. A line that cannot be read is skipped: the outcomes have the same information.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, get_args

from routelab.artifacts.outcome import Status

if TYPE_CHECKING:
    from routelab.jobs.job import BaseJob

ENDED = "ended"
"""Status of the end of a job that logs its results itself."""

STATUSES = ("", ENDED, *get_args(Status))

_handles: list[int] = []


class Event(TypedDict):
    """The start of a job, or one of its results.

    Attributes
    ----------
    kind, title : str
        Of the job.
    status, reason : str
        Of the result; both are empty if the job has only begun.
    seconds : float
        Wall time of the result.
    """

    kind: str
    title: str
    status: str
    reason: str
    seconds: float


def log_of(results: Path) -> Path:
    """Return the file with the events of a results folder."""
    return results / ".plan" / "events.jsonl"


def open_log(path: Path) -> None:
    """Log events of this process, and of those that it forks, to a file."""
    while _handles:
        os.close(_handles.pop())
    with suppress(OSError):
        _handles.append(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666))


def note_event(
    kind: str, title: str, status: str = "", reason: str = "", seconds: float = 0.0
) -> None:
    """Log an event of a job. Results never depend on the log."""
    event = Event(kind=kind, title=title, status=status, reason=reason[:500], seconds=seconds)
    for handle in _handles:
        with suppress(OSError):
            os.write(handle, f"{json.dumps(event)}\n".encode())


def note_end(job: BaseJob, seconds: float) -> None:
    """Log the outcome of a job; a job with many results logs each of them itself."""
    endings = [(ENDED, "")] if job.of_surveys else job.endings()
    for status, reason in endings:
        note_event(job.kind, job.title, status, reason, seconds)


class Reader:
    """Reader of the events that are added to a file.

    Parameters
    ----------
    path : Path
        The file need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._position = path, 0

    def read(self) -> list[Event]:
        """Return all events since the last call."""
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._position)
                content = stream.read()
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._position += len(whole)
        return [event for line in whole.splitlines() if (event := _event(line)) is not None]


def _event(line: bytes) -> Event | None:
    try:
        content: Any = json.loads(line)
        texts = (content["kind"], content["title"], content["status"], content["reason"])
        if all(isinstance(text, str) for text in texts):
            seconds = float(content["seconds"])
            if not (texts[2] in STATUSES and 0 <= seconds < 1e9):
                return None
            return Event(
                kind=texts[0],
                title=texts[1],
                status=texts[2],
                reason=texts[3],
                seconds=seconds,
            )
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
