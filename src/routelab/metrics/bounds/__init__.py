"""Lower bounds of the maximum channel load, each with a certificate.

`lower_bound_rules` bounds all tables of shortest legal routes, `lower_bound_topology` all tables
of minimal routes; `bound_from_weights` checks either with a shortest-path routine.
`lower_bound_any_length` bounds all tables, whatever their routes.
"""

from routelab.metrics.bounds.any_length import ANY_LENGTH, lower_bound_any_length
from routelab.metrics.bounds.facts import (
    BOUND_FIELDS,
    any_length_facts,
    bound_facts,
    bound_from_numbers,
    bound_numbers,
)
from routelab.metrics.bounds.load_bound import (
    ALL_MINIMAL,
    LoadBound,
    bound_from_weights,
    network_graph,
    takes_shortest,
)
from routelab.metrics.bounds.search import lower_bound_rules, lower_bound_topology, tighten_bound

__all__ = [
    "ALL_MINIMAL",
    "ANY_LENGTH",
    "BOUND_FIELDS",
    "LoadBound",
    "any_length_facts",
    "bound_facts",
    "bound_from_numbers",
    "bound_from_weights",
    "bound_numbers",
    "lower_bound_any_length",
    "lower_bound_rules",
    "lower_bound_topology",
    "network_graph",
    "takes_shortest",
    "tighten_bound",
]
