"""Fabrics: plugins that change the routing of a real system and restore it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from routelab.api.errors import RoutelabError
from routelab.api.plugin_base import Plugin
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


class FabricPlugin(Plugin):
    """Changes the routing of a real system, and puts it back.

    Class attributes
    ----------------
    changes : bool
        Whether it changes anything; then it has to be allowed.
    """

    kind = "fabric"
    changes: ClassVar[bool] = True

    @property
    def export(self) -> str:
        """Instance name of the export plugin whose files it needs; empty: none.

        They lie in the job's folder, read back and compared with the routes, before `apply` or
        `restore` is called.
        """
        return ""

    def problems(self, job: FabricJob) -> list[str]:
        """What is missing, found out without changing or running anything; a line each."""
        return []

    def check(self, job: FabricJob, switch: Switch) -> None:
        """Ask the system whether `apply` would work, without changing anything.

        Raises
        ------
        FabricError
            If it would not.
        """
        return

    @abstractmethod
    def apply(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as `job` says, whatever it did before.

        Raises
        ------
        FabricError
            If that failed; what the fabric does then is not known, and it is restored.
        """

    @abstractmethod
    def restore(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as it did before anything was applied; may be called twice.

        Parameters
        ----------
        job : FabricJob
            What was applied last, or begun to be.

        Raises
        ------
        FabricError
        """
