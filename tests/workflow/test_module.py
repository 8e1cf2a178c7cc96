"""The workflow as a module of another repository's workflow."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.workflow

SNAKEFILE = """
configfile: "config/config.yaml"


module routelab:
    snakefile:
        "{address}"
    config:
        config


use rule * from routelab


from routelab.workflow.snakefile import end_run, start_run


onstart:
    start_run(workflow)


onsuccess:
    end_run(workflow, finished=True)


onerror:
    end_run(workflow, finished=False)
"""

STUDY = """
title: Dimension order on a ring and a torus
topologies: [torus~dims=4, torus~dims=4x4]
routings: [dor]
tables: {loads: {rows: [topology], values: [max_load]}}
"""


@pytest.fixture
def repository(tmp_path):
    """The address of the workflow in a git repository, whose files Snakemake gets one by one."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path / "routelab"
    folder.mkdir()
    for name in ("Snakefile", "workflow", "config"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "first"],
        ["tag", "v1"],
    ):
        # without settings of the user, who may sign commits and tags
        settings = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-C", str(folder), *words], env=settings, check=True)
    return f"git+file://{folder}/workflow/Snakefile@v1"


def run_module(folder, address, *arguments):
    """Run a workflow of another repository that has the routelab workflow as a module."""
    for name, text in {
        "workflow/Snakefile": SNAKEFILE.format(address=address),
        "config/config.yaml": "studies: [mine]\nstudy: theirs\nverbose: 1\n",
        "config/studies/mine.yaml": STUDY,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_another_repository_runs_a_study_of_its_own(tmp_path):
    printed = run_module(tmp_path / "own", ROOT / "workflow" / "Snakefile")
    assert "config 'study'" not in printed
    assert "reads no config" not in printed
    assert (tmp_path / "own/results/.lock").read_text().startswith("process ")
    assert "The report is results/report/index.html" in printed
    report = tmp_path / "own" / "results" / "report"
    with (report / "mine" / "runs.csv").open(newline="") as stream:
        loads = [float(row["max_load"]) for row in csv.DictReader(stream)]
    # dimension order loads all channels alike here: switches · sum of distances / channels
    assert loads == [4 * 4 / 8, 16 * 32 / 64]
    versions = json.loads((report / "mine" / "versions.json").read_text())
    assert versions["command"] == "snakemake report --config studies=mine"


def test_the_module_can_be_in_a_git_repository(tmp_path, repository):
    planned = run_module(tmp_path / "own", repository, "--dry-run")
    for rule in ("topologies", "routes", "page", "index", "all"):
        assert f"rule {rule}:" in planned


def test_the_configuration_page_shows_the_module_that_is_tested():
    page = (ROOT / "config" / "README.md").read_text()
    lines = [line.strip() for line in page.splitlines()]
    for line in SNAKEFILE.splitlines():
        if line and "{" not in line:
            assert line.strip() in lines


def test_conda_outside_a_clone_is_rejected_with_advice(tmp_path):
    script = ROOT / "workflow" / "envs" / "routelab.post-deploy.sh"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    done = subprocess.run(
        ["bash", str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "install routelab and run without it" in done.stderr
