"""What a kernel keeps between calls is no argument: it is found, or the verdict names it."""

# ruff: noqa: NPY002

from __future__ import annotations

import ctypes
import math
import random as generator

import hop_cases
import numpy as np
import pytest
from numba import carray, cfunc, njit, objmode, types
from numba.extending import intrinsic, overload, register_jitable

from routelab.api import HopProgram, Topology, pack_tables
from routelab.deadlock import check_hops
from routelab.kernels.hops import (
    STATE,
    hop_kernel,
    inject_kernel,
    offers,
    pick,
)

SIZE = 4
RING = Topology.create(
    num_switches=SIZE,
    channel_source=list(range(SIZE)),
    channel_target=[(s + 1) % SIZE for s in range(SIZE)],
)
"""One way round: classes must rise somewhere."""
CANDIDATES = 3
NEVER = 1e-300


def verdict_of(hop, inject=None, **fields):
    program = HopProgram(
        hop,
        pack_tables(RING),
        8,
        inject=inject,
        candidates=CANDIDATES,
        **{"max_hops": SIZE, **fields},
    )
    return check_hops(program, RING, "acyclic")


@njit
def offer(out, switch, vc, fall_back):
    """The class counts the hops; class 0 closes the ring."""
    out[0, 0], out[0, 1], out[0, 2] = switch, 0 if fall_back else vc + 1, 0
    return 1


@hop_kernel
def honest(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, False)


# What a kernel uses besides its arguments: the verdict is "proven if declared" and names it.


@hop_kernel
def by_numpy(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, np.random.random() < NEVER)


@hop_kernel
def by_python(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, generator.random() < NEVER)


@hop_kernel
def by_alias(tables, packets, packet, queues, switch, channel, vc, random, out):
    numbers = np.random
    return offer(out, switch, vc, numbers.random() < NEVER)


@hop_kernel
def by_helper(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, hop_cases.is_drawn_by_numpy(NEVER))


@register_jitable
def is_drawn():
    return np.random.random() < NEVER


@hop_kernel
def by_jitable(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, is_drawn())


def stub():
    """What Python runs: nothing that changes."""
    return False


@overload(stub)
def _implement_stub():
    return lambda: np.random.random() < NEVER


@hop_kernel
def by_overload(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, stub())


clock = ctypes.CDLL(None).clock
clock.restype, clock.argtypes = ctypes.c_long, []


@hop_kernel
def by_clock(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, clock() == -7)


@cfunc("int64()")
def seven():
    return 7


@hop_kernel
def by_pointer(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, seven() == 8)


@intrinsic
def pointer(typing_context, address):
    """Return the pointer to integers at an address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int32)(types.uintp), generate


@hop_kernel
def by_address(tables, packets, packet, queues, switch, channel, vc, random, out):
    memory = carray(pointer(packets.ctypes.data), 8)
    return offer(out, switch, vc, memory[0] == -7)


@hop_kernel
def by_number_of_address(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, packets.ctypes.data == 7)


COUNTS = [0]


@hop_kernel
def by_objects(tables, packets, packet, queues, switch, channel, vc, random, out):
    with objmode(count="int64"):
        COUNTS[0] += 1
        count = COUNTS[0]
    return offer(out, switch, vc, count < 0)


LARGE = np.zeros(200_000)


@hop_kernel
def by_large_array(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, LARGE[switch] > 0)


@hop_kernel
def by_memory(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, np.empty(4, np.int64)[0] == -(1 << 60) + 7)


def make_enclosed():
    draw = np.random.random

    @hop_kernel
    def enclosed(tables, packets, packet, queues, switch, channel, vc, random, out):
        return offer(out, switch, vc, draw() < NEVER)

    return enclosed


@pytest.mark.parametrize(
    ("hop", "cause"),
    [
        (by_numpy, "np.random.random in by_numpy"),
        (by_python, "generator.random in by_python"),
        (by_alias, "np.random in by_alias"),
        (by_helper, "np.random.random in is_drawn_by_numpy"),
        (by_jitable, "np.random.random in is_drawn"),
        (by_overload, "stub in by_overload"),
        (by_clock, "clock in by_clock"),
        (by_pointer, "seven in by_pointer"),
        (by_address, "carray in by_address"),
        (by_number_of_address, "ctypes in by_number_of_address"),
        (by_objects, "objmode in by_objects"),
        (by_large_array, "LARGE in by_large_array"),
        (by_memory, "np.empty in by_memory"),
        (make_enclosed(), "draw in enclosed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_argument_is_named(hop, cause) -> None:
    verdict = verdict_of(hop)
    assert verdict.status == "proven if declared", verdict.reason
    assert f"if {cause} decides nothing" in verdict.reason


TABLE = np.array([0, 0, 0, 0])
HALVES = (offer, offer)


@hop_kernel
def by_constants(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Frozen arrays, mathematics, NumPy's arrays, and functions of one's own."""
    rows = np.zeros(2, np.int64)
    fall_back = TABLE[switch] + math.floor(0.5) + np.sum(rows) + abs(min(0, len(rows))) > 0
    return HALVES[0](out, switch, vc, fall_back)


