"""What launchers, batch systems and shells print when a run died.

    REPORTS    who prints it, and the text; a blank stands for any white space
    |
    find_report             the first report in an output, as one line
    remove_launcher_lines   the output without them, and without other lines of launchers

Open MPI 5 breaks its reports into lines, and programs that forward output break them again. So a
report may be spread over lines, but each text names the part that no other line contains: host
names and warnings hold words such as "killed" and "error", too.
"""

from __future__ import annotations

import re

_SIGNALS = (
    "(?:Killed|Terminated|Aborted|Abort trap|Segmentation fault|Bus error|Illegal instruction"
    "|Floating point exception|Hangup|User defined signal [12]|CPU time limit exceeded"
    r"|File size limit exceeded)(?:: \d+)?(?: \(core dumped\))?"
)
"""Names of signals as the C library describes them."""

REPORTS = (
    # Open MPI 1 to 4, orte/tools/orterun/help-orterun.txt and orte/mca/errmgr/base; Open MPI 5,
    # PRRTE's src/docs/show-help-files/help-prun.txt and src/mca/errmgr/base. The first word is the
    # name by which the launcher was called.
    (
        "Open MPI",
        r"noticed that (?:process|job) rank \d+ with PID \d+(?: on node \S+ exited on signal \d+)?",
    ),
    ("Open MPI", r"noticed that the job aborted,"),
    ("Open MPI", r"has exited due to process rank \d+ with PID \d+"),
    ("Open MPI", r"detected that one or more processes exited with non-zero status"),
    ("Open MPI", r"Primary job terminated normally, but \d+ process"),
    ("Open MPI", r"was unable to (?:find|launch|start) the specified (?:application|executable)"),
    ("Open MPI", r"was unable to reliably start one or more daemons"),
    ("Open MPI", r"has lost communication with a remote daemon"),
    ("Open MPI", r"daemon has unexpectedly failed after launch"),
    ("Open MPI", r"The user-provided time limit for job execution has been reached"),
    ("Open MPI", r"MPI_ABORT was invoked on rank \d+"),
    ("Open MPI", r"A critical communication path was lost to:"),
    ("Open MPI", r"A process exceeded memory limits:"),
    ("Open MPI", r"^(?:\^C)?(?:mpirun|mpiexec|orterun|prterun): (?:error|killing job)\b"),
    # Open MPI, opal/util/stacktrace.c; UCX, src/ucs/debug/debug.c
    ("Open MPI", r"\*\*\* Process received signal \*\*\*"),
    ("UCX", r"\] Caught signal \d+ \("),
    # Slurm, src/srun and src/slurmd/slurmstepd
    ("Slurm", r"srun: error: "),
    ("Slurm", r"salloc: error: "),
    ("Slurm", r"slurmstepd(?:-[^\s:]{1,99})?: error: "),
    ("Slurm", r"^(?:srun|salloc): (?:Job step aborted|Job has been c|forcing|Force Terminated)"),
    ("Slurm", r"^srun: (?:First task exited|Terminating (?:job step|StepId))"),
    ("Slurm", r"^salloc: Job \d+ has exceeded its time limit"),
    # OpenPBS, PBS Professional and Torque, src/resmom
    ("PBS", r"=>> PBS: job killed\b"),
    # IBM Spectrum LSF 10, "Termination reasons" and the report in a job's output file
    ("LSF", r"^TERM_[A-Z_]+: "),
    ("LSF", r"^Exited with exit code [1-9]\d*\."),
    ("LSF", r"^Exited by signal \d+\."),
    ("LSF", r"^Subject: Job \d+: .* Exited\s*$"),
    # flux-core, src/common/libjob/job.c, src/cmd/job/attach.c and src/shell
    ("Flux", r"flux-\w+: (?:task\(s\)|job shell) (?:exited with exit code|[A-Z])"),
    ("Flux", r"job\.exception (?:\S+ )?type=\S+ severity=0\b"),
    ("Flux", r"flux-shell\[\d+\]: (?:FATAL: |ERROR: oom: )"),
    # MPICH 3 and 4, src/pm/hydra; Intel MPI 2019 and later has Hydra, too
    ("MPICH", r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES(?:\n= .*){0,2}"),
    ("MPICH", r"APPLICATION TERMINATED WITH THE EXIT STRING:"),
    ("MPICH", r"^= EXIT (?:CODE|STATUS): [1-9]"),
    ("MPICH", r"^\[mpiexec@"),
    ("MPICH", r"^\[proxy:[^\]]*\] .*\(\S+\.c:\d+\): "),
    ("Intel MPI", r"^= KILLED BY SIGNAL: \d+"),
    ("Intel MPI", r"caused collective abort of all ranks"),
    # MVAPICH2, src/pm/mpirun; HPE PALS, which is mpiexec on machines with PBS
    ("MVAPICH", r"\]\[error_sighandler\] Caught error: "),
    ("MVAPICH", r"^\[[^\]\s]+:mpispawn_\d+\]\[child_handler\] "),
    ("PALS", r"rank \d+ (?:died from signal \d|exited with code [1-9])"),
    # bash, dash and tcsh: in scripts, of jobs, and alone
    ("shell", rf": line \d+: \d+ {_SIGNALS}(?=\s|$)"),
    ("shell", rf"^\[\d+\][+-]? (?:\d+ )?{_SIGNALS}(?=\s|$)"),
    ("shell", rf"^{_SIGNALS}\s*$"),
)
"""Who prints a report, and the regular expression of what no other line contains."""

_BY_SIGNAL = re.compile(
    r"\b[Ss]ignal:? \d|SIGNAL: \d|CODE: 9\b|Out Of Memory|oom[-_ :]|CANCELLED|killed|TERM_"
    rf"|\blimits?\b|type=(?:cancel|timeout)|{_SIGNALS}"
)
"""What a report says if a signal, a limit or a user ended the run."""

_OTHER_LAUNCHER_LINES = re.compile(
    r"^[ \t]*(?:(?:srun|slurmstepd(?:-\S+)?|salloc): |\[(?:proxy:\S*|mpiexec)@|=   "
    r"|(?:mpirun|mpiexec|orterun|prterun)\b).*\n?",
    re.MULTILINE,
)
"""Other lines of launchers, by how they begin; they are no output of a program, either."""

# Launchers break lines, so each blank stands for any white space.
_PATTERNS = tuple(re.compile(re.sub(" +", r"\\s+", text), re.MULTILINE) for _, text in REPORTS)


def find_report(*texts: str) -> str | None:
    """Return the first report that a run died, as one line; None if there is none.

    Parameters
    ----------
    *texts : str
        Outputs of one run; the first that has a report counts.
    """
    for text in texts:
        matches = [match for pattern in _PATTERNS if (match := pattern.search(text))]
        if matches:
            first_match = min(matches, key=re.Match.start)
            begin, end = _whole_lines(text, first_match)
            return " ".join(text[begin:end].split())
    return None


def is_signal(report: str) -> bool:
    """Return whether a report says that a signal, a limit or a user ended the run."""
    return bool(_BY_SIGNAL.search(report))


def remove_launcher_lines(text: str) -> str:
    """Return an output without its reports and other lines of launchers."""
    for pattern in _PATTERNS:
        pieces, position = [], 0
        for match in pattern.finditer(text):
            begin, end = _whole_lines(text, match)
            # Two reports may share a line: then `begin` is before `position`, and the piece empty.
            pieces.append(text[position:begin])
            position = max(position, end)
        text = "".join((*pieces, text[position:]))
    return _OTHER_LAUNCHER_LINES.sub("", text)


def _whole_lines(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return begin and end of the lines that a match touches, with their last line end."""
    # Without a line end before the match, `rfind` returns -1, and the lines begin at 0.
    end = text.find("\n", match.end())
    return text.rfind("\n", 0, match.start()) + 1, len(text) if end < 0 else end + 1
