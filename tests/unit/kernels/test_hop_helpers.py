"""What hop-by-hop functions read of queues: checked by hand and against sums over rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import ceil
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hop_cases import program_of
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from routelab.api import (
    HopProgram,
    PluginError,
    append_tables,
    class_lanes,
    pack_tables,
    run_tables,
)
from routelab.kernels import hops as abi
from routelab.kernels.hops import hop_kernel, inject_kernel
from routelab.toolkit import build_grid

RING = build_grid("torus", (5,), wrap=True)
CHANNELS = RING.num_channels


@hop_kernel
def restless(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Write all that a hop function may write."""
    packets[packet, abi.WAYPOINT] = 3
    for column in range(abi.STATES):
        packets[packet, abi.STATE + column] += 7
    out[0, 0], out[0, 1], out[0, 2] = packets[packet, abi.TARGET], channel, vc
    return 1


def test_functions_cannot_write_to_shared_arrays():
    def to_tables(tables, packets, packet, queues, switch, channel, vc, random, out):
        tables[0] += 1
        return 0

    def to_queues(tables, packets, packet, queues, switch, channel, vc, random, out):
        queues[0, 0] += 1
        return 0

    for function in (to_tables, to_queues):
        kernel = hop_kernel(function)
        message = rf"{function.__name__}: expected a function that Numba can(.|\n)*readonly array"
        for _ in range(2):
            with pytest.raises(PluginError, match=message):
                HopProgram(hop=kernel, tables=pack_tables(RING), vc_classes=1)
        with pytest.raises(TypingError, match="readonly array"):
            kernel(*call_arguments())


def program(**more) -> HopProgram:
    return HopProgram(hop=restless, tables=pack_tables(RING, [4, 5], [6]), vc_classes=2, **more)


@given(
    st.integers(1, 2),
    st.sampled_from([None, 0, 1]),
    st.integers(4, 9),
    st.integers(1, 3),
    st.integers(1, 8),
    st.booleans(),
    st.integers(0, 999),
)
def test_occupied_room_is_summed_over_classes_and_channels(
    phases, rest, vcs, unit, units, waiting, seed
):
    hop_program = program(phases=phases, rest=rest, waiting=waiting)
    packet = unit * units
    rng = np.random.default_rng(seed)
    # as in the engine, rows of a channel may lie anywhere, and others between
    first = (rng.permutation(CHANNELS + 4) * vcs)[:CHANNELS]
    cycles = rng.integers(unit, 9 * unit, CHANNELS)
    tables, queues, buffers = run_tables(
        hop_program,
        RING,
        vcs,
        capacity=8,
        unit_flits=unit,
        packet_flits=packet,
        first_row=first,
        buffers=(CHANNELS + 4) * vcs,
        unit_cycles=cycles,
    )
    queues[:buffers, abi.CREDITS] = rng.integers(9, size=buffers)
    taken = unit * (queues[:buffers, abi.CAPACITY] - queues[:buffers, abi.CREDITS])
    lanes = class_lanes(hop_program, vcs)
    assert lanes[0, 0] == 0
    assert (lanes[1:, 0] == lanes[:-1].sum(axis=1)).all()
    for channel in range(CHANNELS):
        total = 0
        for phase in range(phases):
            for vc in range(2):
                begin, count = lanes[2 * phase + vc]
                flits = taken[first[channel] + begin :][:count].sum()
                assert abi.class_flits(tables, queues, channel, phase, vc) == flits
                assert abi.class_packets(tables, queues, channel, phase, vc) == ceil(flits / packet)
                total += flits
        assert abi.channel_flits(tables, queues, channel) == total
        assert abi.channel_packets(tables, queues, channel) == ceil(total / packet)
        assert abi.waiting_flits(tables, queues, channel) == 0
    if waiting:
        queues[buffers + 2] = 5, 140
        queues[buffers + CHANNELS, abi.NOW] = 100
        flits = 5 + 40 * unit // int(cycles[2])
        assert abi.waiting_flits(tables, queues, 2) == flits
        assert abi.waiting_packets(tables, queues, 2) == ceil(flits / packet)
        # what was sent already waits no more
        queues[buffers + CHANNELS, abi.NOW] = 200
        assert abi.waiting_flits(tables, queues, 2) == 5


@pytest.mark.parametrize("phases", [1, 2])
def test_nonexistent_queues_are_empty(phases):
    """Nothing is read beyond the arrays, even of a network without room for it."""
    class_flits, channel_flits, waiting_flits = map(
        njit, (abi.class_flits, abi.channel_flits, abi.waiting_flits)
    )
    tables, queues, _ = run_tables(program(phases=phases, waiting=True), RING, 4, capacity=8)
    queues[:, abi.CREDITS] = 0
    queues[:, abi.FRONT_FLITS] = 8
    for channel in (-(2**31), -1, CHANNELS, 2**31 - 1):
        assert class_flits(tables, queues, channel, 0, 0) == 0
        assert channel_flits(tables, queues, channel) == 0
        assert waiting_flits(tables, queues, channel) == 0
    for phase, vc in ((0, -1), (0, 2), (0, 2**31 - 1), (-1, 1), (phases, 0), (2**31 - 1, 0)):
        assert class_flits(tables, queues, 1, phase, vc) == 0
    assert class_flits(tables, queues, 1, phases - 1, 1) > 0


def test_offers_leave_no_trace():
    tables, queues, _ = run_tables(program(), RING, 2, capacity=8)
    packets = np.arange(100, 100 + 2 * abi.PACKET_COLUMNS, dtype=np.int32).reshape(2, -1)
    before, out = packets.copy(), np.zeros((4, 3), np.int32)
    count = abi.offers(
        restless, tables, packets, 1, queues, 0, 4, abi.RandomWord(np.uint64(1)), out
    )
    assert count == 1
    assert out[0].tolist() == [4, -1, -1]
    np.testing.assert_array_equal(packets, before)


