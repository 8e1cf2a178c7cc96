"""Independent checker of deadlock freedom: a table or program in, a proof or named cycle out."""

from routelab.deadlock.certificate import (
    certificate,
    routes_digest,
    topology_digest,
    write_certificate,
)
from routelab.deadlock.checker import check
from routelab.deadlock.hop_by_hop import check_hop_routing, check_hops
from routelab.deadlock.hop_verdict import HopStatus, HopVerdict
from routelab.deadlock.verdict import Ring, Status, Switching, Verdict

__all__ = [
    "HopStatus",
    "HopVerdict",
    "Ring",
    "Status",
    "Switching",
    "Verdict",
    "certificate",
    "check",
    "check_hop_routing",
    "check_hops",
    "routes_digest",
    "topology_digest",
    "write_certificate",
]
