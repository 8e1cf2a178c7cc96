"""Mistakes in several arguments, reported together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from routelab.api import InputError


def call_all(*makers: Callable[[], Any]) -> list[Any]:
    """Call several functions and return their results.

    Raises
    ------
    InputError
        After all calls: the only error, or one with the text of all errors.
    """
    made, errors = [], []
    for make in makers:
        try:
            made.append(make())
        except InputError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise InputError("\n".join(map(str, errors)))
    return made
