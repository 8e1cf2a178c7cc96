"""Forwarding tables: one tree towards each destination terminal, with evenly loaded channels.

For plugins whose tables an InfiniBand switch can hold.
"""

from routelab.toolkit.forwarding.fabric import (
    all_routes,
    fabric_of,
    legality_of_orders,
    legality_of_rules,
)
from routelab.toolkit.forwarding.layers import (
    by_destination,
    fewer_layers,
    first_fitting_layers,
    repeated_channel,
    table_of_trees,
)
from routelab.toolkit.forwarding.search import TreeSearch

__all__ = [
    "TreeSearch",
    "all_routes",
    "by_destination",
    "fabric_of",
    "fewer_layers",
    "first_fitting_layers",
    "legality_of_orders",
    "legality_of_rules",
    "repeated_channel",
    "table_of_trees",
]
