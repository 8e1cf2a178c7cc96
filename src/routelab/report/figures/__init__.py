"""Figures that a study declares: `kinds` has a module for each kind, with a function that draws it.

`request.FigureRequest` is what a figure is drawn from, `drawing.Drawing` the result.
"""
