"""Verdicts on runs: figures that can be trusted, or the reason why there are none."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from routelab.api import BenchmarkError, BenchmarkPlugin, BenchmarkResult, BenchmarkTask
from routelab.bench.comparison import RunStatus
from routelab.bench.store import RawRun


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on a run.

    Attributes
    ----------
    status : RunStatus
    failure : str
        `routelab.api.Failure`, or empty.
    reason : str
        Why the status is not ok.
    result : BenchmarkResult or None
        Its figures, if it is ok.
    """

    status: RunStatus
    failure: str = ""
    reason: str = ""
    result: BenchmarkResult | None = None


def judge(plugin: BenchmarkPlugin, raw: RawRun, task: BenchmarkTask) -> RunVerdict:
    """Judge a run from its raw output.

    Figures count only if the launcher also ended without an error.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    raw : RawRun
    task : BenchmarkTask
    """
    if raw.ending == "timeout":
        return RunVerdict("timeout", "", raw.reason)
    if raw.ending == "flooded":
        return RunVerdict("failed", "unreadable", raw.reason)
    if raw.ending == "not-started":
        return RunVerdict("failed", "error-text", raw.reason)
    try:
        result = plugin.parse(raw.output(), task)
    except BenchmarkError as error:
        return RunVerdict("failed", error.failure, str(error))
    except Exception as error:
        # a parser that raises on an output fails that run, with a message
        reason = f"{plugin.name}: the parser raised {type(error).__name__}: {error}"
        return RunVerdict("failed", "unreadable", reason)
    if raw.exit_code:
        return RunVerdict("failed", *_exit_failure(raw.exit_code))
    return RunVerdict("ok", result=result)


def _exit_failure(exit_code: int) -> tuple[str, str]:
    number = -exit_code if exit_code < 0 else exit_code - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return "error-text", f"the launcher ended with code {exit_code} after figures were printed"
    return "killed", f"ended by {name} (code {exit_code}) after figures were printed"
