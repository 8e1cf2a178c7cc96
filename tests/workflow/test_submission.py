"""Which steps leave the machine with an executor of a cluster, as dry runs say."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", ["slurm", "desmos"])
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--config", "studies=small"],
        ["--config", "studies=small", "cluster="],
        ["--configfile", "other.yaml"],
    ],
    ids=["plain", "config", "two keys", "configfile"],
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
