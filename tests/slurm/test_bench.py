"""`routelab bench` on a real Slurm: what is measured, and what becomes of faults."""

from __future__ import annotations

import os
import signal

import pytest
from cluster import VirtualSlurm
from site_of_tests import FAKE, Site, find_imb

pytestmark = pytest.mark.builtins

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


@pytest.mark.parametrize(("topology", "hosts"), [
    ("torus~dims=4", ["n03", "n01", "n04", "n02"]),
    ("torus~dims=4x2", [f"n0{number}" for number in range(1, 9)]),
])  # fmt: skip
def test_real_benchmarks_are_measured_under_each_routing(site, topology, hosts):
    if find_imb() is None:
        pytest.skip("needs IMB-MPI1: install impi-rt from PyPI, .ci/run says where")
    assert site.bench(PATTERNS, IMB, topology=topology) == 0, site.stderr
    rows = in_order(site.rows())
    assert len(rows) == 4
    assert {row["status"] for row in rows} == {"ok"}
    assert {(row["hosts"], row["ranks"]) for row in rows} == {(",".join(hosts), str(len(hosts)))}
    assert len({row["job_id"] for row in rows}) == 1  # one allocation
    order = list(dict.fromkeys(row["routing"] for row in rows))
    assert site.calls == [*(f"apply {one}" for one in order), f"restore {order[-1]}"]
    figures = site.rows("figures.csv")
    assert {
        (row["routing"], row["benchmark"], row["metric"], row["size"], row["unit"])
        for row in figures
        if row["metric"] != "iterations"
    } == {
        (routing, benchmark, f"latency_{which}", "1024", "us")
        for routing in order
        for benchmark in (PATTERNS, IMB)
        for which in ("avg", "min", "max")
    }
    for run in rows:
        mine = {row["metric"]: float(row["value"]) for row in figures if row["run"] == run["run"]}
        assert 0 < mine["latency_min"] <= mine["latency_avg"] <= mine["latency_max"]


def test_each_fault_is_a_row_and_only_they_are_run_again(site):
    site.play("hangs", "killed", "fewer", "unsuccessful", "silent", "good")
    asked = {"routings": ["angara-bfs"], "repeats": 6, "seconds": 3}
    assert site.bench(**asked) == 1
    rows = in_order(site.rows())
    assert [(row["status"], row["failure"]) for row in rows] == [
        ("timeout", ""),
        ("failed", "killed"),
        ("failed", "wrong-processes"),
        ("failed", "verification-failed"),
        ("failed", "no-result"),
        ("ok", ""),
    ]
    assert rows[0]["reason"] == "took longer than 3 s and was ended"
    assert "2 processes took part, 4 were requested" in rows[2]["reason"]
    assert site.calls == ["apply angara-bfs"] * 6 + ["restore angara-bfs"]
    assert site.bench(**asked) == 0, site.stderr
    assert site.done == 6 + 5
    assert {row["status"] for row in site.rows()} == {"ok"}
    mops = [row["value"] for row in site.rows("figures.csv") if row["metric"] == "mops"]
    assert list(map(float, mops)) == [938.56] * 6


def test_a_drained_node_and_a_restarted_controller_cost_nothing(site):
    site.play("waits", "good")
    bench = site.start()
    site.wait_until_it_waits(bench)
    site.slurm.restart_controller()
    nodes = ["n01", "n02", "n03", "n04"]
    site.slurm.wait_for("allocated", nodes)  # before, Slurm refuses new steps
    site.slurm.drain("n02")
    assert site.slurm.nodes("draining") == ["n02"]
    site.let_go()
    assert bench.wait(300) == 0, site.stderr
    assert [row["status"] for row in site.rows()] == ["ok", "ok"]
    assert len(site.calls) == 3


def test_a_lost_node_ends_the_session_and_the_next_one_does_the_rest(tmp_path):
    with VirtualSlurm(2, {"SlurmdTimeout": "6"}) as slurm:
        site = Site(tmp_path, slurm)
        asked = {"topology": "torus~dims=2", "ranks_per_node": 2, "repeats": 2}
        site.play("good", "waits")
        bench = site.start(**asked)
        site.wait_until_it_waits(bench)
        slurm.kill_node("n01")
        slurm.wait_for("down", ["n01"])
        assert bench.wait(300) == 1
        assert "Finished runs are stored; run the same command again for the rest" in site.stderr
        assert site.calls[-1].startswith("restore ")
        assert site.done == 2
        slurm.start_node("n01")
        slurm.wait_for("idle")
        site.let_go()
        assert site.bench(**asked) == 0, site.stderr
        assert site.done == 2 + 3
        assert [row["status"] for row in site.rows()] == ["ok"] * 4
        assert len({row["job_id"] for row in site.rows()}) == 2


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


def test_a_lost_allocation_is_restored_and_taken_up_again(site):
    site.play("good", "waits")
    bench = site.start()
    site.wait_until_it_waits(bench)
    (job,) = site.slurm.jobs()
    site.slurm.run("scancel", job)
    assert bench.wait(300) == 1
    assert site.calls[-1].startswith("restore ")
    site.let_go()
    assert site.bench() == 0, site.stderr
    assert site.done == 2 + 1


def test_hooks_that_fail_are_told_and_the_fabric_is_restored_first_next_time(site):
    (site.folder / "apply-fails").touch()
    assert site.bench() == 1
    assert "no rights to apply" in site.stderr
    assert [call.split()[0] for call in site.calls] == ["apply", "restore"]
    assert site.done == 0
    (site.folder / "apply-fails").unlink()
    (site.folder / "restore-fails").touch()
    assert site.bench() == 1
    assert "THE FABRIC WAS NOT RESTORED" in site.stderr
    assert "no rights to restore" in site.stderr
    assert site.done == 2  # what was measured before counts
    (site.folder / "restore-fails").unlink()
    (site.folder / "calls").unlink()
    assert site.bench(repeats=2) == 0, site.stderr
    assert site.calls[0].startswith("restore ")
    assert [call.split()[0] for call in site.calls[1:]] == ["apply", "apply", "restore"]
    assert site.done == 4
    assert FAKE in {row["benchmark"] for row in site.rows()}
