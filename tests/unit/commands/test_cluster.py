"""``routelab cluster``: exit codes, rows, and files that are written."""

import json

import pytest

from routelab.cli import main

GOOD = """\
name: Some
topology: torus~dims=2x2
nodes: 4
hosts: n[1-4]
node_sets: {torus~dims=2: "n[1,3]"}
environment: {OMP_NUM_THREADS: 1}
options: [-l, x]
fabric: {apply: [a, 'b c'], restore: [d]}
machine:
  latency: 1.0e-6
  overhead: {value: 0.0, source: measured}
  hop_latency: {value: 1.0e-7, assumed: why, range: [0.0, 1.0e-6]}
  handshake: false
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "config/clusters").mkdir(parents=True)
    (tmp_path / "config/clusters/good.yaml").write_text(GOOD)
    (tmp_path / "config/clusters/wrong.yaml").write_text("nodez: 1\nnodes: 0\n")
    return tmp_path


def launcher(folder):
    path = folder / "mpiexec"
    path.write_text("#!/bin/sh\necho 'HYDRA build details: Version: 4.0.2'\n")
    path.chmod(0o755)


def test_a_check_fails_if_anything_is_missing(here, capsys):
    assert main(["cluster", "check", "good"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["what", "state", "found", "fix"]
    assert lines[-1] == "missing: 3"
    launcher(here)
    for program in ("a", "d"):  # of the fabric
        (here / program).write_text("")
        (here / program).chmod(0o755)
    assert main(["cluster", "check", "good"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("nothing is missing")
    assert main(["cluster", "check", "good", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"what": "hosts of torus~dims=2", "state": "ok"}.items() <= rows[2].items()
