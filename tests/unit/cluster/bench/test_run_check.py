"""Reasons of failed runs. Messages of launchers are of real runs, srun 22.05 and Hydra 4.0."""

import math
import time
from pathlib import Path

import pytest

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    FigureOfMerit,
    RunOutput,
)
from routelab.cluster.bench.run_check import evaluate_run, judge_output
from routelab.cluster.bench.store import RawRun

TASK = BenchmarkTask(4, 4, Path("lu.S.x"), Path())


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
        return evaluate_run(Clock(), raw, TASK)

    return get


@pytest.mark.parametrize(
    ("code", "stderr", "failure", "reason"),
    [
        (1, "", "error-text", "exit code 1"),
        (
            127,
            "bash: lu.S.x: command not found\n",
            "error-text",
            "exit code 127: bash: lu.S.x: command not found",
        ),
        (137, "", "killed", "exit code 137: killed by SIGKILL (kill -9, or out of memory)"),
        (-15, "", "killed", "exit code -15: killed by SIGTERM"),
        (139, "a\n\n b\n", "killed", "exit code 139: killed by SIGSEGV: a | b"),
        (3, "".join(f"{n}\n" for n in range(9)), "error-text", "exit code 3: 4 | 5 | 6 | 7 | 8"),
    ],
)
def test_a_failed_run_has_its_exit_code_and_its_last_lines(verdict, code, stderr, failure, reason):
    outcome = verdict(stderr, code, "time 1 s\n")
    assert (outcome.status, outcome.failure, outcome.reason) == ("failed", failure, reason)
    assert outcome.result is None


def test_the_first_report_of_a_launcher_is_the_reason(verdict):
    outcome = verdict(
        "srun: error: n04: task 2: Exited with exit code 3\noh no\n"
        "slurmstepd-n01: error: *** STEP 1.0 ON n01 CANCELLED AT 2026-11-22T21:26:09 ***\n"
        "srun: error: n01: task 0: Killed\n",
        137,
    )
    assert outcome.failure == "error-text"
    assert outcome.reason == (
        "exit code 137: srun: error: n04: task 2: Exited with exit code 3: oh no"
    )


def test_messages_of_the_program_explain_its_exit_code(verdict):
    outcome = verdict("srun: error: n02: task 1: Exited\n", 1, "SUBDOMAIN SIZE IS TOO SMALL\n")
    assert outcome.reason == "exit code 1: clock: SUBDOMAIN SIZE IS TOO SMALL"


def test_other_lines_of_a_launcher_are_no_failure(verdict):
    assert verdict("srun: job 7 has been allocated resources\n", 0, "time 1 s\n").status == "ok"


def test_a_run_that_was_ended_at_its_limit_is_a_timeout(verdict):
    outcome = verdict("srun: error: n01: task 0: Killed\n", ending="timeout", reason="too long")
    assert (outcome.status, outcome.failure, outcome.reason) == ("timeout", "", "too long")


@pytest.mark.parametrize("text", ["x", " ", "a\n", "a: ", "srun"])
def test_a_flood_is_judged_at_once(verdict, text):
    flood = text * (2**20 // len(text))
    begin = time.process_time()
    assert verdict(flood, 1, stdout=flood).status == "failed"
    assert verdict(flood, 0, stdout=flood).failure == "no-result"
    assert time.process_time() - begin < 20


def figure(value, size=None):
    return FigureOfMerit("time", value, "s", "lower", size)


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        ((), "clock: there are no figures"),
        ((figure(math.nan),), "clock: time is nan, not a finite number"),
        (
            (figure(1.0, 4), figure(math.inf, 8)),
            "clock: time of 8 bytes is inf, not a finite number",
        ),
        ((figure(1.0), figure(1.0)), "clock: there are several values of time"),
        ((figure(1.0, 4), figure(2.0, 4)), "clock: there are several values of time of 4 bytes"),
        ((figure(1.0), figure(1.0, 4), figure(1.0, 8)), ""),
    ],
)
@pytest.mark.parametrize("task", [TASK, None])
def test_figures_are_finite_and_each_is_there_once(monkeypatch, figures, reason, task):
    monkeypatch.setattr(Clock, "parse", lambda *_: BenchmarkResult(figures))
    outcome = judge_output(Clock(), RunOutput("time 1 s\n"), task)
    assert (outcome.status, outcome.reason) == ("failed" if reason else "ok", reason)
