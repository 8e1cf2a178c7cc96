"""Polarized hops: none lessens the distance to the source less the distance to the target.

Camarero, Martínez and Beivide, *Polarized Routing for Large Interconnection Networks*, IEEE Micro
42(2), 2022, doi 10.1109/MM.2021.3139392. The tables are those of `routelab.kernels.graph_hops`;
``table(tables, X)`` is the index in `tables` at which array X begins.

    weight of a switch    its distance to the packet's source less its distance to the target
    growth of a hop       by how much the weight of its target exceeds that of its source, −2 to 2
"""

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.graph_hops import CHANNELS, OWN, TARGETS, distances_to, leaving
from routelab.kernels.hops import SOURCE, TARGET, table, unit_flits
from routelab.kernels.jit import inline

LEVELS = 3
"""Numbers of the algorithm: penalties by the growth of the weight, 0 to 2; then whether they are
relative to the greatest growth."""


@inline
def growth(near_source, change_source, change_target):
    """Return the growth of a hop, 0 to 2; −1 if it is not allowed (Table 1 of the paper).

    Parameters
    ----------
    near_source : bool
        Whether the switch before the hop is nearer to the source than to the target.
    change_source, change_target : int
        Growth of both distances, −1, 0 or 1.
    """
    # Only a hop away from both, or towards both, leaves the weight as it is and may be allowed.
    weight_growth = change_source - change_target
    if weight_growth != 0 or change_source == 0:
        return weight_growth if weight_growth > 0 else -1
    # Away from both where the source is nearer, else towards both. So equal weights cannot go on
    # without end: the weight changes sign once, and on each side such hops all go one way.
    return 0 if (change_source > 0) == near_source else -1


@inline
def offer_polarized(tables, packets, packet, switch, vc_class, out):
    """Write all channels whose hop is allowed, with the penalty of its growth, in units.

    Parameters
    ----------
    vc_class : int
        Class of virtual channels of all candidates.
    out : int32 array
        The argument of hop.

    Returns
    -------
    int
        Number of candidates.
    """
    source = np.uint64(distances_to(tables, packets[packet, SOURCE]))
    target = np.uint64(distances_to(tables, packets[packet, TARGET]))
    source_distance, target_distance = tables[source + u(switch)], tables[target + u(switch)]
    # The hops that `growth` allows although the weight stays equal: near the source, those that
    # lead away from both ends (+1), elsewhere those towards both (−1).
    allowed_change = np.int64(1) if source_distance < target_distance else np.int64(-1)
    # Penalties for the growths 0, 1 and 2: in flits in the tables, here in units of flow control
    # (a packet or a flit), rounded.
    numbers, unit = table(tables, OWN), unit_flits(tables)
    relative = tables[numbers + LEVELS] != 0
    level0, level1 = np.int64(tables[numbers]), np.int64(tables[numbers + 1])
    level2 = np.int64(tables[numbers + 2])
    if unit > 1:
        level0 = (level0 + unit // 2) // unit
        level1 = (level1 + unit // 2) // unit
        level2 = (level2 + unit // 2) // unit
    start, end = leaving(tables, switch)
    # Read once: for all that the compiler knows, writing to `out` may change them.
    channels, targets = u(table(tables, CHANNELS)), u(table(tables, TARGETS))
    count, greatest_growth = np.uint64(0), np.int64(0)
    for entry in range(start, end):
        next_switch = u(tables[targets + u(entry)])
        change = np.int64(tables[source + next_switch]) - source_distance  # away from the source
        weight_growth = change - (np.int64(tables[target + next_switch]) - target_distance)
        penalty = level0 if weight_growth <= 0 else (level1 if weight_growth == 1 else level2)
        out[count, u(0)] = tables[channels + u(entry)]
        out[count, u(1)] = vc_class
        out[count, u(2)] = weight_growth if relative else penalty
        # A candidate that is not allowed is overwritten by the next one. A branch would be
        # mispredicted, which takes longer than the rest of the loop.
        count += u((weight_growth > 0) | ((weight_growth == 0) & (change == allowed_change)))
        greatest_growth = max(greatest_growth, weight_growth)
    # Relative penalties count from the greatest growth, which has level 2.
    for k in range(np.int64(count) if relative else 0):
        weight_growth = out[k, 2] + 2 - greatest_growth
        out[k, 2] = level0 if weight_growth <= 0 else (level1 if weight_growth == 1 else level2)
    return np.int64(count)
