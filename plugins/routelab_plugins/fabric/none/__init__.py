"""No fabric: the routing of the system stays as it is."""

from __future__ import annotations

from routelab.api import FabricJob, FabricPlugin, Switch


class NoFabric(FabricPlugin):
    """Does nothing: measurements use the system's current routing."""

    name = "none"
    summary = "No change of the system's routing"
    changes = False

    def apply(self, job: FabricJob, switch: Switch) -> None:
        """Do nothing."""

    def restore(self, job: FabricJob, switch: Switch) -> None:
        """Do nothing."""
