"""Independent checker that proves tables and programs free of deadlock, or finds a cycle.

The theory is that of Dally and Seitz, and of Duato: a routing is free of deadlock if its channel
dependency graph, or that of its escape channels, is acyclic.

=========================  ===================================  ==================================
step                       route tables                         programs that decide hop by hop
=========================  ===================================  ==================================
reachable states           the paths of the table               `reachable_states`, `fixed_states`
dependency graph           `kernels.dependency`                 `dependency_graph`
cycle, or rank             `table_checker`                      `hop_checker`
verdict                    `verdict`                            `hop_verdict`
certificate                `certificate`                        the rank in the verdict
check of the certificate   ``instances/check.py``
=========================  ===================================  ==================================
"""

from routelab.deadlock.certificate import (
    certificate,
    network_digest,
    routes_digest,
    write_certificate,
)
from routelab.deadlock.hop_checker import check_hop_routing, check_hops
from routelab.deadlock.hop_verdict import HopVerdict
from routelab.deadlock.table_checker import check_table
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
