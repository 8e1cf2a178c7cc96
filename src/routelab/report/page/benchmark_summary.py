"""Sentences on measurements: which differences between routings are more than noise."""

from __future__ import annotations

from typing import Any

from routelab.report.labels import number_text
from routelab.report.rows.benchmarks import BenchmarkRows
from routelab.report.rows.derivation import IMPROVEMENT

MAX_DIFFERENCES = 3
"""Largest number of differences in the text, starting with the largest."""


def benchmark_sentences(row_set: BenchmarkRows, proviso: str = "") -> list[str]:
    """Return sentences on the differences from baselines beyond noise, and warnings.

    Parameters
    ----------
    row_set : BenchmarkRows
    proviso : str
        Beginning of the first sentence if results are missing.
    """
    differences = [row.values for row in row_set.rows if row.values.get("within_noise") is not None]
    sentences = []
    if differences:
        real = [values for values in differences if not values["within_noise"]]
        real.sort(key=lambda values: -abs(values[IMPROVEMENT]))
        text = "; ".join(_difference_text(values) for values in real[:MAX_DIFFERENCES])
        more = len(real) - MAX_DIFFERENCES
        noun = "difference" if len(differences) == 1 else "differences"
        sentences.append(
            f"{proviso}{'of' if proviso else 'Of'} {len(differences)} measured {noun} "
            f"from the baseline, {len(real) or 'none'} "
            f"{'is' if len(real) <= 1 else 'are'} more than noise"
            + (f": {text}" if text else "")
            + (f"; and {more} more" if more > 0 else "")
            + "."
        )
    return sentences + row_set.warnings(range(len(row_set.rows)))


def _difference_text(values: dict[str, Any]) -> str:
    """Return a difference from the baseline in words, with its interval."""
    gain, low, high = (
        values[name] for name in (IMPROVEMENT, "improvement_low", "improvement_high")
    )
    size = number_text("size", values["size"])
    case = f"{values['benchmark']}{f' at {size} bytes' if size else ''} on {values['topology']}"
    return (
        f"{_signed_text(gain)} % by {values['routing']} over {values['baseline']} in {case} "
        f"({_signed_text(low)} to {_signed_text(high)} %)"
    )


def _signed_text(value: float) -> str:
    return (
        f"{value:+.2g}".replace("-", "−") if abs(value) < 100 else f"{value:+.0f}".replace("-", "−")
    )
