"""Lines: one value against another, through pooled runs."""

from __future__ import annotations

from collections.abc import Collection
from statistics import fmean

import pandas as pd
import seaborn as sns
from matplotlib.ticker import MaxNLocator

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    looks,
    ordered_texts,
    panels_of,
    ranks,
    scale_axis,
)
from routelab.report.frames import OK, Frames, key_text, lower_median
from routelab.report.labels import label


def draw_lines(
    spec: FigureSpec, frames: Frames, pooled: Collection[str], place: str
) -> Drawing | None:
    """``y`` against ``x`` for every ``hue``, a panel for every ``col``.

    The line goes through the lower median of all runs with one ``x``, and the band is their
    range; or through their mean, without a band, if a parameter is pooled to the mean.
    See `routelab.report.figures.draw_figure` for the parameters.
    """
    x, y = spec.x or "", spec.y or ""
    hue, col = spec.hue or "routing", spec.col
    data = _pooled(frames, spec, pooled, [hue, *([col] if col else [])], place)
    if data.empty:
        return None
    look = looks(ordered_texts(data[hue]), place)
    places = ordered_texts(data[x])
    words = not pd.api.types.is_numeric_dtype(data[x])
    figure, panels = panels_of(data, col, place)
    for axis, here in panels:
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            if mine.empty:
                continue
            at = mine[x].map(key_text).map(places.index) if words else mine[x]
            sns.lineplot(
                x=at.to_numpy(float),
                y=mine[y].to_numpy(float),
                ax=axis,
                estimator=None,
                color=one.color,
                linestyle=one.dashes,
                linewidth=one.width,
                marker=one.marker,
                markersize=6,
            )
            low, high = mine[f"{y}_low"], mine[f"{y}_high"]
            axis.fill_between(at, low, high, color=one.color, alpha=0.15, linewidth=0)
        if words:
            axis.set_xticks(range(len(places)), places)
        elif "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axis.set_xlabel(label(x))
        axis.set_ylabel(label(y))
        if "y" not in spec.log:
            axis.set_ylim(bottom=min(0.0, float(data[f"{y}_low"].min())))
        scale_axis(axis, spec)
    add_legend(figure, look, hue, markers=True)
    return Drawing(figure, data, f"{label(y)} against {label(x)}, by {hue}.")


def _pooled(
    frames: Frames, spec: FigureSpec, pooled: Collection[str], facets: list[str], place: str
) -> pd.DataFrame:
    x, y = spec.x or "", spec.y or ""
    keys = list(dict.fromkeys([*facets, x]))
    jobs = frames.select(spec.where, pooled, place, spec.relative)
    jobs = jobs[jobs["status"] == OK]
    values = pd.DataFrame({name: frames.column(jobs, name, place) for name in keys})
    values[y] = frames.numbers(jobs, y, f"{place}y: ")
    rows = []
    for key, group in values.dropna(subset=[y]).groupby(keys, sort=False, dropna=False):
        mine = group[y].tolist()
        if "mean" in spec.over.values():
            rows.append((*key, fmean(mine), fmean(mine), fmean(mine), len(mine)))
        else:
            rows.append((*key, lower_median(mine), min(mine), max(mine), len(mine)))
    table = pd.DataFrame(rows, columns=[*keys, y, f"{y}_low", f"{y}_high", "runs"])
    return table.sort_values(keys, key=ranks, ignore_index=True)
