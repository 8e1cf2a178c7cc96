"""Which steps leave the machine with an executor of a cluster, and what their jobs read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

pytest.importorskip("snakemake_executor_plugin_slurm")

PROFILES = Path(__file__).parents[2] / "profiles"
PARTS = (
    "Jobs of the cluster: 2 parts of stages, each with 1 core and at most 1477 MiB and 23 min.\n"
    "To compute them on this machine, add --config submit=measurements.\n"
)

pytestmark = pytest.mark.workflow


def said(folder, *arguments):
    """Return what a dry run says about jobs of the cluster."""
    run = folder.run("-n", *arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = (run.stdout + run.stderr).splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith(("Jobs of the", "To compute them")))


def test_all_that_computes_is_submitted_and_asks_for_the_limits_of_the_study(folder):
    profile = ("--profile", str(PROFILES / "cluster"))
    assert said(folder, *profile) == PARTS
    assert said(folder, *profile, "--until", "routes") == PARTS.replace("2 parts", "1 part")
    shorter = said(folder, *profile, "--config", "job_hours=0.3")
    assert shorter == PARTS.replace("23 min", "18 min")
    assert said(folder, *profile, "--config", "submit=measurements") == ""
    assert said(folder, *profile, "--executor", "local") == ""
    assert said(folder, "-j", "2") == ""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("slurm", []),
        ("slurm", ["--config", "studies=small", "cluster="]),
        ("slurm", ["--configfile", "other.yaml"]),
        ("desmos", ["--config", "studies=small"]),
        ("desmos", ["--configfile", "other.yaml"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_profiles_for_measurements_keep_parts_here(folder, name, options):
    folder.write("other.yaml", "studies: [small]\n")
    assert said(folder, "--profile", str(PROFILES / name), *options) == ""


def test_a_profile_for_measurements_can_submit_parts(folder):
    profile = ("--profile", str(PROFILES / "slurm"), "--config", "submit=all")
    assert said(folder, *profile) == PARTS


@pytest.mark.parametrize("choice", ["submit=here", "job_hours=long"])
def test_other_values_end_the_run_with_one_message(folder, choice):
    run = folder.run("--config", choice)
    assert run.returncode == 1
    (last,) = [line for line in run.stderr.splitlines() if line.startswith(choice)]
    assert "must be" in last
    assert not (folder.path / "results").exists()


def test_parts_are_repeated_and_comparisons_and_pages_are_not(folder):
    assert yaml.safe_load((PROFILES / "cluster/config.yaml").read_text())["retries"] == 2
    # a rule that says nothing follows the profile
    including = f'include: "{PROFILES.parent / "Snakefile"}"\n'
    asking = 'print("ONCE", *(rule.name for rule in workflow.rules if rule._restart_times == 0))\n'
    path = folder.write("probe.smk", including + asking)
    run = folder.run("-n", "--snakefile", str(path))
    (line,) = (line for line in run.stdout.splitlines() if line.startswith("ONCE"))
    assert set(line.split()[1:]) == {"comparisons", "page", "index", "figures"}


@pytest.fixture
def bare(folder):
    """A function that computes with an executor whose jobs get no environment."""
    paths = [str(Path(__file__).parent / "executor"), os.environ.get("PYTHONPATH", "")]
    folder.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    words = ("--executor", "bare", "--jobs", "2", "--seconds-between-status-checks", "1")

    def run(*more):
        return subprocess.run(
            folder.command(*words, *more),
            cwd=folder.path,
            env=folder.env,
            capture_output=True,
            text=True,
        )

    return run


def texts(folder):
    """What the jobs of the executor print."""
    return [path.read_text() for path in folder.path.glob("job-*")]


def test_jobs_without_an_environment_read_the_steps_of_their_run(folder, bare):
    stub = folder.path / "bin/routelab"
    stub.rename(stub.with_name("stub"))
    # the first call is on this machine; from then on no study can be expanded
    folder.write("bin/routelab", '#!/bin/sh\nrm -f config/studies/*\nexec stub "$@"\n').chmod(0o755)
    run = bare("--until", "metrics")
    assert run.returncode == 0, run.stdout + run.stderr + "".join(texts(folder))
    assert len(texts(folder)) == 2
    assert set(folder.by_output()) - {"WARM"} == {
        f"batches/{stage}/1.json" for stage in ("topologies", "routes", "metrics")
    }
    assert list((folder.path / "results/.plan/steps").iterdir()) == []


def test_what_jobs_made_is_up_to_date_on_one_machine(folder, bare):
    run = bare()
    assert run.returncode == 0, run.stdout + run.stderr
    again = folder.run()
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_job_that_its_run_has_left_ends_with_one_line(folder, bare):
    folder.write("ended", "")
    run = bare("--until", "metrics")
    assert run.returncode == 1
    assert texts(folder) == ["The run of this job has ended, so the job does nothing.\n"]
    assert "It ended with exit code 1." in run.stdout + run.stderr
    assert set(folder.by_output()) - {"WARM"} == {"batches/topologies/1.json"}


def test_without_an_executor_no_steps_are_written(finished):
    assert not (finished.path / "results/.plan/steps").exists()
