"""Independent checker of deadlock freedom: a route table in, a proof or a named cycle out."""

from routelab.deadlock.certificate import (
    certificate,
    routes_digest,
    topology_digest,
    write_certificate,
)
from routelab.deadlock.checker import check
from routelab.deadlock.verdict import Ring, Status, Switching, Verdict

__all__ = [
    "Ring",
    "Status",
    "Switching",
    "Verdict",
    "certificate",
    "check",
    "routes_digest",
    "topology_digest",
    "write_certificate",
]
