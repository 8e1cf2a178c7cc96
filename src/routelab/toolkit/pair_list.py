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
from routelab.toolkit.route_cells import MAX_PAIRS, Ends, Rows, look_up_ends, require_clear_comments


@dataclass(frozen=True, eq=False)
class Pairs:
    """Groups of ordered pairs of terminals; each pair of terminals is in one group at most.

    Attributes
    ----------
    source, target : Ends, P rows
        Ends of each group: an endpoint with all of its terminals, or one terminal.
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
        Whether groups have one terminal at this end, instead of all terminals of a switch. They
        always have if a line names a terminal there.

    Raises
    ------
    InputError
        If an end is not in the network, no line has two different terminals, or there are too many
        pairs.
    """
    require_clear_comments(rows, {*rows.texts, *topology.switch_names})
    line_source = look_up_ends(rows, rows.source, topology)
    line_target = look_up_ends(rows, rows.target, topology)
    first_source, num_sources, source_units = _find_units(
        line_source, topology, single_terminals=by_source or line_source.any_terminal
    )
    first_target, num_targets, target_units = _find_units(
        line_target, topology, single_terminals=by_target or line_target.any_terminal
    )
    # 1. Each line becomes the product of its units at both ends. With 2 sources and 3 targets, pair
    #    4 of the line joins source 4 // 3 = 1 and target 4 % 3 = 1.
    num_pairs = num_sources * num_targets
    if num_pairs.sum() > MAX_PAIRS:
        raise InputError(
            f"{rows.path}: it has {int(num_pairs.sum()):,} pairs of terminals, and "
            f"{MAX_PAIRS:,} are possible; give a part of them"
        )
    line = np.repeat(np.arange(len(num_pairs)), num_pairs)
    pairs_before = np.cumsum(num_pairs) - num_pairs
    pair_of_line = np.arange(num_pairs.sum()) - pairs_before[line]
    source_unit = source_units[first_source[line] + pair_of_line // num_targets[line]]
    target_unit = target_units[first_target[line] + pair_of_line % num_targets[line]]
    # 2. Lines may share pairs: one of each remains.
    pair_code = source_unit * (target_unit.max(initial=0) + 1) + target_unit
    _, first = np.unique(pair_code, return_index=True)
    source = _ends_of_units(source_unit[first], topology)
    target = _ends_of_units(target_unit[first], topology)
    # 3. Count the pairs of terminals. A terminal sends nothing to itself: from a switch of 3
    #    terminals to itself there are 9 - 3 pairs, to one of its terminals 3 - 1.
    num_senders, num_receivers = (
        np.where(terminal < 0, topology.demand[endpoint], 1)
        for endpoint, terminal in (source, target)
    )
    is_local = source.endpoint == target.endpoint
    are_two_terminals = (
        (source.terminal >= 0) & (target.terminal >= 0) & (source.terminal != target.terminal)
    )
    num_to_itself = np.where(
        is_local & ~are_two_terminals, np.minimum(num_senders, num_receivers), 0
    )
    count = num_senders * num_receivers - num_to_itself
    if not count.any():
        raise InputError(f"{rows.path}: no line has two different terminals")
    return Pairs(source, target, count, is_local)


def _find_units(
    ends: Ends, topology: Topology, *, single_terminals: bool
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the units that each row stands for at one end, for the pairs of units that it names.

    A unit is an endpoint with all of its terminals, or with `single_terminals` one terminal, whose
    number is the number of endpoints plus the terminal. Endpoint 0 with terminals 0 and 2, endpoint
    1 with terminal 1: the units are 0 and 1, or with `single_terminals` 2 + 0, 2 + 2 and 2 + 1.

    Returns
    -------
    first, count : int64 array, shape (K,)
        Row k stands for the units ``units[first[k] : first[k] + count[k]]``.
    units : int64 array
        Endpoint after endpoint.
    """
    endpoint, terminal = (numbers.astype(np.int64) for numbers in ends)
    num_endpoints = len(topology.endpoints)
    if not single_terminals:
        return endpoint, np.ones_like(endpoint), np.arange(num_endpoints)
    # The units are the terminals sorted by endpoint: those of a switch follow one another, and
    # `position` tells where each terminal stands.
    terminal_endpoint = topology.terminal_endpoint
    by_endpoint = np.argsort(terminal_endpoint, kind="stable")
    first_of_endpoint = np.searchsorted(terminal_endpoint[by_endpoint], endpoint)
    position = np.empty_like(by_endpoint)
    position[by_endpoint] = np.arange(len(by_endpoint))
    names_terminal = terminal >= 0
    return (
        np.where(names_terminal, position[terminal], first_of_endpoint),
        np.where(names_terminal, 1, topology.demand[endpoint]),
        num_endpoints + by_endpoint,
    )


def _ends_of_units(unit: Int64Array, topology: Topology) -> Ends:
    """Return endpoint and terminal of each unit; −1 for the terminal if the unit is an endpoint."""
    terminal: Int32Array = np.maximum(unit - len(topology.endpoints), -1).astype(np.int32)
    endpoint = np.where(terminal < 0, unit, topology.terminal_endpoint[terminal])
    return Ends(endpoint.astype(np.int32), terminal)
