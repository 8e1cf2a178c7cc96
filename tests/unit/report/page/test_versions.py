"""``versions.json`` says what the provenance says, and the checksums hold."""

from __future__ import annotations

import hashlib
import json

import pytest

from routelab.report.page.study_page import write_study_report
from routelab.report.page.versions import FILE, SUMS, software_versions
from routelab.results.json_files import load_sealed, write_json
from routelab.results.outcome import Outcome

STUDY = "tables: {loads: {rows: [routing, nodes], values: [max_load]}}\n"
TABLE = "routing,nodes,max_load\nbfs,8,9\n"
SYSTEM = "Debian GNU/Linux 12 (bookworm)", "Linux 6.1", "x86_64"
MACHINE = {
    "processor": "AMD EPYC",
    "cpus": 2,
    "memory_bytes": 25_000_000_000,
    **dict(zip(("system", "kernel", "architecture"), SYSTEM, strict=True)),
}


def origin(**more):
    """A provenance as `ResourceMeter.provenance` records it."""
    plugin = {"kind": "routing", "name": "bfs", "distribution": "zoo", "version": "2.0"}
    return {
        "routelab": "0.1.0",
        "git_commit": "0123456789abcdef" * 2,
        "git_dirty": False,
        "plugins": [plugin | {"parameters": {}, "programs": {"OpenSM": "3.3.23"}}],
        "host": "secret-node-1",
        "machine": MACHINE,
        "python": "3.11.7",
        "numba": "0.68.1",
    } | more


def record_origin(record, **more):
    """Replace the provenance of a job."""
    path = record.directory / "outcome.json"
    write_json(path, load_sealed(path.read_bytes()) | {"provenance": origin(**more)})


@pytest.fixture
def folder(world, write_study, tmp_path, monkeypatch):
    """The report of a study of one run."""
    monkeypatch.chdir(tmp_path)
    record_origin(world.add("bfs", "4x2", load=[7]))
    for path in world.results.glob("topologies/*/outcome.json"):
        write_json(path, load_sealed(path.read_bytes()) | {"provenance": origin()})
    directory = world.results / "report" / "demo"
    study = write_study(STUDY, TABLE)
    write_study_report(study, world.records, world.results, directory)
    return directory


def test_versions_are_those_of_the_provenance(folder, tmp_path):
    text = (folder / FILE).read_text()
    versions = json.loads(text)
    assert versions["command"] == "snakemake report --config studies=demo.yaml"
    assert versions["routelab"] == ["0.1.0"]
    assert versions["commits"] == ["0123456789abcdef" * 2]
    assert versions["local_changes"] is False
    assert versions["software"] == {
        "zoo": ["2.0"],
        "python": ["3.11.7"],
        "numba": ["0.68.1"],
        "OpenSM": ["3.3.23"],
    }
    assert versions["machines"] == [
        "AMD EPYC, 2 logical CPUs, 25.0 GB of memory; " + ", ".join(SYSTEM)
    ]
    assert set(versions["inputs"]) == {
        "demo.yaml",
        "references/doe2020/citation.yaml",
        "references/doe2020/table.csv",
    }
    for name, digest in versions["inputs"].items():
        assert digest == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert "secret-node-1" not in text


def test_checksums_are_those_of_all_tables_and_lists(folder):
    lines = (line.split("  ") for line in (folder / SUMS).read_text().splitlines())
    sums = {name: digest for digest, name in lines}
    assert set(sums) == {"runs.csv", "tables/loads.csv"}
    for name, digest in sums.items():
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()


def test_measurements_name_the_versions_of_their_programs():
    facts = {"hosts": ["n01"], "versions": {"srun": "slurm 22.05.8", "LU": "3.4.1"}}
    outcome = Outcome("comparison", "torus", facts=facts)
    assert software_versions([], [outcome]) == {"srun": ["slurm 22.05.8"], "LU": ["3.4.1"]}
