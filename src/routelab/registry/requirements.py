"""Requirements on plugins, and on arguments that name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from routelab.api import InputError, UnsupportedError


def require_support(plugin_name: str, reason: str | None) -> None:
    """Raise UnsupportedError if there is a reason why a plugin does not support its input.

    Parameters
    ----------
    plugin_name : str
    reason : str or None
        The answer of ``supports()``; None if the input is supported.
    """
    if reason is not None:
        raise UnsupportedError(f"{plugin_name}: {reason}")


def collect_errors(*functions: Callable[[], Any]) -> list[Any]:
    """Call functions that read arguments; return their results, or report all errors together.

    Raises
    ------
    InputError
        After all calls: the only error, or one with the text of all errors.
    """
    results, errors = [], []
    for function in functions:
        try:
            results.append(function())
        except InputError as error:
            errors.append(error)
    if len(errors) == 1:
        # an only error keeps its class, which decides the exit code
        raise errors[0]
    if errors:
        raise InputError("\n".join(map(str, errors)))
    return results
