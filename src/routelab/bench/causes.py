"""Causes of failed runs: what broke first, as launchers, shells and exit codes report it.

When one process fails, launchers end the others and report each of them. Only the first report is
the cause. Slurm prints its messages before or after the output of programs, in any order. The
order of Slurm's messages shows what came first. Plugins judge the output of programs.

Messages of srun are those of Slurm 22.05, observed; those of MPICH are of Hydra 4.0; those of Open
MPI are of its help texts (``help-orterun.txt``, ``help-mpirun.txt`` of version 4.1 and 5.0).
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from routelab.api import Failure, RunOutput

_MOST_LINES = 5000
"""Lines at the beginning and at the end that are looked at, of those that may be messages."""

_LONGEST = 1000
"""Characters of the longest line that may be a message."""

_KEPT = 256 * 1024
"""Characters at both ends of an output in which a program's complaint is looked for."""

_MOST_TEXT = 200
"""Largest number of characters of a quoted line."""

_ENDS = ("Killed", "Terminated", "Segmentation fault", "Aborted", "Bus error")
"""How shells name the signals that end processes."""

_WORDS = (
    *("srun:", "slurmstepd", "salloc:"),
    *("execvp error", "RUNNING AT", "EXIT CODE", "SIGNAL:", "(signal ", "TERMINATION", "[mpiexec@"),
    *("on signal", "Process name:", "Exit code:", "Node:", "Executable:", "specified", "non-zero"),
    *("run: error", "Abort(", "MPI_ABORT", "MPI_Abort"),
    *("not found", "No such file", "denied", "format error", "cannot execute", "shared libraries"),
    *_ENDS,
)
"""Every line that a pattern below matches contains one of these."""

_DAEMON = r"slurmstepd(?:-\S+)?: error: "

_TASK = re.compile(
    r"srun: error: (?P<node>\S+): tasks? (?P<ranks>[\d,-]+): (?:Exited with exit code (?P<code>\d+)"
    r"|(?P<how>\S[^()]*?)(?: \(core dumped\))?)"
)
_CANCEL = re.compile(
    rf"{_DAEMON}\*\*\* (?:STEP|JOB) \S+ ON \S+ CANCELLED(?: AT \S+)?(?: DUE TO (?P<why>[^*,]+))?.*"
)
_STOP = re.compile(r"srun: (?:Job step aborted: Waiting up to|Job has been cancelled).*")
_FORCED = re.compile(r"srun: Force Terminated .*")
_FORCE = re.compile(r"srun: forcing job termination")
_MEMORY = re.compile(rf"{_DAEMON}Detected \d+ oom[-_]kill event(?:s|\(s\))? in .*", re.IGNORECASE)
_EXECUTE = re.compile(rf"{_DAEMON}execve\(\): (?P<program>.*): (?P<problem>[^:]+)")
_ABORT = re.compile(
    r".*(?:Abort\(\d+\) on node|MPI_ABORT was invoked|application called MPI_Abort).*"
)

_HYDRA_EXECUTE = re.compile(
    r"\[proxy:\S*@(?P<node>[^\]\s]+)\] .*execvp error on file "
    r"(?P<program>.*) \((?P<problem>[^()]+)\)?"
)
_HYDRA_END = re.compile(r"=\s+(?:RANK (?P<rank>\d+) )?PID \d+ RUNNING AT (?P<node>\S+)")
_HYDRA_CODE = re.compile(
    r"=\s+(?:EXIT CODE: (?P<code>[1-9]\d*)|KILLED BY SIGNAL: (?P<signal>\d+) \(.*\))"
)
_HYDRA_TEXT = re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (\d+)\)")

_OPENMPI_SIGNAL = re.compile(
    r"(?:mpirun|mpiexec|orterun|prterun) noticed that process rank (?P<rank>\d+) with PID \d+ "
    r"on node (?P<node>\S+) exited on signal (?P<signal>\d+)"
)
_OPENMPI_CODE = re.compile(
    r"Process name: \[.*, ?(?P<rank>\d+)\]\s+Exit code:\s+(?P<code>\d+)", re.MULTILINE
)
_OPENMPI_EXECUTE = re.compile(
    r"^Node:\s+(?P<node>\S+)\s+Executable:\s+(?P<program>.+)$", re.MULTILINE
)

