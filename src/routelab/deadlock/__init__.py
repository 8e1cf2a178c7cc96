"""Independent checker that proves tables and programs free of deadlock, or finds a cycle."""

from routelab.deadlock.certificate import (
    certificate,
    network_digest,
    routes_digest,
    write_certificate,
)
from routelab.deadlock.checker import check_table
from routelab.deadlock.hop_by_hop import check_hop_routing, check_hops
from routelab.deadlock.hop_verdict import HopVerdict
from routelab.deadlock.verdict import Ring, Switching, Verdict

__all__ = [
    "HopVerdict",
    "Ring",
    "Switching",
    "Verdict",
    "certificate",
    "check_hop_routing",
    "check_hops",
    "check_table",
    "network_digest",
    "routes_digest",
    "write_certificate",
]
