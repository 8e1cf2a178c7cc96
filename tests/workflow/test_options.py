"""What Snakemake's options mean: a test per row of the table in docs/concepts/runs.md."""

from __future__ import annotations

import fcntl
import os
import signal

import pytest

from .test_runs import ITEMS, METRICS, REPORTS, ROUTES, TOPOLOGIES

pytestmark = pytest.mark.workflow

PARTS = [f"batches/{stage}/1.json" for stage in ("topologies", "routes", "metrics")]
PAGE = "../report/small/index.html"


def nothing_to_do(folder):
    run = folder.run()
    return run.returncode == 0 and "Nothing to be done" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("removed", "items"),
    [(PARTS[1], []), (PAGE, []), (f"{ROUTES[3]}/outcome.json", [ROUTES[3]])],
    ids=["manifest", "page", "outcome"],
)
def test_removed_results_are_made_again(finished, removed, items):
    (finished.results / removed).unlink()
    # a dry run says so, and makes nothing
    assert "page of small" in finished.run("-n").stdout
    assert finished.calls() == []
    assert finished.ran() == sorted([*items, *REPORTS])


@pytest.mark.parametrize(
    ("options", "parts"), [(["-R", "routes"], PARTS[1:]), (["--forceall"], PARTS)]
)
def test_forced_parts_keep_finished_items(finished, options, parts):
    assert finished.ran(*options) == REPORTS[::-1]
    assert set(finished.by_output()) == {*parts, *REPORTS}


def test_deleted_output_is_put_together_again(finished):
    assert finished.run("--delete-all-output").returncode == 0
    assert not any((finished.results / name).exists() for name in (*PARTS, PAGE))
    assert finished.outcomes() == set(ITEMS)
    assert finished.ran() == REPORTS[::-1]


def test_the_summary_lists_every_part_and_page(finished):
    path = finished.path / "config/studies/small.yaml"
    path.write_text(path.read_text() + "# a remark\n")
    lines = finished.run("--summary").stdout.splitlines()[1:]
    plans = {line.split("\t")[0]: line.split("\t")[-1] for line in lines}
    assert plans == {
        **{f"results/small/{part}": "no update" for part in PARTS},
        "results/report/small/index.html": "update pending",
        "results/report/index.html": "update pending",
        "results/report/values.html": "update pending",
    }
    assert finished.calls() == []


def test_the_report_of_snakemake_has_the_pages(finished):
    run = finished.run("--report", "made.html")
    assert run.returncode == 0, run.stderr
    text = (finished.path / "made.html").read_text()
    assert "results/report/small/index.html" in text
    assert "results/report/index.html" in text


def test_a_part_is_a_target(finished):
    (finished.results / ROUTES[3] / "outcome.json").unlink()
    (finished.results / METRICS[3] / "outcome.json").unlink()
    assert finished.ran(f"results/small/{PARTS[1]}") == [ROUTES[3]]
    assert set(finished.by_output()) == {PARTS[1]}


@pytest.mark.parametrize("kind", ["input", "code"])
def test_changes_of_rules_are_not_those_of_items(finished, kind):
    path = finished.path / "config/studies/small.yaml"
    path.write_text(path.read_text().replace("range: 2", "range: 3"))
    run = finished.run("--list-changes", kind)
    assert (run.returncode, run.stdout) == (0, "")
    assert finished.calls() == []


def test_unlock_does_not_end_the_lock_of_another_run(finished):
    with (finished.path / "results/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert finished.run("--unlock").returncode == 0
        assert "another run" in finished.run().stderr
    assert nothing_to_do(finished)


def test_touched_pages_are_kept_and_missing_items_are_not_touched(finished):
    path = finished.path / "config/studies/small.yaml"
    path.write_text(path.read_text() + "# a remark\n")
    assert finished.run("--touch").returncode == 0
    assert nothing_to_do(finished)
    path.write_text(path.read_text().replace("range: 2", "range: 3"))
    assert finished.run("--touch").returncode == 0
    new = [f"torus~dims={dims}/angara-sssp~tie_seed=2" for dims in ("4", "4x2")]
    items = [f"{stage}/{name}" for stage in ("routes", "metrics") for name in new]
    assert finished.ran() == sorted([*items, *REPORTS])


@pytest.mark.parametrize(
    ("choice", "items"),
    [("routes", ROUTES), ("topologies+metrics", [*TOPOLOGIES, *METRICS]), ("all", ITEMS)],
)
def test_fresh_stages_are_computed_anew_once(finished, choice, items):
    fresh = ("report", "--config", f"fresh={choice}")
    dry = finished.run("-n", *fresh)
    assert "page of small" in dry.stdout
    assert finished.outcomes() == set(ITEMS)
    assert (finished.results / PAGE).exists()
    assert finished.ran(*fresh) == sorted([*items, *REPORTS])
    assert nothing_to_do(finished)


def test_a_killed_fresh_run_continues_with_the_remaining_jobs(finished):
    (finished.path / "calls.txt").unlink()
    (finished.path / "wait").write_text("3")
    run = finished.start("report", "--config", "fresh=routes")
    finished.wait_for(lambda: len(finished.jobs()) == 4, run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    done = set(finished.jobs()) & finished.outcomes()
    assert len(done) == 3
    (finished.path / "wait").unlink()
    assert finished.ran() == sorted([*(set(ROUTES) - done), *REPORTS])


def test_a_fresh_run_that_ends_with_a_stage_leaves_the_page_to_the_next(finished):
    outputs = finished.ran("report", "--until", "routes", "--config", "fresh=routes")
    assert outputs == sorted(ROUTES)
    assert finished.ran() == REPORTS[::-1]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("routs", "fresh=routs: there is no such stage; did you mean 'routes'?"),
        ("benchmarks", "fresh=benchmarks: measurements are never repeated"),
        ("all,comparisons", "fresh=comparisons: measurements are never repeated"),
    ],
)
def test_a_wrong_choice_of_fresh_stages_is_one_message(finished, choice, message):
    run = finished.run("report", "--config", f"fresh={choice}")
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith(message)
    assert "Traceback" not in run.stderr
    assert finished.outcomes() == set(ITEMS)
