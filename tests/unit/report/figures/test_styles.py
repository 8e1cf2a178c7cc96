"""One series, one style: in all figures of a report."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from routelab.api import InputError
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import MAX_LINES, PALETTE, SeriesStyles
from routelab.report.rows.routes import RouteRows
from routelab.study import Figure

NAMES = ["first", "second", "third", "fourth"]


def key(style):
    return style.color, style.marker, style.dashes


def colours(drawing):
    """The colours of a figure's legend, by name."""
    (legend,) = drawing.figure.legends
    handles = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return {
        text.get_text(): to_hex(
            handle.get_color() if hasattr(handle, "get_color") else handle.get_facecolor()
        ).upper()
        for text, handle in handles
    }


def test_no_two_series_of_a_figure_look_alike_however_many_the_report_has():
    styles = SeriesStyles()
    for begin in range(0, 3 * MAX_LINES, 5):
        names = [str(number) for number in range(begin, begin + MAX_LINES)]
        chosen = styles.assign("routing", names, "")
        assert len(set(map(key, chosen.values()))) == MAX_LINES
        assert len({(style.color, style.hatch) for style in chosen.values()}) == MAX_LINES
    with pytest.raises(InputError, match=f"here: hue has {MAX_LINES + 1} values"):
        styles.assign("routing", [str(number) for number in range(MAX_LINES + 1)], "here: ")


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "ecdf", "x": "load"},
        {"kind": "ranked", "y": "load"},
        {"kind": "line", "x": "nodes", "y": "max_load"},
        {"kind": "scatter", "x": "nodes", "y": "max_load"},
        {"kind": "bar", "x": "nodes", "y": "max_load"},
        {"kind": "box", "x": "nodes", "y": "max_load"},
    ],
    ids=lambda spec: spec["kind"],
)
def test_every_kind_of_figure_takes_the_looks_of_the_report(world, spec):
    for number, name in enumerate(NAMES):
        world.add(name, load=[number + 1, 2])
    row_set, styles = RouteRows(world.records), SeriesStyles()
    every = colours(draw_figure(FigureRequest(Figure(**spec), row_set, (), "", styles)))
    assert every == dict(zip(NAMES, PALETTE, strict=False))
    some = Figure(**spec, where={"routing": ["second", "fourth"]})
    drawn = colours(draw_figure(FigureRequest(some, row_set, (), "", styles)))
    assert drawn == {name: every[name] for name in ("second", "fourth")}
    # a figure that stands alone begins anew
    assert list(colours(draw_figure(FigureRequest(some, row_set))).values()) == list(PALETTE[:2])
