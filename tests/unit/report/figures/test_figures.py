from __future__ import annotations

import csv
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from routelab.api import InputError
from routelab.report.figures.drawing import SUFFIXES, save_drawing
from routelab.report.figures.fields import ColourScale
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import MAX_LINES, SeriesStyles
from routelab.report.rows.routes import RouteRows
from routelab.study import Figure

SVG = "{http://www.w3.org/2000/svg}"
ECDF = Figure(kind="ecdf", x="load", hue="routing", col="nodes")
NETWORK = Figure(kind="network", colour="load")


def drawn(world, spec, pooled=()):
    return draw_figure(FigureRequest(spec, RouteRows(world.records), pooled, "here: "))


def test_distribution_pools_the_channels_of_all_runs(world):
    world.add("sssp", load=[1, 2], tie_seed=0)
    world.add("sssp~tie_seed=1", load=[2, 4], tie_seed=1)
    world.add("bfs", load=[3])
    data = drawn(world, ECDF, ["tie_seed"]).data
    assert data.columns.tolist() == ["routing", "nodes", "load", "count", "share"]
    assert data.to_numpy().tolist() == [
        ["sssp", 4, 1.0, 4, 0.25],
        ["sssp", 4, 2.0, 8, 0.75],
        ["sssp", 4, 4.0, 4, 1.0],
        ["bfs", 4, 3.0, 8, 1.0],
    ]


@pytest.mark.parametrize(
    ("over", "shown"), [({}, [6, 5, 9]), ({"seed": "mean"}, [6.75, 6.75, 6.75])]
)
def test_lines_go_through_lower_medians_with_the_range_or_means(world, over, shown):
    for dims, loads in {"4x2": [5, 9, 6, 7], "2": [1]}.items():
        for seed, load in enumerate(loads):
            world.add(f"g~seed={seed}", dims, load=[load], seed=seed)
    data = drawn(world, Figure(kind="line", x="nodes", y="max_load", over=over), ["seed"]).data
    assert data.to_numpy().tolist() == [["g", 2, 1, 1, 1, 1], ["g", 8, *shown, 4]]


def test_the_picture_shows_the_run_with_the_lower_median_of_the_maximum_load(world):
    for seed, load in enumerate([9, 3, 7, 5]):
        world.add(f"g~seed={seed}", "4x2", load=[load, 1], seed=seed)
    drawing = drawn(world, NETWORK, ["seed"])
    assert set(drawing.data["routing"]) == {"g~seed=3"}
    assert (
        "g, maximum 5 on 12 channels, minimum 1 (the median one of 4 runs)" in drawing.description
    )


def test_every_line_of_the_svg_names_its_channel_and_load(world, tmp_path):
    world.add("a", "4x2", load=range(24))
    save_drawing(drawn(world, NETWORK), tmp_path, "net", ["svg"])
    root = ET.parse(tmp_path / "net.svg").getroot()
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert len(titles) == 24 + 4  # the four that close rings are drawn in two parts
    assert "0>2 +X: channel load (routes) 0" in titles
    assert len(set(titles)) == 24
    assert root.find(f"{SVG}desc").text.startswith(
        "Channels coloured by channel load (routes). a, maximum"
    )


@pytest.mark.parametrize("spec", [ECDF, NETWORK], ids=["ecdf", "network"])
def test_the_same_data_give_the_same_bytes(world, tmp_path, spec):
    world.add("a", "4x2", load=[3, 4])
    for folder in ("one", "two"):
        save_drawing(drawn(world, spec), tmp_path / folder, "f", SUFFIXES)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["f.csv", "f.pdf", "f.png", "f.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Figure(kind="ecdf", x="laod"), "here: x: no column 'laod'; did you mean 'load'"),
        (Figure(kind="ecdf", x="load", hue="hue"), "here: no column 'hue'"),
        (Figure(kind="ecdf", x="deadlock"), "here: x: column 'deadlock' holds words"),
        (Figure(kind="line", x="nodes", y="deadlock"), "here: y: column 'deadlock' holds words"),
        (Figure(kind="network", colour="laod"), "here: colour: .*did you mean 'load'"),
        (
            Figure(kind="network", colour="direction"),
            "here: colour: column 'direction' holds words",
        ),
    ],
)
def test_mistakes_name_their_place(world, spec, message):
    world.add("a")
    with pytest.raises(InputError, match=message):
        drawn(world, spec)


def test_names_are_no_formulas_in_a_figure(world, tmp_path):
    name = "=$\\frac{$<script>&"
    world.add("bfs", alias=name, load=[1, 2])
    world.add("dor", load=[1, 2])
    save_drawing(drawn(world, ECDF), tmp_path, "f", ["svg", "csv"])
    assert b"<script>" not in (tmp_path / "f.svg").read_bytes()
    with (tmp_path / "f.csv").open() as stream:
        assert {line["routing"] for line in csv.DictReader(stream)} == {"'" + name, "dor"}


@pytest.mark.parametrize(("kind", "key"), [("ecdf", "x"), ("histogram", "x"), ("ranked", "y")])
def test_a_column_named_share_keeps_its_values(world, kind, key):
    for routing, share in (("a", 0.25), ("b", 0.75)):
        world.add(routing, facts={"share": share})
    spec = Figure(kind=kind, **{key: "share"})
    drawing = draw_figure(FigureRequest(spec, RouteRows(world.records)))
    rows = drawing.data.to_dict("records")
    counted = {(row["routing"], row["share"]) for row in rows if row["count"]}
    if kind == "histogram":
        counted = {(name, round(share * 4)) for name, share in counted}
        assert counted == {("a", 1), ("b", 3)}
    else:
        assert counted == {("a", 0.25), ("b", 0.75)}
        assert {row["cumulative_share"] for row in rows} == {1.0}


def test_a_scale_of_logarithms_has_up_to_six_different_ticks():
    generator = np.random.default_rng(0)
    ranges = np.power(10.0, generator.uniform(-6, 6, size=(100, 2))).tolist()
    for values in [*([number] for number in range(1, 40)), *ranges]:
        ticks = ColourScale.over(pd.Series(values), log=True).ticks
        assert 1 <= len({text for _, text in ticks}) == len(ticks) <= 6


def test_no_two_series_of_a_figure_look_alike_however_many_the_report_has():
    styles = SeriesStyles()
    for begin in range(0, 3 * MAX_LINES, 5):
        names = [str(number) for number in range(begin, begin + MAX_LINES)]
        chosen = styles.assign("routing", names, "")
        for second in ("dashes", "marker", "hatch"):
            looks = {(style.color, getattr(style, second)) for style in chosen.values()}
            assert len(looks) == MAX_LINES
    with pytest.raises(InputError, match=f"here: hue has {MAX_LINES + 1} values"):
        styles.assign("routing", [str(number) for number in range(MAX_LINES + 1)], "here: ")
