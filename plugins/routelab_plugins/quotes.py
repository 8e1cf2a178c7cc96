"""Quotations of output in messages."""

from __future__ import annotations

_LENGTH = 200
"""Largest number of characters of a line in a message."""


def quote_line(line: str) -> str:
    """Quote a line for messages; escape unprintable characters and shorten long lines."""
    text = line.strip()
    return repr(text if len(text) <= _LENGTH else f"{text[:_LENGTH]}...")
