"""One small study through everything: the real commands, from networks to pages."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.workflow

STUDY = """\
title: Small
cites: mukosey2020
topologies: [torus~dims=4, torus~dims=4x2]
routings: [dor, angara-sssp, sssp@up-down]
tables:
  loads:
    rows: [routing, nodes]
    values: [max_load, max_hops]
    beside: {reference: table2.csv, on: [routing, nodes]}
figures:
  distribution: {kind: ecdf, x: load, hue: routing, col: nodes}
"""


def test_a_small_study_from_networks_to_pages(folder):
    (folder.path / "bin/routelab").unlink()  # the stub
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
    outcomes = [
        json.loads(path.read_text()) for path in results.glob("small/routes/*/*/outcome.json")
    ]
    assert len(outcomes) == 6
    for outcome in outcomes:
        assert (outcome["status"], outcome["facts"]["deadlock"]) == ("ok", "proven")
        assert len(outcome["provenance"]["fingerprint"]) == 64

    report = results / "report/small"
    with (report / "tables/loads.csv").open(newline="") as file:
        rows = {(row["routing"], row["nodes"]): row for row in csv.DictReader(file)}
    loads = {key: (row["max_load"], row["max_hops"]) for key, row in rows.items()}
    # ring: 16 hops over 8 channels; 4x2: every ring channel carries 4 pairs, every link 4
    assert (loads["dor", "4"], loads["dor", "8"]) == (("2", "2"), ("4", "3"))
    # Table 2 of Mukosey et al., SSSP on 4 and 8 nodes
    assert (loads["angara-sssp", "4"], loads["angara-sssp", "8"]) == (("2", "2"), ("5", "3"))
    published = {key: row["paper_max_load"] for key, row in rows.items()}
    assert (published["angara-sssp", "8"], published["dor", "8"]) == ("5", "")
    for suffix in ("svg", "png", "pdf", "csv"):
        assert (report / f"figures/distribution.{suffix}").stat().st_size > 0
    assert 'href="small/index.html"' in (results / "report/index.html").read_text()

    before = {path: path.stat().st_mtime_ns for path in results.rglob("outcome.json")}
    assert folder.run().returncode == 0
    assert {path: path.stat().st_mtime_ns for path in results.rglob("outcome.json")} == before
