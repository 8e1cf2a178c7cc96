"""Find plugins that change the networks, graphs and tables that they are given."""

from __future__ import annotations

from routelab.api import PluginError, RouteTable, RoutingGraph, Topology

_WORDS = {Topology: "network", RoutingGraph: "routing graph", RouteTable: "route table"}


def check_unchanged(plugin: str, *values: Topology | RoutingGraph | RouteTable) -> None:
    """Check, after a plugin has run, that its inputs and results are as they were created.

    Raises
    ------
    PluginError
        If a field has other contents; names the plugin.
    """
    for value in values:
        changes = value.changes()
        if changes:
            raise PluginError(
                f"{plugin}: it changed {', '.join(changes)} of the {_WORDS[type(value)]} in "
                "memory, so no result with it is valid; a plugin must not write to arrays that it "
                "was given or has returned"
            )


def check_usable(network: Topology) -> None:
    """Check that a network is as it was created before work on it begins.

    Raises
    ------
    PluginError
        If a field has other contents.
    """
    changes = network.changes()
    if changes:
        raise PluginError(
            f"{', '.join(changes)} of the network were changed in memory after it was built; "
            "build it again without the plugin that changes it"
        )
