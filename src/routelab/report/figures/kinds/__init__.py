"""The kinds of figures."""

from __future__ import annotations

from collections.abc import Callable

from routelab.report.figures.drawing import Drawing, house_style
from routelab.report.figures.kinds.bar import draw_bars
from routelab.report.figures.kinds.bound import draw_bounds
from routelab.report.figures.kinds.box import draw_boxes
from routelab.report.figures.kinds.curve import draw_curves
from routelab.report.figures.kinds.distribution import draw_distribution
from routelab.report.figures.kinds.heat import draw_heat
from routelab.report.figures.kinds.improvement import draw_improvements
from routelab.report.figures.kinds.line import draw_lines
from routelab.report.figures.kinds.network import draw_networks
from routelab.report.figures.kinds.ranked import draw_ranked
from routelab.report.figures.kinds.scatter import draw_points
from routelab.report.figures.request import FigureRequest

OF_SERIES: dict[str, Callable[[FigureRequest], Drawing | None]] = {
    "ecdf": draw_distribution,
    "histogram": draw_distribution,
    "line": draw_lines,
    "curve": draw_curves,
    "ranked": draw_ranked,
    "scatter": draw_points,
    "bar": draw_bars,
    "box": draw_boxes,
}
"""Functions that draw the kinds whose notes name series without a value."""
KINDS = OF_SERIES | {
    "bound": draw_bounds,
    "improvement": draw_improvements,
    "heat": draw_heat,
    "network": draw_networks,
}
"""Functions that draw each kind of figure."""


def draw_figure(request: FigureRequest) -> Drawing | None:
    """Draw a figure of a study; return None if no run has a value to draw.

    Raises
    ------
    InputError
        If a column does not exist or the figure would have too many panels.
    """
    with house_style():
        return KINDS[request.spec.kind](request)
