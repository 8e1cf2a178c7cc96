"""Boxes: how a value is spread over terminals, channels, packets or runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.lines import COUNT, lines_of
from routelab.report.figures.panels import (
    add_legend,
    by_text,
    label_axes,
    name_places,
    ordered_texts,
    panels_of,
    ranks,
    scale_axis,
    series_in,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import value_label
from routelab.report.rows.row_set import key_text

WIDTH = 0.8
"""Total width of the boxes at one place, in units of the distance between places."""
OUTLINE = withStroke(linewidth=2.8, foreground=INK)
"""Border of medians, which shows them where they lie on the edge of a box."""
QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}


def draw_boxes(request: FigureRequest) -> Drawing | None:
    """Draw the quartiles, extremes and mean of ``y`` by ``x`` and ``hue``, a panel per ``col``."""
    x, y, hue, keys = request.x, request.y, request.hue, request.keys
    lines, noun = lines_of(request, keys, {"y": y})
    if lines.empty:
        return None
    # 1. Quartiles, extremes and mean of each box.
    rows = [
        (*key, *_spread(group[y].to_numpy(float), group[COUNT].to_numpy(float)))
        for key, group in lines.groupby(keys, sort=False, dropna=False)
    ]
    data = pd.DataFrame(rows, columns=[*keys, *QUANTILES, "mean", COUNT])
    data = data.sort_values(keys, key=ranks, ignore_index=True)
    styles = request.series_styles(data)
    places = ordered_texts(data[x])
    # 2. The boxes of all series side by side; a single one at each place where colours and places
    #    are the same column.
    figure, panels = panels_of(request, data)
    beside = 1 if hue == x else len(styles)
    step = WIDTH / beside
    for axis, panel_rows in panels:
        for number, (style, series) in enumerate(series_in(request, panel_rows, styles)):
            if series.empty:
                continue
            offset = (1 - beside) * step / 2 + number % beside * step
            axis.bxp(
                [_box(row) for _, row in series.iterrows()],
                positions=[places.index(key_text(at)) + offset for at in series[x]],
                widths=0.85 * step,
                showfliers=False,
                showmeans=True,
                patch_artist=True,
                boxprops={
                    "facecolor": style.color,
                    "edgecolor": INK,
                    "linewidth": 0.8,
                    "hatch": style.hatch,
                },
                medianprops={"color": "white", "linewidth": 1.4, "path_effects": [OUTLINE]},
                meanprops={"marker": "D", "markersize": 3, "mfc": "white", "mec": INK},
                whiskerprops={"color": INK, "linewidth": 0.8},
                capprops={"color": INK, "linewidth": 0.8},
            )
        axis.grid(visible=False, axis="x")
        # places are no numbers, so their axis has no logarithmic scale
        vertical = [name for name in request.spec.log if name != "x"]
        scale_axis(axis, request.spec.model_copy(update={"log": vertical}))
    panels[0][0].set_xlim(-0.5, len(places) - 0.5)
    name_places(panels, places)
    height = value_label(request, y)
    label_axes(panels, request.label(x), height)
    add_legend(figure, request, styles, lines=False)
    text = f"{request.label(y)} of all {noun} {by_text(request)}"
    return Drawing(figure, data, f"{text}: quartiles, extremes and mean.")


def _spread(values: np.ndarray, counts: np.ndarray) -> tuple[float, ...]:
    """Return `QUANTILES` (each a value that occurs), the mean, and the number of values."""
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    upto = np.cumsum(counts)
    at = np.searchsorted(upto, np.array(list(QUANTILES.values())) * upto[-1])
    quantiles = values[np.minimum(at, len(values) - 1)]
    return (*map(float, quantiles), float(np.average(values, weights=counts)), float(upto[-1]))


def _box(row: pd.Series) -> dict[str, float]:
    """Return the statistics of a row as matplotlib names them."""
    return {
        "whislo": row["min"],
        "q1": row["q25"],
        "med": row["median"],
        "q3": row["q75"],
        "whishi": row["max"],
        "mean": row["mean"],
    }
