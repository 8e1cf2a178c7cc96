"""Checks of metrics."""

from __future__ import annotations

import math
import re
from collections import Counter

from routelab.api import Measurement
from routelab.testing.results import Failed
from routelab.testing.subjects import Trial

_WORD = re.compile(r"[a-z][a-z0-9_]*")


def numbers(trial: Trial) -> str:
    """Check that values are finite numbers."""
    measurements: list[Measurement] = trial.result
    for item in measurements:
        # Python counts truth values as integers
        is_number = isinstance(item.value, (int, float)) and not isinstance(item.value, bool)
        if not (is_number and math.isfinite(item.value)):
            raise Failed(
                f"{item.metric} is {item.value!r}, expected a finite int or float; leave out what "
                "has no value"
            )
    return f"{len(measurements)} numbers"


def names(trial: Trial) -> str:
    """Check that names are declared columns, each used once."""
    measurements: list[Measurement] = trial.result
    columns = [column.name for column in trial.subject.plugin.list_columns()]
    for item in measurements:
        if not (isinstance(item.metric, str) and _WORD.fullmatch(item.metric)):
            raise Failed(
                f"{item.metric!r} is not a valid name: use lower-case letters, digits and '_'"
            )
        if item.metric not in columns:
            raise Failed(
                f"{item.metric} is not among the columns ({', '.join(columns) or 'none'}); "
                "declare it in the class attribute columns"
            )
    count = Counter(item.metric for item in measurements)
    twice = [name for name in count if count[name] > 1]
    if twice:
        raise Failed(f"{', '.join(sorted(twice))}: measured more than once")
    return ""
