"""Results that earlier versions wrote stay readable: `tests/data/results-VERSION`.

Never change such a folder: the versions of its files are what it is for. Its README says how it was
made.
"""

import contextlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from routelab.cli import main
from routelab.cluster.bench.run_check import evaluate_run
from routelab.cluster.bench.store import RunStore
from routelab.deadlock import check_table
from routelab.registry.instances import load
from routelab.report.changes import compare_results
from routelab.report.page.index_page import write_index
from routelab.results.outcome import read_outcome
from routelab.results.tables import read_rows
from routelab.routing.routes_file import load_routes
from routelab.routing.topology_file import load_topology

DATA = Path(__file__).parents[1] / "data"
DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = sorted(DATA.glob("results-*"))
STUDY = "every-kind"
REMOVED = {"simulation.bubble_patience"}
"""Columns of settings that no longer exist."""
ADDED = {"proof_states", "simulation.proof_states"}
"""Columns of settings that did not exist yet."""

pytestmark = [
    pytest.mark.parametrize("stored", FOLDERS, ids=lambda folder: folder.name),
]


@pytest.fixture
def copy(stored, tmp_path):
    return shutil.copytree(stored, tmp_path / "copy")


def test_all_kinds_of_results_are_read(stored):
    results = stored / "results"
    outcomes = [read_outcome(path) for path in results.rglob("outcome.json")]
    assert {outcome.kind for outcome in outcomes} == {
        *("topology", "route", "bound", "simulation", "flow", "comparison")
    }
    assert {outcome.status for outcome in outcomes} == {"ok"}
    network = load_topology(results / "topologies/torus~dims=4/topology.npz")
    assert network.num_switches == 4
    for routing in ("dor", "angara-sssp"):
        table = load_routes(results / f"routes/torus~dims=4/{routing}/routes.npz", network)
        assert check_table(table).proven
        assert np.all(table.path_start >= 0)


def test_measurements_are_read(stored):
    store = RunStore(stored / "results/bench/runs")
    (path,) = store.folder.iterdir()
    run = store.find(path.name)
    assert (run.fingerprint, run.status) == (path.name, "ok")
    verdict = evaluate_run(load("benchmark", run.identity["benchmark"]), run, None)
    values = [figure.value for figure in verdict.result.figures if figure.metric == "latency_avg"]
    listed = read_rows(next(stored.rglob("figures.csv")), ())
    assert values == [row["value"] for row in listed
                      if row["run"] == path.name and row["metric"] == "latency_avg"]  # fmt: skip


@pytest.mark.slow
def test_a_report_is_made_of_them_and_equals_the_stored_one(copy):
    # earlier versions had no folder for each study, and metrics in that of the routes
    for name in ("topologies", "routes", "bounds", "simulations", "flows"):
        shutil.move(copy / "results" / name, copy / "results" / STUDY / name)
    shutil.copytree(copy / "results" / STUDY / "routes", copy / "results" / STUDY / "metrics")
    with contextlib.chdir(copy):
        assert main(["report", f"config/studies/{STUDY}.yaml", "--results", "results",
                     "-o", f"new/report/{STUDY}"]) == 0  # fmt: skip
    changes = compare_results(copy / "results", copy / "new")
    assert {(change.column, change.difference) for change in changes} <= {
        *((column, "missing") for column in REMOVED),
        *((column, "new") for column in ADDED),
    }


def test_a_changed_value_is_found(copy, stored):
    lists = copy / f"results/report/{STUDY}/runs.csv"
    lines = lists.read_text().splitlines()
    column = lines[0].split(",").index("max_load")
    cells = lines[1].split(",")
    cells[column] = "17"
    lists.write_text("\n".join([lines[0], ",".join(cells), *lines[2:], ""]))
    (change,) = compare_results(stored / "results", copy / "results")
    assert (change.study, change.column, change.new) == (STUDY, "max_load", "17")


def test_their_summary_is_a_card_of_the_index(copy):
    write_index(copy / "results/report")
    page = (copy / "results/report/index.html").read_text(encoding="utf-8")
    assert "Every kind of result" in page
    assert "expected format" not in page


def test_the_names_of_their_files_are_documented(stored):
    page = (DOCS / "concepts/artifacts.md").read_text(encoding="utf-8")
    paths = (path for path in (stored / "results").rglob("*") if path.is_file())
    files = {path.name for path in paths if path.parent.name != "tables"}
    assert len(files) > 15
    for name in files:
        assert re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", page), name


def test_every_kind_of_format_is_among_them(stored):
    formats = {
        json.loads(path.read_text())["format"].partition("/")[0]
        for path in (stored / "results").rglob("*.json")
    }
    assert formats >= {"outcome", "bench-run", "report", "deadlock-certificate"}
