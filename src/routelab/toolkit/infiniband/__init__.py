"""InfiniBand fabrics: files of `ibnetdiscover`, forwarding tables, service levels, their proof."""

from routelab.toolkit.infiniband.addresses import Addresses, addresses_of
from routelab.toolkit.infiniband.completion import (
    CompleteTables,
    check_tables,
    complete,
    connected_parts,
    forwarding_problem,
)
from routelab.toolkit.infiniband.entries import (
    Entries,
    channels_of_ports,
    destination_ports,
    destination_switches,
    entries_of,
)
from routelab.toolkit.infiniband.fabric import Fabric, Node, Port
from routelab.toolkit.infiniband.forwarding import (
    ForwardingTables,
    LidOwner,
    parse_forwarding_tables,
    read_forwarding_tables,
    write_forwarding_tables,
)
from routelab.toolkit.infiniband.loaded_routes import loaded_routes
from routelab.toolkit.infiniband.netdiscover import parse_fabric, read_fabric
from routelab.toolkit.infiniband.network import NOT_HOSTS, topology_of
from routelab.toolkit.infiniband.qos_policy import (
    KIND_LABELS,
    Policy,
    is_policy,
    make_rules,
    parse_policy,
    write_policy,
)
from routelab.toolkit.infiniband.replies import with_symmetric_lanes
from routelab.toolkit.infiniband.service_levels import (
    LaneTables,
    ServiceLevels,
    parse_lane_tables,
    parse_service_levels,
    read_lane_tables,
    read_service_levels,
)
from routelab.toolkit.infiniband.simulation import root_switches, simulation_lines
from routelab.toolkit.infiniband.text_lines import TextFile

__all__ = [
    "KIND_LABELS",
    "NOT_HOSTS",
    "Addresses",
    "CompleteTables",
    "Entries",
    "Fabric",
    "ForwardingTables",
    "LaneTables",
    "LidOwner",
    "Node",
    "Policy",
    "Port",
    "ServiceLevels",
    "TextFile",
    "addresses_of",
    "channels_of_ports",
    "check_tables",
    "complete",
    "connected_parts",
    "destination_ports",
    "destination_switches",
    "entries_of",
    "forwarding_problem",
    "is_policy",
    "loaded_routes",
    "make_rules",
    "parse_fabric",
    "parse_forwarding_tables",
    "parse_lane_tables",
    "parse_policy",
    "parse_service_levels",
    "read_fabric",
    "read_forwarding_tables",
    "read_lane_tables",
    "read_service_levels",
    "root_switches",
    "simulation_lines",
    "topology_of",
    "with_symmetric_lanes",
    "write_forwarding_tables",
    "write_policy",
]
