"""Error bars: confidence intervals of what was measured."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from routelab.config import Figure as FigureSpec
from routelab.config.views import BENCHMARKS
from routelab.report.figures.drawing import INK
from routelab.report.frames.benchmarks import OF_A_METRIC
from routelab.report.frames.derivation import IMPROVEMENT
from routelab.report.frames.view import View, key_text
from routelab.report.labels import label

ENDS = {
    "median": ("ci_low", "ci_high"),
    IMPROVEMENT: ("improvement_low", "improvement_high"),
}
"""Columns with the ends of the interval of a column of measurements."""
NOISE = "within_noise"
SIGN = "≈"
"""Above a bar: it cannot be told from none."""


def interval_columns(of: str, column: str) -> tuple[str, str] | None:
    """Columns with the ends of a column's interval; None where it has none."""
    return ENDS.get(column) if of in BENCHMARKS else None


def value_label(
    column: str, spec: FigureSpec, view: View, pooled: Collection[str], place: str
) -> str:
    """A column's name; of values that were measured with metric and unit, where all have one."""
    if spec.of not in BENCHMARKS or column not in (*OF_A_METRIC, "value"):
        return label(column, spec.of)
    jobs = view.select(spec.where, pooled, place)
    metrics, units = (set(jobs[name].dropna()) - {""} for name in ("metric", "unit"))
    what = f"{label(column, spec.of)}, {metrics.pop()}" if len(metrics) == 1 else label(column)
    return f"{what} ({units.pop()})" if len(units) == 1 else what


def interval_and_noise(group: pd.DataFrame, column: str) -> tuple[float, float, bool]:
    """Ends of the interval of what a single row tells, NaN if there are none; and if it is noise.

    Of several rows only the noise is known: whether all of them are.
    """
    ends = ENDS.get(column)
    noise = (
        column == IMPROVEMENT
        and NOISE in group
        and bool((group[NOISE].map(key_text) == "true").all())
    )
    if ends is None or len(group) != 1 or not set(ends) <= set(group.columns):
        return np.nan, np.nan, noise
    low, high = (float(pd.to_numeric(group[end]).iloc[0]) for end in ends)
    return low, high, noise


def draw_whiskers(
    axis: Axes, at: Sequence[float], data: pd.DataFrame, y: str, color: str = INK
) -> None:
    """Bars from ``<y>_low`` to ``<y>_high`` at the horizontal places `at`, where there are any."""
    middle, low, high = (data[name].to_numpy(float) for name in (y, f"{y}_low", f"{y}_high"))
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return
    reach = np.vstack([middle - low, high - middle])[:, known]
    axis.errorbar(
        np.asarray(at, dtype=float)[known],
        middle[known],
        # the median of resamples may be the estimate but for the last bits
        yerr=np.maximum(reach, 0),
        fmt="none",
        ecolor=color,
        elinewidth=0.9,
        capsize=2.5,
    )
