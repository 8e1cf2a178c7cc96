"""Traffic between terminals, as rates (open loop) or as messages to finish (closed loop)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.errors import PluginError
from routelab.api.topology import Float64Array, Int32Array, Int64Array, Topology, frozen_array


@dataclass(frozen=True, eq=False)
class Demand:
    """Destinations of each terminal's messages, and its rate.

    The destinations of a terminal are a mixture: for each message it draws a *part* of the mixture
    by the parts' shares, and then one terminal of the part's *set* uniformly. Parts of several
    terminals may have the same set: uniform traffic is one set of all terminals.

    Attributes
    ----------
    rate : float64 array, shape (T,)
        Relative to the offered load: at load x a terminal of rate 1 offers x flits per cycle; a
        terminal of rate 0 is silent.
    part_start : int64 array, shape (T + 1,)
        Parts ``part_start[t]:part_start[t + 1]`` belong to terminal t.
    part_share : float64 array, shape (K,)
        Probability of each part; those of a terminal that sends add up to 1.
    part_set : int32 array, shape (K,)
        Set of each part.
    set_start : int64 array, shape (M + 1,)
    members : int32 array
        Terminals ``members[set_start[m]:set_start[m + 1]]`` are those of set m.
    to_self : bool
        Whether a terminal may send to itself; if not, it draws from the other terminals of the
        set.
    convention : str
        Who sends to whom, in words for reports: whether by rank or by coordinate, whether terminals
        send to themselves, and which are silent.

    Examples
    --------
    >>> from routelab.api import Demand
    >>> from routelab.toolkit import build_grid
    >>> Demand.uniform(build_grid("mesh", (2, 2), wrap=False), "all to all").rate.tolist()
    [1.0, 1.0, 1.0, 1.0]

    Of three terminals, the first sends one half to terminal 2 (set 0) and one half to all others
    (set 1), the second sends all to terminal 2, and the third is silent:

    >>> hot_spot = Demand.create(
    ...     rate=[1, 1, 0],
    ...     part_start=[0, 2, 3, 3],
    ...     part_share=[0.5, 0.5, 1],
    ...     part_set=[0, 1, 0],
    ...     set_start=[0, 1, 4],
    ...     members=[2, 0, 1, 2],
    ...     to_self=False,
    ...     convention="terminal 2 is a hot spot",
    ... )
    >>> hot_spot.between_terminals().tolist()
    [[0.0, 0.25, 0.75], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    rate: Float64Array
    part_start: Int64Array
    part_share: Float64Array
    part_set: Int32Array
    set_start: Int64Array
    members: Int32Array
    to_self: bool
    convention: str

    @classmethod
    def create(
        cls,
        *,
        rate: ArrayLike,
        part_start: ArrayLike,
        part_share: ArrayLike,
        part_set: ArrayLike,
        set_start: ArrayLike,
        members: ArrayLike,
        to_self: bool,
        convention: str,
    ) -> Demand:
        """Build a demand and check it.

        Raises
        ------
        PluginError
            If lengths or ranges do not fit, shares of a sender do not add up to 1, or a sender
            can only send to itself without `to_self`.
        """
        demand = cls(
            rate=frozen_array(rate, np.float64),
            part_start=frozen_array(part_start, np.int64),
            part_share=frozen_array(part_share, np.float64),
            part_set=frozen_array(part_set, np.int32),
            set_start=frozen_array(set_start, np.int64),
            members=frozen_array(members, np.int32),
            to_self=to_self,
            convention=convention,
        )
        demand._check()
        return demand

    def _check(self) -> None:
        """Refuse arrays that do not describe a demand."""
        # Report all problems of lengths and ranges together. Senders are checked only without such
        # problems, because that check uses the arrays as indices.
        num_terminals = len(self.rate)
        problems = []
        if not np.isfinite(self.rate).all() or self.rate.min(initial=0) < 0:
            problems.append("rate holds a value that is not a rate")
        for name, starts, end in (
            ("part_start", self.part_start, len(self.part_share)),
            ("set_start", self.set_start, len(self.members)),
        ):
            if (
                not len(starts)
                or starts[0] != 0
                or starts[-1] != end
                or (np.diff(starts) < 0).any()
            ):
                problems.append(f"{name} must rise from 0 to {end}")
        if len(self.part_start) != num_terminals + 1:
            problems.append(
                f"part_start has {len(self.part_start)} entries, not {num_terminals + 1}"
            )
        if len(self.part_set) != len(self.part_share):
            problems.append("part_set and part_share differ in length")
        elif len(self.part_set) and not (
            self.part_set.min() >= 0 and self.part_set.max() < len(self.set_start) - 1
        ):
            problems.append("part_set names a set that does not exist")
        if len(self.members) and not (
            self.members.min() >= 0 and self.members.max() < num_terminals
        ):
            problems.append("members names a terminal that does not exist")
        if problems:
            raise PluginError("demand: " + "; ".join(problems))
        self._check_senders()

    def _check_senders(self) -> None:
        """Refuse senders whose shares do not add up to 1, or that have no destination."""
        # 1. Shares of each terminal. First, the terminal that each part belongs to.
        part_sender = np.repeat(np.arange(len(self.rate)), np.diff(self.part_start))
        total_share = np.bincount(part_sender, self.part_share, minlength=len(self.rate))
        # shares such as 1/3 are rounded, so their sum is not exactly 1
        has_wrong_sum = (self.rate > 0) & (np.abs(total_share - 1) > 1e-9)
        if has_wrong_sum.any():
            terminal = int(np.flatnonzero(has_wrong_sum)[0])
            raise PluginError(
                f"demand: the shares of terminal {terminal} add up to {total_share[terminal]:g}"
            )
        if (self.part_share < 0).any():
            raise PluginError("demand: part_share holds negative shares")
        # 2. Destinations of each part that messages are drawn from: its set must not be empty, nor
        #    hold the sender alone if a terminal may not send to itself.
        set_size = np.diff(self.set_start)[self.part_set]
        is_used = (self.part_share > 0) & (self.rate[part_sender] > 0)
        has_only_sender = np.zeros(len(set_size), dtype=np.bool_)
        if not self.to_self:
            # A set holds one terminal, perhaps several times, if its members never change.
            num_changes = np.cumsum(np.diff(self.members, prepend=self.members[:1]) != 0)
            filled = np.flatnonzero(set_size > 0)
            first = self.set_start[self.part_set[filled]]
            last = self.set_start[self.part_set[filled] + 1] - 1
            holds_one = num_changes[first] == num_changes[last]
            has_only_sender[filled] = holds_one & (self.members[first] == part_sender[filled])
        lacks_destination = is_used & ((set_size == 0) | has_only_sender)
        if lacks_destination.any():
            terminal = int(part_sender[np.flatnonzero(lacks_destination)[0]])
            raise PluginError(f"demand: terminal {terminal} has no destination")

    @classmethod
    def uniform(cls, topology: Topology, convention: str, *, to_self: bool = False) -> Demand:
        """Return a demand in which every terminal sends to all others equally often.

        With `to_self`, it sends to itself as often. `convention` describes the pattern in reports.
        """
        num_terminals = topology.num_terminals
        # the only terminal of a network can send to nobody else, so it is silent
        has_destination = num_terminals > 1 or to_self
        # each terminal has one part, whose set is set 0: all terminals
        return cls.create(
            rate=np.full(num_terminals, 1.0 if has_destination else 0.0),
            part_start=np.arange(num_terminals + 1),
            part_share=np.ones(num_terminals),
            part_set=np.zeros(num_terminals),
            set_start=[0, num_terminals],
            members=np.arange(num_terminals),
            to_self=to_self,
            convention=convention,
        )

    @classmethod
    def permutation(cls, target: ArrayLike, convention: str) -> Demand:
        """Return a demand in which every terminal sends to one terminal.

        Parameters
        ----------
        target : int array, shape (T,)
            Terminal that each terminal sends to; −1 for a silent terminal. A terminal that would
            send to itself is silent, too.
        convention : str
            Description of the pattern, for reports.
        """
        targets = np.asarray(target, dtype=np.int64)
        sends = (targets >= 0) & (targets != np.arange(len(targets)))
        num_senders = int(sends.sum())
        # Each sender has one part, whose set is its target. Silent terminals have no part.
        return cls.create(
            rate=sends.astype(np.float64),
            part_start=np.concatenate(([0], np.cumsum(sends))),
            part_share=np.ones(num_senders),
            part_set=np.arange(num_senders),
            set_start=np.arange(num_senders + 1),
            members=targets[sends],
            to_self=False,
            convention=convention,
        )

    def between_terminals(self) -> Float64Array:
        """Return flits per cycle between terminals at load 1; shape (T, T), for small networks."""
        num_terminals = len(self.rate)
        matrix = np.zeros((num_terminals, num_terminals))
        for source in np.flatnonzero(self.rate > 0):
            for part in range(self.part_start[source], self.part_start[source + 1]):
                set_index = self.part_set[part]
                targets = self.members[self.set_start[set_index] : self.set_start[set_index + 1]]
                if not self.to_self:
                    targets = targets[targets != source]
                if len(targets):  # a part of share 0 may have none
                    flits = self.rate[source] * self.part_share[part] / len(targets)
                    # a set may list a terminal twice
                    np.add.at(matrix[source], targets, flits)
        return matrix


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages of a closed-loop run; each terminal sends its messages one after the other.

    Attributes
    ----------
    start : int64 array, shape (T + 1,)
        Messages ``start[t]:start[t + 1]`` are sent by terminal t, in this order.
    target : int32 array, shape (M,)
        Terminal that receives each message.

    Examples
    --------
    >>> from routelab.api import Messages
    >>> exchange = Messages.create(start=[0, 1, 2], target=[1, 0])
    >>> exchange.target.tolist()
    [1, 0]
    """

    start: Int64Array
    target: Int32Array

    @classmethod
    def create(cls, start: ArrayLike, target: ArrayLike) -> Messages:
        """Build messages and check them.

        Raises
        ------
        PluginError
            If offsets or terminals do not fit.
        """
        starts, targets = frozen_array(start, np.int64), frozen_array(target, np.int32)
        num_terminals = len(starts) - 1
        are_valid_offsets = (
            num_terminals >= 0
            and starts[0] == 0
            and starts[-1] == len(targets)
            and not (np.diff(starts) < 0).any()
        )
        if not are_valid_offsets:
            raise PluginError("messages: start must rise from 0 to the number of messages")
        if len(targets) and not (targets.min() >= 0 and targets.max() < num_terminals):
            raise PluginError("messages: target names a terminal that does not exist")
        return cls(starts, targets)
