"""Output of benchmarks: signs of failure, and patterns of printed numbers.

A number counts only in a complete line: of the exact form, and with its end of line.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from routelab.api import BenchmarkError, BenchmarkTask, RunOutput

WHOLE = "(?:0|[1-9][0-9]{0,14})"
DECIMAL = rf"{WHOLE}\.[0-9]{{2}}"
"""Numbers as benchmarks print them: ASCII digits without leading zeros, of limited length."""

_END_PATTERNS = (
    r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal",
    r"EXIT CODE: (9|137|143)\b",
    r"\bexited on signal\b",
    r"^srun: error: .*\b(Killed|Terminated|Out Of Memory|Segmentation fault|Aborted|Bus error)\b",
    r"^slurmstepd: error: .*\b(CANCELLED|oom[-_ ]kill|OOM Killed|TIME LIMIT)",
    r"^srun: Force Terminated",
    r"^Killed$",
)
"""Lines of launchers about a killed process."""

_ERROR_PATTERNS = (
    r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
    r"^\W*(fatal )?error ?[:!]",
    r"^\W*error\W*$",
    r"\bAbort\([0-9]+\) on node\b",
    r"\bMPI_ABORT was invoked\b",
    r"\bFatal error in \w+",
    r"\*\*\* An error occurred in MPI_",
    r"^application called MPI_Abort\b",
    r"^(srun|slurmstepd|salloc): error: ",
    r"^(forrtl: severe|At line [0-9]+ of file|Program received signal)\b",
    r"^(\[mpiexec@|mpirun: error|prterun: error|orterun: error)",
    r"\berror while loading shared libraries\b",
    r"^Traceback \(most recent call last\):",
)
"""Lines of programs and launchers about errors."""

_SLURM = re.compile(r"(srun|slurmstepd|salloc): error: ")
"""Slurm's error lines; an error of the program is more informative than a signal."""

_NOISE = re.compile(
    r"\[[0-9.]+\] +\[\S+:[0-9]+:[0-9]+\] +\S+ +UCX +(WARN|INFO|DIAG) .*|MPI startup\(\): .*"
)
"""Lines of UCX, which writes to standard output by default, and of Intel MPI."""

_QUOTE_LENGTH = 200
"""Largest number of characters of a line in a message."""


def read_lines(output: RunOutput, errors: Sequence[str] = ()) -> list[str]:
    """Return the lines of a successful run, without empty ones at the end.

    Parameters
    ----------
    output : RunOutput
    errors : sequence of str
        Regular expressions of the benchmark's own errors.

    Raises
    ------
    BenchmarkError
        If the run was killed, printed an error or nothing, ended with an exit code other than 0,
        or its last line is incomplete.
    """
    texts = [text.replace("\r\n", "\n") for text in (output.stdout, output.stderr)]
    both = [line for text in texts for line in text.split("\n")]
    killed = _first_match(both, _END_PATTERNS)
    if killed is not None:
        raise BenchmarkError("killed", f"the run was ended: {quote_line(killed)}")
    wrong = _first_match(both, (*errors, *_ERROR_PATTERNS))
    _check_exit(output.exit_code, wrong, texts[1])
    if wrong is not None:
        raise BenchmarkError("error-text", f"there is an error in the output: {quote_line(wrong)}")
    if not texts[0].strip():
        raise BenchmarkError("no-result", "nothing was printed")
    *lines, rest = texts[0].split("\n")
    if rest:
        raise BenchmarkError("incomplete", f"the last line has no end: {quote_line(rest)}")
    lines = [line for line in lines if not _NOISE.fullmatch(line)]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _first_match(lines: Sequence[str], patterns: Sequence[str]) -> str | None:
    """Return the first line that matches one of the patterns."""
    pattern = re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)
    return next((line for line in lines if pattern.search(line.strip())), None)


def _check_exit(code: int | None, wrong: str | None, stderr: str) -> None:
    """Raise unless the code is 0 or unknown."""
    if not code:
        return
    number = -code if code < 0 else code - 128
    if number in set(signal.Signals) and (wrong is None or _SLURM.match(wrong.strip())):
        name = signal.Signals(number).name
        raise BenchmarkError("killed", f"exit code {code}: ended by {name}")
    last = wrong or next((line for line in reversed(stderr.split("\n")) if line.strip()), "")
    said = f": {quote_line(last)}" if last else ""
    raise BenchmarkError("error-text", f"exit code {code}{said}")


def quote_line(line: str) -> str:
    """Quote a line for messages; escape unprintable characters and shorten long lines."""
    text = line.strip()
    return repr(text if len(text) <= _QUOTE_LENGTH else f"{text[:_QUOTE_LENGTH]}...")


def check_processes(count: int, task: BenchmarkTask | None) -> None:
    """Raise unless the requested number of processes took part."""
    if task is not None and count != task.ranks:
        raise BenchmarkError(
            "wrong-processes",
            f"{count} processes took part, {task.ranks} were asked for; do launcher and program "
            "use the same MPI?",
        )


def check_one(count: int, what: str) -> None:
    """Raise unless there is exactly one of an item that a run prints once."""
    if count == 0:
        raise BenchmarkError("no-result", f"there is no {what}")
    if count > 1:
        raise BenchmarkError(
            "wrong-processes",
            f"there are {count} of {what}: processes ran each by itself (do launcher and program "
            "use the same MPI?), or it is the output of several runs",
        )
