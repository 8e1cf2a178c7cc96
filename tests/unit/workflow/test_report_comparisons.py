"""The page of a study with benchmarks, from its file and what jobs left."""

from __future__ import annotations

import csv

import pytest

from routelab.cluster.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.results.outcome import Outcome, write_outcome
from routelab.results.tables import write_csv
from routelab.workflow import report
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.predictions import predictions

STUDY = """
title: Measured
topologies: [{use: torus~dims=4x2, as: small}]
routings: [{use: dor, as: old}, {use: bfs@angara, as: new}]
benchmarks: [{use: "npb~kernel=cg,class=S", as: CG}]
bench: {cluster: tiny, repeats: 3, baseline: new}
tables:
  gains: {of: benchmarks, rows: [benchmark, routing], values: [median, predicted]}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/clusters").mkdir(parents=True)
    (tmp_path / "config/clusters/tiny.yaml").write_text("ranks_per_node: 2\n")
    (tmp_path / "config/studies").mkdir()
    path = tmp_path / "config/studies/measured.yaml"
    path.write_text(STUDY)
    return path


def lines(path):
    return list(csv.DictReader(path.open()))


def test_predictions_of_the_flow_engine_stand_beside_measurements(study, tmp_path):
    results = tmp_path / "results"
    plan = expand_studies([study], results)
    ((ids, job),) = plan.of("comparisons").items()
    folder = results / "bench/comparisons" / "/".join(ids)
    runs, figures = [], []
    for turn in range(4):
        for routing, value in (("old", 10.0), ("new", 20.0)):
            run = (
                routing,
                "CG",
                turn,
                1,
                "ok",
                "",
                "",
                0,
                1.0,
                "",
                16,
                "",
                "",
                "one",
                "yes",
                "",
                "",
            )
            runs.append(run)
            figures.append((routing, "CG", turn, "mops", "", value, "Mop/s", "higher", ""))
    write_csv(folder / "runs.csv", RUN_COLUMNS, runs)
    write_csv(folder / "figures.csv", FIGURE_COLUMNS, figures)
    facts = {"ranks": 16, "nodes": 8}
    write_outcome(Outcome("comparison", "small", facts=facts), folder / "outcome.json")
    expected = predictions(plan.studies["measured"].parts)
    assert len(expected) == 2
    for prediction in expected:
        _, routing, benchmark, _ = prediction.ids
        assert benchmark == "CG"
        mops = {"old": 30.0, "new": 40.0}[routing]
        outcome = Outcome("flow", "small", routing, facts={"mops": mops})
        write_outcome(
            outcome, results / "measured/flows" / "/".join(prediction.flow) / "outcome.json"
        )
    report.write_report(study, results, results / "report/measured")
    rows = lines(results / "report/measured/benchmarks.csv")
    shown = ("routing", "metric", "median", "improvement_percent", "predicted", "nodes")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("old", "mops", "10", "-50", "30", "8"),
        ("new", "mops", "20", "0", "40", "8"),
    ]
    assert [row["predicted_improvement_percent"] for row in rows] == ["-25", "0"]
    assert job.store == str(results / "bench/runs")
