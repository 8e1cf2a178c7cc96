"""routes: all routes as a list, one a line of ``routes.csv``, which `routelab prove` reads.

The format is that of `routelab.toolkit.route_list`. It does not contain the network.
"""

from __future__ import annotations

from routelab.api import Capabilities, ExportPlugin, MachineSpeeds, RouteTable
from routelab.toolkit import route_list_lines

ROUTES = "routes.csv"


class RoutesExport(ExportPlugin):
    """Writes the routes between switches with their virtual channels."""

    name = "routes"
    summary = "List of routes as CSV, for your own programs and for routelab prove"
    capabilities = Capabilities(multipath=True, virtual_channels=None)

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``routes.csv``."""
        return {ROUTES: "".join(route_list_lines(table))}
