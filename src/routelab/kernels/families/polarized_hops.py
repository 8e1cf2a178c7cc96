"""Polarized hops: none lessens the distance to the source less the distance to the target.

Camarero, Martínez and Beivide, *Polarized Routing for Large Interconnection Networks*, IEEE Micro
42(2), 2022, doi 10.1109/MM.2021.3139392. The tables are those of `routelab.kernels.graph_hops`.
"""

from numba import njit

from routelab.kernels.graph_hops import OWN, channel_at, distances_to, leaving
from routelab.kernels.hops import SOURCE, TARGET, table, unit_flits

LEVELS = 3
"""Numbers of the algorithm: penalties by the growth of the weight, 0 to 2; then whether they are
relative to the greatest growth."""


@njit(_nrt=False, forceinline=True)
def growth(near_source, change_source, change_target):
    """Return by how much a hop increases the weight; −1 if it is not allowed (Table 1).

    Parameters
    ----------
    near_source : bool
        Whether the switch before the hop is nearer to the source than to the target.
    change_source, change_target : int
        Growth of both distances, −1, 0 or 1.
    """
    more = change_source - change_target
    if more != 0 or change_source == 0:
        return more if more > 0 else -1
    return 0 if (change_source > 0) == near_source else -1


@njit(_nrt=False, forceinline=True)
def offer_polarized(tables, packets, packet, switch, name, out):
    """Write all channels whose hop is allowed, with the penalty of its growth, in units.

    Parameters
    ----------
    name : int
        Class of virtual channels of all candidates.
    out : int32 array
        The argument of hop.

    Returns
    -------
    int
        Number of candidates.
    """
    source = distances_to(tables, packets[packet, SOURCE])
    target = distances_to(tables, packets[packet, TARGET])
    away, left = tables[source + switch], tables[target + switch]
    near = away < left
    own = table(tables, OWN)
    first, end = leaving(tables, switch)
    count, greatest = 0, 0
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        more = growth(
            near, tables[source + next_switch] - away, tables[target + next_switch] - left
        )
        if more >= 0:
            out[count, 0] = onward
            out[count, 1] = name
            out[count, 2] = more
            count += 1
            greatest = max(greatest, more)
    lift = 0
    if tables[own + LEVELS] != 0:
        lift = 2 - greatest
    unit = unit_flits(tables)
    for k in range(count):
        out[k, 2] = (tables[own + min(2, out[k, 2] + lift)] + unit // 2) // unit
    return count
