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
        class of virtual channels, penalty) and returns their number. A packet with 0 candidates is
        in a dead end; the deadlock checker reports these. The engine calls `hop` when a packet
        reaches the front of its buffer; see `again`. The candidates must depend only on the
        arguments, not on other packets or global variables; see *Hidden state* in the manual. A
        candidate has room if its channel is idle and the buffer behind it has space; `ranking` says
        which candidate the packet takes. Ties are broken at random. Penalties of `ESCAPE` or more
        mark escape hops.
    inject : compiled function or None
        Of signature `INJECT`, made by `inject_kernel`. The engine calls it once for each packet to
        another switch, when the packet enters the network. None: nothing to choose.
    tables : int32 array
        Tables that both functions read; see `pack_tables`.
    reals : float64 array
        Numbers that `inject` reads.
    vc_classes : int
        Number of classes of virtual channels. `hop` names a class, 0 to ``vc_classes - 1``, never a
        single virtual channel: a packet takes any virtual channel of the class, however many it
        has. With waypoints, this is the number for one phase; the classes of phase 1 follow those
        of phase 0.
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
        Whether a packet keeps its STATE (columns of its row that `hop` may write to) at its
        waypoint; otherwise, the engine sets it to 0 there.
    waiting : bool
        Whether the engine counts the flits that wait for each channel, which `hop` and `inject`
        read with `routelab.kernels.hops.waiting_flits`.
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
        Largest penalty, in flits, of a detour: a candidate that is no escape and that `hop` offers
        together with candidates without penalty. With `by_occupancy` and a ranking other than
        ``room``, results warn if it is larger than any queue: then the queues of the candidates
        without penalty never cost as much, so no packet takes the detour. 0: no such penalty.
    escape_wait : int
        Time that a packet waits for its best candidate before it may escape, as a multiple of the
        time that a packet takes to cross a channel; at most 500 cycles. Needs the ranking
        ``best-or-escape`` and `again`. Every packet may escape after a finite time, so the proof
        that escapes prevent deadlock does not depend on the value.
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
        #    Engines call them through pointers, so their signatures must be exactly these.
        for name, function, signature in (
            ("hop", self.hop, HOP),
            ("inject", self.inject, INJECT),
        ):
            if function is None and name == "inject":
                continue
            if is_kernel(function):
                compile_kernel(function)
            compiled_signatures = getattr(function, "signatures", ())
            if signature.args not in compiled_signatures:
                raise PluginError(
                    f"{name}: expected a function compiled by {name}_kernel, found {function!r}"
                )
        # 2. The numbers. `rest` and `bubble` name classes of all phases: if there are 2 phases of 2
        #    classes, 0 and 1 are those of the first, 2 and 3 those of the second.
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
        num_classes = needed_classes(self)
        valid_classes = f"classes are 0..{num_classes - 1}"
        if self.rest is not None and not 0 <= self.rest < num_classes:
            raise PluginError(f"hop program: rest is class {self.rest}; {valid_classes}")
        if not all(0 <= vc_class < num_classes for vc_class in self.bubble):
            raise PluginError(f"hop program: bubble names classes {self.bubble}; {valid_classes}")
        # 3. Fields that contradict each other. Without `again`, a packet keeps its first choice, so
        #    it could not escape after a wait.
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
    """Return a checksum (hexadecimal) of a program's functions, tables and declarations.

    Stored results and proofs have it in their keys: they are used again for an equal program only.
    """
    digest = hashlib.sha256()
    for attribute in fields(program):
        value = getattr(program, attribute.name)
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        else:
            _update_digest(digest, value)
        # a name after each value: without it, the values 1 and 23 would give the bytes of 12 and 3
        digest.update(f" {attribute.name};".encode())
    return digest.hexdigest()


def _update_digest(digest: Any, value: Any) -> None:
    """Add a value to a checksum: of a function, its code and the values of its closure.

    A closure holds what a factory has built in: the `hop` of two plugins may have the same code and
    call different helpers.
    """
    # a function that Numba compiled has the original one as `py_func`
    function = getattr(value, "py_func", value)
    code = getattr(function, "__code__", None)
    if code is None:  # not a function
        digest.update(repr(value).encode())
        return
    digest.update(f"{function.__module__} {function.__qualname__}".encode() + marshal.dumps(code))
    for cell in function.__closure__ or ():
        _update_digest(digest, cell.cell_contents)


def pack_tables(topology: Topology, *arrays: ArrayLike) -> Int32Array:
    """Pack arrays of integers into one array for `HopProgram.tables`.

    A header says how long the result is and where each array begins::

        length | begin of 0 | begin of 1 | array 0 | array 1

    In a compiled function, array k begins at ``table(tables, k)``. At run time, the engine block
    follows (see `RunTables`), so word 0, the length, is also where that block begins.

    `topology` is the network of the program. An earlier layout had a word for each of its channels;
    this one needs nothing of it.

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
        header[1 + number] = length  # behind word 0, the total length
        parts.append(array)
        length = _require_length(length + array.size)
    header[0] = length
    return np.concatenate(parts)


def append_tables(tables: Int32Array, *arrays: ArrayLike) -> Int32Array:
    """Append arrays to the tables of another program, for a program that builds on it.

    The functions of the other program find their arrays as before, because these keep their
    positions. The appended arrays follow, then the words that say where each array begins, the last
    array's first::

        length | tables of the other program | array 0 | array 1 | begin of 1 | begin of 0

    These words stand at the end and in this order, so that a function finds array k without knowing
    how long the other program's tables are or how many arrays there are:
    ``appended(tables, k)`` is ``tables[tables[0] - 1 - k]``.

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
    length = len(tables)
    parts, begins = [tables], []
    for number, values in enumerate(arrays):
        array = _flat_int32("append_tables", number, values)
        begins.append(length)
        parts.append(array)
        length = _require_length(length + array.size)
    begins.reverse()
    all_tables = np.concatenate((*parts, np.array(begins, dtype=np.int32)))
    all_tables[0] = _require_length(len(all_tables))
    return all_tables


