"""The example studies, with the real commands, as a user of `routelab init` runs them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden_rows import ROWS, differences, frozen_rows, read_rows

from routelab.api import InputError
from routelab.workflow.options import select_studies
from routelab.workflow.project import create_project

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "config/studies/examples").glob("*.yaml"))
ANYWHERE = [path.stem for path in EXAMPLES if path.stem != "virtual-cluster"]
"""Those that need no scheduler."""
GOLDEN = sorted(ROWS.glob("*.yaml"))
"""Studies with every stage."""

pytestmark = pytest.mark.workflow


def test_a_study_is_chosen_by_name_with_or_without_its_folder(monkeypatch):
    monkeypatch.chdir(ROOT)
    path = Path("config/studies/examples/sweep-sizes.yaml")
    for choice in ("sweep-sizes", "examples/sweep-sizes", str(path), str(ROOT / path)):
        (selected,) = select_studies(choice)
        assert selected.resolve() == ROOT / path
    assert select_studies("angara-table2") == [Path("config/studies/angara-table2.yaml")]


def test_a_name_in_two_folders_is_ambiguous(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / "config/studies" / folder).mkdir(parents=True)
        (tmp_path / "config/studies" / folder / "x.yaml").touch()
    with pytest.raises(InputError) as raised:
        select_studies("x,a/x,y/x,z")
    assert str(raised.value).splitlines() == [
        "there are several studies 'x': config/studies/a/x.yaml, config/studies/b/x.yaml",
        "study 'y/x' not found: no file config/studies/y/x.yaml; did you mean 'x'?",
        "study 'z' not found: no file config/studies/z.yaml",
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of the examples and of every stage, run together in a new working directory."""
    folder = tmp_path_factory.mktemp("examples") / "project"
    create_project(folder)
    for path in GOLDEN:
        shutil.copy(path, folder / "config/studies")
    names = ",".join([*(f"examples/{name}" for name in ANYWHERE), *(path.stem for path in GOLDEN)])
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "report", "--config"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        [*command, f"studies={names}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder / "results"


def table(results, study, name, *keys):
    with (results / "report" / study / "tables" / f"{name}.csv").open(newline="") as file:
        return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("study", [*ANYWHERE, *(path.stem for path in GOLDEN)])
def test_rows_are_equal_to_the_frozen_ones(results, study):
    assert differences(frozen_rows(study), read_rows(results, study)) == []


def test_no_job_of_an_example_fails(results):
    outcomes = [json.loads(path.read_text()) for path in results.glob("*/routes/*/*/outcome.json")]
    assert len(outcomes) > 50
    assert {outcome["status"] for outcome in outcomes} == {"ok"}
    assert {outcome["facts"]["deadlock"] for outcome in outcomes} == {"proven"}


def test_four_algorithms_on_one_torus(results):
    rows = table(results, "compare-algorithms", "loads", "routing")
    assert [routing for (routing,) in rows] == ["dor", "angara-bfs", "angara-sssp", "dfsssp"]
    # minimal routes on 4x4x2: hops on average per pair do not depend on the algorithm
    assert len({row["mean_load"] for row in rows.values()}) == 1
    # dimension order with balanced ties loads every channel equally
    assert float(rows["dor",]["max_load"]) == float(rows["dor",]["mean_load"])
    assert all(float(row["max_load"]) >= float(row["mean_load"]) for row in rows.values())


def test_a_larger_torus_is_loaded_more(results):
    rows = table(results, "sweep-sizes", "loads", "routing", "nodes")
    for routing in ("dor", "dfsssp", "angara-sssp"):
        loads = [float(rows[routing, nodes]["max_load"]) for nodes in ("8", "16", "32")]
        assert loads == sorted(set(loads))
    assert rows["angara-sssp", "8"]["runs"] == "3"


def test_failures_are_other_ones_for_each_seed(results):
    networks = list(results.glob("inject-failures/topologies/torus~dims=4x4,fail_links=4*"))
    assert len(networks) == 3
    channels = [(network / "channels.csv").read_text() for network in networks]
    assert len(set(channels)) == 3
    # 32 links of two channels, but for the failed ones
    assert {len(text.splitlines()) - 1 for text in channels} == {64 - 2 * 4}
    rows = table(results, "inject-failures", "loads", "routing", "fail_links")
    assert {row["runs"] for row in rows.values()} == {"3"}


def test_views_of_quality_differ(results):
    rows = table(results, "real-traffic", "views", "routing")
    for row in rows.values():
        # a channel's mean load over the 32 shifts of an all-to-all exchange, a permutation each
        assert float(row["worst_permutation"]) >= float(row["max_load"]) / 32
        assert 0 < float(row["effective_bisection"]) <= 1
    # what no rule of the hardware binds is the best of them by all views
    for view in ("max_load", "traffic_cg_max_load", "traffic_lu_max_load", "worst_permutation"):
        assert min(float(row[view]) for row in rows.values()) == float(rows["dor",][view])


def test_published_numbers_stand_beside_ours(results):
    rows = table(results, "published-table", "table2", "routing", "nodes")
    # Table 2 of Mukosey et al.: BFS and SSSP on 4 and 8 nodes, which we get exactly
    for routing, nodes in rows:
        if nodes in ("4", "8"):
            row = rows[routing, nodes]
            assert float(row["max_load"]) == float(row["paper_max_load"])
            assert float(row["min_load"]) == float(row["paper_min_load"])
    assert rows["angara-bfs", "16"]["paper_max_load"] == "18"
