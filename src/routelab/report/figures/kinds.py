"""Which kinds of figure there are."""

from __future__ import annotations

from collections.abc import Callable, Collection

from routelab.config import Figure as FigureSpec
from routelab.report.figures.bar import draw_bars
from routelab.report.figures.box import draw_boxes
from routelab.report.figures.curve import draw_curves
from routelab.report.figures.distribution import draw_distribution
from routelab.report.figures.drawing import Drawing, house_style
from routelab.report.figures.heat import draw_heat
from routelab.report.figures.line import draw_lines
from routelab.report.figures.network import draw_networks
from routelab.report.figures.ranked import draw_ranked
from routelab.report.figures.scatter import draw_points
from routelab.report.view import View

Draw = Callable[[FigureSpec, View, Collection[str], str], Drawing | None]

KINDS: dict[str, Draw] = {
    "ecdf": draw_distribution,
    "line": draw_lines,
    "curve": draw_curves,
    "ranked": draw_ranked,
    "scatter": draw_points,
    "bar": draw_bars,
    "box": draw_boxes,
    "heat": draw_heat,
    "network": draw_networks,
}
"""Kind to the function that draws it from (spec, frames, pooled parameters, place)."""


def draw_figure(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str
) -> Drawing | None:
    """Draw what a study declares; None if no run has anything to draw.

    Parameters
    ----------
    spec : config.study.Figure
    frames : View
    pooled : collection of str
        Parameters whose runs belong together.
    place : str
        Where the figure is declared, to begin messages with.

    Raises
    ------
    InputError
        If a column does not exist or the figure would have too many panels.
    """
    with house_style():
        return KINDS[spec.kind](spec, frames, pooled, place)
