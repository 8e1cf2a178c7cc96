"""Sessions: order, resuming, failures, and a fabric that is put back whatever happens."""

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from routelab.api import InputError, RoutelabError
from routelab.cluster.bench.comparison import Comparison, ComparisonPart
from routelab.cluster.bench.fabric.fabric import Fabric
from routelab.cluster.bench.processes.signals import StopRequest
from routelab.cluster.bench.results import collect
from routelab.cluster.bench.run_comparison import prepare_comparison
from routelab.cluster.bench.runner import Runner
from routelab.cluster.bench.session import SessionEnd
from routelab.cluster.bench.slurm import Allocation, AllocationLostError
from routelab.cluster.bench.store import RunStore
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.fabric import FabricCommands

HANG = "import time; time.sleep(600)"
SILENT = "pass"
FIRST_FAILS = """
import os, pathlib
count = pathlib.Path({path!r})
number = int(count.read_text()) if count.exists() else 0
if os.environ["PMI_RANK"] == "0":
    count.write_text(str(number + 1))
    print("time 2.0 s" if number else "sorry")
"""


def rows(session, ended=None):
    return collect(session, ended or SessionEnd()).runs


@pytest.mark.parametrize("difference", [{"unit": "ms"}, {"better": "higher"}, {"better": ""}])
def test_runs_in_another_unit_are_failed_runs_of_their_benchmark(site, monkeypatch, difference):
    session = site.session()
    session.measure()
    find = session.find_verdict

    def find_other(run):
        raw, verdict = find(run)
        if (run.benchmark.id, run.round) == ("one", 2):
            figures = tuple(replace(figure, **difference) for figure in verdict.result.figures)
            verdict = replace(verdict, result=replace(verdict.result, figures=figures))
        return raw, verdict

    monkeypatch.setattr(session, "find_verdict", find_other)
    collected = collect(session, SessionEnd())
    failed = [row for row in collected.runs if row["status"] == "failed"]
    assert {(row["benchmark"], row["round"]) for row in failed} == {("one", 2)}
    assert all("time" in row["reason"] for row in failed)
    assert {(row["unit"], row["better"]) for row in collected.figures} == {("s", "lower")}
    assert len(collected.figures) == 12 - len(failed)
    assert collected.facts["failed"] == len(failed)


def test_a_comparison_ends_with_its_last_run(site, monkeypatch):
    session = site.session()
    session.measure()
    find = session.find_verdict
    number = iter(range(12))

    def find_timed(run):
        raw, verdict = find(run)
        # the runs start from 10:00:00 to 10:00:11, and the first of them takes an hour
        n = next(number)
        started = f"2026-11-22T10:00:{n:02}+00:00"
        return replace(raw, started=started, seconds=1.5 if n else 3600.0), verdict

    monkeypatch.setattr(session, "find_verdict", find_timed)
    facts = collect(session, SessionEnd()).facts
    assert facts["started"] == "2026-11-22T10:00:00+00:00"
    assert facts["ended"] == "2026-11-22T11:00:00+00:00"


def test_all_rounds_are_run_under_their_routing(site):
    session = site.session()
    ended = session.measure()
    assert ended == SessionEnd("", True, 12)
    collected = collect(session, ended)
    assert [row["status"] for row in collected.runs] == ["ok"] * 12
    assert {row["round"] for row in collected.runs} == {0, 1, 2}
    # one apply a turn, in the order of the rows, and one restore at the end
    turns = dict.fromkeys((row["round"], row["turn"], row["routing"]) for row in collected.runs)
    assert site.fabric.done == [
        *(f"apply {routing}" for _, _, routing in turns),
        f"restore {list(turns)[-1][2]}",
    ]
    assert len(turns) == 6
    assert {(row["metric"], row["value"], row["unit"], row["better"]) for row in
            collected.figures} == {("time", 1.5, "s", "lower")}  # fmt: skip
    assert collected.facts["versions"] == {
        "mpiexec": "version 1.2.3", "one": "1.0", "two": "1.0"
    }  # fmt: skip
    assert collected.facts["failed"] == 0
    assert collected.facts["restored"] is True
    assert {row["applied"] for row in collected.runs} == {"yes"}


