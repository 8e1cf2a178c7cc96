"""The rules of the stages: the graph that they make, and what Snakemake records of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages import kinds

from .conftest import ROOT

pytestmark = pytest.mark.workflow

ALL_STAGES = {
    "all": """\
title: A study of every stage that computes
topologies: [torus~dims=4x2]
routings: [dor]
traffic: [uniform]
simulation: {loads: [1.0]}
workloads: [{use: "npb-cg~class=S", as: CG}]
bound: {any_routing: true}
""",
    "survey": """\
title: A survey
survey: {runs: 30}
topologies: [torus~dims=4]
routings: [dor]
""",
    "measured": """\
title: A measurement
topologies: [torus~dims=4x2]
routings: [dor]
benchmarks: [osu-alltoall]
bench: {cluster: here}
""",
}
NAMES = f"studies={','.join(ALL_STAGES)}"
STAGES = set(kinds())


@pytest.fixture
def stages(folder):
    """A folder with studies of all stages."""
    folder.write("config/clusters/here.yaml", "launcher: mpiexec\n")
    for name, text in ALL_STAGES.items():
        folder.write(f"config/studies/{name}.yaml", text)
    return folder


def edges(text):
    """Edges of a graph in mermaid's language, by the names of its nodes."""
    names = dict(re.findall(r"^\s*(\w+)\[(.+?)\]$", text, re.MULTILINE))
    arrows = re.findall(r"^\s*(\w+) --> (\w+)$", text, re.MULTILINE)
    return {(names.get(a, a), names.get(b, b)) for a, b in arrows}


def test_the_graph_in_readme_and_manual_is_that_of_the_rules(stages):
    run = stages.run("results/report/index.html", "--rulegraph", "mermaid-js", "--config", NAMES)
    graph = edges(run.stdout)
    assert {name for edge in graph for name in edge} == {*STAGES, "page", "index"}
    for page in ("README.md", "docs/concepts/runs.md"):
        block = re.search(r"```mermaid\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        assert block
        assert edges(block[1]) == graph, page


def test_snakemake_records_lists_and_the_batches_that_must_run_before(stages, monkeypatch):
    """An input or a parameter that is not recorded triggers nothing when it changes."""
    stages.ran("report", "--config", NAMES)
    paths = (stages.path / ".snakemake/metadata").rglob("*")
    records = [json.loads(path.read_text()) for path in paths if path.is_file()]
    monkeypatch.chdir(stages.path)
    plan = expand_studies([Path(f"config/studies/{name}.yaml") for name in ALL_STAGES])
    rules = set()
    for batch in plan.batches.values():
        if batch.kind == "comparisons":
            (record,) = (each for each in records if repr(batch.fingerprint) in each["params"])
            # so measurements of earlier versions have the same inputs
            assert str(plan.spec(batch)) not in record["input"]
        else:
            (record,) = (each for each in records if str(plan.spec(batch)) in each["input"])
            assert record["input_checksums"].keys() >= {str(plan.spec(batch))}
        assert {*plan.manifests_before(batch)} <= {*record["input"]}
        rules.add(record["rule"])
    assert rules == STAGES


def test_pictures_for_print_are_made_only_if_they_are_named(finished):
    run = finished.run("figures")
    assert run.returncode == 0, run.stdout + run.stderr
    (words,) = finished.calls()
    assert words[words.index("report") + 1] == "config/studies/small.yaml"
    assert words[words.index("--also") + 1] == "pdf,png"


@pytest.mark.parametrize(
    ("option", "expected", "pages"),
    [
        ("--until=routes", {"topologies", "routes"}, set()),
        ("--omit-from=metrics", STAGES - {"metrics"}, {"survey"}),
    ],
)
def test_a_run_can_end_with_a_stage_or_leave_it_out(stages, option, expected, pages):
    stages.ran("report", option, "--config", NAMES)
    paths = {Path(name.replace("bench/batches", "comparisons")) for name in stages.by_output()}
    assert {path.name for path in paths if path.parts[0] == "report"} == pages
    assert {path.parts[-2] for path in paths if path.parts[0] not in ("WARM", "report")} == expected
