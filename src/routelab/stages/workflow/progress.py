"""Progress of a run of the workflow, and messages about results that are not ok."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from routelab.artifacts.losses import cause_text
from routelab.jobs.events import ENDED, Event, Reader, log_of
from routelab.stages.kinds import kinds
from routelab.stages.plan.plan import Plan

LOOK_SECONDS = 0.5
REPORT_SECONDS = 15.0
"""Longest time between two lines of progress while anything changes."""

SHOWN_JOBS, LONGEST_NAME = 3, 80
"""Jobs that a line of progress names, and characters of each."""


class Progress:
    """Counter of results.

    Parameters
    ----------
    left : mapping of str to int
        Missing results, by kind.
    cores : int
        Number of jobs that run at the same time.

    Attributes
    ----------
    look : callable
        Adds the events since the last look; does nothing unless `progress_lines` set it.
    """

    def __init__(self, left: Mapping[str, int], cores: int) -> None:
        self.look: Callable[[], None] = lambda: None
        self._left = Counter(left)
        self._total = self._left.total()
        self._cores = max(1, cores)
        self._seconds: dict[str, float] = {}
        self._done: Counter[str] = Counter()
        self._lost = 0
        self._running: dict[tuple[str, str], None] = {}
        self._known: set[tuple[str, str, str]] = set()
        self._printed = ""

    def add(self, events: Sequence[Event]) -> list[str]:
        """Count events; return lines for results that are not ok."""
        problems: dict[tuple[str, str, str], list[str]] = {}
        for event in events:
            name = event["kind"], event["title"]
            if not event["status"]:
                self._running[name] = None
                continue
            self._running.pop(name, None)
            kind, status = event["kind"], event["status"]
            if status == ENDED:
                continue
            self._done[kind] += 1
            self._seconds[kind] = self._seconds.get(kind, 0.0) + event["seconds"]
            self._left[kind] = max(0, self._left[kind] - 1)
            if status != "ok":
                self._lost += status != "unsupported"
                key = kind, status, next(iter(event["reason"].strip().splitlines()), "")
                # a routing that does not apply is a normal result: one line for each reason
                if status != "unsupported" or key not in self._known:
                    problems.setdefault(key, []).append(event["title"])
        self._known.update(problems)
        return [_problem(*key, titles) for key, titles in problems.items()]

    @property
    def done(self) -> int:
        """Number of results so far."""
        return self._done.total()

    def new_line(self) -> str:
        """Return the progress; empty if it was printed last, or there is nothing to count."""
        line = self.line() if self._total or self.done else ""
        new = line if line != self._printed else ""
        self._printed = line
        return new

    def line(self) -> str:
        """Return the progress of the run in one line."""
        parts = [f"{self.done} of {max(self._total, self.done)} jobs done"]
        if self._lost:
            parts.append(f"{self._lost} failed or stopped")
        seconds = self.remaining()
        if seconds is not None and self._left.total():
            parts.append(f"about {_duration(seconds)} left")
        # a copy: another thread may add events meanwhile
        running = [_shorten(f"{_noun(kind)} {title}") for kind, title in tuple(self._running)]
        if running:
            more = f" and {len(running) - SHOWN_JOBS} more" if len(running) > SHOWN_JOBS else ""
            parts.append(f"running: {'; '.join(running[:SHOWN_JOBS])}{more}")
        return ", ".join(parts)

    def remaining(self) -> float | None:
        """Estimate the seconds that are left; None before the first result."""
        if not self.done:
            return None
        mean = sum(self._seconds.values()) / self.done
        work = sum(
            left * (self._seconds[kind] / self._done[kind] if self._done[kind] else mean)
            for kind, left in self._left.items()
        )
        return work / self._cores


def _noun(kind: str) -> str:
    return kinds()[kind].nouns[0] if kind in kinds() else kind


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _problem(kind: str, status: str, reason: str, titles: Sequence[str]) -> str:
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
    return f"{_shorten(f'{_noun(kind)} {titles[0]}')}{more}: {cause_text(status, reason)}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def count_missing_results(plan: Plan) -> Counter[str]:
    """Return the numbers of missing results, by kind."""
    return Counter(
        {
            kind: sum(
                job.missing_results()
                for job in plan.jobs.values()
                if job.kind == kind and not job.is_done()
            )
            for kind in kinds()
        }
    )


@contextmanager
def progress_lines(
    plan: Plan, cores: int, write: Callable[[str], object] | None = None
) -> Iterator[Progress]:
    """Print progress of a run, from a thread, until the block ends.

    Parameters
    ----------
    plan : Plan
    cores : int
        Number of cores that Snakemake uses.
    write : callable, optional
        Gets each line (default: write to standard error).
    """
    progress = Progress(count_missing_results(plan), min(cores, os.cpu_count() or 1))
    reader = Reader(log_of(plan.results))
    put = write or (lambda text: print(text, file=sys.stderr, flush=True))
    over, looking = threading.Event(), threading.Lock()

    def look() -> None:
        with looking:
            for line in progress.add(reader.read()):
                put(line)

    progress.look = look

    def follow() -> None:
        reported, shown = time.monotonic(), 0
        while not over.wait(LOOK_SECONDS):
            look()
            late = time.monotonic() - reported > REPORT_SECONDS
            if late and progress.done != shown:
                if line := progress.new_line():
                    put(line)
                reported, shown = time.monotonic(), progress.done

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()
        look()
