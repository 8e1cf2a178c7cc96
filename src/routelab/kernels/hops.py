"""Data and helpers of compiled hop-by-hop routing functions.

A hop-by-hop algorithm is two compiled functions of fixed signature, which the packet engine calls
through pointers: so one compiled engine serves every algorithm. Both get rows of integers; the
constants below name the columns.

Functions name channels and *classes* of virtual channels, never virtual channels by number. The
*engine block* says which queues a class has. The engine, the walker and the checker append it to a
copy of a program's tables (`routelab.api.hops.run_tables`). The helpers below read it.

In a simulation, draws are random. The deadlock checker tries all their outcomes instead: it calls a
function with a *script*, which states what each draw of the call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from routelab.kernels.jit import helper, inline

ABI = 2
"""Version of the signatures and columns: changes whenever one of them does."""

# Columns of a packet's row. A routing function may read all of them. It may write STATE … and, in
# inject and in phase 0, WAYPOINT; the other columns belong to the engine.
SOURCE = 0
"""Switch where the packet entered."""
TARGET = 1
"""Next target of the packet: its waypoint, then its destination."""
DESTINATION = 2
"""Switch where the packet will leave."""
WAYPOINT = 3
"""A switch to visit first; −1 for none. Set by inject, or by hop in phase 0."""
PHASE = 4
"""0 on the way to the waypoint, 1 behind it; always 0 without waypoints."""
HOPS = 5
"""Channels crossed so far."""
SOURCE_TERMINAL = 6
"""Terminal that sends the packet."""
STATE = 8
"""First of `STATES` columns for the algorithm; 0 at injection and in a new phase."""
STATES = 4
TARGET_TERMINAL = 12
"""Terminal where the packet will leave."""
PACKET_COLUMNS = 16

# Columns of a queue's row. A queue is the buffer of one virtual channel at the far end of a
# channel. Read it with the helpers below.
CAPACITY = 0
"""Units that the buffer holds: packets under virtual cut-through, flits under wormhole."""
CREDITS = 1
"""Units that the switch before the channel knows to be free."""
QUEUE_COLUMNS = 2

# If a program needs waiting flits (`HopProgram.waiting`), one row for each channel follows the
# queues, and one more row.
FRONT_FLITS = 0
"""Flits of packets at the front of queues that chose the channel, and flits in its output FIFO."""
BUSY_UNTIL = 1
"""Cycle in which the channel has sent all flits that it has taken from these."""
NOW = 0
"""The cycle, in the row behind those of the channels."""

# The tables of a program, with those of a program that it builds on, in one array:
#
#     tables[0]                    where the engine block begins: behind all other tables
#     tables[1 + k]                where array k of the program begins
#     tables[tables[0] - 1 - k]    where array k begins that `append_tables` appended
#
# The engine block: numbers, then arrays one behind the other.
(
    BLOCK_CHANNELS,  # how many there are
    BLOCK_CLASSES,  # classes of one phase
    BLOCK_ALL_CLASSES,  # of all phases
    BLOCK_UNIT_FLITS,  # flits of a unit
    BLOCK_PACKET_FLITS,  # flits of a packet
    BLOCK_WAITING,  # row of channel 0 among those of waiting flits; −1: none
    BLOCK_QUEUES,  # (channels,): row of the first virtual channel of each channel,
) = range(7)
"""Then (channels,) cycles that each channel takes for a unit; for each class of all phases its
first virtual channel; and its number of virtual channels."""


class RandomWord(NamedTuple):
    """Random words of a call: read them with `pick`, `another`, `pick_share` and `either`.

    Attributes
    ----------
    word : uint64
    script : uint64
        0 in a simulation. In the deadlock checker, the address of a script: `SCRIPT_ROWS` rows of
        two int32. An address, because Numba would count the references to an array::

            row 0    number of draws so far          a mark: 0, `TOO_MANY` or `SKIPPED`
            row n    number of outcomes of draw n    the outcome, from 0, that draw n returns
    """

    word: Any
    script: Any = np.uint64(0)


_NUM_DRAWS, _MARK = 0, 1
"""Indices of row 0 in a script, which helpers read as a flat array: row n begins at 2 n."""
TOO_MANY, SKIPPED = 1, 2
"""Marks of a script: more draws or outcomes than can be tried; an outcome that does not count."""
SCRIPT_ROWS = 33
"""Rows of a script: one more than the largest number of draws of a call."""
MOST_OUTCOMES = 1 << 20
"""Largest number of outcomes of a draw that the checker tries."""

ESCAPE = 1 << 20
"""Least penalty of an escape, which is taken only if no other candidate can be taken."""

# Functions cannot write to what other packets read: it does not compile.
_TABLES = types.Array(types.int32, 1, "C", readonly=True)
_REALS = types.Array(types.float64, 1, "C", readonly=True)
_QUEUES = types.Array(types.int32, 2, "C", readonly=True)
_ROWS = types.Array(types.int32, 2, "C")
RANDOM = types.NamedUniTuple(types.uint64, 2, RandomWord)
"""Type of `RandomWord`."""

HOP = types.int64(
    _TABLES,  # tables: what prepare made
    _ROWS,  # packets: the packet alone
    types.int64,  # packet: its row, 0
    _QUEUES,  # queues: see class_flits
    types.int64,  # switch where the packet is; never its TARGET
    types.int64,  # channel that it came over; −1 at injection and where a waypoint was reached
    types.int64,  # vc: the class of the virtual channel that it came over; −1 as for channel
    RANDOM,  # random: fresh random bits
    _ROWS,  # out: rows of (channel, class of virtual channel, penalty) to be written
)
"""Signature of hop: write the candidates of a packet at a switch to `out`; return their number."""

INJECT = types.int64(
    _TABLES,
    _REALS,
    _ROWS,  # packets
    types.int64,  # packet
    _QUEUES,  # queues
    types.FunctionType(HOP),  # hop: that of the program, to be called with `offers`
    RANDOM,  # random
    _ROWS,  # out: scratch for the candidates that hop writes
)
"""Signature of inject: make choices once, at injection; the returned number has no meaning yet."""


def hop_kernel(function: Callable[..., Any]) -> Any:
    """Compile a hop function at its first use; a decorator.

    Raises
    ------
    TypeError
        If the function does not take the arguments of `HOP`.
    """
    return _compile_at_first_use("hop", HOP, function)


def inject_kernel(function: Callable[..., Any]) -> Any:
    """Compile an inject function at its first use; a decorator.

    Raises
    ------
    TypeError
        If the function does not take the arguments of `INJECT`.
    """
    return _compile_at_first_use("inject", INJECT, function)


_ARGUMENTS = {
    "hop": "tables, packets, packet, queues, switch, channel, vc, random, out",
    "inject": "tables, reals, packets, packet, queues, hop, random, out",
}


def _compile_at_first_use(kind: str, signature: Any, function: Callable[..., Any]) -> Any:
    """Return a function that Numba compiles at its first use, and for one signature only.

    Numba calls the method `compile` whenever it needs the compiled code: for a call, from Python
    or from compiled code, and for a pointer. It asks for code that fits the arguments of the call.
    The method that replaces it compiles for `signature` instead, once.
    """
    code = function.__code__
    arguments = code.co_varnames[: code.co_argcount]
    if len(arguments) != len(signature.args):
        raise TypeError(
            f"{kind} function {function.__name__} takes ({', '.join(arguments)}); under ABI {ABI} "
            f"of hop-by-hop routing it takes ({_ARGUMENTS[kind]})"
        )
    kernel = _jit(function)
    if kernel is function:  # NUMBA_DISABLE_JIT asks for plain Python
        return kernel
    compile_for = kernel.compile

    def compile_once(_: Any = None) -> Any:
        # Threads of a simulation may call the function for the first time together.
        with global_compiler_lock:
            if not kernel.signatures:
                try:
                    compile_for(signature)
                except NumbaError:
                    # Perhaps the function allocates an array. That needs the count of references
                    # (_nrt), which `_jit` turned off. Any other error comes again. Numba remembers
                    # failures, and would not try once more: clear its list.
                    kernel.targetoptions["_nrt"] = True
                    kernel._compiler._failed_cache.clear()
                    compile_for(signature)
                kernel.disable_compile()
        # Numba calls what this returns. The dispatcher, unlike the compiled code, checks and
        # converts arguments.
        return kernel

    kernel.compile = compile_once
    return kernel


def is_kernel(value: Any) -> bool:
    """Return whether `hop_kernel` or `inject_kernel` made a value."""
    return isinstance(value, Dispatcher) and "compile" in vars(value)


def _jit(function: Callable[..., Any]) -> Any:
    """Let Numba compile a function when it is called, and cache the code if it has a file."""
    options: dict[str, Any] = {
        "nogil": True,
        # Without counting references to arrays, which takes longer than many a decision.
        "_nrt": False,
        # The defaults. Unless they are named, the first function that calls this one decides.
        "error_model": "python",
        "fastmath": False,
        "forceinline": False,
    }
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        # Numba cannot cache code that has no file.
        return njit(**options)(function)


@inline
def table(tables, number):
    """Return where the plugin's array of that number begins in `tables`."""
    return tables[1 + number]


