"""``routelab study check``: mistakes are told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.cli import main

STUDY = """\
title: Small
topologies: [torus~dims=4, torus~dims=4x2]
routings: [dor, {angara-sssp: {tie_seed: {range: 2}}}]
tables:
  loads: {rows: [routing, nodes], values: [max_load]}
"""

BAD = """\
titel: Bad
topologies: [{torus: {dims: 4}, mesh: {dims: 4}}]
routings: [dor]
limits: {seconds: soon}
"""
WRONG = """\
title: Wrong
topologies: [torus: {dims: 1x4}, torus~dims=0, tours~dims=4]
routings: [{angara-sssp: {tie_sed: 1}}, "dor;ls"]
metrics: [channel-lod]
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("small.yaml")
    path.write_text(STUDY)
    return path


def test_all_mistakes_of_several_files_are_reported_together(small, capsys):
    Path("bad.yaml").write_text(BAD)
    Path("wrong.yaml").write_text(WRONG)
    assert main(["study", "check", "small.yaml", "bad.yaml", "wrong.yaml", "none.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith(" ")]
    for line, (begin, mend) in zip(
        lines,
        [
            ("bad.yaml:1: 'title' is missing", ""),
            ("bad.yaml:1: titel: unknown key", "did you mean 'title'?"),
            ("bad.yaml:2: topologies[0]: an entry names one plugin", "write each as"),
            ("bad.yaml:4: limits.seconds: 'soon' should be a valid number", ""),
            ("wrong.yaml:2: topologies[0]: torus: dims=1x4", "must be at least 2, got 1x4"),
            ("wrong.yaml:2: topologies[1]: torus~dims=0", "must be at least 2, got 0"),
            ("wrong.yaml:2: topologies[2]: no topology plugin", "did you mean 'torus'?"),
            ("wrong.yaml:3: routings[0]: angara-sssp: ", "did you mean 'tie_seed'?"),
            ("wrong.yaml:3: routings[1]: bad name: unexpected ';'", ""),
            ("wrong.yaml:4: metrics[0]: no metric plugin", "did you mean 'channel-load'?"),
            ("none.yaml: cannot be read: No such file", ""),
            ("mistakes: 11", ""),
        ],
        strict=True,
    ):
        assert line.startswith(begin)
        assert mend in line
