"""What a run prints, as a newcomer reads it."""

from __future__ import annotations

import fcntl
import json
import os
import re

import pytest

pytestmark = pytest.mark.workflow

LINES = {
    "networks of small, part 1 of 1 (2 jobs)",
    "route tables of small, part 1 of 1 (8 jobs)",
    "sets of metrics of small, part 1 of 1 (8 jobs)",
    "page of small",
    "index",
}


def test_each_job_and_each_step_is_a_line(folder):
    dry = folder.run("--dry-run")
    assert dry.returncode == 0
    assert set((dry.stdout + dry.stderr).splitlines()) >= {*LINES, "6 steps to do."}

    run = folder.run()
    assert run.returncode == 0, run.stderr
    lines = run.stderr.splitlines()
    assert set(lines) >= LINES
    assert "Compiling kernels; this is needed once per version of the code." in lines
    assert [line for line in lines if line.startswith("compiling ")] == [
        "compiling dor (1 of 5)",
        "compiling layered (2 of 5)",
    ]
    begin = lines.index("6 steps to do.")
    steps = [line for line in lines[begin + 1 :] if line and line not in LINES]
    done = [line for line in steps if re.match(r"\d of 6 steps \(\d+%\) done", line)]
    assert [line[0] for line in done] == list("123456")
    assert steps[len(done)].startswith("Complete log(s): ")
    assert steps[-1] == "The report is results/report/index.html: open it in a browser."
    assert len(lines) < 30

    nothing = folder.run().stderr.splitlines()
    assert any(line.startswith("Nothing to be done") for line in nothing)
    assert nothing[-1] == steps[-1]


def test_a_failed_job_is_told_with_the_end_of_its_log(folder):
    stub = folder.path / "bin/routelab"
    routes = "words[0] == 'batch' and 'routes/' in words[1]"
    broken = f"if {routes}: sys.exit('a message of many\\nno room left')\n"
    stub.write_text(stub.read_text().replace("def note(", f"{broken}def note(", 1))
    folder.write("results/report/index.html", "of an earlier run")
    run = folder.run()
    assert run.returncode == 1
    lines = run.stderr.splitlines()
    first = lines.index(
        "FAILED: route tables of small, part 1 of 1 (8 jobs). The end of its log, "
        "results/logs/routes/small-1.log:"
    )
    assert lines[first + 1 : first + 3] == ["    a message of many", "    no room left"]
    assert "At least one job did not complete successfully." in run.stderr
    assert not re.search("The report is", run.stderr)


LIMIT = "reached its limit of 60 CPU-s (limits.seconds) in dor: routing"
STATUSES = {
    "torus~dims=4x2/dor": ["timeout", LIMIT],
    "torus~dims=4/dor": ["timeout", LIMIT],
    "tie_seed=1": ["failed", "angara-sssp: select() raised ValueError: no"],
    "layered": ["unsupported", "cycle-breaking: it needs more"],
}
LOSSES = [
    "2 of 8 route tables of small failed: angara-sssp: select() raised ValueError: no.",
    "2 of 8 route tables of small reached their limit of 60 CPU-s; raise limits.seconds.",
    "2 of 8 route tables of small do not apply to their network: cycle-breaking: it needs more.",
]
END = ["The next run tries failed and stopped jobs again.", "The report is "]


def last_lines(run, count):
    """Return the last lines of a run; the very last one names the report."""
    *lines, last = run.stderr.splitlines()[-count:]
    return [*lines, last[: len(END[-1])]]


def test_the_last_lines_say_what_is_missing_and_why(folder):
    folder.write("statuses", json.dumps(STATUSES))
    run = folder.run()
    # jobs without a result are results of the run
    assert run.returncode == 0
    assert last_lines(run, 5) == [*LOSSES, *END]
    # each problem was printed at the end of its step, too
    problems = [line for line in run.stderr.splitlines() if line.startswith("route table ")]
    assert sum(LIMIT in line for line in problems) == 1
    assert sum("select() raised ValueError" in line for line in problems) == 1

    # only what failed is tried again, and when all goes well, nothing is left to say
    dry = folder.run("-n")
    assert dry.returncode == 0
    assert "4 failed or timed-out jobs would be tried again." in dry.stderr.splitlines()
    assert folder.calls() == []
    (folder.path / "statuses").unlink()
    again = folder.run()
    assert again.returncode == 0
    assert "4 failed or timed-out jobs will be tried again." in again.stderr.splitlines()
    assert sorted(folder.jobs()) == sorted(
        f"{stage}/torus~dims={dims}/{routing}"
        for stage in ("routes", "metrics")
        for dims in ("4", "4x2")
        for routing in ("dor", "angara-sssp~tie_seed=1")
    )
    assert last_lines(again, 2) == [LOSSES[2], END[-1]]
    assert END[0] not in again.stderr


def test_more_cores_than_there_are_are_warned_of(folder):
    there = len(os.sched_getaffinity(0))
    run = folder.run("--cores", str(there + 5))
    assert run.returncode == 0
    warnings = [line for line in run.stderr.splitlines() if line.startswith("Warning: ")]
    (warning,) = warnings
    assert warning == (
        f"Warning: {there + 5} cores requested, {there} available: jobs take turns. Limits count "
        "CPU time, so results stay the same."
    )
    again = folder.run("--cores", str(there))
    assert "Warning: " not in again.stderr


def test_a_job_that_is_left_of_an_earlier_run_keeps_the_next_one_out(folder):
    results = folder.path / "results"
    results.mkdir()
    lock = os.open(results / ".jobs.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as all jobs do
        run = folder.run()
        assert run.returncode == 1
        assert run.stderr.splitlines()[-1] == (
            "jobs of an earlier run are still working in results; wait until they end, or stop "
            "them (processes 'routelab batch')"
        )
        told = run.stdout + run.stderr
        assert "Traceback" not in told
        assert "Job stats" not in told
        assert folder.calls() == []
        # what only looks is not kept out
        assert folder.run("-n").returncode == 0
    finally:
        os.close(lock)
