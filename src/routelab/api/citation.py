"""What an algorithm, a network or a number is taken from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A published work and what it is cited for.

    Parameters
    ----------
    key : str
        Key of the work in ``references.bib``, the bibliography of the plugin's package, for
        example ``"mukosey2020"``.
    cited_for : str
        What this plugin takes from the work, for example ``"Algorithm 3"``.
    """

    key: str
    cited_for: str
