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
    run : callable
        Checks a `Trial` if it runs for each input, else a `Subject`. Returns its findings in words,
        often empty; raises Failed or Skipped.
    each : bool
        Whether it runs for each input.
    """

    name: str
    run: Callable[[Any], str]
    each: bool

    @property
    def summary(self) -> str:
        """First sentence of the check's docstring."""
        return (self.run.__doc__ or "").partition("\n")[0]


def once(name: str, run: Callable[[Subject], str]) -> Check:
    """Make a check that runs once for the plugin."""
    return Check(name, run, each=False)


def each(name: str, run: Callable[[Trial], str]) -> Check:
    """Make a check that runs for each input."""
    return Check(name, run, each=True)
