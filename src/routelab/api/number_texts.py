"""Numbers as people write them: in the digits 0 to 9.

Python's `int` and `float` accept digits of every script, underscores, a plus sign and surrounding
spaces, too. Such a text is more often a mistake than a number.
"""

from __future__ import annotations

import re

_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|-?inf|nan")
_NUMBER_WORDS = ("inf", "infinity", "nan")


def read_integer(text: str) -> int:
    """Return the integer that a text stands for, such as ``-3``.

    Raises
    ------
    ValueError
        If the text is not an integer.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not an integer; write it in the digits 0 to 9, as -12")
    return int(text)


def read_number(text: str) -> float:
    """Return the number that a text stands for, such as ``-1.5`` or ``1e-9``.

    Raises
    ------
    ValueError
        If the text is not a number.
    """
    if not _NUMBER.fullmatch(text):
        raise _no_number(text)
    return float(text)


def check_number_text(text: str) -> None:
    """Refuse a number as only Python writes it, such as ``1_000`` or digits outside ASCII.

    This is for texts that pydantic reads afterwards, which would accept ``1_000`` or ``+5``. All
    other texts pass: pydantic itself refuses what is no number.

    Raises
    ------
    ValueError
        If Python reads the text as a number and `read_number` does not.
    """
    try:
        float(text)
    except ValueError:
        return
    # words such as `+inf` or `Infinity` pass: no digits can be wrong in them
    if not _NUMBER.fullmatch(text) and text.strip().lower().lstrip("+-") not in _NUMBER_WORDS:
        raise _no_number(text)


def _no_number(text: str) -> ValueError:
    return ValueError(f"{text!r} is not a number; write it in the digits 0 to 9, as -1.5 or 1e-9")
