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

_PROGRAM_REPORTS = ("error-text", "wrong-processes", "verification-failed")
"""Failures that a program itself reports, better than its exit code does."""

LAST_LINES = 5
"""Number of last lines of standard error in the reason of a failed run."""
_MAX_SEARCHED = 64 * 1024
"""Characters at the end of standard error in which these lines are looked for."""
_MAX_LINE_LENGTH = 200
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
        return RunVerdict("timeout", reason=raw.reason)
    if raw.ending == "flooded":  # stopped because it printed too much
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
    """Return the figures that a benchmark printed, or why there are none that can be trusted.

    Figures count only if the exit code is 0 or unknown and no launcher reports a failure. The
    reason is what the program says itself, or else how it ended, with the last lines that it wrote.

    Parameters
    ----------
    plugin : BenchmarkPlugin
    output : RunOutput
    task : BenchmarkTask or None
        The number of ranks and nodes that were requested; None if this is unknown.

    Raises
    ------
    PluginError
        If the parser raises anything but BenchmarkError on the output of a run that did not fail.
    """
    # 1. Does the exit code or a launcher say that the run failed? The output is parsed even then,
    #    without the lines of the launcher, because the program itself may say why it failed.
    failure_text, failure = _find_failure(output)  # the text is empty if it did not fail
    program_output = output
    if failure_text:
        program_output = RunOutput(
            remove_launcher_lines(output.stdout), remove_launcher_lines(output.stderr)
        )

    # 2. Parse. Of a run that failed, only a failure that the program reports counts, neither
    #    figures nor another error.
    try:
        result = plugin.parse(program_output, task)
        _check_figures(plugin, result)
    except BenchmarkError as error:
        if not failure_text:
            return RunVerdict("failed", error.failure, str(error))
        if error.failure in _PROGRAM_REPORTS:
            return RunVerdict("failed", error.failure, f"{failure_text}: {error}")
    except (Exception, SystemExit) as error:
        if not failure_text:
            raise PluginError(
                f"{plugin.name}: parse() must return figures or raise BenchmarkError, but raised "
                f"{type(error).__name__}: {error}"
            ) from error
    else:
        if not failure_text:
            return RunVerdict("ok", result=result)

    # 3. The run failed, and the program gives no reason. An exit code says little, so quote the
    #    output; without an exit code, the text is a launcher's report already.
    reason = failure_text
    if output.exit_code:
        reason = ": ".join([failure_text, *_output_excerpts(output)])
    return RunVerdict("failed", failure, reason)


def _check_figures(plugin: BenchmarkPlugin, result: BenchmarkResult) -> None:
    """Refuse a result without figures, with infinite ones, or with two of one metric and size.

    Raises
    ------
    BenchmarkError
    """
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


def _output_excerpts(output: RunOutput) -> Iterator[str]:
    """Yield what explains a failed run: a launcher's report, and the program's last lines.

    The report is the first line or lines in which a launcher, such as ``srun``, says that the run
    died. The last lines are those of standard error, where programs write their errors; they are
    joined to one line.
    """
    report = find_report(output.stderr, output.stdout)
    if report:
        yield _shorten(report)
    # only the end, because a program may print many megabytes
    stderr_lines = remove_launcher_lines(output.stderr[-_MAX_SEARCHED:]).splitlines()
    texts = [_shorten(line) for line in stderr_lines if line.strip()]
    if texts:
        yield " | ".join(texts[-LAST_LINES:])


def _find_failure(output: RunOutput) -> tuple[str, Failure]:
    """Return how a run failed, and the kind of failure, from its exit code and launcher's reports.

    The text is empty if neither shows a failure; the kind has no meaning then.
    """
    code = output.exit_code or 0
    report = find_report(output.stderr, output.stdout)
    if report:
        # A launcher ends the other processes after its first report, and so changes its exit code:
        # the code does not say which signal it was.
        kind: Failure = "killed" if is_signal(report) else "error-text"
        return (f"exit code {code}" if code else _shorten(report)), kind
    # Python reports a signal as its negative number, a shell as 128 more than its number.
    signal_number = -code if code < 0 else code - 128
    if signal_number not in set(signal.Signals):
        return (f"exit code {code}" if code else ""), "error-text"
    remark = " (kill -9, or out of memory)" if signal_number == signal.SIGKILL else ""
    return f"exit code {code}: killed by {signal.Signals(signal_number).name}{remark}", "killed"


def _shorten(text: str) -> str:
    """Return text in one line without control characters, cut after `_MAX_LINE_LENGTH`."""
    line = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split())
    )
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}..."
