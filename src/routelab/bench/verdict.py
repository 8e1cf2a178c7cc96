"""What came of a run: figures that can be trusted, or why there are none."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from routelab.api import BenchmarkError, BenchmarkPlugin, BenchmarkResult, BenchmarkTask
from routelab.bench.comparison import RunStatus
from routelab.bench.store import RawRun


@dataclass(frozen=True)
class Judged:
    """A run, judged by what it left.

    Attributes
    ----------
    status : RunStatus
    failure : str
        `routelab.api.Failure`, or empty.
    reason : str
        Why it is not ok.
    result : BenchmarkResult or None
        What it measured, if it is ok.
    """

    status: RunStatus
    failure: str = ""
    reason: str = ""
    result: BenchmarkResult | None = None


def judge(plugin: BenchmarkPlugin, raw: RawRun, task: BenchmarkTask) -> Judged:
    """Judge a run anew from its raw output.

    Whatever a program printed, its figures count only if the launcher ended well, too.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    raw : RawRun
    task : BenchmarkTask
    """
    if raw.ending == "timeout":
        return Judged("timeout", "", raw.reason)
    if raw.ending == "flooded":
        return Judged("failed", "unreadable", raw.reason)
    if raw.ending == "not-started":
        return Judged("failed", "error-text", raw.reason)
    try:
        result = plugin.parse(raw.output(), task)
    except BenchmarkError as error:
        return Judged("failed", error.failure, str(error))
    except Exception as error:
        # a parser that breaks on an output costs that run, and says so
        reason = f"{plugin.name}: the parser raised {type(error).__name__}: {error}"
        return Judged("failed", "unreadable", reason)
    if raw.exit_code:
        return Judged("failed", *_ended_badly(raw.exit_code))
    return Judged("ok", result=result)


def _ended_badly(exit_code: int) -> tuple[str, str]:
    number = -exit_code if exit_code < 0 else exit_code - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return "error-text", f"the launcher ended with code {exit_code} after figures were printed"
    return "killed", f"ended by {name} (code {exit_code}) after figures were printed"
