"""Hop-by-hop routing: algorithms that decide at every switch while packets are on their way.

A plugin's `prepare` returns a `HopProgram`: two compiled functions and the tables that they read.
All types are fixed, so the packet engine is compiled once for all algorithms.
"""

from __future__ import annotations

import hashlib
import marshal
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.errors import PluginError
from routelab.api.topology import Float64Array, Int32Array, Topology, frozen_array
from routelab.kernels.hops import (
    BLOCK_ALL_CLASSES,
    BLOCK_CHANNELS,
    BLOCK_CLASSES,
    BLOCK_PACKET_FLITS,
    BLOCK_QUEUES,
    BLOCK_UNIT_FLITS,
    BLOCK_WAITING,
    CAPACITY,
    CREDITS,
    HOP,
    INJECT,
    QUEUE_COLUMNS,
    is_kernel,
)

Proof = Literal["acyclic", "bubble", "duato", "recovery", "none"]
"""Why an algorithm cannot deadlock.

- ``acyclic``: no cycle of virtual channels that packets may wait for in turn.
- ``bubble``: every such cycle is a complete ring under bubble flow control.
- ``duato``: every packet always has an escape candidate, and the escapes alone are proven.
- ``recovery``: deadlocks may form and are resolved at run time.
- ``none``: it may deadlock.
"""

Ranking = Literal["room", "best", "best-or-escape"]
"""Which candidate a packet takes.

- ``room``: the candidate with the smallest penalty among those that have room now.
- ``best``: the candidate with the smallest cost; the packet waits for it.
- ``best-or-escape``: the same, but the packet takes an escape that has room while the best has
  none.
"""