_NOT_STARTED = {126, 127}
"""Exit codes of shells for a program that cannot be executed, or is not found. Scripts of
successful runs may print the messages below, too; they are a cause only with one of these codes."""

_START = re.compile(
    r"(?:.*?[:\s])?(?P<program>[^\s:]+): (?:(?P<missing>(?:command )?not found)|(?P<problem>"
    r"No such file or directory|Permission denied|Exec format error|cannot execute.*))"
)
_LIBRARY = re.compile(
    r"(?:.*\s)?(?P<program>\S+): error while loading shared libraries: (?P<problem>.*)"
)
_SHELL_END = re.compile(
    rf"(?P<script>.*: line \d+: +\d+ )?(?P<how>{'|'.join(_ENDS)})"
    r"(?: \(core dumped\))?(?(script)\b.*)"
)
_FAILURE = re.compile(
    r"(?:srun|slurmstepd(?:-\S+)?|salloc): error: .*|\[mpiexec@.*|(?:mpi|prte|orte)run: error.*"
    r"|.*BAD TERMINATION OF ONE OF YOUR.*|.*EXIT STRING: .*|.*\bexited on signal\b.*"
    r"|.*\bexited with non-zero\b.*|.*\bunable to (?:find|launch) the specified\b.*"
)
"""Other reports of failure, which do not tell rank and node."""

_LAUNCHER = (
    r"(?:srun|slurmstepd(?:-\S+)?|salloc): |\[(?:proxy:\S*|mpiexec)@|=   |YOUR APPLICATION TERMI"
    r"|(?:mpirun|mpiexec|orterun|prterun)\b"
)
_LAUNCHER_LINES = re.compile(rf"^[ \t]*(?:{_LAUNCHER}).*\n?", re.MULTILINE)

