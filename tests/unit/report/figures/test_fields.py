"""Heat maps, overviews and traffic matrices: pictures and interactive forms agree."""

from __future__ import annotations

import bisect
import csv
import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import vl_convert
from matplotlib.colors import to_hex

from routelab.api import InputError
from routelab.config import Figure
from routelab.report.figures.channel_looks import scale_colours
from routelab.report.figures.chart import chart_json
from routelab.report.figures.chart_rows import MAX_ROWS
from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.fields import FIRST_DARK, ColourScale, field_colours
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.styles import INK
from routelab.report.frames.views import Views

from .test_chart import SHARED, rows_of
from .test_inline import PAPER, contrast

DARK_INK = "#e8eaed"
SPECS = {
    "overview": {"x": "nodes", "y": "routing", "colour": "max_load"},
    "heat": {"of": "flow-channels", "x": "at_x", "y": "at_y", "colour": "share"},
    "matrix": {"of": "flow-pairs", "colour": "bytes"},
}
OWN = {"@across", "@up", "@text", "@best"}


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
        return draw_figure(spec, Views(world.records, (), world.flows).of(spec.of), (), "here: ")

    return drawn


@pytest.mark.parametrize("kind", SPECS)
def test_values_are_those_of_the_file(draw, tmp_path, kind):
    drawing = draw(kind)
    rows = rows_of(chart_json(drawing.chart, drawing.data))
    save_drawing(drawing, tmp_path, "f")
    with (tmp_path / "f.csv").open() as stream:
        expected = list(csv.DictReader(stream))
    assert len(rows) == len(expected) > 1
    for row, line in zip(rows, expected, strict=True):
        assert row.keys() - SHARED - OWN == line.keys()
        for name, cell in line.items():
            assert row[name] == (float(cell) if isinstance(row[name], int | float) else cell)


@pytest.mark.parametrize("kind", SPECS)
def test_a_chart_has_the_fields_and_colours_of_the_picture(draw, kind):
    drawing = draw(kind)
    content = chart_json(drawing.chart, drawing.data)
    json.dumps(content)
    spec = {**content["spec"], "data": {"values": rows_of(content)}, "width": 100}
    svg = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    picture = Counter()
    for axis in drawing.figure.axes[:-1]:  # the last one is the colour scale
        for collection in axis.collections:
            collection.update_scalarmappable()
            colours = np.atleast_2d(collection.get_facecolor())
            picture.update(to_hex(c) for c in colours if c[3] > 0)
    assert sum(picture.values()) == len(drawing.data)
    for colour, count in picture.items():
        assert svg.count(f'fill="{colour}"') == count


VALUES = [1.0, 1.5, 7.0, 80.0, 999.0, 1000.0, 123456.0]


@pytest.mark.parametrize("log", [False, True])
def test_scripts_and_pictures_choose_the_same_colour(log):
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


def test_a_scale_over_one_number_is_valid():
    for log in (False, True):
        scale = ColourScale.over(pd.Series([5.0, 5.0]), log=log)
        assert np.all(np.diff([scale.low, *scale.edges, scale.high]) > 0)
    assert ColourScale.over(pd.Series([0.0])).edges[-1] < 1


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_numbers_in_fields_are_readable(mode):
    dark = mode == "dark"
    for step, colour in enumerate(scale_colours(dark=dark)):
        ink = PAPER[mode] if step >= FIRST_DARK else (DARK_INK if dark else INK)
        assert contrast(ink, colour) > 3.5, step


def test_bold_numbers_are_the_best_as_printed(draw):
    drawing = draw("overview")
    rows = rows_of(chart_json(drawing.chart, drawing.data))
    bold = {(row["@up"], row["@across"]) for row in rows if row["@best"] == "true"}
    # at eight nodes both routings have the same load
    assert bold == {("sssp", "4"), ("bfs", "8"), ("sssp", "8")}
    texts = [text for text in drawing.figure.axes[0].texts if text.get_fontweight() == "bold"]
    assert len(texts) == 3


