"""The kinds of figures."""

from __future__ import annotations

from collections.abc import Callable, Collection

from routelab.config import Figure as FigureSpec
from routelab.config import Reference
from routelab.report.figures.drawing import Drawing, house_style
from routelab.report.figures.kinds.bar import draw_bars
from routelab.report.figures.kinds.bound import draw_bounds
from routelab.report.figures.kinds.box import draw_boxes
from routelab.report.figures.kinds.curve import draw_curves
from routelab.report.figures.kinds.distribution import draw_distribution
from routelab.report.figures.kinds.heat import draw_heat
from routelab.report.figures.kinds.improvement import draw_improvements
from routelab.report.figures.kinds.line import draw_lines
from routelab.report.figures.kinds.matrix import draw_matrices
from routelab.report.figures.kinds.network import draw_networks
from routelab.report.figures.kinds.overview import draw_overview
from routelab.report.figures.kinds.ranked import draw_ranked
from routelab.report.figures.kinds.scatter import draw_points
from routelab.report.figures.styles import Looks
from routelab.report.frames.view import View

Series = Callable[[FigureSpec, View, Collection[str], str, Looks], Drawing | None]
Places = Callable[[FigureSpec, View, Collection[str], str], Drawing | None]

OF_SERIES: dict[str, Series] = {
    "ecdf": draw_distribution,
    "histogram": draw_distribution,
    "line": draw_lines,
    "curve": draw_curves,
    "ranked": draw_ranked,
    "scatter": draw_points,
    "bar": draw_bars,
    "box": draw_boxes,
}
BESIDE = {"bound": draw_bounds, "improvement": draw_improvements}
"""Functions of (..., reference) that draw the kinds that show published values, too."""

"""Functions of (spec, frames, pooled parameters, place, looks) that draw the kinds in which colours
distinguish series."""
OF_PLACES: dict[str, Places] = {
    "heat": draw_heat,
    "overview": draw_overview,
    "matrix": draw_matrices,
    "network": draw_networks,
}
"""Functions that draw the kinds in which colours stand for numbers."""


def draw_figure(
    spec: FigureSpec,
    frames: View,
    pooled: Collection[str],
    place: str,
    looks: Looks | None = None,
    reference: Reference | None = None,
) -> Drawing | None:
    """Draw a figure of a study; return None if no run has a value to draw.

    Parameters
    ----------
    spec : FigureSpec
    frames : View
    pooled : collection of str
        Parameters whose runs belong together.
    place : str
        Prefix of messages: where the figure is declared.
    looks : Looks, optional
        Looks of the series in the report (default: those of this figure only).
    reference : Reference, optional
        Published numbers that the study cites.

    Raises
    ------
    InputError
        If a column does not exist or the figure would have too many panels.
    """
    with house_style():
        if spec.kind in OF_PLACES:
            return OF_PLACES[spec.kind](spec, frames, pooled, place)
        if spec.kind in BESIDE:
            return BESIDE[spec.kind](spec, frames, pooled, place, looks or Looks(), reference)
        return OF_SERIES[spec.kind](spec, frames, pooled, place, looks or Looks())