def test_constants_and_own_helpers_hide_nothing() -> None:
    assert verdict_of(honest).status == "proven"
    assert verdict_of(by_constants).status == "proven"
    assert verdict_of(honest, draws_state).status == "proven"


@inject_kernel
def draws_state(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = pick(random, 2)
    return 0


@inject_kernel
def injects_by_numpy(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = 1 if np.random.random() < NEVER else 0
    return 0


def test_inject_is_examined_as_well() -> None:
    verdict = verdict_of(honest, injects_by_numpy)
    assert verdict.status == "proven if declared", verdict.reason
    assert "np.random.random in injects_by_numpy" in verdict.reason


def test_fixed_candidates_are_examined_as_well() -> None:
    assert "decides nothing" not in verdict_of(honest, fixed=True).reason
    verdict = verdict_of(by_numpy, fixed=True)
    assert verdict.status == "proven if declared", verdict.reason
    assert "fixed as declared and np.random.random in by_numpy" in verdict.reason


@register_jitable
def low_bits(random):
    return random.word % np.uint64(1 << 40)


@hop_kernel
def by_bits_of_a_helper(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, low_bits(random) == np.uint64(7))


def test_helpers_that_numba_registers_are_followed() -> None:
    verdict = verdict_of(by_bits_of_a_helper)
    assert verdict.status == "unproven"
    assert "low_bits reads random words" in verdict.reason


@njit
def first_word(numbers):
    return numbers[0] % np.uint64(1 << 40)


@hop_kernel
def by_index(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, random[0] % np.uint64(1 << 40) == np.uint64(7))


@hop_kernel
def by_unpacking(tables, packets, packet, queues, switch, channel, vc, random, out):
    numbers = random
    number, _ = numbers
    return offer(out, switch, vc, number % np.uint64(1 << 40) == np.uint64(7))


@hop_kernel
def by_index_in_a_helper(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, first_word(random) == np.uint64(7))


@hop_kernel
def by_index_in_a_keyword(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, first_word(numbers=random) == np.uint64(7))


@inject_kernel
def injects_by_index(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = random[1 - 1] % np.uint64(1 << 40) == np.uint64(7)
    return 0


@pytest.mark.parametrize(
    ("hop", "inject", "cause"),
    [
        (by_index, None, "by_index"),
        (by_unpacking, None, "by_unpacking"),
        (by_index_in_a_helper, None, "first_word"),
        (by_index_in_a_keyword, None, "first_word"),
        (honest, injects_by_index, "injects_by_index"),
    ],
)
def test_a_word_without_its_attribute_is_found(hop, inject, cause) -> None:
    verdict = verdict_of(hop, inject)
    assert verdict.status == "unproven", verdict.reason
    assert f"{cause} reads random words" in verdict.reason


# Cells that a kernel must not change, or not count in: the verdict is "broken" and names them.


@hop_kernel
def counts_in_a_spare_row(tables, packets, packet, queues, switch, channel, vc, random, out):
    out[2, 1] += 1
    return offer(out, switch, vc, out[2, 1] % 1_000_003 == 1_000_002)


@hop_kernel
def counts_behind_all_rows(tables, packets, packet, queues, switch, channel, vc, random, out):
    out[len(out) - 1, 0] += 1
    return offer(out, switch, vc, out[len(out) - 1, 0] % 1_000_003 == 1_000_002)


@hop_kernel
def marks_behind_all_rows(tables, packets, packet, queues, switch, channel, vc, random, out):
    out[CANDIDATES, 2] = 77_777
    return offer(out, switch, vc, False)


@hop_kernel
def counts_in_the_next_packet(tables, packets, packet, queues, switch, channel, vc, random, out):
    packets[packet + 1, STATE] += 1
    return offer(out, switch, vc, packets[packet + 1, STATE] % 1_000_003 == 1_000_002)


@hop_kernel
def counts_rarely(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Two random words of a state will not show it, but all outcomes are tried."""
    if pick(random, 4096) == 7:
        out[1, 0] += 1
    return offer(out, switch, vc, False)


@hop_kernel
def reads_the_last_answer(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Fall back if the packet before took the same channel."""
    return offer(out, switch, vc, out[0, 0] == switch and out[0, 1] == 1)


@hop_kernel
def reads_the_next_packet(tables, packets, packet, queues, switch, channel, vc, random, out):
    out[1, 0] = packets[packet + 1, STATE]
    return offer(out, switch, vc, False)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    ("hop", "cause"),
    [
        (counts_in_a_spare_row, "out[2, 1] depends on earlier calls"),
        (counts_behind_all_rows, ", 0] is written to"),
        (marks_behind_all_rows, "out[3, 2] is written to"),
        (counts_in_the_next_packet, f"packets[packet + 1, {STATE}] is written to"),
        (reads_the_next_packet, "out[1, 0] depends on earlier calls"),
    ],
)
def test_cells_of_others_are_guarded(hop, cause, fixed) -> None:
    verdict = verdict_of(hop, fixed=fixed)
    assert verdict.status == "broken", verdict.reason
    assert cause in verdict.reason


def test_each_outcome_of_a_draw_is_guarded() -> None:
    verdict = verdict_of(counts_rarely)
    assert verdict.status == "broken", verdict.reason
    assert "out[1, 0] depends on earlier calls" in verdict.reason


def test_an_answer_that_depends_on_earlier_ones_is_found() -> None:
    verdict = verdict_of(reads_the_last_answer)
    assert verdict.status == "broken", verdict.reason
    assert "the same arguments give other candidates" in verdict.reason
    verdict = verdict_of(reads_the_last_answer, fixed=True)
    assert verdict.status == "broken", verdict.reason
    assert "candidates depend on earlier calls" in verdict.reason


# Cells that a kernel must not read: their contents would decide about the next hop.


@hop_kernel
def goes_by_the_next_packet(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, packets[packet + 1, STATE] > 0)


@hop_kernel
def computes_with_the_next_packet(
    tables, packets, packet, queues, switch, channel, vc, random, out
):
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1 - packets[packet + 1, STATE] % 2, 0
    return 1


@hop_kernel
def goes_by_a_spare_row(tables, packets, packet, queues, switch, channel, vc, random, out):
    """No call writes to that row."""
    return offer(out, switch, vc, out[2, 0] % 2 == 0)


@hop_kernel
def goes_by_a_row_behind(tables, packets, packet, queues, switch, channel, vc, random, out):
    return offer(out, switch, vc, out[CANDIDATES, 1] % 2 == 0)


@hop_kernel
def seldom_goes_by_the_next_packet(
    tables, packets, packet, queues, switch, channel, vc, random, out
):
    """Two random words of a state will not show it, but all outcomes are tried."""
    is_other = pick(random, 4096) == 7 and packets[packet + 1, STATE] > 0
    return offer(out, switch, vc, is_other)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    "hop",
    [
        goes_by_the_next_packet,
        computes_with_the_next_packet,
        goes_by_a_spare_row,
        goes_by_a_row_behind,
    ],
)
def test_an_answer_that_depends_on_other_cells_is_found(hop, fixed) -> None:
    verdict = verdict_of(hop, fixed=fixed)
    assert verdict.status == "broken", verdict.reason
    cause = (
        "candidates depend on what `out` or other packets hold before the call"
        if fixed
        else "the same arguments give other candidates"
    )
    assert cause in verdict.reason


def test_each_outcome_of_a_draw_is_tried_with_other_cells() -> None:
    verdict = verdict_of(seldom_goes_by_the_next_packet)
    assert verdict.status == "broken", verdict.reason
    assert "the same arguments give other candidates" in verdict.reason


@hop_kernel
def works_in_spare_rows(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Write two candidates, and return the first: what is left does not depend on earlier calls."""
    for row in range(2):
        out[row, 0], out[row, 1], out[row, 2] = switch, vc + 1, row
    return 1


def test_spare_rows_are_working_space() -> None:
    assert verdict_of(works_in_spare_rows).status == "proven"
    assert verdict_of(works_in_spare_rows, fixed=True).status == "proven if declared"


@inject_kernel
def injects_and_counts(tables, reals, packets, packet, queues, hop, random, out):
    out[0, 0] += 1
    packets[packet, STATE] = 1 if out[0, 0] % 1_000_003 == 1_000_002 else 0
    return 0


@inject_kernel
def injects_what_it_finds(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = out[0, 0]
    return 0


@inject_kernel
def injects_into_the_next(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet + 1, STATE] = 5
    return 0


@inject_kernel
def injects_by_the_next(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = packets[packet + 1, STATE] > 0
    return 0


@inject_kernel
def injects_by_a_row_behind(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = out[CANDIDATES, 1] > 0
    return 0


@inject_kernel
def seldom_injects_by_the_next(tables, reals, packets, packet, queues, hop, random, out):
    is_other = pick(random, 4096) == 7 and packets[packet + 1, STATE] > 0
    packets[packet, STATE] = 1 if is_other else 0
    return 0


@inject_kernel
def injects_by_offers(tables, reals, packets, packet, queues, hop, random, out):
    """`out` is the memory for the candidates that hop writes."""
    count = offers(hop, tables, packets, packet, queues, 0, 1, random, out)
    packets[packet, STATE] = count
    return 0


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    "inject",
    [
        injects_and_counts,
        injects_what_it_finds,
        injects_into_the_next,
        injects_by_the_next,
        injects_by_a_row_behind,
    ],
)
def test_the_memory_of_inject_is_guarded(inject, fixed) -> None:
    assert verdict_of(honest, inject, fixed=fixed).status == "broken"
    assert verdict_of(honest, injects_by_offers, fixed=fixed).proven


def test_each_outcome_of_inject_is_tried_with_other_cells() -> None:
    verdict = verdict_of(honest, seldom_injects_by_the_next)
    assert verdict.status == "broken", verdict.reason