def test_rows_of_heat_maps_run_upwards_in_both_forms(draw):
    drawing = draw("heat")
    names = chart_json(drawing.chart, drawing.data)["spec"]["spec"]["layer"][0]["encoding"]["y"]
    ticks = [text.get_text() for text in drawing.figure.axes[0].get_yticklabels()]
    assert names["scale"]["domain"] == ticks[::-1] == ["1", "0"]


def test_a_matrix_is_the_mean_over_runs_and_zero_stays_blank(world):
    for routing, sums in (("a", {(0, 1): 100.0, (1, 2): 0.0}), ("b", {(0, 1): 300.0, (3, 0): 8.0})):
        world.flow(routing, alias="job", tables={"pairs": pairs_of(sums)})
    spec = Figure(kind="matrix", **SPECS["matrix"])
    drawing = draw_figure(spec, Views([], (), world.flows).flows, (), "here: ")
    found = drawing.data.set_index(["sender", "receiver"])["bytes"].to_dict()
    assert found == {(0, 1): 200.0, (3, 0): 4.0}
    fields = drawing.figure.axes[0].collections[0]
    boxes = {tuple(path.get_extents().bounds) for path in fields.get_paths()}
    assert boxes == {(0.5, -0.5, 1.0, 1.0), (-0.5, 2.5, 1.0, 1.0)}  # x is the receiver
    assert drawing.figure.axes[0].yaxis_inverted()


def test_blocks_have_fields_of_their_size(world):
    world.flow("a", tables={"pairs": pairs_of({(0, 4): 5.0, (4, 4): 6.0}, block=4)})
    spec = Figure(kind="matrix", **SPECS["matrix"])
    drawing = draw_figure(spec, Views([], (), world.flows).flows, (), "here: ")
    assert "blocks of 4 terminals" in drawing.description
    fields = drawing.figure.axes[0].collections[0]
    assert {tuple(path.get_extents().bounds[2:]) for path in fields.get_paths()} == {(4.0, 4.0)}
    axis = chart_json(drawing.chart, drawing.data)["spec"]["spec"]["layer"][0]["encoding"]["x"]
    assert axis["scale"]["domain"] == [-0.5, 7.5]


def test_a_matrix_with_many_pairs_is_an_image(world, tmp_path):
    side = int(MAX_ROWS**0.5) + 2
    sums = {(a, b): 1.0 + a for a in range(side) for b in range(side) if a != b}
    world.flow("a", tables={"pairs": pairs_of(sums)})
    spec = Figure(kind="matrix", **SPECS["matrix"])
    drawing = draw_figure(spec, Views([], (), world.flows).flows, (), "here: ")
    assert chart_json(drawing.chart, drawing.data) is None
    save_drawing(drawing, tmp_path, "f")
    svg = (tmp_path / "f.svg").read_text()
    assert "<image" in svg
    assert "prefers-color-scheme" not in svg
    assert (tmp_path / "f.svg").stat().st_size < 300_000


def test_nothing_is_drawn_without_messages(world):
    world.flow("a", status="failed")
    spec = Figure(kind="matrix", **SPECS["matrix"])
    assert draw_figure(spec, Views([], (), world.flows).flows, (), "here: ") is None


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ("{kind: matrix, of: flow-pairs}", "matrix needs colour"),
        ("{kind: matrix, of: flows, colour: bytes}", "set 'of: flow-pairs'"),
        ("{kind: line, of: flow-pairs, x: sender, y: bytes}", "cannot show rows of flow-pairs"),
    ],
)
def test_a_wrong_matrix_is_one_message(write_study, figure, message):
    with pytest.raises(InputError, match=message) as error:
        write_study(f"figures: {{f: {figure}}}\n")
    assert len(str(error.value).splitlines()) == 1
