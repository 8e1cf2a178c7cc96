"""Verdicts on runs: figures that can be trusted, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    Failure,
    PluginError,
    RunOutput,
)
from routelab.bench.causes import Cause, complaint, find_cause, program_output
from routelab.bench.comparison import RunStatus
from routelab.bench.store import RawRun

_TOLD = ("error-text", "wrong-processes", "verification-failed")
"""Failures that a program tells itself, before its exit code does."""


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on a run.

    Attributes
    ----------
    status : RunStatus
    failure : Failure or empty
    reason : str
        Why the status is not ok.
    result : BenchmarkResult or None
        Its figures, if it is ok.
    """

    status: RunStatus
    failure: Failure | Literal[""] = ""
    reason: str = ""
    result: BenchmarkResult | None = None


def judge(plugin: BenchmarkPlugin, raw: RawRun, task: BenchmarkTask) -> RunVerdict:
    """Judge a run from its raw output, and from how it ended.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    raw : RawRun
    task : BenchmarkTask
    """
    if raw.ending == "timeout":
        return RunVerdict("timeout", "", _limit_text(raw))
    if raw.ending == "flooded":
        return RunVerdict("failed", "unreadable", raw.reason)
    if raw.ending == "not-started":
        return RunVerdict("failed", "error-text", raw.reason)
    launcher = Path(raw.command[0]).name if raw.command else "the launcher"
    try:
        return judge_output(plugin, raw.output(), task, launcher)
    except PluginError as error:
        return RunVerdict("failed", "unreadable", str(error))


def judge_output(
    plugin: BenchmarkPlugin,
    output: RunOutput,
    task: BenchmarkTask | None,
    launcher: str = "the launcher",
) -> RunVerdict:
    """Judge an output.

    Figures count only if neither the exit code nor a message of a launcher reports a failure.
    Otherwise the reason is what broke first, and not what the launcher ended after that. Where only
    an exit code is known, what the program printed explains it.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    output : RunOutput
    task : BenchmarkTask or None
        None if the request is unknown.
    launcher : str
        Its name, for messages.

    Raises
    ------
    PluginError
        If the parser raises anything but BenchmarkError on the output of a run that did not fail.
    """
    cause = find_cause(output, launcher)
    try:
        result = plugin.parse(output if cause is None else program_output(output), task)
    except BenchmarkError as error:
        if cause is None:
            return RunVerdict("failed", error.failure, str(error))
        return _broken(cause, output, error)
    except Exception as error:
        if cause is None:
            raise PluginError(
                f"{plugin.name}: parse() must return figures or raise BenchmarkError, but raised "
                f"{type(error).__name__}: {error}"
            ) from error
        return _broken(cause, output)
    if cause is None:
        return RunVerdict("ok", result=result)
    return _verdict(cause, f"{cause.text}, after figures were printed")


def _broken(cause: Cause, output: RunOutput, error: BenchmarkError | None = None) -> RunVerdict:
    """Return the verdict on a run without figures, and what its program printed about it."""
    if cause.complete:
        return _verdict(cause, cause.text)
    if error is not None and error.failure in _TOLD:
        return RunVerdict("failed", error.failure, f"{cause.text}: {error}")
    explanation = complaint(output)
    return _verdict(cause, f"{cause.text}: {explanation}" if explanation else cause.text)


def _verdict(cause: Cause, reason: str) -> RunVerdict:
    return RunVerdict("failed" if cause.failure else "timeout", cause.failure, reason)


def _limit_text(raw: RawRun) -> str:
    """Return why a run was ended at its limit, with what had broken before."""
    output = replace(raw.output(), exit_code=None)
    cause = find_cause(output)
    # processes that were ended at the limit are no cause
    if cause is None or cause.failure != "error-text":
        return raw.reason
    return f"{raw.reason}; before that, {_broken(cause, output).reason}"
