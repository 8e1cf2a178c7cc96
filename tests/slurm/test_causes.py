"""The reason of a failed run is what failed first, on a real Slurm."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from site_of_tests import Site

pytestmark = pytest.mark.builtins

ONE = {"routings": ["angara-bfs"]}


@pytest.fixture
def site(tmp_path, slurm):
    site = Site(tmp_path, slurm)
    yield site
    # steps need a moment to go after their job
    site.wait_for(lambda: not site.ranks() and not slurm.jobs())


def reasons(site):
    rows = sorted(site.rows(), key=lambda row: int(row["round"]))
    return [(row["status"], row["failure"], row["reason"]) for row in rows]


def sleepers(site):
    """Processes of ranks, once all four hang."""

    def found():
        return [pid for pid in site.ranks() if _words(pid) == ["sleep", "600"]]

    site.wait_for(lambda: len(found()) == 4)
    return found()


def _words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


def test_what_failed_first_is_told_and_not_what_slurm_killed_then(site):
    site.play("missing", "exits", "killed")
    assert site.bench(**ONE, repeats=3) == 1
    # ranks 0 to 3 are on n03, n01, n04 and n02; Slurm may lose what a rank of a failed step printed
    found = [text.removesuffix(": no memory left") for _, _, text in reasons(site)]
    missing = "n04: lu.S.x not found, exit code 127", "n04: rank 2 ended with exit code 127"
    assert found[0] in missing
    assert found[1:] == [
        "n04: rank 2 ended with exit code 3",
        "n01: rank 1 was killed by SIGKILL (kill -9, or out of memory)",
    ]
    kinds = [(status, failure) for status, failure, _ in reasons(site)]
    assert kinds == [("failed", "error-text"), ("failed", "error-text"), ("failed", "killed")]
    assert found[0] in site.stderr


def test_kill_9_from_outside_is_told_as_such(site):
    site.play("hangs")
    bench = site.start(**ONE)
    os.kill(sleepers(site)[0], signal.SIGKILL)
    assert bench.wait(300) == 1
    ((status, failure, reason),) = reasons(site)
    assert (status, failure) == ("failed", "killed")
    assert " was killed by SIGKILL (kill -9, or out of memory)" in reason


def test_a_step_that_is_cancelled_is_told_as_such(site):
    site.play("hangs")
    bench = site.start(**ONE)
    sleepers(site)
    listed = site.slurm.run("squeue", "--steps", "--noheader", "--format=%i").stdout.split()
    (step,) = [one for one in listed if one.partition(".")[2].isdecimal()]
    site.slurm.run("scancel", step)
    assert bench.wait(300) == 1
    assert reasons(site) == [("failed", "killed", "cancelled with scancel")]


def test_a_job_that_is_cancelled_is_told_as_such(site):
    site.play("hangs")
    bench = site.start(**ONE)
    sleepers(site)
    (job,) = site.slurm.jobs()
    site.slurm.run("scancel", job)
    assert bench.wait(300) == 1
    assert f"stopped: Slurm's job {job} was cancelled with scancel. Finished" in site.stderr


def test_a_limit_is_told_as_such(site):
    site.play("hangs")
    assert site.bench(**ONE, seconds=3) == 1
    assert reasons(site) == [("timeout", "", "took longer than 3 s and was ended")]
