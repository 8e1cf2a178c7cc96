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
    word = re.sub("average|avg", "mean", word)
    spelled = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), spelled, n=1, cutoff=0.65)
    return spelled[close[0]] if close else None
