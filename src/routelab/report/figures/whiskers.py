"""Error bars: confidence intervals of measurements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.rows.benchmarks import OF_A_METRIC
from routelab.report.rows.derivation import IMPROVEMENT
from routelab.report.rows.row_set import key_text
from routelab.study.views import BENCHMARKS

ENDS = {
    "median": ("ci_low", "ci_high"),
    IMPROVEMENT: ("improvement_low", "improvement_high"),
}
"""Columns with the ends of the interval of a column of measurements."""
NOISE = "within_noise"
SIGN = "≈"
"""Sign above a bar whose difference may be noise."""


def interval_columns(of: str, column: str) -> tuple[str, str] | None:
    """Return the columns with the ends of a column's interval; None if it has none."""
    return ENDS.get(column) if of in BENCHMARKS else None


def value_label(request: FigureRequest, column: str) -> str:
    """Return a column's name, with metric and unit if all measured values share them."""
    spec, text = request.spec, request.label(column)
    if spec.of not in BENCHMARKS or column not in (*OF_A_METRIC, "value"):
        return text
    jobs = request.row_set.select(spec.where, request.pooled, request.place)
    metrics, units = (set(jobs[name].dropna()) - {""} for name in ("metric", "unit"))
    if len(metrics) == 1:
        text += f", {metrics.pop().replace('_', ' ')}"
    return f"{text} ({units.pop()})" if len(units) == 1 else text


def interval_and_noise(group: pd.DataFrame, column: str) -> tuple[float, float, bool]:
    """Return the ends of a single row's interval (NaN without one), and whether it is noise.

    Several rows have no interval; they are noise if each of them is.
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
    """Draw bars from ``<y>_low`` to ``<y>_high`` at the places `at`, where both are known."""
    middle, low, high = (data[name].to_numpy(float) for name in (y, f"{y}_low", f"{y}_high"))
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return
    reach = np.vstack([middle - low, high - middle])[:, finite]
    axis.errorbar(
        np.asarray(at, dtype=float)[finite],
        middle[finite],
        # the median of resamples may differ from the estimate in the last bits
        yerr=np.maximum(reach, 0),
        fmt="none",
        ecolor=color,
        elinewidth=0.9,
        capsize=2.5,
    )
