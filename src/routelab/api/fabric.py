"""What fabric plugins are handed: the routing of a real system is changed and put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from routelab.api.errors import RoutelabError
from routelab.api.route_table import RouteTable


class FabricError(RoutelabError):
    """The routing of the fabric could not be changed or put back; the text says why."""


@dataclass(frozen=True, eq=False)
class FabricJob:
    """Which routing goes where.

    Attributes
    ----------
    routing : str
        Canonical name.
    table : RouteTable
        Its routes; terminals are in the order of `hosts`.
    hosts : tuple of str
        Host of each terminal; empty where everything runs on this machine.
    folder : Path
        Exists and is kept beside the results; files for the fabric's tools are written here.
    topology : str
        Instance name of the network; empty where it has none.
    """

    routing: str
    table: RouteTable
    hosts: tuple[str, ...]
    folder: Path
    topology: str = ""


class Switch(Protocol):
    """How a fabric plugin acts: everything goes through here, so that it is logged and limited."""

    @property
    def dry(self) -> bool:
        """Whether commands are only printed; then nothing may be changed in any other way."""

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Run a command without a shell, and return what it printed.

        Raises
        ------
        FabricError
            If it is not there, ends with another code than 0, or takes longer than `seconds`; it
            is killed then, with all that it started.
        """
