"""Lists of work: when they change, who writes them, and what Snakemake says of it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal

import pytest

from .test_runs import ITEMS, METRICS, REPORTS, ROUTES

pytestmark = pytest.mark.workflow

LISTS = "results/.plan"
ALONE = ("--quiet", "host")
"""Options with which a dry run prints why each job runs."""

PLUGIN = """\
from routelab.api import Column, Measurement, MetricPlugin


class Twelve(MetricPlugin):
    name = "twelve"
    summary = "Is twelve"
    by_default = False

    columns = (Column("twelve", "always twelve"),)

    def measure(self, table, graph):
        return [Measurement("twelve", 12)]
"""


def lists(folder):
    """Content and time of every list of work, by name."""
    paths = (folder.path / LISTS).glob("*/*.json")
    return {
        f"{path.parent.name}/{path.name}": (path.read_text(), path.stat().st_mtime_ns)
        for path in paths
    }


def results(folder):
    """Content and time of every file of results that is no list of work."""
    root = folder.path / "results"
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and not path.is_relative_to(folder.path / LISTS)
    }


def reasons(folder, *arguments):
    """Return why each rule would run, from a dry run."""
    run = folder.run(*arguments, "-n", *ALONE)
    assert run.returncode == 0, run.stdout + run.stderr
    by_rule, rule = {}, ""
    for line in (run.stdout + run.stderr).splitlines():
        if line.startswith(("rule ", "localrule ")):
            rule = line.split()[1].rstrip(":")
        elif line.strip().startswith("reason: "):
            by_rule[rule] = line.strip().removeprefix("reason: ")
    return by_rule


def fail(folder, *items):
    for item in items:
        path = folder.results / item / "outcome.json"
        path.write_text(path.read_text().replace('"ok"', '"failed"'))


def nothing_to_do(folder):
    run = folder.run()
    assert run.returncode == 0, run.stdout + run.stderr
    return "Nothing to be done" in run.stdout + run.stderr


@pytest.fixture
def with_plugin(folder):
    """A finished run with a metric of a plugin that is edited."""
    info = folder.path / "site/twelve-1.dist-info"
    folder.write("site/twelve.py", PLUGIN)
    folder.write(f"site/{info.name}/METADATA", "Metadata-Version: 2.1\nName: twelve\nVersion: 1\n")
    points = "[routelab.metric]\ntwelve = twelve:Twelve\n"
    folder.write(f"site/{info.name}/entry_points.txt", points)
    folder.write(f"site/{info.name}/RECORD", "twelve.py,,\n")
    paths = [str(folder.path / "site"), os.environ.get("PYTHONPATH", "")]
    folder.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    path = folder.path / "config/studies/small.yaml"
    path.write_text(path.read_text() + "metrics: [twelve]\n")
    folder.ran()
    return folder


def test_a_dry_run_names_the_stage_whose_plugin_was_edited(with_plugin):
    assert reasons(with_plugin) == {}
    path = with_plugin.path / "site/twelve.py"
    path.write_text(PLUGIN.replace("always twelve", "twelve, always"))
    before = results(with_plugin)
    by_rule = reasons(with_plugin)
    assert by_rule["metrics"] == "Updated input files: results/.plan/metrics/small-1.json"
    assert by_rule["page"].startswith("Input files updated by another job: ")
    assert set(by_rule) == {"metrics", "page", "index", "all"}
    assert results(with_plugin) == before
    # an edit that is taken back leaves nothing to do
    path.write_text(PLUGIN)
    assert nothing_to_do(with_plugin)


def test_a_dry_run_names_the_stage_with_a_failed_item(finished):
    fail(finished, ROUTES[3])
    before = results(finished)
    by_rule = reasons(finished)
    assert by_rule["routes"] == "Updated input files: results/.plan/routes/small-1.json"
    assert "topologies" not in by_rule
    assert results(finished) == before
    assert finished.ran() == sorted([ROUTES[3], *REPORTS])
    assert nothing_to_do(finished)


def test_an_item_that_fails_again_is_tried_by_every_run(finished):
    finished.write("status", "failed")
    fail(finished, ROUTES[3])
    for _ in range(2):
        assert finished.ran() == sorted([ROUTES[3], *REPORTS])
    (finished.path / "status").unlink()
    assert finished.ran() == sorted([ROUTES[3], *REPORTS])
    assert nothing_to_do(finished)


def test_lists_that_do_not_change_are_not_touched(finished):
    before = lists(finished)
    assert {name.split("/")[0] for name in before} == {"topologies", "routes", "metrics"}
    for arguments in ([], ["-n"], ["--summary"], ["-R", "routes"]):
        assert finished.run(*arguments).returncode == 0
        assert lists(finished) == before, arguments


def test_removed_lists_are_written_again_and_nothing_runs(finished):
    fail(finished, METRICS[0])
    finished.ran()
    before = lists(finished)
    shutil.rmtree(finished.path / LISTS)
    assert nothing_to_do(finished)
    assert {name: text for name, (text, _) in lists(finished).items()} == {
        name: text for name, (text, _) in before.items()
    }


def test_other_limits_start_only_parts_that_reached_them(finished):
    path = finished.path / "config/studies/small.yaml"
    path.write_text(path.read_text().replace("seconds: 60", "seconds: 90"))
    finished.ran()
    # the study is an input of its report, which may show what it says
    assert set(finished.by_output()) == set(REPORTS)
    # processes get the new limits
    for text, _ in lists(finished).values():
        assert {job["limits"]["seconds"] for job in json.loads(text)["jobs"]} == {90}
    fail(finished, METRICS[0])
    path.write_text(path.read_text().replace("seconds: 90", "seconds: 99"))
    finished.ran()
    assert set(finished.by_output()) == {"batches/metrics/1.json", *REPORTS}


@pytest.mark.parametrize("arguments", [["-n"], ["--summary"]])
def test_what_only_looks_changes_lists_and_never_results(finished, arguments):
    fail(finished, ROUTES[0])
    before, lists_before = results(finished), lists(finished)
    assert finished.run(*arguments).returncode == 0
    assert results(finished) == before
    changed = {name for name, state in lists(finished).items() if state != lists_before[name]}
    assert changed == {"routes/small-1.json"}


def test_after_a_dry_run_of_fresh_stages_a_plain_run_has_nothing_to_do(finished):
    before = results(finished)
    by_rule = reasons(finished, "report", "--config", "fresh=routes+metrics")
    for stage in ("routes", "metrics"):
        assert by_rule[stage].startswith(("Updated input files: ", "Input files updated by"))
    assert "topologies" not in by_rule
    assert results(finished) == before
    assert nothing_to_do(finished)


def test_forced_stages_are_put_together_again_and_fresh_ones_computed(finished):
    assert finished.ran("-R", "routes") == REPORTS[::-1]
    assert "batches/routes/1.json" in finished.by_output()
    assert nothing_to_do(finished)
    both = ("-R", "routes", "--config", "fresh=metrics")
    assert finished.ran(*both) == sorted([*METRICS, *REPORTS])
    assert nothing_to_do(finished)


def test_a_killed_repetition_goes_on_where_it_was(finished):
    for item in ROUTES[2:]:
        (finished.results / item / "outcome.json").unlink()
    (finished.path / "calls.txt").unlink()
    (finished.path / "wait").write_text("4")
    run = finished.start()
    finished.wait_for(lambda: len(finished.jobs()) == 3, run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    (finished.path / "wait").unlink()
    missing = set(ITEMS) - finished.outcomes()
    assert len(missing) == 4
    assert finished.ran() == sorted([*missing, *REPORTS])
    assert nothing_to_do(finished)


def test_beside_a_run_lists_stay_as_they_are(finished):
    study = finished.path / "config/studies/small.yaml"
    finished.write("config/studies/other.yaml", study.read_text())
    fail(finished, ROUTES[0])
    before = lists(finished)
    with (finished.path / "results/.lock").open("w") as lock:
        lock.write("process 5 on host\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        # also of a study that has no lists yet
        run = finished.run("report", "-n", "--config", "studies=small,other")
        assert run.returncode == 0, run.stderr
        assert "page of other" in run.stdout + run.stderr
        assert "lists of work stay as they are: another run (process 5 on host)" in run.stderr
        run = finished.run("report", "--config", "studies=small,other")
        assert run.returncode == 1
        assert run.stderr.splitlines()[-1].startswith("another run (process 5 on host) is working")
        assert "Traceback" not in run.stderr
        assert lists(finished) == before
        assert finished.calls() == []
    assert finished.ran() == sorted([ROUTES[0], *REPORTS])


def test_where_lists_cannot_be_written_a_dry_run_lists_everything(folder):
    folder.write("results/.plan", "a file")
    run = folder.run("-n")
    assert run.returncode == 0, run.stderr
    assert "The lists of work stay as they are: cannot write results" in run.stderr
    assert "page of small" in run.stdout + run.stderr
    run = folder.run()
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("cannot write results")
    assert "Traceback" not in run.stderr
    assert folder.calls() == []


def test_jobs_on_other_nodes_write_no_lists(finished):
    fail(finished, ROUTES[0])
    before = lists(finished)
    target = "results/small/batches/routes/1.json"
    job = ("--mode", "remote", "--target-jobs", "routes:study=small,batch=1")
    run = finished.run("--force", *job, "--allowed-rules", "routes", "--", target)
    assert run.returncode == 0, run.stdout + run.stderr
    assert finished.jobs() == [ROUTES[0]]
    assert lists(finished) == before


def test_touching_neither_locks_nor_compiles(finished):
    path = finished.path / "config/studies/small.yaml"
    path.write_text(path.read_text() + "# a remark\n")
    lock = finished.path / "results/.lock"
    before = lock.stat().st_mtime_ns
    assert finished.run("--touch").returncode == 0
    assert lock.stat().st_mtime_ns == before
    assert finished.calls() == []