def test_finished_runs_are_reused_and_more_repeats_run_the_missing_ones(site):
    site.session().measure()
    site.fabric.record.unlink()
    assert site.session().measure() == SessionEnd()
    assert site.fabric.done == []
    site.settings["repeats"] = 3
    assert site.session().measure().done == 4


def test_routings_with_equal_routes_have_runs_of_their_own(site):
    session = site.session()
    tables = session.plan.tables
    assert (tables["angara-bfs"].hop_channel == tables["angara-sssp"].hop_channel).all()
    runs = [run.fingerprint for run in session.plan.runs]
    assert len(set(runs)) == len(runs) == 12


def test_a_failed_run_is_a_row_and_is_tried_again_next_time(site, tmp_path):
    site.scripts = {"one": FIRST_FAILS.format(path=str(tmp_path / "count"))}
    site.routings = ("angara-bfs",)
    site.settings["warm_up"] = 0
    session = site.session()
    assert session.measure().done == 2
    runs = rows(session)
    assert [row["status"] for row in runs] == ["failed", "ok"]
    assert (runs[0]["failure"], runs[0]["reason"]) == (
        "no-result", "told: there is no line with a time"
    )  # fmt: skip
    again = site.session()
    assert again.measure().done == 1
    assert [row["status"] for row in rows(again)] == ["ok", "ok"]
    assert (session.store.folder / f"{runs[0]['run']}.1/stdout.txt").read_text() == "sorry\n"


def test_a_hanging_benchmark_is_ended_and_the_others_go_on(site):
    site.scripts = {"hangs": HANG, "works": SILENT.replace("pass", "print('time 1 s')")}
    # the other one has as many seconds to start its ranks
    site.settings |= {"repeats": 1, "warm_up": 0, "seconds": 5}
    site.routings = ("angara-bfs",)
    session = site.session("torus~dims=2")
    session.measure()
    runs = {row["benchmark"]: row for row in rows(session)}
    assert runs["hangs"]["status"] == "timeout"
    assert runs["hangs"]["reason"] == "took longer than 5 s and was ended"
    # two ranks print two lines: not one of them is believed
    assert runs["works"]["failure"] == "no-result"


def test_a_launcher_that_disappears_is_a_row(site):
    site.scripts = {"one": "import os, pathlib; os.remove(pathlib.Path('../../mpiexec'))"}
    site.settings |= {"repeats": 2, "warm_up": 0}
    site.routings = ("angara-bfs",)
    session = site.session()
    session.measure()
    assert rows(session)[1]["reason"].startswith("cannot start ")


def test_nothing_is_applied_where_that_is_not_meant(site):
    site.apply = False
    session = site.session()
    assert session.measure().restored is None
    assert site.fabric.done == []
    assert {row["applied"] for row in rows(session)} == {"no"}
    # and these runs are none of a switched fabric
    site.apply = True
    assert len(site.session().missing_turns()) == 6


def test_an_apply_that_fails_is_restored_and_ends_the_session(site):
    site.fabric.fails = ("apply",)
    session = site.session()
    ended = session.measure()
    assert ended == SessionEnd("apply does not work", True, 0)
    assert [line.split()[0] for line in site.fabric.done] == ["apply", "restore"]
    assert {row["reason"] for row in rows(session, ended)} == {"not run: apply does not work"}
    assert session.journal.read_entry() is None


def test_a_restore_that_fails_is_loud_and_is_tried_again_first(site, caplog):
    site.fabric.fails = ("restore",)
    site.settings |= {"repeats": 1, "warm_up": 0}
    session = site.session()
    ended = session.measure()
    assert ended.restored is False
    assert ended.done == 4
    assert "THE FABRIC WAS NOT RESTORED" in caplog.text
    assert session.journal.read_entry()["routing"] in ("angara-bfs", "angara-sssp")
    site.settings["repeats"] = 2
    with pytest.raises(RoutelabError, match="an earlier session did not restore the fabric"):
        site.session().measure()
    site.fabric.fails = ()
    site.fabric.record.unlink()
    assert site.session().measure().restored is True
    assert [line.split()[0] for line in site.fabric.done] == [
        "restore",
        "apply",
        "apply",
        "restore",
    ]


