"""Verdicts on runs: figures that can be trusted, or the reason why there are none."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from dataclasses import dataclass
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
from routelab.cluster.bench.comparison import RunStatus
from routelab.cluster.bench.store import RawRun
from routelab.toolkit.launcher_reports import find_report, is_signal, remove_launcher_lines

_OWN_REPORTS = ("error-text", "wrong-processes", "verification-failed")
"""Failures that a program itself reports, better than its exit code does."""

LAST_LINES = 5
"""Lines of standard error in the reason of a failed run."""
_KEPT = 64 * 1024
"""Characters at the end of standard error in which they are looked for."""
_MOST_TEXT = 200
"""Largest number of characters of a quoted line."""


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


def evaluate_run(plugin: BenchmarkPlugin, raw: RawRun, task: BenchmarkTask) -> RunVerdict:
    """Judge a run from its raw output, and from how it ended.

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
        return judge_output(plugin, raw.output(), task)
    except PluginError as error:
        return RunVerdict("failed", "unreadable", str(error))


def judge_output(
    plugin: BenchmarkPlugin, output: RunOutput, task: BenchmarkTask | None
) -> RunVerdict:
    """Judge an output.

    Figures count only if the exit code is 0 or unknown and no launcher reports a failure. The
    reason is what the program says itself, or else how it ended, with the last lines that it wrote.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    output : RunOutput
    task : BenchmarkTask or None
        None if the request is unknown.

    Raises
    ------
    PluginError
        If the parser raises anything but BenchmarkError on the output of a run that did not fail.
    """
    # Between the lines of a launcher, the parser finds what the program itself says of its failure.
    # The output of a run that did not fail stays as it is.
    how, failure = _ending(output)
    program_output = output
    if how:
        program_output = RunOutput(
            remove_launcher_lines(output.stdout), remove_launcher_lines(output.stderr)
        )
    try:
        result = plugin.parse(program_output, task)
        _check_figures(plugin, result)
    except BenchmarkError as error:
        if not how:
            return RunVerdict("failed", error.failure, str(error))
        if error.failure in _OWN_REPORTS:
            return RunVerdict("failed", error.failure, f"{how}: {error}")
    except (Exception, SystemExit) as error:
        if not how:
            raise PluginError(
                f"{plugin.name}: parse() must return figures or raise BenchmarkError, but raised "
                f"{type(error).__name__}: {error}"
            ) from error
    else:
        if not how:
            return RunVerdict("ok", result=result)
    if output.exit_code:
        how = ": ".join([how, *_explanation(output)])
    return RunVerdict("failed", failure, how)


def _check_figures(plugin: BenchmarkPlugin, result: BenchmarkResult) -> None:
    """Raise unless the figures are finite numbers, at least one, each metric once for each size."""
    if not result.figures:
        raise BenchmarkError("no-result", f"{plugin.name}: there are no figures")
    keys: set[tuple[str, int | None]] = set()
    for figure in result.figures:
        name = figure.metric if figure.size is None else f"{figure.metric} of {figure.size} bytes"
        if not math.isfinite(figure.value):
            raise BenchmarkError(
                "unreadable", f"{plugin.name}: {name} is {figure.value}, not a finite number"
            )
        if (figure.metric, figure.size) in keys:
            raise BenchmarkError("unreadable", f"{plugin.name}: there are several values of {name}")
        keys.add((figure.metric, figure.size))


def _explanation(output: RunOutput) -> Iterator[str]:
    """Iterate over the first report of a launcher, and the program's last lines, as one line."""
    report = find_report(output.stderr, output.stdout)
    if report:
        yield _shown(report)
    lines = map(str.strip, remove_launcher_lines(output.stderr[-_KEPT:]).splitlines())
    texts = [_shown(line) for line in lines if line]
    if texts:
        yield " | ".join(texts[-LAST_LINES:])


def _ending(output: RunOutput) -> tuple[str, Failure]:
    """Return how a run failed, and its kind; nothing if nobody reports that it did."""
    code = output.exit_code or 0
    report = find_report(output.stderr, output.stdout)
    kind: Failure = "killed" if report and is_signal(report) else "error-text"
    if report:
        # a launcher ends the other processes after its first report, and so changes its code
        return (f"exit code {code}" if code else _shown(report)), kind
    # a shell reports a signal as 128 more than its number
    number = -code if code < 0 else code - 128
    if number not in set(signal.Signals):
        return (f"exit code {code}" if code else ""), kind
    remark = " (kill -9, or out of memory)" if number == signal.SIGKILL else ""
    return f"exit code {code}: killed by {signal.Signals(number).name}{remark}", "killed"


def _shown(text: str) -> str:
    escaped = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split())
    )
    return escaped if len(escaped) <= _MOST_TEXT else f"{escaped[:_MOST_TEXT]}..."
