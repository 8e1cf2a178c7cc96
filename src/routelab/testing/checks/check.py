"""The class of checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from routelab.testing.subjects import Subject, Trial


@dataclass(frozen=True)
class Check:
    """A check of a plugin.

    Attributes
    ----------
    name : str
    ask : callable
        Takes a `Trial` if it runs for each input, else a `Subject`. Returns a text with its
        findings; raises Failed or Skipped.
    each : bool
        Whether it runs for each input.
    """

    name: str
    ask: Callable[[Any], str]
    each: bool

    @property
    def summary(self) -> str:
        """First sentence of the check's docstring."""
        return (self.ask.__doc__ or "").partition("\n")[0]


def once(name: str, ask: Callable[[Subject], str]) -> Check:
    """Make a check that runs once for the plugin."""
    return Check(name, ask, each=False)


def each(name: str, ask: Callable[[Trial], str]) -> Check:
    """Make a check that runs for each input."""
    return Check(name, ask, each=True)