def test_arrays_behind_those_of_another_program():
    base = pack_tables(RING, [4, 5], [6])
    longer = append_tables(append_tables(base, [1, 2, 3], [9]), [7, 7], [8])
    tables = run_tables(
        HopProgram(hop=restless, tables=longer, vc_classes=2), RING, 2, capacity=1
    ).tables
    assert tables[abi.table(tables, 0) :][:2].tolist() == [4, 5]
    assert tables[abi.table(tables, 1)] == 6
    assert tables[abi.appended(tables, 0) :][:2].tolist() == [7, 7]
    assert tables[abi.appended(tables, 1)] == 8
    # without a second program behind it, the arrays of the first one are found
    once = run_tables(
        HopProgram(hop=restless, tables=append_tables(base, [1, 2, 3], [9]), vc_classes=2),
        RING,
        2,
        capacity=1,
    ).tables
    assert once[abi.appended(once, 0) :][:3].tolist() == [1, 2, 3]
    assert once[abi.appended(once, 1)] == 9


@pytest.mark.parametrize(
    ("values", "message"),
    [([0.5], "array 1 is of float64"), ([2**40], "array 1 does not fit into 32 bits")],
)
def test_invalid_tables_are_rejected(values, message):
    with pytest.raises(PluginError, match=message):
        append_tables(pack_tables(RING), [1], values)
    with pytest.raises(PluginError, match=message):
        pack_tables(RING, [1], values)


def test_tables_of_a_program_are_left_alone():
    hop_program = program_of(RING, lambda s, t, vc: [[(0, 0, 0)]], 1)
    before = hop_program.tables.copy()
    run_tables(hop_program, RING, 2, capacity=4).tables[:] = 0
    np.testing.assert_array_equal(hop_program.tables, before)


@hop_kernel
def allocating(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer a channel by way of an array of its own."""
    own = np.empty(2, np.int32)
    own[:] = packets[packet, abi.TARGET]
    out[0, 0], out[0, 1], out[0, 2] = own[0], own[1], 0
    return 1


def call_arguments(vc: int = 1) -> tuple[Any, ...]:
    """Return arguments of hop; numba itself would compile for arrays that can be written."""
    packets, out = np.full((1, abi.PACKET_COLUMNS), 3, np.int32), np.zeros((1, 3), np.int32)
    rows = np.zeros((1, 2), np.int32)
    return rows[0], packets, 0, rows, 0, 0, vc, abi.RandomWord(np.uint64(0)), out


def test_hop_functions_count_no_references_unless_they_allocate() -> None:
    """Counting takes longer than many a decision; a function that allocates needs it."""
    arguments = call_arguments()
    assert allocating(*arguments) == 1
    assert arguments[-1][0].tolist() == [3, 3, 0]
    assert allocating.targetoptions["_nrt"]
    program()
    assert not restless.targetoptions["_nrt"]


def five(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer channel 5, on class 0 with a division."""
    out[0, 0], out[0, 1], out[0, 2] = 5, 0 // vc, 0
    return 1


def used_by_python(kernel: Any) -> int:
    count: int = kernel(*call_arguments())
    return count


def used_by_a_kernel(kernel: Any) -> int:
    @hop_kernel
    def over(tables, packets, packet, queues, switch, channel, vc, random, out):
        return kernel(tables, packets, packet, queues, switch, channel, vc, random, out)

    return used_by_python(over)


def used_by_another_function(kernel: Any) -> int:
    # functions without options of their own inherit these
    @njit(error_model="numpy", fastmath=True)
    def over(tables, packets, packet, queues, switch, channel, vc, random, out):
        return kernel(tables, packets, packet, queues, switch, channel, vc, random, out)

    return used_by_python(over)


def used_as_an_argument(kernel: Any) -> int:
    @inject_kernel
    def ask(tables, reals, packets, packet, queues, hop, random, out):
        return abi.offers(hop, tables, packets, packet, queues, 0, 4, random, out)

    tables, packets, packet, queues, *_, random, out = call_arguments()
    count: int = ask(tables, np.zeros(1), packets, packet, queues, kernel, random, out)
    return count


def used_by_threads(kernel: Any) -> int:
    threads = 4
    barrier = Barrier(threads)

    def call(_: int) -> int:
        barrier.wait()
        return used_by_python(kernel)

    with ThreadPoolExecutor(threads) as pool:
        (count,) = set(pool.map(call, range(threads)))
    return count


@pytest.mark.parametrize(
    "use",
    [
        used_by_python,
        used_by_a_kernel,
        used_by_another_function,
        used_as_an_argument,
        used_by_threads,
    ],
)
def test_the_first_use_compiles_for_the_one_signature(use, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = hop_kernel(five)
    assert kernel.signatures == []
    assert use(kernel) == 1
    assert kernel.signatures == [abi.HOP.args]
    with pytest.raises(ZeroDivisionError):
        kernel(*call_arguments(vc=0))
    (result,) = kernel.overloads.values()
    HopProgram(hop=kernel, tables=pack_tables(RING), vc_classes=1)
    assert kernel.overloads[abi.HOP.args] is result


def test_the_first_call_checks_its_arguments() -> None:
    *arguments, out = call_arguments()
    with pytest.raises(TypeError, match="No matching definition"):
        hop_kernel(five)(*arguments, out.astype(np.float64))


def test_a_function_of_the_other_kind_is_refused() -> None:
    with pytest.raises(PluginError, match="inject: expected a function compiled by inject_kernel"):
        program(inject=hop_kernel(five))
