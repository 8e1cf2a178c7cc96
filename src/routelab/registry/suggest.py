"""Suggestions for misspelled words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'torus'?"`` for the closest of `names`, or ""."""
    spelled = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), spelled, n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""
