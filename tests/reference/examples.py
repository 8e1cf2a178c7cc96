"""Numbers of examples of property tests that cost much."""

from __future__ import annotations

quick = False
"""Whether slow tests are left out."""


def examples(count: int) -> int:
    """Return `count`, or a fifth of it if slow tests are left out."""
    return count // 5 if quick else count
