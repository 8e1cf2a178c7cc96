"""Base class of engines for workloads: finds the machine and the placement of their settings."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from typing_extensions import override

from routelab.api import EnginePlugin
from routelab.simulation.flow.placement import is_file, read_placement
from routelab.simulation.flow.settings import FlowSettings
from routelab.study.cluster.keys import load_cluster, locate_cluster, require_cluster
from routelab.study.files import seen_from_here
from routelab.toolkit.machine import Machine


class MachineEngine(EnginePlugin):
    """An engine for workloads with `FlowSettings`."""

    work = "workload"
    Parameters = FlowSettings

    @override
    def check(self) -> None:
        """Check that the machine exists."""
        machine_of(self.parameters)

    @override
    def in_folder(self, folder: Path) -> Self:
        """Search for clusters next to the folder."""
        settings: FlowSettings = self.parameters
        files: dict[str, str] = {}
        if settings.machine:
            files["machine"] = locate_cluster(folder, settings.machine)
            load_cluster(Path(files["machine"]))
        if is_file(settings.placement):
            path = folder / settings.placement
            read_placement(path)
            files["placement"] = seen_from_here(path)
        return type(self)(settings.model_copy(update=files))

    @override
    def input_files(self) -> list[Path]:
        """Return the files of the machine and the placement."""
        settings: FlowSettings = self.parameters
        named = [settings.machine] if Path(settings.machine).suffix in (".yaml", ".yml") else []
        if is_file(settings.placement):
            named.append(settings.placement)
        return [Path(name) for name in named]


def machine_of(settings: FlowSettings) -> Machine:
    """Return the machine that settings name, with the values that they override.

    Raises
    ------
    InputError
        If the cluster does not exist, or its file is invalid.
    """
    if not settings.machine:
        return settings.on(Machine())
    return settings.on(load_cluster(require_cluster(settings.machine)).machine)