@dataclass(frozen=True, eq=False)
class HopProgram:
    """A hop-by-hop algorithm, prepared for one network.

    Attributes
    ----------
    hop : compiled function
        Of signature `routelab.kernels.hops.HOP`, made by `hop_kernel`: writes candidates (channel,
        class, penalty) and returns their number. The engine calls it when a packet reaches the
        front of its buffer; see `again`. Its answer must follow from its arguments; see
        *Hidden state* in the manual. A candidate has room if its channel is idle and the buffer
        behind it has space; see `ranking`. Ties are broken at random. Penalties of `ESCAPE` or more
        mark escape hops.
    inject : compiled function or None
        Of signature `INJECT`, made by `inject_kernel`. The engine calls it once for each packet to
        another switch, when the packet enters the network. None: nothing to choose.
    tables : int32 array
        Tables that both functions read; see `pack_tables`.
    reals : float64 array
        Numbers that `inject` reads.
    vc_classes : int
        Number of classes of virtual channels that `hop` names, starting at 0. With waypoints, this
        is the number for one phase; the classes of phase 1 follow those of phase 0.
    phases : {1, 2}
        2 if `inject` or `hop` may set a WAYPOINT.
    candidates : int
        Largest number of candidates that `hop` writes.
    by_occupancy : bool
        Add the occupancy behind a candidate to its penalty, in packets under virtual cut-through
        and in flits under wormhole switching. It is the occupancy of the virtual channel that the
        packet would take (ranking ``room``), or of the whole class (the other rankings).
    ranking : {'room', 'best', 'best-or-escape'}
        Which candidate a packet takes; see `Ranking`.
    again : bool
        False: the engine calls `hop` once for a packet at a switch and keeps the candidates; under
        the rankings ``best`` and ``best-or-escape``, it also keeps the choice. True: the engine
        calls `hop` and chooses again each time it examines the packet. It examines a waiting packet
        in every cycle.
    keeps_state : bool
        Whether STATE survives the waypoint.
    waiting : bool
        Whether the engine counts what `routelab.kernels.hops.waiting_flits` reads.
    by_terminal : bool
        Whether `hop` or `inject` reads SOURCE_TERMINAL or TARGET_TERMINAL.
    bubble : tuple of int
        Classes (of all phases) under bubble flow control: a packet enters their rings only if there
        is room for two packets.
    max_hops : int or None
        Largest number of hops; a packet that takes more is reported as a livelock. None: no limit.
    rest : int or None
        The class that gets all virtual channels that remain when every other class has one, for
        example for adaptive routing with an escape class. None: all classes get equally many.
        Packets take any virtual channel of a class; under bubble flow control, they keep the same
        one along a ring.
    detour_penalty : int
        Largest penalty, in flits, of candidates other than escapes where the packet also has a
        candidate without penalty. Results warn if it is larger than any queue, because packets
        never take such a candidate then. 0: no such penalty.
    escape_wait : int
        Time that a packet waits for its best candidate before it may escape, in times that a packet
        takes to cross a channel, but at most 500 cycles. Needs the ranking ``best-or-escape`` and
        `again`. The wait is finite, so proofs do not depend on it.
    fixed : bool
        Declare that the answer of `hop` (candidates, their classes and penalties) depends only on
        SOURCE, TARGET, PHASE, the switch and the class `vc`: never on queues, random words, earlier
        hops, other columns of the packet, or the channel that it arrived over. `hop` writes nothing
        into the packet. The engine then calls `hop` once for a packet at a switch, even with
        `again` (rankings ``room`` and ``best``), and examines a waiting packet only when its choice
        may differ; the deadlock checker examines every state of large networks. In a sample of the
        states it calls `hop` with other queues, words and columns, and rejects a program that
        breaks the declaration. Where ``dataclasses.replace`` gives a program another `hop`, set
        `fixed` for the new function.
    """

    hop: Any
    tables: Int32Array
    vc_classes: int
    inject: Any = None
    reals: Float64Array = field(default_factory=lambda: frozen_array((), np.float64))
    phases: int = 1
    candidates: int = 1
    by_occupancy: bool = False
    ranking: Ranking = "room"
    again: bool = False
    keeps_state: bool = False
    waiting: bool = False
    by_terminal: bool = False
    bubble: tuple[int, ...] = ()
    max_hops: int | None = None
    rest: int | None = None
    detour_penalty: int = 0
    escape_wait: int = 0
    fixed: bool = False

    def __post_init__(self) -> None:
        """Check the program.

        Raises
        ------
        PluginError
            If the engine could not run the program; the message names the invalid field, or the
            function that does not compile.
        """
        # 1. The functions. They are compiled here, where a plugin's author sees why one is wrong.
        #    With another signature, they could not be called by an engine.
        for name, function, signature in (
            ("hop", self.hop, HOP),
            ("inject", self.inject, INJECT),
        ):
            if is_kernel(function):
                compile_kernel(function)
            known = getattr(function, "signatures", ())
            if signature.args not in known and not (function is None and name == "inject"):
                raise PluginError(
                    f"{name}: expected a function compiled by {name}_kernel, found {function!r}"
                )
        # 2. The numbers and what follows from them: classes are those of all phases.
        if self.phases not in (1, 2) or self.vc_classes < 1 or self.candidates < 1:
            raise PluginError(
                f"hop program: expected 1 or 2 phases and at least one class of virtual channels "
                f"and one candidate, found {self.phases}, {self.vc_classes}, {self.candidates}"
            )
        if self.ranking not in get_args(Ranking):
            raise PluginError(
                f"hop program: ranking is {self.ranking!r}, expected one of "
                f"{', '.join(get_args(Ranking))}"
            )
        total = self.phases * self.vc_classes
        if self.rest is not None and not 0 <= self.rest < total:
            raise PluginError(f"hop program: rest is class {self.rest}; classes are 0..{total - 1}")
        if not all(0 <= vc < total for vc in self.bubble):
            raise PluginError(
                f"hop program: bubble names classes {self.bubble}; classes are 0..{total - 1}"
            )
        # 3. What does not fit together. A packet that keeps its choice cannot escape from it later.
        if self.escape_wait < 0 or (
            self.escape_wait and not (self.again and self.ranking == "best-or-escape")
        ):
            raise PluginError(
                f"hop program: escape_wait is {self.escape_wait}, expected at least 0, and 0 "
                "without ranking best-or-escape and again"
            )
        if self.fixed and self.by_terminal:
            raise PluginError(
                "hop program: fixed candidates do not depend on terminals; set fixed or by_terminal"
            )
        if self.tables.dtype != np.int32 or self.reals.dtype != np.float64:
            raise PluginError("hop program: make tables with pack_tables, reals as float64")


def compile_kernel(function: Any) -> None:
    """Compile a function that `hop_kernel` or `inject_kernel` made, unless it is compiled.

    Raises
    ------
    PluginError
        If it does not compile; the message names the function and the cause.
    """
    try:
        function.compile()
    except Exception as error:
        raise PluginError(
            f"{function.__module__}.{function.__qualname__}: expected a function that Numba can "
            f"compile, found {type(error).__name__}: {error}"
        ) from error


