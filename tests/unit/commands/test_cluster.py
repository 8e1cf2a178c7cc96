"""``routelab cluster``: exit codes, rows, and files that are written."""

import json

import pytest

from routelab.cli import main
from routelab.cluster.files import cluster_schema_text

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
    assert lines[-1] == "missing: 1"
    launcher(here)
    assert main(["cluster", "check", "good"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("nothing is missing")
    assert main(["cluster", "check", "good", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"what": "hosts of torus~dims=2", "state": "ok"}.items() <= rows[2].items()


def test_a_wrong_file_or_name_is_wrong_input(here, capsys):
    assert main(["cluster", "check", "wrong"]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.removeprefix("routelab: error: ").splitlines() == [
        "config/clusters/wrong.yaml:1: nodez: unknown key; did you mean 'nodes'?",
        "config/clusters/wrong.yaml:2: nodes: 0 should be greater than or equal to 1",
    ]
    assert main(["cluster", "show", "goof"]) == 2
    assert capsys.readouterr().err == (
        "routelab: error: cluster: no cluster 'goof', no file goof.yaml in config/clusters; did "
        "you mean 'good'?\n"
    )
    assert main(["cluster", "check", "good", "--benchmark", "nbp"]) == 2
    assert "did you mean 'npb'?" in capsys.readouterr().err


def test_clusters_are_listed_with_those_that_are_wrong(here, capsys):
    assert main(["cluster", "list", "--format", "csv"]) == 0
    assert capsys.readouterr().out == (
        "name,title,topology,nodes,launcher,wrong\n"
        "good,Some,torus~dims=2x2,4,mpiexec,\n"
        "wrong,,,,,config/clusters/wrong.yaml:1: nodez: unknown key; did you mean 'nodes'?\n"
    )


def test_a_cluster_is_shown_with_all_hosts_and_the_sources_of_its_numbers(here, capsys):
    assert main(["cluster", "show", "good", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "key,value",
        "file,config/clusters/good.yaml",
        "name,Some",
        "topology,torus~dims=2x2",
        "nodes,4",
        "ranks_per_node,1",
        "launcher,mpiexec",
        "options,'-l x",
        "environment.OMP_NUM_THREADS,1",
        "fabric.apply,a 'b c'",
        "fabric.restore,d",
        "hosts,n1 n2 n3 n4",
        "node_sets.torus~dims=2,n1 n3",
        "machine.latency,1e-06",
        'machine.overhead,"0, from measured"',
        'machine.hop_latency,"1e-07, assumed, 0 to 1e-06"',
        "machine.handshake,false",
    ]


def test_the_schema_is_printed_or_written(here, capsys):
    assert main(["cluster", "schema"]) == 0
    assert capsys.readouterr().out == cluster_schema_text()
    assert main(["cluster", "schema", "-o", "schema.json"]) == 0
    assert (here / "schema.json").read_text() == cluster_schema_text()
