"""What an algorithm, a network or a number is taken from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A published work and what it is cited for.

    Parameters
    ----------
    text : str
        The work on one line, for example ``"Dally, William J.; Seitz, Charles L. Deadlock-Free
        Message Routing in Multiprocessor Interconnection Networks. IEEE Transactions on Computers
        C-36(5), pp. 547–553, 1987"``.
    doi : str
        Without the resolver's address, for example ``"10.1109/TC.1987.1676939"``; empty if the
        work has none.
    cited_for : str
        What this plugin takes from the work, for example ``"Algorithm 3"``.

    Examples
    --------
    >>> from routelab.api import Citation
    >>> Citation("Dally, Seitz, 1987", "10.1109/TC.1987.1676939", "dimension order").doi
    '10.1109/TC.1987.1676939'
    """

    text: str
    doi: str
    cited_for: str

    def __str__(self) -> str:
        """Return the work on one line, with its DOI."""
        return f"{self.text}, doi:{self.doi}" if self.doi else self.text
