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

INTERVAL_COLUMNS = {
    "median": ("ci_low", "ci_high"),
    IMPROVEMENT: ("improvement_low", "improvement_high"),
}
"""Columns with the ends of the interval of a column of measurements."""
WITHIN_NOISE = "within_noise"
"""Column of measurements: whether the improvement may be noise."""
NOISE_SIGN = "≈"
"""Sign above a bar whose difference may be noise."""


def interval_columns(of: str, column: str) -> tuple[str, str] | None:
    """Return the columns with the ends of a column's interval; None if it has none."""
    return INTERVAL_COLUMNS.get(column) if of in BENCHMARKS else None


def value_label(request: FigureRequest, column: str) -> str:
    """Return a column's label, with metric and unit if all values of the figure share them.

    Such as ``median, latency (us)``; the column ``median`` itself has no unit.
    """
    spec, text = request.spec, request.label(column)
    # Only some columns of benchmarks are in the unit of the metric; others have a unit of their
    # own, such as the improvement in percent.
    if spec.of not in BENCHMARKS or column not in (*OF_A_METRIC, "value"):
        return text
    frame = request.row_set.select(spec.where, request.pooled, request.place)
    # measurements without a result may lack metric and unit: missing or empty
    metrics, units = (set(frame[name].dropna()) - {""} for name in ("metric", "unit"))
    if len(metrics) == 1:
        text += f", {metrics.pop().replace('_', ' ')}"
    return f"{text} ({units.pop()})" if len(units) == 1 else text


def interval_and_noise(group: pd.DataFrame, column: str) -> tuple[float, float, bool]:
    """Return both ends of the interval of a mark, and whether its improvement may be noise.

    A mark is a bar, dot or point of benchmark measurements.

    Parameters
    ----------
    group : DataFrame
        Rows that the mark stands for. The ends are NaN for several rows, which have no common
        interval. The improvement may be noise if that of each row may be.
    column : str
        Column with the value of the mark. The ends are NaN for columns without an interval, and
        only an improvement can be noise.
    """
    ends = INTERVAL_COLUMNS.get(column)
    is_noise = (
        column == IMPROVEMENT
        and WITHIN_NOISE in group
        and bool((group[WITHIN_NOISE].map(key_text) == "true").all())
    )
    if ends is None or len(group) != 1 or not set(ends) <= set(group.columns):
        return np.nan, np.nan, is_noise
    low, high = (float(pd.to_numeric(group[end]).iloc[0]) for end in ends)
    return low, high, is_noise


def draw_whiskers(
    axis: Axes, x_positions: Sequence[float], data: pd.DataFrame, y: str, color: str = INK
) -> None:
    """Draw an error bar from ``<y>_low`` to ``<y>_high`` at each position where both are known."""
    middle, low, high = (data[name].to_numpy(float) for name in (y, f"{y}_low", f"{y}_high"))
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return
    lengths = np.vstack([middle - low, high - middle])[:, finite]  # downwards and upwards
    axis.errorbar(
        np.asarray(x_positions, dtype=float)[finite],
        middle[finite],
        # The median of resamples may differ from the estimate in the last bits, and matplotlib
        # refuses negative lengths.
        yerr=np.maximum(lengths, 0),
        fmt="none",
        ecolor=color,
        elinewidth=0.9,
        capsize=2.5,
    )
