"""Memory that routing functions get for their answers, between cells that they must not change.

    rows[0]                      another packet
    rows[1]                      the packet, the only row that a function gets (`packets`)
    rows[2]                      another packet
    out[:count]                  the answer: a candidate in each row, see `C_CHANNEL`
    out[count:max_candidates]    working space; what a call leaves there must follow from its
                                 arguments
    out[max_candidates:]         not to be written

Before a call, the other rows and `out` hold a filling, or what earlier calls left. Calls with equal
arguments are made in memory with filling 0, in memory with another filling, and in memory with
earlier answers. If a call depends on what it finds, its answers differ; if it counts there
(``out[5, 0] += 1``), it leaves different numbers.

- `state_search` repeats a sample of the calls with enumerated draws in memory with a drawn filling
  (`ALL_GUARDED`). It makes all calls with random words in two memories: one has filling 0, the
  other earlier answers, and filling 1 where no call wrote.
- `leg_search` makes the first call of a state in memory with earlier answers, and filling 0 where
  no call wrote. The calls that verify it find a drawn filling. Of the first states all are
  verified, later a sample.
- `waypoints` makes each call of inject in memory with filling 0 and with a drawn filling.

Drawn fillings change (`draw_filling`), so that a comparison such as ``packets[packet + 1, STATE] >
5`` gets both results. Not found are calls that depend on what they find only in states or outcomes
outside the samples, or only for numbers that no filling has there.
"""

from typing import Any, NamedTuple

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.hops import PACKET_COLUMNS, word_after
from routelab.kernels.jit import helper, inline

_OUT_START = 3 * PACKET_COLUMNS
"""First cell of `out` in `Guards.cells`; those of the rows come before."""
PACKET = np.int64(0)
"""Row of the packet in `Guards.packets`, as in the packet engine."""
FIRST_ROW = np.int64(0)
"""First row of an answer. Of NumPy: Numba compiles a function once more for Python's integers."""
C_CHANNEL, C_CLASS, C_PENALTY = range(3)
"""Columns of `out`: the channel, class of virtual channels and penalty of a candidate."""
_SPARE_ROWS = 64
"""Rows behind those of the candidates: a function that writes there damages no other memory."""
_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
"""Of a linear congruential generator, whose lowest bits repeat soon and are not used."""
_ALL_DRAWN, _DRAWN_SHARE = 1024, 16
"""Numbers for each of which `draw_filling` draws a filling; of later ones, one in 16, because a
filling takes as long as some calls."""


class Guards(NamedTuple):
    """Memory for the answers of calls.

    Attributes
    ----------
    cells : int32 array, shape (N,)
        All memory: the cells of `rows`, then those of `out`. Both are views of it.
    rows : int32 array, shape (3, PACKET_COLUMNS)
    packets : int32 array, shape (1, PACKET_COLUMNS)
        The packet's row, a view. Functions get it as from the packet engine, so `rows[2]` is what
        they find behind it. It is kept because a new view for each call costs as much as the call.
    out : int32 array, shape (rows, 3)
    filling : int32 array, shape (N,)
        What the cells hold before a call: filling 0, 1 or a drawn one.
    """

    cells: Any
    rows: Any
    packets: Any
    out: Any
    filling: Any


@helper()
def allocate_guards(max_candidates, num_channels, filling_number):
    """Return guards for answers of up to `max_candidates` candidates.

    Filling 0 has random numbers from −1 to `num_channels`, which look like channels. Filling 1 has
    another number in every cell: one that is larger by 1 to 8.
    """
    size = _OUT_START + 3 * (max_candidates + _SPARE_ROWS)
    filling = np.empty(size, np.int32)
    random = np.uint64(2026)
    for cell in range(size):
        random = random * _MULTIPLIER + _INCREMENT
        filling[cell] = np.int64((random >> np.uint64(33)) % np.uint64(num_channels + 2)) - 1
        filling[cell] += filling_number * (1 + np.int64((random >> np.uint64(20)) & np.uint64(7)))
    cells = filling.copy()
    rows = cells[:_OUT_START].reshape((3, PACKET_COLUMNS))
    out = cells[_OUT_START:].reshape((max_candidates + _SPARE_ROWS, 3))
    return Guards(cells, rows, rows[1:2], out, filling)


@inline
def fill_out(guards, first_row, end_row):
    """Write the filling to some rows of `out`."""
    filling, cells = guards.filling, guards.cells
    for cell in range(u(_OUT_START + 3 * first_row), u(_OUT_START + 3 * end_row)):
        cells[cell] = filling[cell]


@helper(_nrt=False)
def draw_filling(guards, num_channels, number):
    """Draw another filling, and write it to all cells, also those of the packet.

    The caller counts in `number`, from 0. The later of these calls draw only once in 16 times.
    A quarter of the filling is −1 and a quarter is 0, with which functions may compare; the rest is
    from 1 to `num_channels`.
    """
    if number >= _ALL_DRAWN and number % _DRAWN_SHARE != 0:
        return
    cells, filling = guards.cells, guards.filling
    random = word_after(np.uint64(number))
    for cell in range(u(0), u(len(cells))):
        random = random * _MULTIPLIER + _INCREMENT
        # The upper 2 bits are the kind: 0 and 1 give the numbers 0 and −1. For 2 and 3, the 30 bits
        # below, a fraction of 2^30, give a number from 1 to `num_channels`.
        scaled = ((random >> np.uint64(32)) & np.uint64(0x3FFFFFFF)) * np.uint64(num_channels)
        kind = np.int64(random >> np.uint64(62))
        filling[cell] = np.int64(scaled >> np.uint64(30)) + 1 if kind > 1 else -kind
        cells[cell] = filling[cell]


@helper(_nrt=False)
def find_changed_cell(guards, first_row):
    """Return a cell of other packets, or of `out` from `first_row` on, that a call has changed.

    −1 if there is none. Before the call, all of these cells held the filling.
    """
    cells, filling, columns = guards.cells, guards.filling, PACKET_COLUMNS
    guarded_ranges = (
        (0, columns),
        (2 * columns, _OUT_START),
        (_OUT_START + 3 * first_row, len(cells)),
    )
    # first without branches, which would cost as much as the call
    difference = np.int32(0)
    for begin, end in guarded_ranges:
        for cell in range(u(begin), u(end)):
            difference |= cells[cell] ^ filling[cell]
    if difference == 0:
        return -1
    for begin, end in guarded_ranges:
        for cell in range(begin, end):
            if cells[cell] != filling[cell]:
                return cell
    return -1


@helper(_nrt=False)
def find_cell_with_memory(first, second, first_row, max_candidates):
    """Return a cell of the working space that depends on what it held before; −1: none.

    `first` and `second` are guards after calls with the same arguments but fillings 0 and 1. The
    working space begins at `first_row`, behind the answer.
    """
    for cell in range(_OUT_START + 3 * first_row, _OUT_START + 3 * max_candidates):
        a, b = first.cells[cell], second.cells[cell]
        # a cell that neither call wrote holds the two fillings, which differ
        is_untouched = a == first.filling[cell] and b == second.filling[cell]
        if a != b and not is_untouched:
            return cell
    return -1


def cell_name(cell: int) -> str:
    """Return the name that a cell has in the code of a routing function, such as ``out[5, 0]``."""
    if cell < _OUT_START:
        # row 0 is the packet before, row 2 the packet behind
        row, column = divmod(cell, PACKET_COLUMNS)
        return f"packets[packet {'+' if row else '-'} 1, {column}]"
    row, column = divmod(cell - _OUT_START, 3)
    return f"out[{row}, {column}]"
