"""Heat maps, overviews and traffic matrices."""

from __future__ import annotations

import bisect

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from routelab.report.figures.channel_styles import scale_colours
from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.fields import FIRST_DARK, ColourScale, field_colours
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.kinds.matrix import MAX_VECTORS
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.study_rows import StudyRows
from routelab.study import Figure

SPECS = {
    "overview": {"x": "nodes", "y": "routing", "colour": "max_load"},
    "heat": {"of": "flow-channels", "x": "at_x", "y": "at_y", "colour": "share"},
    "matrix": {"of": "flow-pairs", "colour": "bytes"},
}


def pairs_of(sums, block=1):
    return [
        {"sender": a, "receiver": b, "block": block, "bytes": amount}
        for (a, b), amount in sums.items()
    ]


@pytest.fixture
def draw(world):
    """Draw a figure of two routings on two networks, and of two workloads."""
    for dims, loads in (("4", (12, 10)), ("4x2", (30, 30))):
        for name, load in zip(("bfs", "sssp"), loads, strict=True):
            world.add(name, dims, load=[load, 1])
    for workload, scale in (("ring", 1e3), ("pairs", 4e6)):
        for routing in ("bfs", "sssp"):
            channels = [{"channel": c, "source": "a", "share": c / 24} for c in range(24)]
            sums = {(a, (a + 1) % 8): scale * (a + 1) for a in range(8)}
            world.flow(
                routing,
                workload="osu-alltoall",
                alias=workload,
                tables={"channels": channels, "pairs": pairs_of(sums)},
            )

    def drawn(kind, **changes):
        spec = Figure(kind=kind, **{**SPECS[kind], **changes})
        return draw_figure(
            FigureRequest(spec, StudyRows(world.records, (), world.flows).of(spec.of), (), "here: ")
        )

    return drawn


VALUES = [1.0, 1.5, 7.0, 80.0, 999.0, 1000.0, 123456.0]


@pytest.mark.parametrize("log", [False, True])
def test_a_value_has_the_colour_of_its_step(log):
    scale = ColourScale.over(pd.Series(VALUES), log=log)
    colours = scale_colours(dark=False)
    assert len(scale.edges) == len(colours) - 1
    for value in VALUES:
        step = bisect.bisect_right(scale.edges, value)
        assert colours[step] == to_hex(field_colours()(scale.norm(value)))
        assert scale.is_dark(value) == (step >= FIRST_DARK)
    places, texts = zip(*scale.ticks, strict=True)
    assert all(0 <= place <= 100 for place in places)
    assert list(places) == sorted(places)
    assert texts[0] == ("1" if log else "0")
    assert len(set(texts)) == len(texts) <= 7


def test_bold_numbers_are_the_best_as_printed(draw):
    drawing = draw("overview")
    texts = [text for text in drawing.figure.axes[0].texts if text.get_fontweight() == "bold"]
    # at eight nodes both routings have the same load
    assert sorted(text.get_text() for text in texts) == ["10", "30", "30"]


def test_a_matrix_is_the_mean_over_runs_and_zero_stays_blank(world):
    for routing, sums in (("a", {(0, 1): 100.0, (1, 2): 0.0}), ("b", {(0, 1): 300.0, (3, 0): 8.0})):
        world.flow(routing, alias="job", tables={"pairs": pairs_of(sums)})
    spec = Figure(kind="matrix", **SPECS["matrix"])
    drawing = draw_figure(FigureRequest(spec, StudyRows([], (), world.flows).flows, (), "here: "))
    found = drawing.data.set_index(["sender", "receiver"])["bytes"].to_dict()
    assert found == {(0, 1): 200.0, (3, 0): 4.0}
    fields = drawing.figure.axes[0].collections[0]
    boxes = {tuple(path.get_extents().bounds) for path in fields.get_paths()}
    assert boxes == {(0.5, -0.5, 1.0, 1.0), (-0.5, 2.5, 1.0, 1.0)}  # x is the receiver
    assert drawing.figure.axes[0].yaxis_inverted()


def test_a_matrix_with_many_pairs_is_an_image(world, tmp_path):
    side = int(MAX_VECTORS**0.5) + 2
    sums = {(a, b): 1.0 + a for a in range(side) for b in range(side) if a != b}
    world.flow("a", tables={"pairs": pairs_of(sums)})
    spec = Figure(kind="matrix", **SPECS["matrix"])
    drawing = draw_figure(FigureRequest(spec, StudyRows([], (), world.flows).flows, (), "here: "))
    save_drawing(drawing, tmp_path, "f")
    svg = (tmp_path / "f.svg").read_text()
    assert "<image" in svg
    assert "prefers-color-scheme" not in svg
    assert (tmp_path / "f.svg").stat().st_size < 300_000
