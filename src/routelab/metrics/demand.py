"""Loads of a traffic pattern on channels and terminals, and the load at which they are full.

The bound of Dally and Towles, *Principles and Practices of Interconnection Networks*, 2004, section
3.3.1: ideal throughput is the bandwidth of the busiest channel over its load.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, RouteTable
from routelab.api.topology import Float64Array
from routelab.metrics.capacity import relative_loads
from routelab.metrics.traffic import traffic_loads


def offered_loads(table: RouteTable, demand: Demand) -> Float64Array:
    """Return the mean traffic on each channel at offered load 1, if the network accepts it all.

    A pair without a route sends nothing. Time and memory grow with the square of the terminals.

    Returns
    -------
    loads : float64 array, shape (C,)
        Flits per cycle.
    """
    return traffic_loads(table, demand.between_terminals())


def channel_load_bound(table: RouteTable, demand: Demand) -> float:
    """Find the offered load at which the first channel is full.

    The fastest channels carry one flit per cycle, as in the packet engine, slower ones less in
    proportion to their capacity. The network cannot deliver all of a greater load, because the
    busiest channel is full. But the accepted load, a mean over all terminals, may still grow beyond
    the bound: terminals that do not send over that channel can deliver more.

    Returns
    -------
    load : float
        In the unit of the offered load, flits per cycle for a terminal of rate 1; infinite if no
        channel is used.
    """
    loads = relative_loads(table.topology, offered_loads(table, demand))
    # at load 1; loads grow in proportion, and a channel with 1 flit per cycle is full
    greatest = float(loads.max(initial=0))
    return 1 / greatest if greatest else np.inf


def ejection_bound(demand: Demand) -> float:
    """Find the offered load at which the first terminal receives a flit every cycle.

    Returns
    -------
    load : float
        In the unit of the offered load, flits per cycle for a terminal of rate 1; infinite if no
        terminal sends.
    """
    # flits per cycle that the busiest receiver gets at load 1: the sum over its senders
    greatest = float(demand.between_terminals().sum(axis=0).max(initial=0))
    return 1 / greatest if greatest else np.inf
