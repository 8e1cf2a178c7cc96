"""The figure below the answer shows what the answer compares."""

from __future__ import annotations

import json
import re

import pytest

from routelab.report.page.study_page import write_study_report

TABLES = """
tables:
  loads: {rows: [routing, nodes], values: [max_load, min_load]}
  better: {rows: [routing, nodes], values: [max_load_gain], relative: {to: bfs, column: max_load}}
"""
FIGURES = {
    "load": "{kind: ecdf, x: load, hue: routing}",
    "gain": "{kind: improvement, x: nodes, y: max_load_gain, "
    "relative: {to: bfs, column: max_load}}",
    "eight": "{kind: bar, x: nodes, y: max_load, where: {nodes: 8}}",
    "least": "{kind: bar, x: nodes, y: min_load}",
    "most": "{kind: scatter, x: max_load, y: nodes}",
}


@pytest.fixture
def lead(world, write_study, tmp_path):
    """Write the report of a study; return the figure of its answer, in summary and page."""
    for dims in ("4", "4x2"):
        world.add("bfs", dims, load=[4, 1])
        world.add("sssp", dims, load=[2, 1])

    def lead(headline, figures=tuple(FIGURES)):
        lines = [f"  {name}: {FIGURES[name]}" for name in figures]
        study = write_study("\n".join([f"headline: {headline}", TABLES, "figures:", *lines, ""]))
        folder = tmp_path / "report"
        write_study_report(study, world.records, world.results, folder)
        shown = re.search(
            r'<figure id="figure-([^"]+)"', (folder / "index.html").read_text(encoding="utf-8")
        )
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["figure"] == shown[1]
        assert "sssp" in summary["finding"] or "value" not in headline
        return shown[1]

    return lead


@pytest.mark.parametrize(
    ("headline", "figure"),
    [
        ("{value: max_load, baseline: bfs, where: {nodes: 4}}", "most"),
        ("{value: max_load, baseline: bfs}", "eight"),
        ("{value: min_load, baseline: bfs}", "least"),
        ("{table: better, value: max_load_gain}", "gain"),
        # a declared figure, and an answer without a column
        ("{value: max_load, baseline: bfs, figure: load}", "load"),
        ("{question: Are all tables proven}", "load"),
    ],
)
def test_the_figure_shows_the_column_of_the_answer(lead, headline, figure):
    assert lead(headline) == figure


@pytest.mark.parametrize(
    ("figures", "figure"), [(["load", "least", "gain"], "gain"), (["load", "least"], "load")]
)
def test_without_such_a_figure_a_comparison_of_the_column_is_next(lead, figures, figure):
    assert lead("{value: max_load, baseline: bfs}", figures) == figure
