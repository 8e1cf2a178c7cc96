"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from routelab.testing.subjects import Subject, Trial


@dataclass(frozen=True)
class Check:
    """A question about a plugin.

    Attributes
    ----------
    name : str
    ask : callable
        Takes a `Trial` if it is asked of each input, else a `Subject`; returns what it found, for
        people; raises Failed or Skipped.
    each : bool
        Asked of each input.
    """

    name: str
    ask: Callable[[Any], str]
    each: bool

    @property
    def summary(self) -> str:
        """What is asked, in a sentence."""
        return (self.ask.__doc__ or "").partition("\n")[0]


def once(name: str, ask: Callable[[Subject], str]) -> Check:
    """A check that is asked of the plugin as a whole."""
    return Check(name, ask, each=False)


def each(name: str, ask: Callable[[Trial], str]) -> Check:
    """A check that is asked of each input."""
    return Check(name, ask, each=True)