@inline
def appended(tables, number):
    """Return where an array begins that `routelab.api.append_tables` appended."""
    return tables[tables[0] - 1 - number]


@inline
def class_flits(tables, queues, channel, phase, vc):
    """Return the flits in the buffers of a class of virtual channels and on their way there.

    They follow from the credits at the switch before the channel. Flits that wait in an output FIFO
    of that switch count, too.

    Parameters
    ----------
    channel : int
    phase : int
        0 or 1.
    vc : int
        Class, as hop names it.

    Returns
    -------
    int
        Over all virtual channels of the class; 0 for a channel or class that does not exist.
    """
    block = np.int64(tables[0])
    channels, classes = tables[block + BLOCK_CHANNELS], tables[block + BLOCK_CLASSES]
    class_number = phase * classes + vc
    if not (0 <= channel < channels and 0 <= vc < classes and phase >= 0):
        return np.int64(0)
    if class_number >= tables[block + BLOCK_ALL_CLASSES]:
        return np.int64(0)
    # The engine block goes on behind its two arrays by channel: the first virtual channel of each
    # class, then the number of its virtual channels.
    class_row = block + BLOCK_QUEUES + 2 * channels + class_number
    first_vc, count = tables[class_row], tables[class_row + tables[block + BLOCK_ALL_CLASSES]]
    return _occupied_flits(tables, queues, block, channel, first_vc, count)


