"""The workflow as a module of another repository's workflow."""

from __future__ import annotations

import csv
import subprocess
import sys

import pytest

from .conftest import ROOT

pytestmark = [pytest.mark.workflow, pytest.mark.builtins]

SNAKEFILE = """
configfile: "config/config.yaml"


module routelab:
    snakefile:
        "{root}/workflow/Snakefile"
    config:
        config


use rule * from routelab
"""

STUDY = """
title: Dimension order on a ring and a torus
topologies: [torus~dims=4, torus~dims=4x4]
routings: [dor]
tables: {loads: {rows: [topology], values: [max_load]}}
"""


def test_another_repository_runs_a_study_of_its_own(tmp_path):
    for name, text in {
        "workflow/Snakefile": SNAKEFILE.format(root=ROOT),
        "config/config.yaml": "studies: [mine]\n",
        "config/studies/mine.yaml": STUDY,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "results/report/mine/runs.csv").open(newline="") as stream:
        loads = [float(row["max_load"]) for row in csv.DictReader(stream)]
    # dimension order loads all channels alike here: switches · sum of distances / channels
    assert loads == [4 * 4 / 8, 16 * 32 / 64]
