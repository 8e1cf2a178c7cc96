"""Lower bound of the maximum load for tables with routes of any length.

If each of T terminals sends 1/(T − 1) flits per cycle to each other one, a table of maximum load L
sustains (T − 1)/L of this uniform traffic. So an upper bound of what any routing can sustain
(`routelab.metrics.bounds.throughput`) is a lower bound of the maximum load of any table, with
the same weights as certificate: the lightest route of a pair may take any detour.
"""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter

from routelab.api import Demand, Topology
from routelab.metrics.bounds.load_bound import LoadBound
from routelab.metrics.bounds.throughput import Traffic, bound_channels
from routelab.metrics.capacity import least_attainable

ANY_LENGTH = "all routes"
"""Turn set of a bound for routes of any length."""


def lower_bound_any_length(topology: Topology, *, seconds: float = 60.0) -> LoadBound:
    """Bound the maximum channel load of all tables that join all pairs, by whatever routes.

    Pairs without a path between them do not count.

    Parameters
    ----------
    topology : Topology
    seconds : float
        Limit of the search, as in `routelab.metrics.bounds.throughput.bound_throughput`.

    Returns
    -------
    LoadBound
        Its turn set is `ANY_LENGTH`; the weights prove `value` as described in
        `routelab.metrics.bounds.load_bound`, with the lightest of *all* routes of a pair.
    """
    begin = perf_counter()
    uniform = Demand.uniform(topology, convention="")  # the text is for reports only
    bound = bound_channels(Traffic(topology, uniform), seconds)
    # No routing sustains more than bound.load = (T − 1) / L, so no maximum load is less than L.
    # Without a load, no traffic uses channels between switches: their maximum load may be 0.
    value = Fraction(0) if bound.load is None else (topology.num_terminals - 1) / bound.load
    return LoadBound(
        value=float(value),
        load=least_attainable(topology, value),
        method=bound.method,
        turn_set=ANY_LENGTH,
        seconds=perf_counter() - begin,
        weights=bound.weights.channel,
    )
