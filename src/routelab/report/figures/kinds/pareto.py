"""Trade-offs: one value against another, with the Pareto front drawn and named."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from routelab.api import InputError
from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.kinds.scatter import points_of
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    ordered_texts,
    panels_of,
    scale_axis,
)
from routelab.report.figures.styles import INK, Looks
from routelab.report.figures.whiskers import value_label
from routelab.report.frames.view import View, key_text
from routelab.report.labels import column_of

FRONT = "front"
"""Column that is true for the points of the Pareto front."""


def draw_pareto(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str, looks: Looks
) -> Drawing | None:
    """Draw ``y`` against ``x`` as points for every ``hue``, and the Pareto front of each ``col``.

    The preferred directions are those of the columns. See `routelab.report.figures.draw_figure`
    for the parameters.

    Raises
    ------
    InputError
        If a column has no preferred direction.
    """
    x, y = spec.x or "", spec.y or ""
    hue, col = spec.hue or "routing", spec.col
    data = points_of(spec, frames, pooled, [hue, *([col] if col else [])], place)
    if data.empty:
        return None
    signs = [_sign(name, f"{place}{key}: ", spec, frames) for key, name in (("x", x), ("y", y))]
    look = looks.of(hue, ordered_texts(data[hue]), place)
    figure, panels = panels_of(data, col, place, spec.of)
    data = data.assign(**{FRONT: False})
    for axis, here in panels:
        costs = list(zip(signs[0] * here[x], signs[1] * here[y], strict=True))
        best = here[pareto_front(costs)].sort_values(x)
        data.loc[best.index, FRONT] = True
        steps = "steps-post" if signs[0] > 0 else "steps-pre"
        axis.plot(best[x], best[y], drawstyle=steps, color=INK, linewidth=1.0, zorder=1)
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            axis.plot(mine[x], mine[y], color=one.color, marker=one.marker, markersize=4, ls="")
        for name, group in best.groupby(best[hue].map(key_text), sort=False):
            first = group.iloc[0]
            axis.annotate(
                str(name), (first[x], first[y]), (4, 4), textcoords="offset points", fontsize=7
            )
        axis.margins(0.12)
        scale_axis(axis, spec)
    x_title, y_title = (value_label(name, spec, frames, pooled, place) for name in (x, y))
    label_axes(panels, x_title, y_title)
    add_legend(figure, look, hue, markers=True, lines=False, of=spec.of)
    text = (
        f"{y_title} against {x_title}, a point per run, by {hue}. The line is the Pareto front: no "
        "other run is better in one value and at least as good in the other."
    )
    return Drawing(figure, data, text)


def pareto_front(costs: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points no other point dominates; lower is better in both values.

    A point dominates another one if it is at least as good in both values and better in one.
    """
    front = [False] * len(costs)
    least = previous = float("inf")
    reached = None
    for at in sorted(range(len(costs)), key=lambda at: costs[at]):
        first, second = costs[at]
        if first != reached:
            # points with equal first values do not count before
            reached, previous = first, least
        front[at] = second < previous and second <= least
        least = min(least, second)
    return front


def _sign(column: str, place: str, spec: FigureSpec, frames: View) -> int:
    """Return 1 if less is better, -1 if more is better."""
    declared = column_of(column, spec.of)
    direction = frames.better.get(column) or (declared.better if declared else "")
    if not direction:
        raise InputError(
            f"{place}column {column!r} has no preferred direction, so there is no Pareto "
            "front; use kind 'scatter'"
        )
    return 1 if direction == "lower" else -1
