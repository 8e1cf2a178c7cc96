"""One tiny study from file to page, with the real command line."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.workflow, pytest.mark.builtins]

STUDY = """\
title: Four nodes
cites: mukosey2020
topologies: [torus~dims=4]
routings: [angara-sssp, {use: "angara-bfs~sort=min", as: angara-bfs}]
tables:
  loads:
    rows: [routing, nodes]
    values: [max_load, min_load]
    beside: {reference: table2.csv, on: [routing, nodes]}
"""


def test_a_tiny_study_gives_the_paper_s_numbers(folder):
    """Table 2 of Mukosey et al.: on 4 nodes every channel carries 2 routes."""
    (folder.path / "bin/routelab").unlink()
    # kernels that were compiled before are used: this is no test of the compiler
    for name in ("ROUTELAB_CACHE_DIR", "XDG_CACHE_HOME"):
        folder.env.pop(name)
        if name in os.environ:
            folder.env[name] = os.environ[name]
    shutil.copytree(ROOT / "config/references", folder.path / "config/references")
    folder.write("config/studies/small.yaml", STUDY)

    run = folder.run()
    assert run.returncode == 0, run.stdout + run.stderr
    results = folder.path / "results"
    for routing in ("angara-sssp", "angara-bfs"):
        path = results / "routes/torus~dims=4" / routing / "outcome.json"
        outcome = json.loads(path.read_text())
        assert (outcome["status"], outcome["facts"]["deadlock"]) == ("ok", "proven")
        assert len(outcome["provenance"]["fingerprint"]) == 64
    with (results / "report/small/tables/loads.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["routing"] for row in rows] == ["angara-sssp", "angara-bfs"]
    for row in rows:
        numbers = ("max_load", "min_load", "paper_max_load", "paper_min_load")
        assert [float(row[name]) for name in numbers] == [2, 2, 2, 2]
    assert "Four nodes" in (results / "report/small/index.html").read_text()
    assert "small/index.html" in (results / "report/index.html").read_text()
