"""Reasons of failed runs: what broke first. Messages are of real runs, srun 22.05 and Hydra 4.0."""

import time
from pathlib import Path

import pytest

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    FigureOfMerit,
)
from routelab.bench.store import RawRun
from routelab.bench.verdict import judge

TASK = BenchmarkTask(4, 4, Path("lu.S.x"), Path())

AFTERWARDS = """\
srun: launch/slurm: _step_signal: Terminating StepId=1.0
slurmstepd-n01: error: *** STEP 1.0 ON n01 CANCELLED AT 2026-11-22T21:26:09 ***
srun: error: n01: task 0: Terminated
srun: error: n04: task 3: Killed
srun: Force Terminated StepId=1.0
"""
"""What Slurm does to the other processes when one has failed."""

BAD_TERMINATION = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 5695 RUNNING AT n02
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
"""


class Clock(BenchmarkPlugin):
    """Expects a line with a time."""

    name = "clock"
    summary = "Prints a time"
    figure = "time"

    def executables(self, ranks):
        return ("clock",)

    def command(self, task):
        return ("clock",)

    def parse(self, output, task):
        if "SUBDOMAIN" in output.stdout:
            raise BenchmarkError("error-text", "clock: SUBDOMAIN SIZE IS TOO SMALL")
        if "time" not in output.stdout:
            raise BenchmarkError("no-result", "clock: there is no line with a time")
        return BenchmarkResult((FigureOfMerit("time", 1.0, "s", "lower"),))


@pytest.fixture
def verdict(tmp_path):
    def get(stderr="", code=143, stdout="", ending="ended", reason="", program="srun"):
        (tmp_path / "stdout.txt").write_text(stdout)
        (tmp_path / "stderr.txt").write_text(stderr)
        command = [f"/usr/bin/{program}", "lu.S.x"]
        raw = RawRun("f", {}, ending, code, reason, 1.0, "", "7", command, "s", 1, {}, tmp_path)
        return judge(Clock(), raw, TASK)

    return get


FIRST = [
    (
        ("srun: error: n04: task 2: Exited with exit code 127\n"
        f"{AFTERWARDS}/shared/run: 2: exec: lu.S.x: not found\n"),
        ("error-text", "n04: lu.S.x not found, exit code 127"),
    ),
    (
        (f"bash: line 1: lu.S.x: command not found\n"
        f"srun: error: n04: task 2: Exited with exit code 127\n{AFTERWARDS}"),
        ("error-text", "n04: lu.S.x not found, exit code 127"),
    ),
    (
        ("srun: error: n04: task 2: Exited with exit code 2\n"
        f"{AFTERWARDS}slurmstepd-n04: error: execve(): /opt/lu.S.x: No such file or directory\n"),
        ("error-text", "n04: /opt/lu.S.x not found, exit code 2"),
    ),
    (
        ("slurmstepd: error: execve(): /opt/lu.S.x: Permission denied\n"
        f"srun: error: n04: task 2: Exited with exit code 13\n{AFTERWARDS}"),
        ("error-text", "n04: /opt/lu.S.x cannot be started (Permission denied), exit code 13"),
    ),
    (
        f"srun: error: n02: task 1: Exited with exit code 3\noh no\n{AFTERWARDS}",
        ("error-text", "n02: rank 1 ended with exit code 3: oh no"),
    ),
    (
        ("srun: error: n02: task 1: Exited with exit code 1\nWARNING: slow\n"
        f"Abort(1) on node 1: no memory left\n{AFTERWARDS}forrtl: process killed (SIGTERM)\n"),
        ("error-text", "n02: rank 1 ended with exit code 1: Abort(1) on node 1: no memory left"),
    ),
    (
        f"srun: error: n02: task 1: Killed\n{AFTERWARDS}",
        ("killed", "n02: rank 1 was killed by SIGKILL (kill -9, or out of memory)"),
    ),
    (
        f"srun: error: n[02-03]: tasks 1-2: Killed\n{AFTERWARDS}",
        ("killed", "n[02-03]: ranks 1-2 were killed by SIGKILL (kill -9, or out of memory)"),
    ),
    (
        f"srun: error: n02: task 1: Segmentation fault (core dumped)\n{AFTERWARDS}",
        ("killed", "n02: rank 1 was killed by SIGSEGV"),
    ),
    (
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have "
        f"been OOM Killed.\nsrun: error: n02: task 1: Out Of Memory\n{AFTERWARDS}"),
        ("killed", "n02: rank 1 was killed because memory ran out"),
    ),
    (
        ("slurmstepd-n01: error: *** STEP 1.0 ON n01 CANCELLED AT 2026-11-22T21:26:09 ***\n"
        f"srun: error: n03: task 2: Terminated\n{AFTERWARDS}"),
        ("killed", "cancelled with scancel"),
    ),
    (
        ("srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
        f"srun: error: n01: task 0: Killed\n{AFTERWARDS}"),
        ("killed", "cancelled with scancel"),
    ),
    (
        ("slurmstepd: error: *** STEP 1.0 ON n01 CANCELLED AT 2026-11-22T21:26:09 DUE TO PREEMPTION"
        f" ***\nsrun: error: n03: task 2: Terminated\n{AFTERWARDS}"),
        ("killed", "cancelled by Slurm: preemption"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stderr", "expected"), FIRST)
def test_the_reason_is_what_failed_first(verdict, stderr, expected):
    found = verdict(stderr)
    assert (found.status, found.failure, found.reason) == ("failed", *expected)


@pytest.mark.parametrize(("stderr", "expected"), FIRST)
def test_lines_of_programs_anywhere_change_no_cause(verdict, stderr, expected):
    lines, line = stderr.splitlines(keepends=True), "[n1:4157:0] UCX"
    for at in range(len(lines) + 1):
        found = verdict("".join([*lines[:at], f"{line}\n", *lines[at:]]))
        # where no line names an error, the last one is quoted
        assert (found.failure, found.reason.replace(line, "oh no")) == expected


def test_a_cancelled_step_is_told_although_a_killed_rank_is_reported_first(verdict):
    found = verdict(
        "srun: error: n03: task 2: Killed\n"
        "srun: launch/slurm: _step_signal: Terminating StepId=2.0\n"
        "slurmstepd-n01: error: *** STEP 2.0 ON n01 CANCELLED AT 2026-11-22T22:02:31 ***\n"
        "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
        "srun: error: n02: task 1: Killed\n",
        137,
    )
    assert found.reason == "cancelled with scancel"


@pytest.mark.parametrize("text", ["x", " ", "a\n", "a: ", "Node:\n"])
def test_a_flood_is_judged_at_once(verdict, text):
    flood = text * (4 * 2**20 // len(text))
    begin = time.monotonic()
    failed = f"srun: error: n02: task 1: Killed\n{AFTERWARDS}"
    found = verdict(f"{failed}{flood}", stdout=flood)
    assert found.reason == "n02: rank 1 was killed by SIGKILL (kill -9, or out of memory)"
    assert verdict(flood, ending="timeout", reason="too long").reason == "too long"
    assert verdict(flood, 1, stdout=flood).status == "failed"
    assert time.monotonic() - begin < 20


def test_slurms_time_limit_is_a_timeout(verdict):
    found = verdict(
        "slurmstepd-n01: error: *** STEP 12.0 ON n01 CANCELLED AT 2026-11-22T21:27:38 DUE TO TIME "
        f"LIMIT ***\nsrun: error: n03: task 2: Killed\n{AFTERWARDS}",
        137,
    )
    assert (found.status, found.failure) == ("timeout", "")
    assert found.reason == "Slurm ended it at its time limit"


def test_what_the_program_says_explains_its_exit_code(verdict):
    failed = f"srun: error: n02: task 1: Exited with exit code 1\n{AFTERWARDS}"
    found = verdict(failed, stdout="SUBDOMAIN SIZE IS TOO SMALL\n")
    assert found.reason == (
        "n02: rank 1 ended with exit code 1: clock: SUBDOMAIN SIZE IS TOO SMALL"
    )
    found = verdict(failed, stdout="time 1 s\n")
    assert found.result is None
    assert found.reason == "n02: rank 1 ended with exit code 1, after figures were printed"


def test_no_exit_code_hides_a_launchers_report(verdict):
    found = verdict("srun: error: n02: task 1: Killed\n", 0, "time 1 s\n")
    assert (found.status, found.failure, found.result) == ("failed", "killed", None)
    assert verdict("srun: job 7 has been allocated resources\n", 0, "time 1 s\n").status == "ok"


def test_a_rank_that_failed_before_the_limit_is_named(verdict):
    limit = "took longer than 60 s and was ended"
    late = "srun: error: n02: task 1: Exited with exit code 3\n"
    ended = "slurmstepd: error: *** STEP 1.0 ON n01 CANCELLED AT 2026-11-22T21:26:09 ***\n"
    killed = "srun: error: n01: task 0: Killed\n"
    found = verdict(late + ended + killed, ending="timeout", reason=limit)
    assert found.status == "timeout"
    assert found.reason == f"{limit}; before that, n02: rank 1 ended with exit code 3"
    # what was ended at the limit is no cause of it
    for stderr in (ended + killed, killed + ended, ""):
        assert verdict(stderr, ending="timeout", reason=limit).reason == limit


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "expected"),
    [
        (BAD_TERMINATION, "", 9, "n02: a rank was killed by SIGKILL (kill -9, or out of memory)"),
        (
            "",
            (
                "[proxy:0:0@n02] HYDU_create_process (utils/launch/launch.c:73): execvp error on "
                "file ./lu.S.x (No such file or directory)\n"
            ),
            255,
            "n02: ./lu.S.x not found",
        ),
        ("", "./e127: 2: exec: lu.S.x: not found\n", 127, "lu.S.x not found, exit code 127"),
        (
            "",
            (
                "mpirun noticed that process rank 1 with PID 0 on node n02 exited on signal 9 "
                "(Killed).\n"
            ),
            137,
            "n02: rank 1 was killed by SIGKILL (kill -9, or out of memory)",
        ),
        ("", "", -9, "mpiexec was killed by SIGKILL (kill -9, or out of memory)"),
    ],
)
def test_other_launchers_name_the_cause_too(verdict, stdout, stderr, code, expected):
    found = verdict(stderr, code, stdout, program="mpiexec")
    assert (found.status, found.reason) == ("failed", expected)