def test_a_fabric_that_was_left_is_restored_though_nothing_is_missing(site):
    site.fabric.fails = ("restore",)
    site.settings |= {"repeats": 1, "warm_up": 0}
    site.session().measure()
    site.fabric.fails = ()
    site.fabric.record.unlink()
    session = site.session()
    assert session.missing_turns() == []
    session.measure()
    assert [line.split()[0] for line in site.fabric.done] == ["restore"]
    assert session.journal.read_entry() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_fabric_and_keeps_finished_runs(site, number):
    site.scripts = {"one": site.scripts["one"], "hangs": HANG}
    site.settings |= {"repeats": 1, "warm_up": 0, "seconds": 300}
    session = site.session()

    def soon():
        until = time.monotonic() + 60
        while time.monotonic() < until:
            # the folder of a run is renamed at its end
            with suppress(FileNotFoundError):
                running = (site.folder / "runs").glob(".*/script.py")
                if any(HANG in script.read_text() for script in running):
                    break
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=soon)
    thread.start()
    with pytest.raises((StopRequest, KeyboardInterrupt)):
        session.measure()
    thread.join()
    assert site.fabric.done[-1].startswith("restore")
    assert session.journal.read_entry() is None
    assert not list(session.store.folder.glob(".*"))
    assert all(row["status"] == "ok" or row["reason"].startswith("not run")
               for row in rows(session))  # fmt: skip


def test_two_sessions_do_not_share_a_fabric(site):
    first, second = site.session(), site.session()
    first.journal.lock()
    with pytest.raises(
        InputError, match=r"another session \(process \d+ on .*\) measures.*squeue --me"
    ):
        second.measure()
    first.journal.release()
    assert second.measure().done == 12
    assert first.measure().done == 0


def test_a_lost_allocation_is_no_fault_of_the_benchmark(site, monkeypatch):
    site.scripts = {"one": SILENT}
    lost = Allocation("17", ())
    monkeypatch.setattr("routelab.cluster.bench.session.allocation", lambda: lost)
    monkeypatch.setattr(
        Allocation, "ensure_alive",
        lambda self: (_ for _ in ()).throw(AllocationLostError("Slurm's job 17 is lost")),
    )  # fmt: skip
    session = site.session()
    cluster = session.plan.file.cluster.model_copy(update={"launcher": "srun"})
    object.__setattr__(session.plan.file, "cluster", cluster)
    ended = session.measure()
    assert (ended.stopped, ended.restored, ended.done) == ("Slurm's job 17 is lost", True, 0)
    assert len(session.missing_turns()) == 6


def test_runs_name_hosts_as_slurm_does(site):
    plan = site.session(hosts=("n02.cl.example", "n01.cl.example")).plan
    runner = Runner(plan, RunStore(site.store / "runs"), Allocation("17", ("n01", "n02")))
    assert runner.launcher.hosts == ("n02", "n01")
    assert plan.hosts == ("n02.cl.example", "n01.cl.example")


FILLS = """
import os, pathlib
if os.environ["PMI_RANK"] == "0":
    if pathlib.Path({path!r}).exists():
        print("x" * 600_000)
    print("time 1.5 s")
"""


def test_a_full_disk_ends_the_session_restored_and_nothing_is_lost(site, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk]).returncode:
        pytest.skip("needs the right to mount a small disk")
    fills = tmp_path / "fills"
    try:
        site.store = disk
        site.scripts = {"one": FILLS.format(path=str(fills))}
        site.settings |= {"warm_up": 0, "repeats": 1}
        assert site.session().measure().done == 2
        fills.touch()
        site.settings["repeats"] = 2
        session = site.session()
        with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
            session.measure()
        assert site.fabric.done[-1].startswith("restore ")
        assert session.journal.read_entry() is None
        assert len(session.missing_turns()) == 2
        assert not list(session.store.folder.glob(".*"))
        fills.unlink()
        assert site.session().measure().done == 2
    finally:
        subprocess.run(["umount", disk], check=True)