def program_digest(program: HopProgram) -> str:
    """Return a checksum of a program: of its functions, tables and declarations."""
    digest = hashlib.sha256()
    for attribute in fields(program):
        value = getattr(program, attribute.name)
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        else:
            _update_digest(digest, value)
        digest.update(f" {attribute.name};".encode())
    return digest.hexdigest()


def _update_digest(digest: Any, value: Any) -> None:
    """Add a value to a checksum, and the code of functions with all that they close over."""
    function = getattr(value, "py_func", value)
    code = getattr(function, "__code__", None)
    if code is None:
        digest.update(repr(value).encode())
        return
    digest.update(f"{function.__module__} {function.__qualname__}".encode() + marshal.dumps(code))
    for cell in function.__closure__ or ():
        _update_digest(digest, cell.cell_contents)


def pack_tables(topology: Topology, *arrays: ArrayLike) -> Int32Array:
    """Pack arrays of integers into one array for `HopProgram.tables`.

    Word 0 is the length of all, where the engine block will begin at run time; the next words say
    where each array begins; then the arrays follow. In a compiled function array k begins at
    ``table(tables, k)``.

    Raises
    ------
    PluginError
        If an array does not hold integers that fit into 32 bits.

    Examples
    --------
    >>> from routelab.api import pack_tables
    >>> from routelab.toolkit import build_grid
    >>> pack_tables(build_grid("mesh", (2, 2), wrap=False), [7, 8], [9]).tolist()
    [6, 3, 5, 7, 8, 9]
    """
    header = np.zeros(1 + len(arrays), dtype=np.int32)
    length = len(header)
    parts = [header]
    for number, values in enumerate(arrays):
        array = _flat_int32("pack_tables", number, values)
        header[1 + number] = length
        parts.append(array)
        length = _require_length(length + array.size)
    header[0] = length
    return np.concatenate(parts)


def append_tables(tables: Int32Array, *arrays: ArrayLike) -> Int32Array:
    """Append arrays to the tables of another program, for a program that builds on it.

    The functions of the other program find their arrays as before, because these keep their places.
    The appended arrays follow, then the words that say where each begins: backwards, so that
    ``appended(tables, k)`` counts k words back from the end, which word 0 gives::

        length | tables of the other program | array 0 | array 1 | begin of 1 | begin of 0

    Raises
    ------
    PluginError
        If an array does not hold integers that fit into 32 bits.

    Examples
    --------
    >>> from routelab.api import append_tables, pack_tables
    >>> from routelab.toolkit import build_grid
    >>> tables = pack_tables(build_grid("mesh", (2, 2), wrap=False), [7, 8])
    >>> append_tables(tables, [9]).tolist()
    [6, 2, 7, 8, 9, 4]
    """
    length, parts, begins = len(tables), [tables], []
    for number, values in enumerate(arrays):
        array = _flat_int32("append_tables", number, values)
        begins.append(length)
        parts.append(array)
        length = _require_length(length + array.size)
    begins.reverse()
    longer = np.concatenate((*parts, np.array(begins, dtype=np.int32)))
    longer[0] = _require_length(len(longer))
    return longer