@inline
def unit_flits(tables):
    """Return the flits of a unit: of a packet under virtual cut-through, 1 under wormhole."""
    return np.int64(tables[np.int64(tables[0]) + BLOCK_UNIT_FLITS])


@inline
def class_packets(tables, queues, channel, phase, vc):
    """Return `class_flits` in packets, rounded up."""
    return _whole_packets(tables, class_flits(tables, queues, channel, phase, vc))


@inline
def channel_flits(tables, queues, channel):
    """Return the flits in all buffers behind a channel and on their way; see `class_flits`."""
    block = np.int64(tables[0])
    channels, classes = tables[block + BLOCK_CHANNELS], tables[block + BLOCK_ALL_CLASSES]
    if not 0 <= channel < channels:
        return np.int64(0)
    # The classes follow each other from virtual channel 0 on. So a channel has as many as the first
    # one of the last class, plus the number in that class.
    last_class = block + BLOCK_QUEUES + 2 * channels + classes - 1
    return _occupied_flits(
        tables, queues, block, channel, 0, tables[last_class] + tables[last_class + classes]
    )


@inline
def channel_packets(tables, queues, channel):
    """Return `channel_flits` in packets, rounded up."""
    return _whole_packets(tables, channel_flits(tables, queues, channel))


@inline
def waiting_flits(tables, queues, channel):
    """Return the flits that wait for a channel inside the switch that it leaves.

    These are flits in the channel's output that are not sent yet, and those of packets at the
    fronts of input buffers whose decision is this channel. A packet with several candidates under
    the ranking ``room`` has no decision yet.

    Returns
    -------
    int
        0 for a channel that does not exist, and if the program has not set `HopProgram.waiting`.
    """
    block = np.int64(tables[0])
    channels, first_row = tables[block + BLOCK_CHANNELS], tables[block + BLOCK_WAITING]
    if first_row < 0 or not 0 <= channel < channels:
        return np.int64(0)
    # Cycles until the channel has sent all flits that it took; not positive if it is idle.
    busy_cycles = (
        np.int64(queues[first_row + channel, BUSY_UNTIL]) - queues[first_row + channels, NOW]
    )
    flits = np.int64(queues[first_row + channel, FRONT_FLITS])
    # What the channel still sends, from the cycles that it takes for a unit.
    if busy_cycles > 0:
        unit_cycles = tables[block + BLOCK_QUEUES + channels + channel]
        flits += busy_cycles * tables[block + BLOCK_UNIT_FLITS] // unit_cycles
    return flits


