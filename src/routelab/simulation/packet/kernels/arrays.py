"""All arrays of a simulation, behind one pointer.

Compiled functions get the pointer instead of arrays. Numba passes an array as seven values or
more, so with more than fifty arrays, every function and every call of one would have hundreds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array
from numpy.typing import NDArray

from routelab.kernels.hops import HOP, INJECT
from routelab.simulation.packet.kernels import layout as at


class Engine(NamedTuple):
    """All arrays of a simulation; Q queues, N ports, T terminals, K units a queue, W wheel rows.

    S are the switches, C the channels between them, V the virtual channels of each.
    Arrays that the settings of a simulation do not need have one row.
    """

    setting: Any
    """int64 (SETTINGS,): numbers that stay the same during a simulation, S_VCS …"""
    classes: Any
    """int32 (classes of all phases, 3): columns FIRST_VC, VC_COUNT, UNDER_BUBBLE"""
    tables: Any
    """int32, of the algorithm, read-only"""
    reals: Any
    """float64, of the algorithm"""
    queues: Any
    """QUEUE (Q,)"""
    senders: Any
    """SENDER (Q,)"""
    room: Any
    """ROOM (Q + rows of waiting flits,): room in a queue, output FIFO and buffer together"""
    space: Any
    """ROOM (Q,): its credits are the units that may cross the switch towards a queue: `room`
    itself, or the room in the FIFO of the output"""
    fifos: Any
    """FIFO (Q,), if outputs have FIFOs"""
    fifo_slots: Any
    """int32 (Q * S_FIFO_UNITS,): packets of the units in the FIFOs behind the front ones"""
    watches: Any
    """WATCH (Q,)"""
    links: Any
    """LINK (N,), if outputs have FIFOs"""
    departures: Any
    """uint64 (W, words of N bits): channels that may take a unit from a FIFO, by cycle"""
    visible_queues: Any
    """int32 (…, 2): the memory of `room` as routing functions see it"""
    queue_extra: Any
    """QUEUE_EXTRA (Q,)"""
    inputs: Any
    """INPUT (N,)"""
    outputs: Any
    """OUTPUT (N + T,): channels and injections by their input port, then ejections"""
    slots: Any
    """SLOT (Q * K,)"""
    units_received: Any
    """int32 (Q,): units that came in since the last reset"""
    awaited_channel: Any
    """int32 (Q,) if waiting flits are counted: 1 + the channel that the front unit waits for"""
    first_tried: Any
    """int32 (Q,) if the program has `again`: 1 + the cycle in which the front was first examined"""
    class_of: Any
    """int32 (V,): class of each virtual channel"""
    candidates: Any
    """CANDIDATE (Q * S_MAX_CANDIDATES,)"""
    packets: Any
    """PACKET (max packets,)"""
    states: Any
    """int32 (max packets, 16): the memory of `packets` as routing functions see it"""
    free_packets: Any
    """int32, stack of rows of `packets` whose packets have arrived"""
    terminals: Any
    """TERMINAL (T,)"""
    messages: Any
    """MESSAGE (max messages,)"""
    free_messages: Any
    """int32, stack of rows of `messages` that have arrived"""
    arrived: Any
    """uint64 (max messages, words): bits of the arrived packets, for in-order delivery"""
    switch_ports: Any
    """int32 (S + 1,): ports of each switch"""
    port_of_channel: Any
    """int32 (C,)"""
    scheduled: Any
    """uint64 (W, words of Q bits): timing wheel, the queues to examine by cycle"""
    credits: Any
    """uint64 (W, words of Q bits): queues whose credit arrives"""
    sources: Any
    """uint64 (S_SOURCE_MASK + 1, words of T bits): timing wheel, the terminals to examine"""
    stalled: Any
    """uint64 (words of Q bits,): queues that wait for one of several virtual channels"""
    num_stalled: Any
    """int32 (S,): number of stalled queues"""
    watched_bits: Any
    """uint64 (S,): bits that stalled queues watch, and perhaps more"""
    active: Any
    """ACTIVE_QUEUE (Q + 1,): scratch: queues examined in this cycle, and a row to overwrite"""
    proposals: Any
    """PROPOSAL (N,): scratch"""
    hop_out: Any
    """int32 (max candidates and spare rows, 3): what hop writes, columns HOP_CHANNEL …"""
    random: Any
    """uint64 (1, 1): state of the stream of routers, routing and destinations"""
    source_random: Any
    """uint64 (T, 2): states of two streams with the same words, which draw the gaps between
    messages: as messages begin, and to count generated messages ahead of that"""
    gap_scale: Any
    """float64 (T,): 1 / log(1 - probability of a message in a cycle)"""
    counted: Any
    """int32 (T, 2): generation of the next message to count (cycle; −1: never), number of those
    before; columns NEXT_GENERATION, NUM_GENERATED"""
    entry_cycles: Any
    """int32 (T, injection queue): cycles of the last injections, packet k in column k mod length"""
    part_start: Any
    """int64 (T + 1,): first part of each terminal's demand; closed loops: its first message"""
    part_cumulative: Any
    """float64 (parts,): cumulative shares of a terminal's parts"""
    part_set: Any
    """int32 (parts,): set of terminals, one of which is drawn"""
    set_start: Any
    """int64 (sets + 1,): first member of each set"""
    members: Any
    """int32: members of all sets; closed loops: targets of all messages"""
    by_terminal: Any
    """int64 (T, 8): counts, columns GENERATED …"""
    totals: Any
    """int64 (TOTALS,): counts and state of the whole network"""
    histograms: Any
    """int64 (4, BINS): latency, network latency, messages, in order"""
    hops: Any
    """int64 (HOP_BINS,): arrived packets by number of hops"""


