"""Numbers of a network, a route table and a routing graph."""

from routelab.metrics import columns
from routelab.metrics.bisection import BisectionBandwidth, effective_bisection
from routelab.metrics.capacity import (
    as_fraction,
    channel_factors,
    least_attainable,
    load_factors,
    relative_loads,
    total_capacity,
)
from routelab.metrics.demand import channel_load_bound, ejection_bound, offered_loads
from routelab.metrics.diversity import RouteCounts, route_diversity
from routelab.metrics.lengths import max_hops, max_turns, mean_hops, mean_turns, turns
from routelab.metrics.load import (
    channel_loads,
    mean_load,
    perfect_load,
    served_pairs,
    sigma,
    terminal_pairs,
)
from routelab.metrics.phases import phase_load, phase_loads
from routelab.metrics.reachability import (
    connected_components,
    connected_pairs,
    pairs,
    reachable_pairs,
)
from routelab.metrics.shape import (
    Cost,
    Cut,
    Distances,
    best_cut,
    network_cost,
    switch_distances,
)
from routelab.metrics.traffic import perfect_traffic_load, traffic_loads
from routelab.metrics.worst_case import PermutationLoad, worst_permutation

__all__ = [
    "BisectionBandwidth",
    "Cost",
    "Cut",
    "Distances",
    "PermutationLoad",
    "RouteCounts",
    "as_fraction",
    "best_cut",
    "channel_factors",
    "channel_load_bound",
    "channel_loads",
    "columns",
    "connected_components",
    "connected_pairs",
    "effective_bisection",
    "ejection_bound",
    "least_attainable",
    "load_factors",
    "max_hops",
    "max_turns",
    "mean_hops",
    "mean_load",
    "mean_turns",
    "network_cost",
    "offered_loads",
    "pairs",
    "perfect_load",
    "perfect_traffic_load",
    "phase_load",
    "phase_loads",
    "reachable_pairs",
    "relative_loads",
    "route_diversity",
    "served_pairs",
    "sigma",
    "switch_distances",
    "terminal_pairs",
    "total_capacity",
    "traffic_loads",
    "turns",
    "worst_permutation",
]