@inline
def waiting_packets(tables, queues, channel):
    """Return `waiting_flits` in packets, rounded up."""
    return _whole_packets(tables, waiting_flits(tables, queues, channel))


@inline
def _occupied_flits(tables, queues, block, channel, first_vc, count):
    """Return the flits in the buffers of `count` virtual channels of a channel, from `first_vc` on.

    What the switch before the channel does not know to be free is occupied.
    """
    row = np.int64(tables[block + BLOCK_QUEUES + channel]) + first_vc
    units = np.int64(0)
    for queue in range(row, row + count):
        units += queues[queue, CAPACITY] - queues[queue, CREDITS]
    return units * tables[block + BLOCK_UNIT_FLITS]


@inline
def _whole_packets(tables, flits):
    """Return how many packets have that many flits, rounded up."""
    size = np.int64(tables[np.int64(tables[0]) + BLOCK_PACKET_FLITS])
    return (flits + size - 1) // size


@inline
def offers(hop, tables, packets, packet, queues, switch, target, random, out):
    """Compute the candidates of a packet as if it entered at a switch, and restore the packet.

    An inject function compares routes with it: what hop would offer here towards this target.

    Parameters
    ----------
    hop : compiled function
        The argument of inject.
    switch : int
        Switch where the packet would be; not `target`.
    target : int
        Target of the packet.
    out : int32 array
        The argument of inject; gets the candidates (channel, class, penalty).

    Returns
    -------
    int
        Number of candidates. WAYPOINT, TARGET and STATE of the packet are restored.

    Notes
    -----
    numba passes `hop` as a value of ``FunctionType(HOP)`` inside the signature `INJECT`: one
    compiled inject function serves every program.
    """
    # TARGET is changed here, and hop may write the other columns that are saved. −1, −1: it gets no
    # channel and no class of virtual channels, as at injection.
    old_target, old_waypoint = packets[packet, TARGET], packets[packet, WAYPOINT]
    state0, state1 = packets[packet, STATE], packets[packet, STATE + 1]
    state2, state3 = packets[packet, STATE + 2], packets[packet, STATE + 3]
    packets[packet, TARGET] = target
    count = hop(tables, packets, packet, queues, switch, np.int64(-1), np.int64(-1), random, out)
    packets[packet, TARGET], packets[packet, WAYPOINT] = old_target, old_waypoint
    packets[packet, STATE], packets[packet, STATE + 1] = state0, state1
    packets[packet, STATE + 2], packets[packet, STATE + 3] = state2, state3
    return count


@inline
def pick(random, count):
    """Return one of 0 … count−1, uniformly, from the upper bits of a random word.

    With a script, in the deadlock checker, return the outcome that the script states.
    """
    if random.script != 0:
        return _scripted(random.script, count)
    return pick_word(random.word, count)


@inline
def pick_bit(random, number):
    """Return bit `number` of a random word; below 32, because `pick` uses the upper half."""
    if random.script != 0:
        return _scripted(random.script, 2)
    return np.int64((random.word >> np.uint64(number)) & np.uint64(1))


