"""Hop-by-hop routing: algorithms that decide at every switch while packets are on their way.

A plugin's `prepare` returns a `HopProgram`: two compiled functions and the tables that they read.
Everything is of one fixed type, so the packet engine never sees a new one and is
compiled once for all algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.errors import PluginError
from routelab.api.topology import Float64Array, Int32Array, Topology, frozen_array
from routelab.kernels.hops import HOP, INJECT

Proof = Literal["acyclic", "bubble", "duato", "recovery", "none"]
"""Why an algorithm cannot deadlock.

- ``acyclic``: no cycle of virtual channels that packets may wait for one after the other.
- ``bubble``: every such cycle is a complete ring under bubble flow control.
- ``duato``: escape candidates, which every packet always has, are proven by themselves.
- ``recovery``: deadlocks may form and are resolved at run time.
- ``none``: it may deadlock.
"""


@dataclass(frozen=True, eq=False)
class HopProgram:
    """A hop-by-hop algorithm made ready for one network.

    Attributes
    ----------
    hop : compiled function
        Of signature `routelab.kernels.hops.HOP`, made by `hop_kernel`. Called once for a packet
        at a switch, when it reaches the front of its buffer: writes candidates (channel, class,
        penalty) and returns their number. The packet takes the candidate of least penalty whose
        channel is idle and has room behind it; it waits while there is none. Equal penalties are
        decided at random. Penalties from `ESCAPE` on count as escape hops.
    inject : compiled function or None
        Of signature `INJECT`, made by `inject_kernel`. Called once a packet; None: no choices.
    tables : int32 array
        What both read; see `pack_tables`.
    reals : float64 array
        What inject reads.
    vc_classes : int
        Classes of virtual channels that `hop` names, from 0 on; with waypoints, those of one phase:
        the classes of phase 1 follow those of phase 0.
    phases : {1, 2}
        2 if inject may set a WAYPOINT.
    candidates : int
        Most candidates that `hop` ever writes.
    by_occupancy : bool
        Add the occupied units of a candidate's buffer to its penalty.
    bubble : tuple of int
        Classes (of all phases) whose rings are entered only with two free packets of room.
    max_hops : int or None
        No packet takes more; one that does is reported as livelock. None: no bound is claimed.
    rest : int or None
        The class that gets all virtual channels that are left when every other class has one,
        say for adaptive routing besides an escape. None: all classes get as many as each other.
        Packets take any virtual channel of a class (under bubble flow control the same along a
        ring).
    """

    hop: Any
    tables: Int32Array
    vc_classes: int
    inject: Any = None
    reals: Float64Array = field(default_factory=lambda: frozen_array((), np.float64))
    phases: int = 1
    candidates: int = 1
    by_occupancy: bool = False
    bubble: tuple[int, ...] = ()
    max_hops: int | None = None
    rest: int | None = None

    def __post_init__(self) -> None:
        """Refuse what the engine could not call.

        Raises
        ------
        PluginError
            Naming what is wrong.
        """
        for name, function, signature in (
            ("hop", self.hop, HOP),
            ("inject", self.inject, INJECT),
        ):
            known = getattr(function, "signatures", ())
            if signature.args not in known and not (function is None and name == "inject"):
                raise PluginError(
                    f"{name}: expected a function compiled by {name}_kernel, found {function!r}"
                )
        if self.phases not in (1, 2) or self.vc_classes < 1 or self.candidates < 1:
            raise PluginError(
                f"hop program: expected 1 or 2 phases and at least one class of virtual channels "
                f"and one candidate, found {self.phases}, {self.vc_classes}, {self.candidates}"
            )
        total = self.phases * self.vc_classes
        if self.rest is not None and not 0 <= self.rest < total:
            raise PluginError(f"hop program: rest is class {self.rest}, there are 0..{total - 1}")
        if not all(0 <= vc < total for vc in self.bubble):
            raise PluginError(
                f"hop program: bubble names classes {self.bubble}, there are 0..{total - 1}"
            )
        if self.tables.dtype != np.int32 or self.reals.dtype != np.float64:
            raise PluginError("hop program: make tables with pack_tables, reals as float64")


def pack_tables(topology: Topology, *arrays: ArrayLike) -> Int32Array:
    """Arrays of integers one behind the other, as `HopProgram.tables` has them.

    In a compiled function array k begins at ``table(tables, k)``.

    Raises
    ------
    PluginError
        If an array does not hold integers that fit into 32 bits.
    """
    parts = [np.zeros(1 + len(arrays), dtype=np.int32), np.zeros(topology.num_channels, np.int32)]
    begin = len(parts[0]) + len(parts[1])
    # the engine fills in the place of its queues, behind the header
    parts[0][0] = len(parts[0])
    for number, values in enumerate(arrays):
        array = np.ascontiguousarray(values).reshape(-1)
        if array.dtype.kind not in "biu":
            raise PluginError(f"pack_tables: array {number} is of {array.dtype}, expected integers")
        limits = np.iinfo(np.int32)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise PluginError(f"pack_tables: array {number} does not fit into 32 bits")
        if begin > limits.max:
            raise PluginError("pack_tables: the arrays are larger than 2^31 numbers together")
        parts[0][1 + number] = begin
        parts.append(array.astype(np.int32, copy=False))
        begin += array.size
    return np.concatenate(parts)


def needed_classes(program: HopProgram) -> int:
    """Virtual channels that a program cannot do without."""
    return program.phases * program.vc_classes