def _example() -> Engine:
    """Return an engine of small arrays, whose types are those of every engine."""
    i32, i64 = np.int32, np.int64
    rows = np.zeros((1, 16), i32)
    line, long = np.zeros(1, i32), np.zeros(1, i64)
    bits, words = np.zeros((1, 1), np.uint64), np.zeros(1, np.uint64)
    reals = np.zeros(1)
    # read-only, as hop functions get them: helpers that both call are compiled once
    tables = np.zeros(1, i32)
    tables.setflags(write=False)
    return Engine(
        setting=long,
        classes=rows,
        tables=tables,
        reals=reals,
        queues=np.zeros(1, at.QUEUE),
        senders=np.zeros(1, at.SENDER),
        room=np.zeros(1, at.ROOM),
        space=np.zeros(1, at.ROOM),
        fifos=np.zeros(1, at.FIFO),
        fifo_slots=line,
        watches=np.zeros(1, at.WATCH),
        links=np.zeros(1, at.LINK),
        departures=bits,
        visible_queues=rows,
        queue_extra=np.zeros(1, at.QUEUE_EXTRA),
        inputs=np.zeros(1, at.INPUT),
        outputs=np.zeros(1, at.OUTPUT),
        slots=np.zeros(1, at.SLOT),
        units_received=line,
        awaited_channel=line,
        first_tried=line,
        class_of=line,
        candidates=np.zeros(1, at.CANDIDATE),
        packets=np.zeros(1, at.PACKET),
        states=rows,
        free_packets=line,
        terminals=np.zeros(1, at.TERMINAL),
        messages=np.zeros(1, at.MESSAGE),
        free_messages=line,
        arrived=bits,
        switch_ports=line,
        port_of_channel=line,
        scheduled=bits,
        credits=bits,
        sources=bits,
        stalled=words,
        num_stalled=line,
        watched_bits=words,
        active=np.zeros(1, at.ACTIVE_QUEUE),
        proposals=np.zeros(1, at.PROPOSAL),
        hop_out=rows,
        random=bits,
        source_random=bits,
        gap_scale=reals,
        counted=rows,
        entry_cycles=rows,
        part_start=long,
        part_cumulative=reals,
        part_set=line,
        set_start=long,
        members=line,
        by_terminal=np.zeros((1, 8), i64),
        totals=long,
        histograms=np.zeros((1, 1), i64),
        hops=long,
    )


_TYPES = {name: typeof(array) for name, array in _example()._asdict().items()}
_ADDRESS_COLUMNS = 3
"""Columns of `array_addresses`: address, and lengths of up to two dimensions."""


class EngineType(types.Type):
    """The type of `engine` in compiled functions: a pointer to a table of addresses and lengths."""

    def __init__(self) -> None:
        super().__init__(name="PacketEngine")


ENGINE = EngineType()
ADDRESSES = types.Array(types.int64, 2, "C")
HOP_POINTER = types.FunctionType(HOP)
INJECT_POINTER = types.FunctionType(INJECT)


@register_model(EngineType)
class _EngineModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: EngineType) -> None:
        super().__init__(manager, kind, ir.IntType(64).as_pointer())


@infer_getattr
class _EngineFields(AttributeTemplate):
    key = EngineType

    def generic_resolve(self, value: EngineType, attr: str) -> Any:  # type: ignore[override, explicit-override]
        return _TYPES.get(attr)


@lower_getattr_generic(EngineType)
def _array_of(context: Any, builder: Any, kind: EngineType, table: Any, name: str) -> Any:
    """Emit the code of `engine.name`: build Numba's array from its row of the table of addresses.

    Numba calls this when it compiles a function that reads the field.

    Parameters
    ----------
    context, builder
        Numba's target, and the LLVM builder that instructions are added to.
    kind : EngineType
    table : LLVM value
        The engine: a pointer to `array_addresses`.
    name : str
        Name of the field.

    Returns
    -------
    LLVM value
        The array. It owns no memory: Numba counts no references to it.
    """
    first_column = _ADDRESS_COLUMNS * list(_TYPES).index(name)
    no_operands = builder.module.add_metadata([])

    def load_number(column: int) -> Any:
        """Emit a load from the array's row of the table: address, first or second length."""
        index = ir.Constant(ir.IntType(32), first_column + column)
        value = builder.load(builder.gep(table, [index]))
        # The table never changes while compiled code runs. This mark, which takes no operands,
        # tells LLVM so: it may load each number once.
        value.set_metadata("invariant.load", no_operands)
        return value

    array = _TYPES[name]
    view = make_array(array)(context, builder)
    item_bytes = context.get_abi_sizeof(context.get_data_type(array.dtype))
    lengths = [load_number(1 + k) for k in range(array.ndim)]
    # Bytes from one item to the next, in a row and, before it, from one row to the next.
    strides = [ir.Constant(ir.IntType(64), item_bytes)]
    if array.ndim == 2:
        strides.insert(0, builder.mul(lengths[1], strides[0]))
    populate_array(
        view,
        data=builder.inttoptr(load_number(0), view.data.type),
        shape=cgutils.pack_array(builder, lengths),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(ir.IntType(64), item_bytes),
        meminfo=None,
    )
    return view._getvalue()


@intrinsic
def engine_at(context, addresses):
    """Return the engine whose arrays are at `addresses` (`array_addresses`); they must exist."""

    def emit(code, builder, signature, values):
        """Emit the pointer to the table of addresses, which is the engine (`EngineType`)."""
        view = make_array(signature.args[0])(code, builder, values[0])
        return view.data

    return ENGINE(addresses), emit


@intrinsic
def row_of(context, rows, index):
    """Return a row of a two-dimensional array, as an array of one row.

    Routing functions get a packet so. The row must exist: unlike a slice, this does not check the
    bounds, because the check takes longer than many a routing function.
    """

    def emit(code, builder, signature, values):
        """Emit an array of shape (1, columns) whose data begin at the row: no copy."""
        array = signature.args[0]
        view, row = make_array(array)(code, builder, values[0]), make_array(array)(code, builder)
        columns = builder.extract_value(view.shape, 1)
        populate_array(
            row,
            data=builder.gep(view.data, [builder.mul(values[1], columns)]),
            shape=cgutils.pack_array(builder, [ir.Constant(columns.type, 1), columns]),
            strides=view.strides,
            itemsize=view.itemsize,
            meminfo=None,
        )
        return row._getvalue()

    return rows(rows, types.intp), emit


def array_addresses(engine: Engine) -> NDArray[np.int64]:
    """Return address and lengths of every array; shape (arrays, 3).

    The arrays must exist as long as compiled functions use the addresses. An array of another type
    than compiled functions expect is a TypeError: they would read it wrongly.
    """
    addresses = np.zeros((len(engine), _ADDRESS_COLUMNS), np.int64)
    for row, (name, array) in zip(addresses, engine._asdict().items(), strict=True):
        if typeof(array) != _TYPES[name]:
            raise TypeError(f"{name} is {typeof(array)}, expected {_TYPES[name]}")
        row[0], row[1 : 1 + array.ndim] = array.ctypes.data, array.shape
    return addresses
