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
    """The routing of the fabric could not be changed or restored; the text is the reason."""


@dataclass(frozen=True, eq=False)
class FabricJob:
    """A routing to apply, and the hosts that it is for.

    Attributes
    ----------
    routing : str
        Canonical name.
    table : RouteTable
        Its routes; terminals are in the order of `hosts`.
    hosts : tuple of str
        Host of each terminal; empty if everything runs on this machine.
    folder : Path
        Existing folder, stored with the results; files for the fabric's tools go here.
    topology : str
        Instance name of the network; empty if it has none.
    """

    routing: str
    table: RouteTable
    hosts: tuple[str, ...]
    folder: Path
    topology: str = ""


class Switch(Protocol):
    """Interface through which a fabric plugin runs commands, with a log and time limits."""

    @property
    def dry(self) -> bool:
        """Whether commands are only printed; then the plugin must not change anything either."""

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Run a command without a shell, and return what it printed.

        Raises
        ------
        FabricError
            If the command is missing, ends with another code than 0, or takes longer than
            `seconds`; it is killed then, with all processes that it started.
        """


class FabricPlugin(Plugin):
    """Change the routing of a real system, and restore it.

    Class attributes
    ----------------
    changes : bool
        Whether the plugin changes anything; then the user must allow it.
    """

    kind = "fabric"
    changes: ClassVar[bool] = True

    @property
    def export(self) -> str:
        """Instance name of the export plugin whose files the fabric needs; empty: none.

        The files are in the job's folder before `apply` or `restore` is called, and have been
        read back and compared with the routes.
        """
        return ""

    def problems(self, job: FabricJob) -> list[str]:
        """List what is missing, without changing or running anything; one line each."""
        return []

    @abstractmethod
    def apply(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as `job` says, whatever it did before.

        Raises
        ------
        FabricError
            If that failed; the state of the fabric is then unknown, and it is restored.
        """

    @abstractmethod
    def restore(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as before the first `apply`; may be called twice.

        Parameters
        ----------
        job : FabricJob
            The job that was applied last, completely or in part.

        Raises
        ------
        FabricError
        """