def _flat_int32(function: str, number: int, values: ArrayLike) -> Int32Array:
    """Return integers as a flat int32 array; refuse others."""
    array = np.ascontiguousarray(values).reshape(-1)
    if array.dtype.kind not in "biu":
        raise PluginError(f"{function}: array {number} is of {array.dtype}, expected integers")
    limits = np.iinfo(np.int32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise PluginError(f"{function}: array {number} does not fit into 32 bits")
    whole: Int32Array = array.astype(np.int32, copy=False)
    return whole


def _require_length(length: int) -> int:
    """Return a length that every int32 position in the tables can have; refuse a larger one."""
    if length > np.iinfo(np.int32).max:
        raise PluginError("the arrays of a hop program are larger than 2^31 numbers together")
    return length


def needed_classes(program: HopProgram) -> int:
    """Return the number of virtual channels that a program needs.

    Examples
    --------
    >>> from routelab.api import needed_classes
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid
    >>> mesh = build_grid("mesh", (3, 3), wrap=False)
    >>> needed_classes(load("routing", "minimal-adaptive").prepare(mesh, 4))
    2
    """
    return program.phases * program.vc_classes


def class_lanes(program: HopProgram, virtual_channels: int) -> Int32Array:
    """Return the first virtual channel of each class and their number, for all phases; (k, 2).

    Examples
    --------
    >>> from routelab.api import class_lanes
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid
    >>> mesh = build_grid("mesh", (3, 3), wrap=False)
    >>> class_lanes(load("routing", "minimal-adaptive").prepare(mesh, 4), 4).tolist()
    [[0, 1], [1, 3]]
    """
    num_classes = needed_classes(program)
    lanes = np.full(num_classes, 1 if program.rest is not None else virtual_channels // num_classes)
    if program.rest is not None:
        lanes[program.rest] = virtual_channels - (num_classes - 1)
    first_lane = np.cumsum(lanes) - lanes
    return np.column_stack((first_lane, lanes)).astype(np.int32)


class RunTables(NamedTuple):
    """Arguments of the functions of a program at run time.

    The *engine block* says which rows of `queues` belong to a class of virtual channels; its layout
    is in `routelab.kernels.hops`.

        tables      0 ...                       the program's tables
                    tables[0] ...               the engine block

        queues      0 ...                       CAPACITY, CREDITS         of each buffer
                    buffers ...                 FRONT_FLITS, BUSY_UNTIL   of each channel
                    buffers + channels          NOW                       the cycle

    Only programs with `HopProgram.waiting` have the rows behind the buffers.

    Attributes
    ----------
    tables : int32 array
    queues : int32 array, shape (rows, QUEUE_COLUMNS)
        At the start: all buffers are empty, and the rows behind them 0.
    buffers : int
        Number of rows that are buffers.
    """

    tables: Int32Array
    queues: Int32Array
    buffers: int


def run_tables(
    program: HopProgram,
    topology: Topology,
    virtual_channels: int,
    *,
    capacity: int,
    unit_flits: int = 1,
    packet_flits: int = 1,
    first_row: ArrayLike | None = None,
    buffers: int | None = None,
    unit_cycles: ArrayLike | None = None,
) -> RunTables:
    """Make the run-time tables of a program and the rows of empty queues.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    virtual_channels : int
        Virtual channels per channel; at least `needed_classes`.
    capacity : int
        Size of each buffer, in units.
    unit_flits, packet_flits : int
        Size of a unit and of a packet, in flits. A unit is a packet under virtual cut-through and a
        flit under wormhole switching.
    first_row : array of int, shape (C,), optional
        Row of the first virtual channel of each channel (default: ``channel * virtual_channels``).
    buffers : int, optional
        Total number of rows of buffers (default: ``C * virtual_channels``).
    unit_cycles : array of int, shape (C,), optional
        Transmission time of a unit on each channel, in cycles (default: `unit_flits`).
    """
    channels = topology.num_channels
    first_vc, num_vcs = class_lanes(program, virtual_channels).T
    num_buffers = channels * virtual_channels if buffers is None else buffers
    # 1. The engine block behind the tables of the program: numbers of the network and the router,
    #    then arrays by channel (first row, cycles) and by class (first virtual channel, number).
    numbers = np.zeros(BLOCK_QUEUES, dtype=np.int32)
    numbers[BLOCK_CHANNELS] = channels
    numbers[BLOCK_CLASSES] = program.vc_classes
    numbers[BLOCK_ALL_CLASSES] = len(first_vc)
    numbers[BLOCK_UNIT_FLITS] = unit_flits
    numbers[BLOCK_PACKET_FLITS] = packet_flits
    numbers[BLOCK_WAITING] = num_buffers if program.waiting else -1
    if first_row is None:
        first_row = np.arange(channels) * virtual_channels
    if unit_cycles is None:
        unit_cycles = np.full(channels, unit_flits)
    block = np.concatenate((numbers, first_row, unit_cycles, first_vc, num_vcs))
    # 2. All tables; the first number says where the block begins.
    tables = np.concatenate((program.tables, block), dtype=np.int32, casting="same_kind")
    tables[0] = len(program.tables)
    # 3. The rows of queues. Programs that count waiting packets have a row for each channel and one
    #    for the cycle behind those of the buffers; kernels read row 0 even if there is no buffer.
    waiting_rows = channels + 1 if program.waiting else 0
    queues = np.zeros((max(num_buffers, 1) + waiting_rows, QUEUE_COLUMNS), np.int32)
    queues[:num_buffers, [CAPACITY, CREDITS]] = capacity
    return RunTables(tables, queues, num_buffers)
