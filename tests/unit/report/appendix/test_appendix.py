"""The appendix says what the provenance says, and its checksums hold."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome
from routelab.registry.instances import load
from routelab.report.appendix.facts import (
    FILE,
    SUMS,
    cluster_text,
    machine_text,
    read_facts,
    software_versions,
)
from routelab.report.appendix.files import write_report_appendix
from routelab.report.appendix.text import values_text
from routelab.report.page.site import write_study_report

STUDY = """
tables:
  loads: {rows: [routing, nodes], values: [max_load], over: {tie_seed: range}}
  times: {rows: [routing], values: [routing_seconds]}
"""
TABLE = "routing,nodes,max_load\nbfs,8,9\n"


def origin(**more):
    """A provenance as `ResourceMeter.provenance` records it."""
    return {
        "routelab": "0.1.0",
        "git_commit": "0123456789abcdef" * 2,
        "git_dirty": False,
        "plugins": [
            {
                "kind": "routing",
                "name": "bfs",
                "distribution": "zoo",
                "version": "2.0",
                "parameters": {},
                "programs": {"OpenSM": "3.3.23"},
            }
        ],
        "started": "2026-11-20T10:00:00+00:00",
        "cpu_seconds": 0.25,
        "peak_memory_bytes": 50_000_000,
        "host": "secret-node-1",
        "machine": {
            "processor": "AMD EPYC",
            "cpus": 2,
            "memory_bytes": 25_000_000_000,
            "architecture": "x86_64",
            "kernel": "Linux 6.1",
            "system": "Debian GNU/Linux 12 (bookworm)",
        },
        "python": "3.11.7",
        "numba": "0.68.1",
        "numpy": "2.4.6",
    } | more


def record_origin(record, **more):
    """Replace the provenance of a job."""
    path = record.directory / "outcome.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"provenance": origin(**more)}))


@pytest.fixture
def folder(world, write_study, tmp_path, monkeypatch):
    """The report of a study of three runs, one of which does not apply."""
    monkeypatch.chdir(tmp_path)
    for tie, most in enumerate([7, 9, 8]):
        facts = {"routing_seconds": 0.5}
        record = world.add(f"bfs~tie_seed={tie}", "4x2", load=[most], tie_seed=tie, facts=facts)
        record_origin(record, started=f"2026-11-20T10:00:0{tie}+00:00", cpu_seconds=1.0 + tie)
    record_origin(world.add("dor", "4", status="unsupported", tie_seed=0))
    for name in world.results.glob("topologies/*/outcome.json"):
        content = json.loads(name.read_text())
        name.write_text(json.dumps(content | {"provenance": origin(cpu_seconds=0)}))
    directory = world.results / "report" / "demo"
    study = write_study(STUDY, TABLE)
    write_study_report(study, world.records, world.results, directory)
    return directory


def test_facts_are_those_of_the_provenance(folder):
    facts = read_facts(folder / FILE)
    assert (facts.study, facts.title) == ("demo", "A study")
    assert facts.releases == ["0.1.0"]
    assert facts.commits == ["0123456789abcdef" * 2]
    assert facts.changed is False
    assert facts.software == {
        "zoo": ["2.0"],
        "Python": ["3.11.7"],
        "numba": ["0.68.1"],
        "numpy": ["2.4.6"],
        "OpenSM": ["3.3.23"],
    }
    assert facts.machines == [machine_text(origin()["machine"])]
    assert (facts.ok, facts.stopped) == (facts.jobs - 1, 0)
    assert facts.cpu_seconds == pytest.approx(1 + 2 + 3 + 0.25)
    assert facts.longest_seconds == 3
    assert facts.memory_bytes == 50_000_000
    assert facts.started == ["2026-11-20T10:00:00+00:00", "2026-11-20T10:00:02+00:00"]
    (bfs,) = [part for part in facts.parts if part.name == "bfs"]
    assert bfs.seeds == {"tie_seed": ["0", "1", "2"]}


def test_inputs_and_their_hashes_are_those_of_the_study(folder, tmp_path):
    inputs = {file.path: file.sha256 for file in read_facts(folder / FILE).inputs}
    assert set(inputs) == {
        "demo.yaml",
        "references/doe2020/citation.yaml",
        "references/doe2020/table.csv",
    }
    for name, digest in inputs.items():
        assert digest == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()


def test_the_text_has_every_fact(folder):
    facts = read_facts(folder / FILE)
    text = (folder / "appendix.md").read_text()
    for part in (
        "# Reproducibility appendix: A study",
        "| routelab | 0.1.0 |",
        "| numba | 0.68.1 |",
        "| OpenSM | 3.3.23 |",
        "AMD EPYC, 2 logical CPUs, 25.0 GB of memory",
        "Seeds: bfs: tie\\_seed = 0 to 2",
        "    git checkout " + "0123456789abcdef" * 2 + "\n",
        "    snakemake --cores all report --config studies=demo.yaml\n",
        "    routelab compare results-original results --study demo\n",
        "Together they took 6 s of CPU time, the longest 3 s.",
        "Results of OpenSM:",
        *(file.sha256 for file in (*facts.inputs, *facts.files)),
    ):
        assert part in text
    assert "secret-node-1" not in text + (folder / "appendix.tex").read_text()
    assert "local changes" not in text


def test_latex_and_markdown_name_the_same_hashes(folder):
    hashes = re.compile(r"\b[0-9a-f]{64}\b")
    markdown = hashes.findall((folder / "appendix.md").read_text())
    latex = (folder / "appendix.tex").read_text().replace(r"\allowbreak{}", "")
    assert markdown == hashes.findall(latex) != []


def test_files_that_vary_are_marked(folder):
    varies = {file.path: file.varies for file in read_facts(folder / FILE).files}
    assert varies["tables/loads.csv"] == ""
    assert varies["tables/times.csv"] == varies["runs.csv"] == "times"


def verify(directory):
    if shutil.which("sha256sum") is None:
        pytest.skip("needs sha256sum (GNU coreutils)")
    return subprocess.run(["sha256sum", "-c", "--strict", SUMS], cwd=directory, check=False)


def test_checksums_can_be_verified(folder):
    listed = [line.partition("  ")[2] for line in (folder / SUMS).read_text().splitlines()]
    assert listed == ["tables/loads.csv", "tables/times.csv", "runs.csv"]
    assert verify(folder).returncode == 0
    (folder / "runs.csv").write_text("other")
    assert verify(folder).returncode != 0


def test_unchanged_results_give_the_same_text(folder, world, write_study):
    names = ["appendix.md", "appendix.tex", FILE, SUMS]
    before = [(folder / name).read_bytes() for name in names]
    shutil.rmtree(folder.parents[2] / "references")
    write_study_report(write_study(STUDY, TABLE), world.records, world.results, folder)
    assert [(folder / name).read_bytes() for name in names] == before


def test_local_changes_are_a_warning(world, write_study, tmp_path):
    record_origin(world.add("bfs", "4x2", load=[1]), git_dirty=True)
    write_study_report(write_study(""), world.records, world.results, tmp_path / "report")
    assert "local changes" in (tmp_path / "report" / "appendix.md").read_text()


def test_what_was_not_recorded_is_not_invented(world, write_study, tmp_path):
    record_origin(world.add("bfs", "4x2", load=[1]), machine=None, git_commit=None)
    (world.results / "topologies" / "torus~dims=4x2" / "outcome.json").unlink()
    write_study_report(write_study(""), world.records, world.results, tmp_path / "report")
    text = (tmp_path / "report" / "appendix.md").read_text()
    assert "The machine was not recorded." in text
    assert "commit" not in text
    assert "git checkout" not in text


def test_a_study_that_has_not_run_has_an_appendix(world, write_study, tmp_path):
    record = world.add("bfs", "4x2", load=[1])
    for path in world.results.rglob("outcome.json"):
        path.unlink()
    write_study_report(write_study(""), [record], world.results, tmp_path / "report")
    text = (tmp_path / "report" / "appendix.md").read_text()
    assert "0 of 1 job has a result" in text
    assert "| routelab | not recorded |" in text


def test_measurements_name_their_system_and_not_their_hosts():
    facts = {
        "cluster": "desmos",
        "nodes": 32,
        "ranks_per_node": 4,
        "launcher": "srun",
        "fabric": "none",
        "systems": ["Linux 5.14"],
        "hosts": ["n01"],
        "versions": {"srun": "slurm 22.05.8", "LU": "3.4.1"},
    }
    outcome = Outcome("comparison", "torus", facts=facts)
    assert cluster_text(outcome) == (
        "cluster desmos, 32 nodes, 4 MPI processes per node, launcher srun, fabric none, Linux 5.14"
    )
    assert software_versions([], [outcome]) == {"srun": ["slurm 22.05.8"], "LU": ["3.4.1"]}


def test_metrics_are_parts_of_the_study(world, write_study, tmp_path):
    world.add("bfs", "4x2", load=[1])
    metric = load("metric", "channel-load")
    write_study_report(write_study(""), world.records, world.results, tmp_path / "r", [metric])
    parts = [(part.kind, part.name) for part in read_facts(tmp_path / "r" / FILE).parts]
    assert parts == [("topology", "torus"), ("routing", "bfs"), ("metric", "channel-load")]


def test_the_appendix_of_the_report_has_all_studies(folder):
    report = folder.parent
    shutil.copytree(folder, report / "second one")
    (report / "third").mkdir()
    (report / "third" / FILE).write_text("{}")
    assert write_report_appendix(report)
    listed = [line.partition("  ")[2] for line in (report / SUMS).read_text().splitlines()]
    files = ["tables/loads.csv", "tables/times.csv", "runs.csv"]
    assert listed == [f"{study}/{file}" for study in ("demo", "second one") for file in files]
    assert verify(report).returncode == 0
    text = (report / "appendix.md").read_text()
    assert "--config studies=demo.yaml\n" in text
    assert "Not included: " in text


def test_a_report_without_studies_has_no_appendix(tmp_path):
    assert not write_report_appendix(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_damaged_facts_name_the_place(folder):
    path = folder / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"jobs": "many"}))
    with pytest.raises(InputError, match=r"appendix\.json is damaged: jobs: .*write this report"):
        read_facts(path)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["0", "2", "1"], "0 to 2"),
        (["0", "2"], "0, 2"),
        (["1", "3", "5"], "1, 3, 5"),
        (
            [f"{number}x2" for number in range(14)],
            "0x2, 1x2, 2x2, 3x2, 4x2, 5x2, 6x2, 7x2, 8x2, 9x2, 10x2, 11x2 and 2 more",
        ),
    ],
)
def test_many_values_are_short(values, text):
    assert values_text(values) == text


def test_the_page_links_the_files(folder):
    page = (folder / "index.html").read_text()
    for name in ("appendix.md", "appendix.tex", SUMS):
        assert f'href="{name}"' in page
        assert Path(folder, name).is_file()
