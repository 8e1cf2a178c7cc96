"""Lower bounds of the maximum channel load, each with a certificate.

`lower_bound_rules` bounds all tables of shortest legal routes, `lower_bound_topology` all tables
of minimal routes; `certified` checks either with a shortest-path routine.
"""

from routelab.bounds.facts import BOUND_FIELDS, bound_facts, bound_numbers, bound_of
from routelab.bounds.load_bound import (
    ALL_MINIMAL,
    LoadBound,
    certified,
    network_graph,
    takes_shortest,
)
from routelab.bounds.search import lower_bound_rules, lower_bound_topology, with_exact

__all__ = [
    "ALL_MINIMAL",
    "BOUND_FIELDS",
    "LoadBound",
    "bound_facts",
    "bound_numbers",
    "bound_of",
    "certified",
    "lower_bound_rules",
    "lower_bound_topology",
    "network_graph",
    "takes_shortest",
    "with_exact",
]
