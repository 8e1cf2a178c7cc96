"""``routelab study check``: mistakes are told at once."""

from __future__ import annotations

from pathlib import Path

from routelab.cli import main

BAD = """\
titel: Bad
cites: nobody2020
topologies: [{torus: {dims: 4}, mesh: {dims: 4}}]
routings: [dor]
limits: {seconds: soon}
"""
WRONG = """\
title: Wrong
topologies: [torus~dims=0, tours~dims=4]
routings: [{angara-sssp: {tie_sed: 1}}]
"""


def test_all_mistakes_of_several_files_are_reported_together(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text("title: Good\ntopologies: [torus~dims=4]\nroutings: [dor]\n")
    Path("bad.yaml").write_text(BAD)
    Path("wrong.yaml").write_text(WRONG)
    assert main(["study", "check", "good.yaml", "bad.yaml", "wrong.yaml", "none.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith(" ")]
    starts = [
        *("bad.yaml:1: 'title' is missing", "bad.yaml:1: titel: ", "bad.yaml:3: topologies[0]: "),
        *("bad.yaml:5: limits.seconds: ", "wrong.yaml:2: topologies[0]: "),
        *("wrong.yaml:2: topologies[1]: ", "wrong.yaml:3: routings[0]: "),
        *("none.yaml: cannot be read", "mistakes: 8"),
    ]
    assert len(lines) == len(starts), lines
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True)), lines
