"""Empirical distribution functions: which share of the channels has at most this load."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import seaborn as sns
from matplotlib.ticker import MaxNLocator, PercentFormatter

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    PANELS_ACROSS,
    add_legend,
    looks,
    ordered_texts,
    panel_grid,
    panel_title,
    ranks,
)
from routelab.report.frames import OK, Frames, key_text
from routelab.report.labels import label


def draw_distribution(
    spec: FigureSpec, frames: Frames, pooled: Collection[str], place: str
) -> Drawing | None:
    """Distribution of ``x`` for every ``hue``, a panel for every ``col``; pooled runs together.

    ``x: load`` is the load of every channel of every run; another ``x`` is a column of the runs.
    See `routelab.report.figures.draw_figure` for the parameters.
    """
    data = _shares(spec, frames, pooled, place)
    if data.empty:
        return None
    x = spec.x or "load"
    hue, col = spec.hue or "routing", spec.col
    look = looks(ordered_texts(data[hue]), place)
    texts = ordered_texts(data[col]) if col else [""]
    figure, axes = panel_grid(texts, place)
    thing = "channels" if x == "load" else "runs"
    for i, (axis, text) in enumerate(zip(axes, texts, strict=True)):
        here = data[data[col].map(key_text) == text] if col else data
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            if not mine.empty:
                sns.ecdfplot(
                    x=mine[x].to_numpy(float),
                    weights=mine["count"].to_numpy(float),
                    ax=axis,
                    color=one.color,
                    linestyle=one.dashes,
                    linewidth=one.width,
                )
        low, high = float(here[x].min()), float(here[x].max())
        margin = max(0.04 * (high - low), 0.5 if low == high else 0.0)
        axis.set_xlim(low - margin, high + margin)
        axis.set_ylim(0, 1.03)
        axis.set_title(panel_title(col, text))
        axis.set_xlabel(f"{label(x)}, at most")
        axis.set_ylabel(f"share of {thing}" if i % PANELS_ACROSS == 0 else "")
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    add_legend(figure, look, hue)
    return Drawing(figure, data, f"Share of {thing} with at most a given {label(x)}, by {hue}.")


def _shares(spec: FigureSpec, frames: Frames, pooled: Collection[str], place: str) -> pd.DataFrame:
    """How often each value occurs, and the share of values that are no larger."""
    x = spec.x or "load"
    facets = list(dict.fromkeys([spec.hue or "routing", *([spec.col] if spec.col else [])]))
    jobs = frames.select(spec.where, pooled, place, spec.relative)
    jobs = jobs[jobs["status"] == OK]
    labels = pd.DataFrame({name: frames.column(jobs, name, place) for name in facets})
    if x == "load":
        channels = frames.channels(jobs.index)
        values = channels[["run", x]].join(labels, on="run")
    else:
        values = labels.assign(**{x: frames.numbers(jobs, x, f"{place}x: ", ["load"])}).dropna(
            subset=[x]
        )
    counts = (
        values.groupby([*facets, x], sort=False, dropna=False).size().rename("count").reset_index()
    )
    counts = counts.sort_values([*facets, x], key=ranks, ignore_index=True)
    groups = counts.groupby(facets, sort=False, dropna=False)["count"]
    return counts.assign(share=groups.cumsum() / groups.transform("sum"))
