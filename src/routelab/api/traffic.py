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

    A source draws a *part* by the parts' shares and then one terminal of the part's *set*
    uniformly. Sets are shared: uniform traffic is one set of all terminals.

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
    set_start : int64 array, shape (M + 1,)
    members : int32 array
        Terminals ``members[set_start[m]:set_start[m + 1]]`` of set m.
    to_self : bool
        Whether a terminal may send to itself; if not, another one of the set is drawn.
    convention : str
        Meaning of the pattern, for reports: rank or coordinate, self-traffic, silent terminals.

    Examples
    --------
    >>> from routelab.api import Demand
    >>> from routelab.toolkit import build_grid
    >>> Demand.uniform(build_grid("mesh", (2, 2), wrap=False), "all to all").rate.tolist()
    [1.0, 1.0, 1.0, 1.0]
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
        """Refuse arrays that do not describe a demand; names all problems of their form."""
        # Problems of form are reported together. The tests of senders come last, because they use
        # the arrays as indices.
        terminals = len(self.rate)
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
        if len(self.part_start) != terminals + 1:
            problems.append(f"part_start has {len(self.part_start)} entries, not {terminals + 1}")
        if len(self.part_set) != len(self.part_share):
            problems.append("part_set and part_share differ in length")
        elif len(self.part_set) and not (
            self.part_set.min() >= 0 and self.part_set.max() < len(self.set_start) - 1
        ):
            problems.append("part_set names a set that does not exist")
        if len(self.members) and not (self.members.min() >= 0 and self.members.max() < terminals):
            problems.append("members names a terminal that does not exist")
        if problems:
            raise PluginError("demand: " + "; ".join(problems))
        self._check_senders()

    def _check_senders(self) -> None:
        """Refuse senders whose shares do not add up to 1, or that have no destination."""
        source = np.repeat(np.arange(len(self.rate)), np.diff(self.part_start))
        total = np.bincount(source, self.part_share, minlength=len(self.rate))
        wrong = (self.rate > 0) & (np.abs(total - 1) > 1e-9)
        if wrong.any():
            terminal = int(np.flatnonzero(wrong)[0])
            raise PluginError(
                f"demand: the shares of terminal {terminal} add up to {total[terminal]:g}"
            )
        if (self.part_share < 0).any():
            raise PluginError("demand: part_share holds negative shares")
        size = np.diff(self.set_start)[self.part_set]
        is_used = (self.part_share > 0) & (self.rate[source] > 0)
        is_only_itself = np.zeros(len(size), dtype=np.bool_)
        if not self.to_self:
            single = np.flatnonzero(size == 1)
            member = self.members[self.set_start[self.part_set[single]]]
            is_only_itself[single] = member == source[single]
        is_lost = is_used & ((size == 0) | is_only_itself)
        if is_lost.any():
            terminal = int(source[np.flatnonzero(is_lost)[0]])
            raise PluginError(f"demand: terminal {terminal} has no destination")

    @classmethod
    def uniform(cls, topology: Topology, convention: str, *, to_self: bool = False) -> Demand:
        """Return a demand in which every terminal sends to all (others) alike."""
        count = topology.num_terminals
        senders = count if count > 1 or to_self else 0
        return cls.create(
            rate=np.full(count, 1.0 if senders else 0.0),
            part_start=np.arange(count + 1),
            part_share=np.ones(count),
            part_set=np.zeros(count),
            set_start=[0, count],
            members=np.arange(count),
            to_self=to_self,
            convention=convention,
        )

    @classmethod
    def permutation(cls, target: ArrayLike, convention: str) -> Demand:
        """Return a demand in which every terminal sends to one terminal.

        Parameters
        ----------
        target : int array, shape (T,)
            −1 for a silent terminal; one that would send to itself is silent, too.
        """
        to = np.asarray(target, dtype=np.int64)
        sends = (to >= 0) & (to != np.arange(len(to)))
        return cls.create(
            rate=sends.astype(np.float64),
            part_start=np.concatenate(([0], np.cumsum(sends))),
            part_share=np.ones(sends.sum()),
            part_set=np.arange(sends.sum()),
            set_start=np.arange(sends.sum() + 1),
            members=to[sends],
            to_self=False,
            convention=convention,
        )

    def between_terminals(self) -> Float64Array:
        """Return flits per cycle between terminals at load 1; shape (T, T), for small networks."""
        count = len(self.rate)
        matrix = np.zeros((count, count))
        for t in np.flatnonzero(self.rate > 0):
            for k in range(self.part_start[t], self.part_start[t + 1]):
                m = self.part_set[k]
                to = self.members[self.set_start[m] : self.set_start[m + 1]]
                if not self.to_self:
                    to = to[to != t]
                np.add.at(matrix[t], to, self.rate[t] * self.part_share[k] / len(to))
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
        made = cls(frozen_array(start, np.int64), frozen_array(target, np.int32))
        terminals = len(made.start) - 1
        fits = (
            terminals >= 0
            and made.start[0] == 0
            and made.start[-1] == len(made.target)
            and not (np.diff(made.start) < 0).any()
        )
        if not fits:
            raise PluginError("messages: start must rise from 0 to the number of messages")
        if len(made.target) and not (made.target.min() >= 0 and made.target.max() < terminals):
            raise PluginError("messages: target names a terminal that does not exist")
        return made
