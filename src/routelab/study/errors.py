"""Errors with all mistakes of a configuration, each with its location and fix."""

from __future__ import annotations

from collections.abc import Iterable

from routelab.api.errors import InputError
from routelab.registry.suggest import did_you_mean


class ConfigError(InputError):
    """All mistakes of the input.

    Attributes
    ----------
    mistakes : tuple of str
        One line each: location, problem, and expected value.
    """

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(dict.fromkeys(mistakes))
        super().__init__("\n".join(self.mistakes))


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` or else ``; known: a, b``, the end of a message."""
    names = sorted(names)
    return did_you_mean(word, names) or (f"; known: {', '.join(names)}" if names else "")
