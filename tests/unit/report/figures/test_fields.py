"""Heat maps of the traffic between terminals."""

from __future__ import annotations

from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.kinds.pairs import MAX_VECTORS
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.study_rows import StudyRows
from routelab.study import Figure

TRAFFIC = Figure(kind="heat", of="flow-pairs", colour="bytes")


def pairs_of(sums):
    return [
        {"sender": a, "receiver": b, "block": 1, "bytes": amount} for (a, b), amount in sums.items()
    ]


def test_traffic_is_the_mean_over_runs_and_zero_stays_blank(world):
    for routing, sums in (("a", {(0, 1): 100.0, (1, 2): 0.0}), ("b", {(0, 1): 300.0, (3, 0): 8.0})):
        world.flow(routing, alias="job", tables={"pairs": pairs_of(sums)})
    drawing = draw_figure(
        FigureRequest(TRAFFIC, StudyRows([], (), world.flows).flows, (), "here: ")
    )
    volumes = drawing.data.set_index(["sender", "receiver"])["bytes"].to_dict()
    assert volumes == {(0, 1): 200.0, (3, 0): 4.0}
    fields = drawing.figure.axes[0].collections[0]
    boxes = {tuple(path.get_extents().bounds) for path in fields.get_paths()}
    assert boxes == {(0.5, -0.5, 1.0, 1.0), (-0.5, 2.5, 1.0, 1.0)}  # x is the receiver
    assert drawing.figure.axes[0].yaxis_inverted()


def test_traffic_of_many_pairs_is_an_image(world, tmp_path):
    side = int(MAX_VECTORS**0.5) + 2
    sums = {(a, b): 1.0 + a for a in range(side) for b in range(side) if a != b}
    world.flow("a", tables={"pairs": pairs_of(sums)})
    drawing = draw_figure(
        FigureRequest(TRAFFIC, StudyRows([], (), world.flows).flows, (), "here: ")
    )
    save_drawing(drawing, tmp_path, "f", ["svg"])
    svg = (tmp_path / "f.svg").read_text()
    assert "<image" in svg
    assert "prefers-color-scheme" not in svg
    assert (tmp_path / "f.svg").stat().st_size < 300_000
