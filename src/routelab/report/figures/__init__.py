"""Figures that a study declares: one module for each kind, with a function that draws it."""

from routelab.report.figures.drawing import Drawing, save_drawing
from routelab.report.figures.kinds import draw_figure

__all__ = ["Drawing", "draw_figure", "save_drawing"]