@inline
def pick_large(random, count):
    """Return one of 0 … count−1, uniformly, from all 64 bits of a random word.

    For counts up to 2^32, for which the 32 bits of `pick` are too few.
    """
    if random.script != 0:
        return _scripted(random.script, count)
    # The upper 32 bits of word * count, which has 96: the word's halves are multiplied separately.
    low = (random.word & np.uint64(0xFFFFFFFF)) * np.uint64(count) >> np.uint64(32)
    return np.int64(((random.word >> np.uint64(32)) * np.uint64(count) + low) >> np.uint64(32))


@inline
def either(random, condition):
    """Return `condition`, which depends on the lengths of queues.

    The deadlock checker cannot try all contents of queues. It tries both outcomes of the condition
    instead, so a script states which one to return.
    """
    if random.script != 0:
        return _scripted(random.script, 2) == 1
    return condition


@inline
def pick_share(random, tables, upto, count):
    """Return one of 0 … count−1 with the probabilities that an array holds.

    Parameters
    ----------
    random : RandomWord
    tables : int32 array
    upto : int
        Where the array begins in `tables`: entry i is the sum of probabilities 0 … i, times 2^31.
    count : int
    """
    if random.script != 0:
        return _scripted(random.script, count)
    # The first outcome whose entry is above a random number below 2^31. The last one needs no
    # comparison; its entry is 2^31 − 1 at most, because int32 has no 2^31.
    drawn, outcome = pick_word(random.word, 1 << 31), np.int64(0)
    while outcome < count - 1 and drawn >= tables[upto + outcome]:
        outcome += 1
    return outcome


@inline
def another(random):
    """Return the next random word, for functions that need more than one."""
    return RandomWord(word_after(random.word), random.script)


@inline
def inverted(random):
    """Return a random word with all bits inverted, as the start of a second sequence."""
    return RandomWord(~random.word, random.script)


@inline
def unscripted(random):
    """Return a random word without a script: the deadlock checker does not try its draws.

    Only for draws whose outcomes change nothing but costs that are compared with `either`.
    """
    return RandomWord(random.word, np.uint64(0))


@inline
def redraw(random):
    """Return the next random word, to draw once more after an outcome that does not count.

    The deadlock checker skips this outcome, because it tries the others anyway.
    """
    if random.script != 0:
        _store(random.script, np.int64(_MARK), np.int32(SKIPPED))
        # the draws that follow need not be tried: all that this outcome leads to is skipped
        return RandomWord(word_after(random.word), np.uint64(0))
    return another(random)


@intrinsic
def _load(typing_context: Any, address: Any, index: Any) -> Any:
    """Return the int32 at an index of the script at an address; row n begins at index 2 n."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer_to(builder, arguments))

    return types.int32(types.uint64, types.int64), generate


@intrinsic
def _store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write the int32 at an index of the script at an address; row n begins at index 2 n."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer_to(builder, arguments))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int32), generate


def _pointer_to(builder: Any, arguments: Any) -> Any:
    """Emit the pointer to an int32 from its array's address and its index there."""
    numbers = builder.inttoptr(arguments[0], ir.IntType(32).as_pointer())
    return builder.gep(numbers, [arguments[1]])


@helper(_nrt=False)
def _scripted(script, count):
    """Return the outcome that a script states for the next draw, one of 0 … count−1.

    Updates the script: the number of draws, and the number of outcomes of this one, so that the
    checker can write the script of the next call.
    """
    draw = np.int64(_load(script, np.int64(_NUM_DRAWS))) + 1
    if draw >= SCRIPT_ROWS or count > MOST_OUTCOMES:
        _store(script, np.int64(_MARK), np.int32(TOO_MANY))
        return np.int64(0)
    _store(script, np.int64(_NUM_DRAWS), np.int32(draw))
    _store(script, np.int64(2 * draw), np.int32(count))
    # The script follows from an earlier call. With other queues, this draw may have fewer outcomes.
    return np.int64(min(_load(script, np.int64(2 * draw + 1)), count - 1))


@inline
def pick_word(word, count):
    """Return one of 0 … count−1, uniformly, from the upper bits of a random word."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@inline
def word_after(word):
    """Return the random word after another one.

    SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA
    2014, doi 10.1145/2660193.2660195.
    """
    z = word + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
