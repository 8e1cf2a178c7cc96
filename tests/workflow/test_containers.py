"""Jobs in a container, with a program in the place of Apptainer that notes how it was called."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.workflow

APPTAINER = """\
#!/bin/bash
# notes the image, and runs the command without any container
if [ "$1" = --version ]; then echo "apptainer version 1.4.2"; exit; fi
echo "$@" | grep -o '[^ ]*\\.sif' >> images.txt
exec "${@: -3}"
"""
COMPARED = """\
title: Measured
topologies: [torus~dims=4]
routings: [dor]
benchmarks: [mpi-patterns]
bench: {cluster: here}
"""
HERE = "topology: torus~dims=4\nnodes: 4\n"


@pytest.fixture
def contained(folder):
    folder.write("bin/apptainer", APPTAINER).chmod(0o755)
    folder.write("routelab.sif", "")
    return folder


def images(folder):
    path = folder.path / "images.txt"
    return path.read_text().split() if path.exists() else []


def test_all_jobs_run_in_the_image_and_kernels_are_not_compiled_outside(contained):
    made = contained.ran("report", "--sdm", "apptainer", "--config", "container=routelab.sif")
    assert "WARM" not in made
    assert contained.outcomes() >= {"topologies/torus~dims=4", "routes/torus~dims=4/layered"}
    calls = contained.calls()
    assert calls
    assert images(contained) == ["routelab.sif"] * len(calls)


def test_comparisons_run_outside_as_they_need_the_mpi_of_the_cluster(contained):
    contained.write("config/clusters/here.yaml", HERE)
    contained.write("config/studies/small.yaml", COMPARED)
    contained.ran("report", "--sdm", "apptainer", "--config", "container=routelab.sif")
    calls = contained.calls()
    compared = [call for call in calls if "--comparison" in call]
    assert compared
    assert len(images(contained)) == len(calls) - len(compared)


def test_without_the_option_no_job_runs_in_an_image(contained):
    made = contained.ran("report", "--config", "container=missing.sif")
    assert "WARM" in made
    assert images(contained) == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ((), "--sdm apptainer needs an image: name one, as in 'snakemake report --sdm apptainer"),
        (
            ("--config", "container=missing.sif"),
            "container=missing.sif: no such image; build it as the manual describes",
        ),
    ],
)
def test_a_missing_image_is_one_message_before_anything_runs(contained, config, message):
    run = contained.run("report", "--sdm", "apptainer", *config)
    assert run.returncode == 1
    assert message in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
    assert contained.calls() == []
