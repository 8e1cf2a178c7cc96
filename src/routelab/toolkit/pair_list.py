"""Lists of the pairs of terminals that send packets, as CSV.

The heading is ``source,target``, with a pair in each line below. Both are switches, or terminals
that have names, as in `routelab.toolkit.route_list`; a switch stands for all of its terminals, also
for those that have routes of their own. So a line stands for pairs of terminals::

    line    terminals                    pairs of terminals
    A,B     A has a1, B has b1 and b2    a1 b1, a1 b2
    a1,b2                                a1 b2

A pair that several lines name counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.toolkit.route_cells import MAX_PAIRS, Ends, Rows, ends_of, require_comments


@dataclass(frozen=True, eq=False)
class Pairs:
    """Groups of ordered pairs of terminals, each pair in one of them.

    Attributes
    ----------
    source, target : (int32 array, int32 array), shapes (P,)
        Endpoint, and terminal or −1 for all terminals of the endpoint.
    count : int64 array, shape (P,)
        Ordered pairs of different terminals in each group.
    is_local : bool array, shape (P,)
        Whether both ends are at one switch, so that packets need no route.
    """

    source: Ends
    target: Ends
    count: Int64Array
    is_local: BoolArray

    @property
    def total(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())


def select_pairs(
    rows: Rows, topology: Topology, *, by_source: bool = False, by_target: bool = False
) -> Pairs:
    """Look up the ends of the pairs of a list.

    Parameters
    ----------
    rows : Rows
        From `routelab.toolkit.route_cells.read_pairs`.
    topology : Topology
    by_source, by_target : bool
        Whether terminals of one switch are told apart at this end; always, if a line names one.

    Raises
    ------
    InputError
        If an end is not in the network, no line has two different terminals, or there are too many
        pairs.
    """
    require_comments(rows, {*rows.texts, *topology.switch_names})
    source = ends_of(rows, rows.source, topology)
    target = ends_of(rows, rows.target, topology)
    sources = _units(source, topology, alone=by_source or bool((source[1] >= 0).any()))
    targets = _units(target, topology, alone=by_target or bool((target[1] >= 0).any()))
    # 1. Each line becomes the product of its units at both ends.
    width = targets[1]
    size = sources[1] * width
    if size.sum() > MAX_PAIRS:
        raise InputError(
            f"{rows.path}: it has {int(size.sum()):,} pairs of terminals, and {MAX_PAIRS:,} are "
            "possible; give a part of them"
        )
    row = np.repeat(np.arange(len(size)), size)
    place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    units = (
        sources[2][sources[0][row] + place // width[row]],
        targets[2][targets[0][row] + place % width[row]],
    )
    # 2. Lines may share pairs.
    first = np.unique(units[0] * (units[1].max(initial=0) + 1) + units[1], return_index=True)[1]
    from_end, to_end = (_ends_of_units(unit[first], topology) for unit in units)
    number = [np.where(t < 0, topology.demand[e], 1) for e, t in (from_end, to_end)]
    is_local = from_end[0] == to_end[0]
    are_two = (from_end[1] >= 0) & (to_end[1] >= 0) & (from_end[1] != to_end[1])
    # a terminal sends nothing to itself
    same = np.where(is_local & ~are_two, np.minimum(*number), 0)
    count = number[0] * number[1] - same
    if not count.any():
        raise InputError(f"{rows.path}: no line has two different terminals")
    return Pairs(from_end, to_end, count, is_local)


Units = tuple[Int64Array, Int64Array, Int64Array]
"""First unit and number of units of each row, and the units: an endpoint, or the number of
endpoints plus a terminal."""


def _units(end: Ends, topology: Topology, *, alone: bool) -> Units:
    """Return the units that each row stands for at one end; `alone`: each terminal is one."""
    endpoint, terminal = (part.astype(np.int64) for part in end)
    size = len(topology.endpoints)
    if not alone:
        return endpoint, np.ones_like(endpoint), np.arange(size)
    at = topology.terminal_endpoint
    by_endpoint = np.argsort(at, kind="stable")
    start = np.searchsorted(at[by_endpoint], endpoint)
    place = np.empty_like(by_endpoint)
    place[by_endpoint] = np.arange(len(at))
    is_one = terminal >= 0
    return (
        np.where(is_one, place[terminal], start),
        np.where(is_one, 1, topology.demand[endpoint]),
        size + by_endpoint,
    )


def _ends_of_units(unit: Int64Array, topology: Topology) -> Ends:
    """Return endpoint and terminal of each unit."""
    terminal: Int32Array = np.maximum(unit - len(topology.endpoints), -1).astype(np.int32)
    endpoint = np.where(terminal < 0, unit, topology.terminal_endpoint[terminal])
    return endpoint.astype(np.int32), terminal
