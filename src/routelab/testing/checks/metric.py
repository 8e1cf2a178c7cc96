"""Checks of metrics."""

from __future__ import annotations

import math
import re

from routelab.api import Measurement
from routelab.testing.results import Failed
from routelab.testing.subjects import Trial

_WORD = re.compile(r"[a-z][a-z0-9_]*")


def numbers(trial: Trial) -> str:
    """Check that values are finite numbers."""
    found: list[Measurement] = trial.result
    for each in found:
        number = isinstance(each.value, (int, float)) and not isinstance(each.value, bool)
        if not (number and math.isfinite(each.value)):
            raise Failed(
                f"{each.metric} is {each.value!r}, expected a finite int or float; leave out what "
                "has no value"
            )
    return f"{len(found)} numbers"


def names(trial: Trial) -> str:
    """Check that names are declared columns, each used once."""
    found: list[Measurement] = trial.result
    columns = [column.name for column in trial.subject.plugin.list_columns()]
    for each in found:
        if not (isinstance(each.metric, str) and _WORD.fullmatch(each.metric)):
            raise Failed(
                f"{each.metric!r} is not a valid name: use lower-case letters, digits and '_'"
            )
        if each.metric not in columns:
            raise Failed(
                f"{each.metric} is not among the columns ({', '.join(columns) or 'none'}); "
                "declare it in the class attribute columns"
            )
    twice = {each.metric for each in found if [o.metric for o in found].count(each.metric) > 1}
    if twice:
        raise Failed(f"{', '.join(sorted(twice))}: measured more than once")
    return ""
