"""Boxes: how a value is spread over terminals, channels, packets or runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.observations import COUNT, collect_observations
from routelab.report.figures.panels import (
    add_legend,
    by_text,
    label_axes,
    label_categories,
    make_panels,
    ordered_texts,
    ranks,
    scale_axis,
    series_of_panel,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import value_label
from routelab.report.rows.row_set import key_text

TOTAL_WIDTH = 0.8
"""Total width of the boxes of one category, in units of the distance between categories."""
OUTLINE = withStroke(linewidth=2.8, foreground=INK)
"""Border of medians, which shows them where they lie on the edge of a box."""
QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}


def draw_boxes(request: FigureRequest) -> Drawing | None:
    """Draw the quartiles, extremes and mean of ``y`` by ``x`` and ``hue``, a panel per ``col``."""
    x, y, hue, keys = request.x, request.y, request.hue, request.keys
    observations, noun = collect_observations(request, keys, {"y": y})
    if observations.empty:
        return None
    # 1. Quartiles, extremes and mean of each box.
    rows = [
        (*key, *_statistics(group[y].to_numpy(float), group[COUNT].to_numpy(float)))
        for key, group in observations.groupby(keys, sort=False, dropna=False)
    ]
    data = pd.DataFrame(rows, columns=[*keys, *QUANTILES, "mean", COUNT])
    data = data.sort_values(keys, key=ranks, ignore_index=True)
    styles = request.series_styles(data)
    categories = ordered_texts(data[x])
    # 2. The boxes of all series side by side. If colours and categories are the same column, a
    #    category has a single box, in its middle.
    figure, panels = make_panels(request, data)
    boxes_per_category = 1 if hue == x else len(styles)
    width = TOTAL_WIDTH / boxes_per_category
    for axis, panel_rows in panels:
        for number, (style, series) in enumerate(series_of_panel(request, panel_rows, styles)):
            if series.empty:
                continue
            # The distance of the box from the middle of its category: for two series, half a width
            # to the left and to the right. A single box stands in the middle: its number is 0.
            number_in_category = number % boxes_per_category
            offset = (1 - boxes_per_category) * width / 2 + number_in_category * width
            axis.bxp(
                [_bxp_statistics(row) for _, row in series.iterrows()],
                positions=[categories.index(key_text(value)) + offset for value in series[x]],
                widths=0.85 * width,
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
        # Categories stand at 0, 1, 2, ..., even if they are numbers, so x is never logarithmic.
        log = [name for name in request.spec.log if name != "x"]
        scale_axis(axis, request.spec.model_copy(update={"log": log}))
    panels[0][0].set_xlim(-0.5, len(categories) - 0.5)
    label_categories(panels, categories)
    label_axes(panels, request.label(x), value_label(request, y))
    add_legend(figure, request, styles, lines=False)
    text = f"{request.label(y)} of all {noun} {by_text(request)}"
    return Drawing(figure, data, f"{text}: quartiles, extremes and mean.")


def _statistics(values: np.ndarray, counts: np.ndarray) -> tuple[float, ...]:
    """Return the quantiles of `QUANTILES`, the mean, and the number of observations.

    Value i occurs ``counts[i]`` times. A quantile is a value that occurs: quantile 0.25 of 8
    observations is the second least one.
    """
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    cumulative_counts = np.cumsum(counts)
    total = cumulative_counts[-1]
    # Quantile q is the first value up to which there are at least q * total observations.
    needed_counts = np.array(list(QUANTILES.values())) * total
    quantiles = values[np.searchsorted(cumulative_counts, needed_counts)]
    mean = np.average(values, weights=counts)
    return (*map(float, quantiles), float(mean), float(total))


def _bxp_statistics(row: pd.Series) -> dict[str, float]:
    """Return the statistics of a box under the names of `Axes.bxp`."""
    return {
        "whislo": row["min"],
        "q1": row["q25"],
        "med": row["median"],
        "q3": row["q75"],
        "whishi": row["max"],
        "mean": row["mean"],
    }
