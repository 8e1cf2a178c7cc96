"""Base class of engines for workloads: finds the machine and the placement of their settings."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from typing_extensions import override

from routelab.api import EnginePlugin
from routelab.simulation.flow.placement import is_file, read_placement
from routelab.simulation.flow.settings import FlowSettings
from routelab.study.cluster.keys import load_cluster, locate_cluster, require_cluster
from routelab.study.files import path_from_working_folder
from routelab.toolkit.machine import Machine


class MachineEngine(EnginePlugin):
    """Base class of engines that run a workload on a machine (flow engine and SMPI).

    They share the parameters `FlowSettings`, which may name files of a machine and a placement.
    """

    work = "workload"
    Parameters = FlowSettings

    @override
    def check(self) -> None:
        """Refuse a machine that does not exist or is invalid."""
        machine_of(self.parameters)

    @override
    def in_folder(self, folder: Path) -> Self:
        """Replace machine and placement, as a study in `folder` names them, by paths of files.

        The paths are relative to the working directory. Both files are read, so that mistakes in
        them are found now.
        """
        settings: FlowSettings = self.parameters
        changes: dict[str, str] = {}
        if settings.machine:
            changes["machine"] = locate_cluster(folder, settings.machine)
            load_cluster(Path(changes["machine"]))  # only to find mistakes
        if is_file(settings.placement):
            path = folder / settings.placement
            read_placement(path)  # only to find mistakes
            changes["placement"] = path_from_working_folder(path)
        return type(self)(settings.model_copy(update=changes))

    @override
    def input_files(self) -> list[Path]:
        """Return the files of the machine and the placement.

        A machine by its name has no file here; `in_folder` replaces such names in studies.
        """
        settings: FlowSettings = self.parameters
        files = []
        if Path(settings.machine).suffix in (".yaml", ".yml"):
            files.append(Path(settings.machine))
        if is_file(settings.placement):
            files.append(Path(settings.placement))
        return files


def machine_of(settings: FlowSettings) -> Machine:
    """Return the machine that settings name, or one with default values if they name none.

    The values that the settings have (not None) replace its own.

    Raises
    ------
    InputError
        If the cluster does not exist, or its file is invalid.
    """
    if settings.machine:
        machine = load_cluster(require_cluster(settings.machine)).machine
    else:
        machine = Machine()
    return settings.override(machine)
