"""What figures with series have in common: scales, shares, and colours on light and dark pages."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.study_rows import StudyRows
from routelab.study import Figure

PAPER = {"light": "#ffffff", "dark": "#1a1d21"}
SPECS = {
    "ecdf": {"x": "load", "col": "nodes"},
    "histogram": {"x": "load"},
    "line": {"x": "nodes", "y": "max_load", "mark": 5.0},
    "curve": {"of": "loads", "x": "load", "y": "latency_mean", "col": "traffic"},
    "ranked": {"y": "load", "col": "nodes"},
    "scatter": {"x": "nodes", "y": "max_load", "log": ["x"]},
    "bar": {"x": "nodes", "y": "max_load", "mark": 1.5},
    "box": {"x": "routing", "y": "load", "col": "nodes"},
}


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], channels))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def draw(world):
    """Draw a figure of runs whose names and loads need care."""
    for number, dims in enumerate(("4x2", "4", "2")):
        world.add("dor", dims, load=[number + 1, 7, 1e-7])
        world.add("sssp", dims, alias='</script>"\\', load=[number + 2.25, 1 / 3])
    for routing, last in (("dor", "saturated"), ("rdr", "deadlock")):
        for traffic in ("uniform", "tornado"):
            rows = [(0.1, 10.0, "stationary"), (0.2, None, last), (0.3, None, "saturated")]
            curve = [
                {
                    "load": load,
                    "state": state,
                    "latency_mean": mean,
                    "latency_mean_low": mean and mean - 0.123456,
                    "latency_mean_high": mean and mean + 1,
                }
                for load, mean, state in rows
            ]
            world.simulate(routing, curve=curve, traffic=traffic)

    def drawn(kind, **changes):
        spec = Figure(kind=kind, **{**SPECS[kind], **changes})
        return draw_figure(
            FigureRequest(spec, StudyRows(world.records, world.simulated).of(spec.of), (), "")
        )

    return drawn


@pytest.mark.parametrize("kind", ["line", "box", "ranked"])
def test_panels_share_their_scales(draw, kind):
    drawing = draw(kind, col="nodes")
    axes = [axis for axis in drawing.figure.axes if axis.axison]
    assert len(axes) == 3
    assert len({(axis.get_xlim(), axis.get_ylim()) for axis in axes}) == 1
    data = drawing.data["median" if kind == "box" else SPECS[kind]["y"]]
    low, high = axes[0].get_ylim()
    assert low <= data.min() <= data.max() <= high


def test_a_histogram_counts_every_value_once_between_empty_bins(draw):
    data = draw("histogram").data
    for _, mine in data.groupby("routing"):
        assert mine["share"].sum() == pytest.approx(1)
        assert mine["count"].iloc[[0, -1]].tolist() == [0, 0]
        steps = np.diff(mine["load"])
        assert np.allclose(steps, steps[0])
    assert data.groupby("routing")["count"].sum().tolist() == [24 + 8 + 2] * 2


@pytest.mark.parametrize(("kind", "key"), [("ecdf", "x"), ("histogram", "x"), ("ranked", "y")])
def test_a_column_named_share_keeps_its_values(world, kind, key):
    for routing, share in (("a", 0.25), ("b", 0.75)):
        world.add(routing, facts={"share": share})
    spec = Figure(kind=kind, **{key: "share"})
    drawing = draw_figure(FigureRequest(spec, StudyRows(world.records).of("routes")))
    rows = drawing.data.to_dict("records")
    counted = {(row["routing"], row["share"]) for row in rows if row["count"]}
    if kind == "histogram":
        counted = {(name, round(share * 4)) for name, share in counted}
        assert counted == {("a", 1), ("b", 3)}
    else:
        assert counted == {("a", 0.25), ("b", 0.75)}
        assert {row["cumulative_share"] for row in rows} == {1.0}


@pytest.mark.parametrize("kind", SPECS)
def test_every_colour_of_a_file_stands_out_from_dark_pages(draw, tmp_path, kind):
    save_drawing(draw(kind), tmp_path, "f")
    style, _, picture = (tmp_path / "f.svg").read_text().partition("</style>")
    rules = dict(re.findall(r'(?:fill|stroke): (#\w+)" i\] \{ \w+: (#\w+)', style))
    of_attributes = dict(re.findall(r'\[fill="(#\w+)" i\] \{ fill: (#\w+)', style))
    used = set(re.findall(r"(?:fill|stroke): (#\w{6})", picture))
    as_attributes = set(re.findall(r'fill="(#\w{6})"', picture))
    assert used
    for colours, mapping in ((used, rules), (as_attributes, of_attributes)):
        for colour in colours - {"#ffffff"}:
            least = min(3, contrast(colour, PAPER["light"]))
            assert contrast(mapping.get(colour, colour), PAPER["dark"]) >= least, colour
