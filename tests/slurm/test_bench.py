"""`routelab bench` on a real Slurm: what is measured, and what becomes of faults."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from site_of_tests import Site, find_imb

PATTERNS = "mpi-patterns~size=1KiB,iterations=2,warm_up=1"
IMB = "imb-alltoall~size=1KiB,iterations=2"


@pytest.fixture
def site(tmp_path, slurm):
    site = Site(tmp_path, slurm)
    yield site
    # steps need a moment to go after their job
    site.wait_for(lambda: not site.ranks() and not slurm.jobs())


def in_order(rows):
    return sorted(rows, key=lambda row: (int(row["round"]), int(row["turn"])))


@pytest.mark.parametrize("benchmark", [
    PATTERNS,
    pytest.param(IMB, marks=[
        pytest.mark.thorough,
        pytest.mark.skipif(find_imb() is None, reason="needs IMB-MPI1 of impi-rt from PyPI"),
    ]),
])  # fmt: skip
def test_real_benchmarks_are_measured_under_each_routing(site, benchmark):
    assert site.bench(benchmark) == 0, site.stderr
    rows = in_order(site.rows())
    assert len(rows) == 2
    assert {row["status"] for row in rows} == {"ok"}
    # in the order of the network
    assert {(row["hosts"], row["ranks"]) for row in rows} == {("n03,n01,n04,n02", "4")}
    assert len({row["job_id"] for row in rows}) == 1  # one allocation
    order = list(dict.fromkeys(row["routing"] for row in rows))
    assert site.calls == [*(f"apply {routing}" for routing in order), f"restore {order[-1]}"]
    figures = site.rows("figures.csv")
    assert {
        (row["routing"], row["benchmark"], row["metric"], row["size"], row["unit"])
        for row in figures
        if row["metric"] != "iterations"
    } == {
        (routing, benchmark, f"latency_{which}", "1024", "us")
        for routing in order
        for which in ("avg", "min", "max")
    }
    for run in rows:
        times = {row["metric"]: float(row["value"]) for row in figures if row["run"] == run["run"]}
        assert 0 < times["latency_min"] <= times["latency_avg"] <= times["latency_max"]


def test_each_fault_is_a_row_with_its_reason_and_only_they_are_run_again(site):
    site.play("hangs", "missing", "exits", "killed", "fewer", "unsuccessful", "silent", "good")
    options = {"routings": ["angara-bfs"], "repeats": 8, "seconds": 15}
    assert site.bench(**options) == 1
    rows = in_order(site.rows())
    assert [(row["status"], row["failure"]) for row in rows] == [
        ("timeout", ""),
        ("failed", "error-text"),
        ("failed", "error-text"),
        ("failed", "killed"),
        ("failed", "wrong-processes"),
        ("failed", "verification-failed"),
        ("failed", "no-result"),
        ("ok", ""),
    ]
    reasons = [row["reason"] for row in rows]
    assert reasons[0] == "took longer than 15 s and was ended"
    assert all(reason.startswith("exit code ") for reason in reasons[1:4])
    assert reasons[1] in site.stderr
    assert "exit code 3" in reasons[2]
    assert reasons[3].endswith("task 1: Killed")
    assert "2 processes took part, 4 were requested" in reasons[4]
    assert site.calls == ["apply angara-bfs"] * 8 + ["restore angara-bfs"]
    assert site.bench(**options) == 0, site.stderr
    assert site.done == 8 + 7
    assert {row["status"] for row in site.rows()} == {"ok"}
    mops = [row["value"] for row in site.rows("figures.csv") if row["metric"] == "mops"]
    assert list(map(float, mops)) == [938.56] * 8


@pytest.mark.thorough
def test_a_driver_that_is_killed_leaves_no_ranks_and_no_switched_fabric(site):
    site.play("good", "waits")
    bench = site.start()
    site.wait_until_it_waits(bench)
    os.kill(site.driver(), signal.SIGKILL)
    assert bench.wait(300) == 1
    site.wait_for(lambda: site.calls[-1].startswith("restore "))
    site.wait_for(lambda: not site.ranks())
    site.let_go()
    assert site.bench() == 0, site.stderr
    assert site.done == 2 + 1
    assert [row["status"] for row in site.rows()] == ["ok", "ok"]


def test_cancelled_runs_are_marked_and_repeated(site):
    options = {"routings": ["angara-bfs"], "repeats": 2}
    site.play("hangs", "hangs")
    bench = site.start(**options)
    site.wait_for(lambda: hanging(site))
    listed = site.slurm.run("squeue", "--steps", "--noheader", "--format=%i").stdout.split()
    (step,) = [name for name in listed if name.partition(".")[2].isdecimal()]
    site.slurm.run("scancel", step)
    site.wait_for(lambda: site.done == 2 and hanging(site))
    (job,) = site.slurm.jobs()
    site.slurm.run("scancel", job)
    assert bench.wait(300) == 1
    assert f"stopped: Slurm's job {job} was cancelled with scancel. Finished" in site.stderr
    assert site.calls[-1].startswith("restore ")
    assert site.bench(**options) == 0, site.stderr
    assert [row["status"] for row in site.rows()] == ["ok", "ok"]


def hanging(site):
    """Whether all four ranks hang."""
    return [_words(pid) for pid in site.ranks()].count(["sleep", "600"]) == 4


def _words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []
