"""What a run prints, as a newcomer reads it."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.builtins]

LINES = {
    "networks torus of small, batch 1 of 1 (2 jobs)",
    "route tables dor of small, batch 1 of 1 (2 jobs)",
    "route tables angara-sssp of small, batch 1 of 1 (4 jobs)",
    "route tables p-sssp@unrestricted@cycle-breaking of small, batch 1 of 1 (2 jobs)",
    "report small",
    "report index",
}


def test_each_job_and_each_step_is_a_line(folder):
    run = folder.run()
    assert run.returncode == 0, run.stderr
    lines = run.stderr.splitlines()
    assert set(lines) >= LINES
    assert "Compiling kernels, once for this state of the code." in lines
    assert [line for line in lines if line.startswith("compiling ")] == [
        "compiling dor (1 of 2)",
        "compiling layered (2 of 2)",
    ]
    begin = lines.index("7 steps to do.")
    steps = [line for line in lines[begin + 1 :] if line and line not in LINES]
    # after each step, how many jobs are done
    done = [re.match(r"(\d+) of 10 jobs done", line) for line in steps[:7]]
    counts = [int(match[1]) for match in done]
    assert counts == sorted(counts)
    assert counts[-1] == 10
    assert steps[7].startswith("Complete log(s): ")
    assert steps[-1] == "The report is results/report/index.html: open it in a browser."
    assert len(lines) < 30

    nothing = folder.run().stderr.splitlines()
    assert any(line.startswith("Nothing to be done") for line in nothing)
    assert nothing[-1] == steps[-1]


def test_a_dry_run_lists_the_jobs(folder):
    run = folder.run("--dry-run")
    assert run.returncode == 0
    printed = (run.stdout + run.stderr).splitlines()
    assert set(printed) >= {*LINES, "7 steps to do."}
    full = folder.run("--dry-run", "--quiet", "host")
    assert "output: results/report/small/index.html" in full.stdout + full.stderr
    assert "reason: Missing output files" in full.stdout + full.stderr


def test_a_failed_job_is_told_with_the_end_of_its_log(folder):
    stub = folder.path / "bin/routelab"
    routes = "words[0] == 'batch' and 'routes/' in words[1]"
    broken = f"if {routes}: sys.exit('a message of many\\nno room left')\n"
    stub.write_text(stub.read_text().replace("def note(", f"{broken}def note(", 1))
    run = folder.run()
    assert run.returncode == 1
    lines = run.stderr.splitlines()
    first = lines.index(
        "FAILED: route tables dor of small, batch 1 of 1 (2 jobs). The end of its log, "
        "results/logs/routes/small.dor-1.log:"
    )
    assert lines[first + 1 : first + 3] == ["    a message of many", "    no room left"]
    assert "At least one job did not complete successfully." in run.stderr
    assert not re.search("The report is", run.stderr)