def test_all_who_name_one_folder_share_a_fabric(tmp_path):
    cluster = tmp_path / "site.yaml"
    cluster.write_text(
        f"launcher: mpiexec\nfabric: {{apply: ['true'], restore: ['true'], "
        f"state: {tmp_path / 'shared'}}}\n"
    )
    comparison = Comparison(
        "torus~dims=2",
        (ComparisonPart("angara-bfs", "angara-bfs"),),
        (ComparisonPart("mpi", "mpi-patterns"),),
        BenchSettings(cluster=str(cluster)),
    )
    holder, other = (
        prepare_comparison(comparison, tmp_path / user / "bench/runs", apply=True).session
        for user in ("a", "b")
    )
    assert holder.journal.folder == tmp_path / "shared" / "site"
    holder.journal.lock()
    with pytest.raises(InputError, match="another session"):
        other.measure()
    # where the folder is says nothing of what is measured
    elsewhere = cluster.read_text().replace(f"state: {tmp_path / 'shared'}", "seconds: 60")
    before = [run.fingerprint for run in holder.plan.runs]
    cluster.write_text(elsewhere.replace(", seconds: 60", ""))
    again = prepare_comparison(comparison, tmp_path / "bench/runs", apply=True)
    assert [run.fingerprint for run in again.plan.runs] == before


def test_a_killed_driver_leaves_no_hook_that_applies_after_the_restore(site, tmp_path):
    """The hook is ended first; otherwise it would switch a fabric that counts as restored."""
    record, go_on = tmp_path / "hooks", tmp_path / "go-on"
    (tmp_path / "apply").write_text(
        f"#!/bin/sh\necho begun >> {record}\n"
        f"for n in $(seq 600); do [ -e {go_on} ] && break; sleep 0.1; done\n"
        f"echo applied >> {record}\n"
    )
    (tmp_path / "restore").write_text(f"#!/bin/sh\necho restored >> {record}\n")
    for name in ("apply", "restore"):
        (tmp_path / name).chmod(0o755)

    site.fabric = Fabric(
        FabricCommands(
            apply=[str(tmp_path / "apply")], restore=[str(tmp_path / "restore")], export=""
        )
    )
    session = site.session()
    driver = os.fork()
    if driver == 0:
        session.measure()
        os._exit(0)
    until = time.monotonic() + 60
    while not record.exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(driver, signal.SIGKILL)
    os.waitpid(driver, 0)
    while session.journal.path.exists() and time.monotonic() < until:
        time.sleep(0.05)
    go_on.touch()
    time.sleep(1)  # the hook would have ended by now
    assert record.read_text().splitlines() == ["begun", "restored"]


def test_the_same_under_two_names_is_run_once(site):
    site.scripts = {"one": site.scripts["one"]}
    site.settings |= {"repeats": 1, "warm_up": 0}
    site.routings = ("angara-bfs", "angara-bfs")
    session = site.session()
    assert sum(1 for _ in session.plan.runs) == 2
    assert session.measure().done == 1
    assert [row["status"] for row in rows(session)] == ["ok", "ok"]
    assert len(list(session.store.folder.iterdir())) == 1


@pytest.mark.parametrize(("name", "same"), [
    ("FI_PROVIDER", False), ("MPICH_CH4_NETMOD", False),
    ("SLURM_JOB_ID", True), ("PMI_RANK", True), ("EDITOR", True),
])  # fmt: skip
def test_variables_of_mpi_change_the_fingerprint(site, monkeypatch, name, same):
    before = [run.fingerprint for run in site.session().plan.runs]
    monkeypatch.setenv(name, "17")
    assert ([run.fingerprint for run in site.session().plan.runs] == before) == same


def test_runs_of_another_machine_are_others(site, monkeypatch):
    before = [run.fingerprint for run in site.session().plan.runs]
    here = os.uname()
    there = type(here)(("Linux", "elsewhere", *here[2:]))
    monkeypatch.setattr("os.uname", lambda: there)
    assert not set(before) & {run.fingerprint for run in site.session().plan.runs}


def test_runs_know_their_session_and_their_turn_in_it(site):
    site.routings = ("angara-sssp",)
    site.settings |= {"repeats": 1, "warm_up": 0}
    site.session().measure()
    site.routings = ("angara-bfs", "angara-sssp")
    session = site.session()
    session.measure()
    turns = {row["routing"]: (row["session"], row["turn"]) for row in rows(session)}
    assert turns["angara-sssp"][0] != turns["angara-bfs"][0]
    assert turns["angara-sssp"][1] == 1
