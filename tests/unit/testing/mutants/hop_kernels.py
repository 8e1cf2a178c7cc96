"""Compiled functions of hop-by-hop algorithms: one of them, which goes wrong as told."""

import numpy as np

from routelab.kernels.hops import (
    ESCAPE,
    HOPS,
    STATE,
    TARGET,
    WAYPOINT,
    hop_kernel,
    inject_kernel,
    pick,
    table,
)

(
    RIGHT,
    DEAD_END,
    LEAP,
    HIGH,
    MANY,
    NEGATIVE,
    WRITES,
    BACK,
    ONE_CLASS,
    DETOUR,
    ESCAPES,
    BEYOND,
    OVERWRITES,
) = range(13)


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """All channels that come nearer, on the class of the hop; `fault` goes wrong."""
    fault, size = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    start, leaving = table(tables, 1), table(tables, 2)
    reached, distance = table(tables, 3), table(tables, 4)
    target, hops = packets[packet, TARGET], packets[packet, HOPS]
    now = tables[distance + switch * size + target]
    if fault == DEAD_END and now == 1:
        return 0
    count = 0
    for k in range(tables[start + switch], tables[start + switch + 1]):
        over = tables[leaving + k]
        nearer = tables[distance + tables[reached + over] * size + target] < now
        if nearer or fault == BACK or (fault == DETOUR and hops == 0):
            out[count, 0], out[count, 1], out[count, 2] = over, hops, 0
            count += 1
    if fault == LEAP:
        out[0, 0] = (out[0, 0] + tables[table(tables, 0) + 2] - 1) % tables[table(tables, 0) + 2]
    elif fault == HIGH:
        out[0, 1] = 99
    elif fault == MANY:
        count = tables[table(tables, 0) + 3] + 1
    elif fault == BEYOND:
        out[0, 2] = 0 * tables[len(tables) + hops]
    elif fault == OVERWRITES:
        out[tables[table(tables, 0) + 3], 0] = 0
    elif fault == NEGATIVE:
        out[0, 2] = -1
    elif fault == WRITES:
        packets[packet, TARGET] = switch
    elif fault in (BACK, ONE_CLASS):
        for k in range(count):
            out[k, 1] = 0
    elif fault == ESCAPES and hops != 1:
        out[pick(random, count), 2] = ESCAPE
    return count


@hop_kernel
def dice(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer one of the channels, drawn without the random word."""
    count = hop(tables, packets, packet, queues, switch, channel, vc, random, out)
    out[0, 0] = out[np.random.randint(0, count), 0]  # noqa: NPY002
    return 1


@hop_kernel
def rarely(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Leave out channels, once in more calls than there will ever be."""
    count = hop(tables, packets, packet, queues, switch, channel, vc, random, out)
    return 1 if np.random.random() < 1e-300 else count  # noqa: NPY002


@hop_kernel
def counts(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Count the calls behind the candidates."""
    count = hop(tables, packets, packet, queues, switch, channel, vc, random, out)
    out[count, 0] += 1
    return count


@inject_kernel
def by_way_of(tables, reals, packets, packet, queues, hop, random, out):
    """A waypoint, which no phase is for."""
    packets[packet, WAYPOINT] = 0
    return 0


@inject_kernel
def by_real(tables, reals, packets, packet, queues, hop, random, out):
    """Read a probability that the program does not have."""
    packets[packet, STATE] = reals[0] > 0.5
    return 0
