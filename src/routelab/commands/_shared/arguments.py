"""Types of arguments."""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> float:
    """A number above 0, and not infinite."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return number
