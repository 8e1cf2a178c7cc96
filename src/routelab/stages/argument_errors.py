"""Mistakes in several arguments, told at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from routelab.api import InputError


def together(*makers: Callable[[], Any]) -> list[Any]:
    """What each of these functions makes.

    Raises
    ------
    InputError
        After all of them have been tried: the one error, or one with the text of all.
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
