"""What the user can get wrong, and which studies run."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.workflow


def said(run):
    """Lines of ours: Snakemake names the profile and the configuration first."""
    lines = (run.stdout + run.stderr).splitlines()
    theirs = ("Using workflow specific profile", "Config file config/config.yaml is extended")
    return [line for line in lines if not line.startswith(theirs)]


def test_all_mistakes_of_all_studies_are_one_message(folder):
    folder.write("config/config.yaml", "studies: [small, other]\n")
    folder.write("config/studies/small.yaml", "titel: t\ntopologies: [toru]\nroutings: [dor]\n")
    folder.write("config/studies/other.yaml", "title: t\ntopologies: [toru]\nroutings: [dfsss]\n")
    run = folder.run()
    assert run.returncode == 1
    lines = said(run)
    assert [line.partition(": ")[0] for line in lines] == [
        "config/studies/small.yaml:1",
        "config/studies/small.yaml:1",
        "config/studies/small.yaml:2",
        "config/studies/other.yaml:2",
        "config/studies/other.yaml:3",
    ]
    assert "did you mean 'title'?" in lines[1]
    assert "did you mean 'torus'?" in lines[2]
    assert "did you mean 'dfsssp'?" in lines[4]
    assert not (folder.path / "results").exists()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("studies=smal", "study 'smal' not found: no file config/studies/smal.yaml; did you mea"),
        ("studies=", "no study is selected: list studies in config/config.yaml, or select with"),
        ("study=small", "config 'study' does not exist; did you mean 'studies'?"),
        ("cluster=local", "config cluster=local: none of the studies measures on a cluster"),
        ("cluster=locall", "config cluster: no cluster 'locall', no file locall.yaml in "),
        ("freshh=routes", "config 'freshh' does not exist; did you mean 'fresh'?"),
    ],
)
def test_a_wrong_choice_of_studies(folder, choice, message):
    folder.write("config/clusters/local.yaml", "nodes: 4\n")
    run = folder.run("report", "--config", choice)
    assert run.returncode == 1
    (line,) = said(run)
    assert line.startswith(message)


def test_other_config_is_named_once_and_changes_nothing(folder):
    run = folder.run("-n", "--config", "verbose=true", "size=3")
    assert run.returncode == 0
    assert (run.stdout + run.stderr).count("routelab reads no config verbose, size.") == 1


def test_studies_are_chosen_by_name_and_path(folder):
    text = (folder.path / "config/studies/small.yaml").read_text()
    folder.write("config/studies/other.yaml", text.replace("torus~dims=4,", ""))
    folder.write("mine/third.yaml", text.replace("torus~dims=4,", "torus~dims=2,"))
    choice = ("report", "--config", "studies=other,mine/third.yaml")
    run = folder.run(*choice, "--dry-run", "--quiet", "host")
    assert run.returncode == 0
    assert "output: results/report/other/index.html" in run.stdout
    assert "output: results/report/third/index.html" in run.stdout
    assert "report/small" not in run.stdout
    outputs = folder.ran(*choice)
    assert [job for job in outputs if "/topologies/" in job] == [
        "other/topologies/torus~dims=4x2",
        "third/topologies/torus~dims=2",
        "third/topologies/torus~dims=4x2",
    ]


def test_the_workflow_is_clean(folder):
    lint = folder.run("--lint")
    assert "good condition" in lint.stdout + lint.stderr
    assert lint.returncode == 0


def test_the_conda_environment_has_the_requirements_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = {*project["project"]["dependencies"], *project["build-system"]["requires"]}
    needed |= {f"python{project['project']['requires-python']}", "pip"}
    needed = {text for text in needed if not text.startswith("snakemake")}
    environment = yaml.safe_load((ROOT / "workflow/envs/routelab.yaml").read_text())
    assert {text.replace(" ", "") for text in environment["dependencies"]} == needed


def test_elsewhere_than_on_linux_a_run_ends_with_one_message(folder):
    code = (
        "import sys; from snakemake.cli import main; sys.platform = 'darwin'; "
        f"sys.argv = ['snakemake', *{folder.arguments()!r}]; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder.path,
        env=folder.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    (line,) = said(run)
    assert line.startswith("routelab runs only on Linux, and this is macOS: use a Linux machine")
    assert not (folder.path / "results").exists()