def _flat_int32(function: str, number: int, values: ArrayLike) -> Int32Array:
    """Return integers as a flat int32 array; refuse those that do not fit, and other types.

    `function` is the name of the public function, and `number` the index of the array among its
    arguments; both are for the message.
    """
    array = np.ascontiguousarray(values).reshape(-1)
    if array.dtype.kind not in "biu":
        raise PluginError(f"{function}: array {number} is of {array.dtype}, expected integers")
    limits = np.iinfo(np.int32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise PluginError(f"{function}: array {number} does not fit into 32 bits")
    flat: Int32Array = array.astype(np.int32, copy=False)
    return flat


def _require_length(length: int) -> int:
    """Return the length of tables; refuse one whose positions do not fit into 32 bits."""
    if length > np.iinfo(np.int32).max:
        raise PluginError("the arrays of a hop program are larger than 2^31 numbers together")
    return length


def needed_classes(program: HopProgram) -> int:
    """Return the number of virtual channels that a program needs: one for each class of all phases.

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
    """Return the first virtual channel of each class, and how many it has; int32, shape (k, 2).

    The k classes are those of all phases, and each has a block of virtual channels. In the example,
    class 0 has virtual channel 0, and class 1, which is `HopProgram.rest`, has the other three.
    Without `rest`, all classes get equally many, and a remainder stays unused: with 2 classes and 5
    virtual channels, class 0 has 0 and 1, class 1 has 2 and 3.

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
    if program.rest is None:
        num_vcs = np.full(num_classes, virtual_channels // num_classes)
    else:
        num_vcs = np.ones(num_classes, dtype=np.int64)
        num_vcs[program.rest] = virtual_channels - (num_classes - 1)
    first_vc = np.cumsum(num_vcs) - num_vcs
    return np.column_stack((first_vc, num_vcs)).astype(np.int32)


class RunTables(NamedTuple):
    """Arrays that the functions of a program get as arguments at run time.

    The *engine block* says which rows of `queues` belong to a class of virtual channels; its layout
    is in `routelab.kernels.hops`::

        array       from entry or row           content
        tables      0                           the program's tables
                    tables[0]                   the engine block

        queues      0                           CAPACITY, CREDITS         a row per buffer
                    buffers                     FRONT_FLITS, BUSY_UNTIL   a row per channel
                    buffers + channels          NOW                       one row: the current cycle

    From the rows behind the buffers, kernels compute the flits that wait for each channel; only
    programs with `HopProgram.waiting` have them.

    Attributes
    ----------
    tables : int32 array
    queues : int32 array, shape (rows, QUEUE_COLUMNS)
        As `run_tables` makes it, all buffers are empty (CREDITS is CAPACITY), and the rows behind
        them are 0.
    buffers : int
        Number of rows that are buffers, those of one virtual channel each.
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
    """Make the arrays with which an engine or the deadlock checker calls a program's functions.

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
        Row of the buffer of the first virtual channel of each channel (default: ``channel *
        virtual_channels``). An engine that numbers its ports differently gives its own rows.
    buffers : int, optional
        Number of buffers, with those of ports that are no channel, if the engine has such (default:
        ``C * virtual_channels``).
    unit_cycles : array of int, shape (C,), optional
        Transmission time of a unit on each channel, in cycles (default: `unit_flits`).
    """
    num_channels = topology.num_channels
    first_vc, num_vcs = class_lanes(program, virtual_channels).T
    num_buffers = num_channels * virtual_channels if buffers is None else buffers
    # 1. The engine block behind the tables of the program: numbers of the network and the router,
    #    then arrays by channel (first row, cycles) and by class (first virtual channel, number).
    numbers = np.zeros(BLOCK_QUEUES, dtype=np.int32)
    numbers[BLOCK_CHANNELS] = num_channels
    numbers[BLOCK_CLASSES] = program.vc_classes
    numbers[BLOCK_ALL_CLASSES] = len(first_vc)
    numbers[BLOCK_UNIT_FLITS] = unit_flits
    numbers[BLOCK_PACKET_FLITS] = packet_flits
    # the row of channel 0 among the rows of waiting flits, which begin behind those of the buffers
    numbers[BLOCK_WAITING] = num_buffers if program.waiting else -1
    if first_row is None:
        first_row = np.arange(num_channels) * virtual_channels
    if unit_cycles is None:
        unit_cycles = np.full(num_channels, unit_flits)
    block = np.concatenate((numbers, first_row, unit_cycles, first_vc, num_vcs))
    # 2. The tables and the block in one array, whose first number says where the block begins.
    tables = np.concatenate((program.tables, block), dtype=np.int32, casting="same_kind")
    tables[0] = len(program.tables)
    # 3. The rows of queues. Programs that count waiting flits have a row for each channel and one
    #    for the cycle behind those of the buffers. There is at least one row, because kernels read
    #    row 0 even if the network has no channel.
    waiting_rows = num_channels + 1 if program.waiting else 0
    queues = np.zeros((max(num_buffers, 1) + waiting_rows, QUEUE_COLUMNS), np.int32)
    queues[:num_buffers, [CAPACITY, CREDITS]] = capacity
    return RunTables(tables, queues, num_buffers)