_COMPLAINT = re.compile(
    r"error|abort|fatal|fail|cannot|can't|could not|unable|not found|no such|denied|invalid"
    r"|out of memory|exception|violation",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cause:
    """What broke a run first.

    Attributes
    ----------
    failure : Failure or empty
        Empty if Slurm's time limit was reached.
    text : str
        For people: node, rank, and how it ended.
    complete : bool
        Whether the text says all that is known; otherwise what the program printed may tell more.
    """

    failure: Failure | Literal[""]
    text: str
    complete: bool = False


def find_cause(output: RunOutput, launcher: str = "the launcher") -> Cause | None:
    """Return what broke a run first; None if no message and no exit code reports a failure.

    Parameters
    ----------
    output : RunOutput
    launcher : str
        Its name, for the text.
    """
    code = output.exit_code or 0
    if code < 0:
        return _killed(launcher, -code)
    lines = [*_messages(output.stdout), *_messages(output.stderr)]
    return (
        _cause_of_slurm(lines)
        or _cause_of_hydra(lines)
        or _cause_of_openmpi("\n".join(lines))
        or _start_cause(lines, "", code)
        or _other_cause(lines)
        or _cause_of_code(code)
    )


def program_output(output: RunOutput) -> RunOutput:
    """Return what the program printed, without launchers' lines, and with an unknown exit code."""
    stdout, stderr = (_LAUNCHER_LINES.sub("", text) for text in (output.stdout, output.stderr))
    return RunOutput(stdout, stderr, None)


def complaint(output: RunOutput) -> str:
    """Return the first line of standard error that names an error, else the last one; or empty."""
    text = program_output(RunOutput("", output.stderr[:_KEPT] + output.stderr[_KEPT:][-_KEPT:]))
    lines = [line.strip() for line in text.stderr.splitlines() if len(line) <= _LONGEST]
    lines = [line for line in lines if re.search(r"\w", line)]
    found = next((line for line in lines if _COMPLAINT.search(line)), "")
    return _quoted(found or (lines[-1] if lines else ""))


def _killed(who: str, number: int, verb: str = "was") -> Cause:
    """Return the cause if a signal ended a process; before it aborts, a program may tell why."""
    text = f"{who} {verb} killed by {_signal_text(number) or f'signal {number}'}"
    return Cause("killed", text, number != signal.SIGABRT)


def _signal_text(number: int) -> str:
    """Return the name of a signal and what usually sends it; empty for an unknown number."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    remarks = {
        signal.SIGKILL: " (kill -9, or out of memory)",
        signal.SIGTERM: " (kill, or scancel)",
    }
    return name + remarks.get(signal.Signals(number), "")


# --- Slurm --------------------------------------------------------------------------------------


def _cause_of_slurm(lines: Sequence[str]) -> Cause | None:
    task = next(_found(_TASK, lines), None)
    stop = _stop_of_slurm(lines)
    memory = any(_found(_MEMORY, lines))
    # if a process failed first, Slurm reports it before it stops the others
    if stop is not None and (task is None or stop[0] < task[0] or _is_cancelled(lines, task[1])):
        return stop[1]
    if task is None:
        return Cause("killed", "a rank was killed because memory ran out", True) if memory else None
    report = task[1]
    several = re.search(r"[,-]", report["ranks"]) is not None
    where = f"{report['node']}: {'ranks' if several else 'rank'} {report['ranks']}"
    verb = "were" if several else "was"
    if report["code"] is not None:
        return _exit_of_slurm(lines, report["node"], where, int(report["code"]))
    if memory or report["how"] == "Out Of Memory":
        return Cause("killed", f"{where} {verb} killed because memory ran out", True)
    number = _signal_number(report["how"])
    if number is None:
        return Cause("error-text", f"{where}: {report['how']}")
    return _killed(where, number, verb)


def _is_cancelled(lines: Sequence[str], task: re.Match[str]) -> bool:
    """Return whether scancel ended the step although a process that it killed is reported first.

    Slurm then announces the end of the step, and srun need not force it.
    """
    killed = task["how"] in ("Killed", "Terminated")
    return killed and any(_found(_STOP, lines)) and not any(_found(_FORCED, lines))


def _stop_of_slurm(lines: Sequence[str]) -> tuple[int, Cause] | None:
    """Return where Slurm reports that it stopped the step, and why; None if it does not."""
    stops = [(at, (found["why"] or "").strip()) for at, found in _found(_CANCEL, lines)]
    patterns = (_STOP, _FORCE, _FORCED)
    stops += [(at, "") for pattern in patterns for at, _ in _found(pattern, lines)]
    if not stops:
        return None
    first = min(at for at, _ in stops)
    why = next((why for _, why in stops if why), "")
    if why == "TIME LIMIT":
        return first, Cause("", "Slurm ended it at its time limit", True)
    if why:
        return first, Cause("killed", f"cancelled by Slurm: {why.lower()}", True)
    if any(_found(_FORCE, lines)):
        return first, Cause("killed", "srun was ended by SIGTERM or SIGINT", True)
    # Slurm cancels the step of a program that calls MPI_Abort
    aborts = next(_found(_ABORT, lines[:first]), None)
    if aborts is not None:
        return first, Cause("error-text", _quoted(aborts[1][0]), True)
    return first, Cause("killed", "cancelled with scancel", True)


def _exit_of_slurm(lines: Sequence[str], node: str, where: str, code: int) -> Cause:
    program = next((found for _, found in _found(_EXECUTE, lines)), None)
    if program is not None:
        text = _start_text(node, program["program"], program["problem"])
        return Cause("error-text", f"{text}, exit code {code}", True)
    return _exit_cause(lines, node, where, code)


def _signal_number(how: str) -> int | None:
    """Return the signal of a text of strsignal, such as ``Killed``."""
    texts = {signal.strsignal(one): int(one) for one in signal.Signals}
    return texts.get(how)


# --- other launchers, shells, exit codes --------------------------------------------------------


def _cause_of_hydra(lines: Sequence[str]) -> Cause | None:
    start = next((found for _, found in _found(_HYDRA_EXECUTE, lines)), None)
    if start is not None:
        text = _start_text(start["node"], start["program"], start["problem"])
        return Cause("error-text", text, True)
    at, end = next(_found(_HYDRA_END, lines), (0, None))
    code = next((found for _, found in _found(_HYDRA_CODE, lines[at:])), None)
    if code is None:
        return None
    who = "a rank" if end is None or end["rank"] is None else f"rank {end['rank']}"
    node = "" if end is None else end["node"]
    where = f"{node}: {who}" if node else who
    number = next((int(found[1]) for _, found in _found(_HYDRA_TEXT, lines)), 0)
    number = number or int(code["signal"] or 0)
    # where Hydra does not name the signal, it is the code
    ended = int(code["code"] or 0)
    if number or ended == signal.SIGKILL:
        return _killed(where, number or ended)
    return _exit_cause(lines, node, where, ended)


def _cause_of_openmpi(text: str) -> Cause | None:
    if (found := _OPENMPI_EXECUTE.search(text)) is not None:
        start = f"{found['node']}: {found['program'].strip()} not found or not executable"
        return Cause("error-text", start, True)
    if (found := _OPENMPI_SIGNAL.search(text)) is not None:
        return _killed(f"{found['node']}: rank {found['rank']}", int(found["signal"]))
    if (found := _OPENMPI_CODE.search(text)) is not None:
        return Cause("error-text", f"rank {found['rank']} ended with exit code {found['code']}")
    return None


def _exit_cause(lines: Sequence[str], node: str, where: str, code: int) -> Cause:
    if (start := _start_cause(lines, node, code)) is not None:
        return start
    if name := _signal_text(code - 128):
        return Cause("killed", f"{where} was killed by {name}, exit code {code}")
    return Cause("error-text", f"{where} ended with exit code {code}")


def _start_cause(lines: Sequence[str], node: str, code: int) -> Cause | None:
    """Return the cause if a shell or a loader, whose exit code this is, started no program."""
    if code not in _NOT_STARTED:
        return None
    for pattern in (_LIBRARY, _START):
        for _, found in _found(pattern, lines):
            text = _start_text(node, found["program"], found["problem"])
            return Cause("error-text", f"{text}, exit code {code}", True)
    return None


def _other_cause(lines: Sequence[str]) -> Cause | None:
    ends = (_signal_number(found["how"]) for _, found in _found(_SHELL_END, lines))
    if (number := next(ends, None)) is not None:
        return _killed("a process", number)
    report = next(_found(_FAILURE, lines), None)
    return None if report is None else Cause("error-text", _quoted(report[1][0]))


def _cause_of_code(code: int) -> Cause | None:
    if name := _signal_text(code - 128):
        return Cause("killed", f"exit code {code}: ended by {name}")
    return Cause("error-text", f"exit code {code}") if code else None


# --- lines --------------------------------------------------------------------------------------


def _messages(text: str) -> list[str]:
    """Return the lines that may be messages, without blanks around them."""
    words = [word for word in _WORDS if word in text]
    if not words:
        return []
    search = re.compile("|".join(map(re.escape, words))).search
    lines = (line.strip() for line in text.splitlines() if len(line) <= _LONGEST)
    found = [line for line in lines if search(line)]
    return found[:_MOST_LINES] + found[_MOST_LINES:][-_MOST_LINES:]


def _found(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Iterate over the matching lines with their positions."""
    for at, line in enumerate(lines):
        if (match := pattern.fullmatch(line)) is not None:
            yield at, match


def _start_text(node: str, program: str, problem: str | None) -> str:
    where = f"{node}: {program}" if node else program
    if problem in (None, "No such file or directory"):
        return f"{where} not found"
    return f"{where} cannot be started ({problem})"


def _quoted(text: str) -> str:
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= _MOST_TEXT else f"{shown[:_MOST_TEXT]}..."
