"""What a run prints, as a newcomer reads it."""

from __future__ import annotations

import fcntl
import os
import re

import pytest

pytestmark = pytest.mark.workflow


def test_a_failed_job_is_reported_with_the_end_of_its_log(folder):
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
            "them (processes 'routelab batch'; on a cluster, jobs that squeue lists)"
        )
        printed = run.stdout + run.stderr
        assert "Traceback" not in printed
        assert "Job stats" not in printed
        assert folder.calls() == []
        # what only looks is not kept out
        assert folder.run("-n").returncode == 0
    finally:
        os.close(lock)
