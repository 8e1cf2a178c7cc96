"""Suggestions for misspelled words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'torus'?"`` for the closest of `names`, or ""."""
    name = closest(word, names)
    return f"; did you mean {name!r}?" if name is not None else ""


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelled most like a word; None if none is close."""
    # columns with averages are called `mean`
    word = re.sub("average|avg", "mean", word)
    by_lower_case = {name.lower(): name for name in names}
    matches = get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.65)
    return by_lower_case[matches[0]] if matches else None
