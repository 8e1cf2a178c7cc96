"""Parts of traffic patterns: positions on a grid, groups, bits of a rank, random orders."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from routelab.api.errors import UnsupportedError
from routelab.api.parameters import Parameters, parameter
from routelab.api.plugin import TrafficPlugin
from routelab.api.topology import Int64Array, Topology
from routelab.api.traffic import Demand
from routelab.toolkit.families.groups import switch_groups


class FixedPermutation(TrafficPlugin):
    """A pattern without random choices: every terminal sends to one terminal, or is silent.

    A terminal whose target is itself is silent.
    """

    @abstractmethod
    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return each terminal's target, int64 of shape (T,), and the pattern's convention.

        Raises
        ------
        UnsupportedError
            If the pattern is not defined on `topology`; the text is the reason.
        """

    def supports(self, topology: Topology) -> str | None:
        """Return why the network does not suit the pattern, or None if it does.

        The pattern must be defined on it, and at least one terminal must send.
        """
        try:
            targets, _ = self.send(topology)
        except UnsupportedError as reason:
            return str(reason)
        if np.array_equal(targets, np.arange(topology.num_terminals)):
            return "every terminal would send to itself"
        return None

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return the permutation; the seed has no effect.

        Raises
        ------
        UnsupportedError
            If the pattern is not defined on `topology`.
        """
        return Demand.permutation(*self.send(topology))


@dataclass(frozen=True, eq=False)
class TerminalGrid:
    """Switches that fill a grid, each with the same number of terminals; links do not matter.

    Attributes
    ----------
    dims : tuple of int
    coordinates : int64 array, shape (S, n)
        Coordinates of each switch.
    terminals : int64 array, shape (S, t)
        Terminals of each switch, ascending.
    """

    dims: tuple[int, ...]
    coordinates: Int64Array
    terminals: Int64Array

    @classmethod
    def of(cls, topology: Topology) -> TerminalGrid:
        """Return the grid that a network's coordinates span.

        Raises
        ------
        UnsupportedError
            If the network has no coordinates, switches are missing, or the numbers of terminals
            differ.
        """
        if topology.coordinates is None or not topology.coordinates.size:
            raise UnsupportedError("needs coordinates, the switches of this network have none")
        coordinates = topology.coordinates.astype(np.int64)
        dims = tuple(int(size) for size in coordinates.max(axis=0) + 1)
        # The switches fill the grid if there are as many as points, and no two at the same point.
        is_whole = coordinates.min() >= 0 and prod(dims) == topology.num_switches
        if not is_whole or len(np.unique(coordinates, axis=0)) != topology.num_switches:
            raise UnsupportedError(
                f"needs a whole grid, {topology.num_switches} switches do not fill one of "
                f"{'x'.join(map(str, dims))}"
            )
        count = np.unique(topology.terminals_per_switch)
        if len(count) > 1 or count[0] == 0:
            raise UnsupportedError(
                "needs the same number of terminals at every switch, but there are from "
                f"{count[0]} to {count[-1]}"
            )
        terminals = np.argsort(topology.terminal_switch, kind="stable")  # switch after switch
        return cls(dims, coordinates, terminals.reshape(topology.num_switches, int(count[0])))

    def targets(self, target_coordinates: Int64Array) -> Int64Array:
        """Return each terminal's target: the i-th of a switch sends to the i-th of another.

        Parameters
        ----------
        target_coordinates : int64 array, shape (S, n)
            Coordinates of the switch that each switch sends to.

        Returns
        -------
        targets : int64 array, shape (T,)
        """
        switch_at = np.empty(self.dims, dtype=np.int64)
        switch_at[tuple(self.coordinates.T)] = np.arange(len(self.coordinates))
        targets = np.empty(self.terminals.size, dtype=np.int64)
        target_switch = switch_at[tuple(target_coordinates.T)]
        targets[self.terminals] = self.terminals[target_switch]
        return targets


def terminal_groups(topology: Topology) -> Int64Array:
    """Return the group of each terminal; int64, shape (T,).

    Groups (`routelab.toolkit.families.groups`) without terminals do not count: the others are
    numbered from 0 in the same order.

    Raises
    ------
    UnsupportedError
        If the network has no groups.

    Examples
    --------
    >>> import routelab
    >>> from routelab.toolkit import terminal_groups
    >>> terminal_groups(routelab.topology("dragonfly~h=1")).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    group = switch_groups(topology)
    if group is None:
        raise UnsupportedError(
            "needs a network with groups of switches (dragonfly, megafly, slim-fly, polarfly, "
            f"hamming or fat-tree), {topology.family or 'this network'} has none"
        )
    # the inverse numbers the groups that occur
    _, terminal_group = np.unique(group[topology.terminal_switch], return_inverse=True)
    return terminal_group.reshape(-1)


def rank_bits(topology: Topology) -> int:
    """Return the number of bits of a terminal's rank.

    Raises
    ------
    UnsupportedError
        If the number of terminals is not a power of two.

    Examples
    --------
    >>> from routelab.toolkit import build_grid, rank_bits
    >>> rank_bits(build_grid("mesh", (4, 4), wrap=False))
    4
    """
    count = topology.num_terminals
    if count < 1 or count & (count - 1):
        raise UnsupportedError(f"needs a power of two terminals; this network has {count}")
    return count.bit_length() - 1


class SeededParameters(Parameters):
    """Seed of a random pattern."""

    seed: int | None = parameter(
        None, ge=0, description="Seed of the random choices; none: that of the run"
    )

    def random(self, run_seed: int) -> np.random.PCG64:
        """Return the pattern's generator of random numbers; use its raw output."""
        return np.random.PCG64(run_seed if self.seed is None else self.seed)


def random_order(count: int, random: np.random.PCG64) -> NDArray[np.int64]:
    """Return the numbers from 0 to `count` - 1 in random order; int64, shape (count,).

    Examples
    --------
    >>> import numpy as np
    >>> from routelab.toolkit import random_order
    >>> random_order(5, np.random.PCG64(1)).tolist()
    [2, 4, 0, 3, 1]
    """
    # raw output is the same in every numpy, unlike that of Generator's methods
    return np.argsort(random.random_raw(count), kind="stable").astype(np.int64)


def too_few_terminals(topology: Topology) -> str | None:
    """Return why a pattern that needs two terminals does not apply; None if it does.

    Examples
    --------
    >>> from routelab.api import Topology
    >>> from routelab.toolkit import too_few_terminals
    >>> too_few_terminals(Topology.create(num_switches=1, channel_source=[], channel_target=[]))
    'needs two terminals or more; this network has 1'
    """
    if topology.num_terminals > 1:
        return None
    return f"needs two terminals or more; this network has {topology.num_terminals}"
