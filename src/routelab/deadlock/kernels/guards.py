"""Memory that routing functions get for their answers, between cells that they must not change.

    rows[0]              another packet
    rows[1]              the packet: its row, and the only one that a function gets
    rows[2]              another packet
    out[:count]          the answer
    out[count:most]      working space; what a call leaves there must follow from its arguments
    out[most:]           not to be written

Before a call, the other rows and `out` hold one of two fillings. A call that reads them gives
different answers with both; a call that counts in them leaves different numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from routelab.kernels.hops import PACKET_COLUMNS

OTHER_CELLS = 2 * PACKET_COLUMNS
"""Numbers of cells: those of the rows before and behind the packet's come first, then `out`."""
_SPARE_ROWS = 64
"""Rows that a function may write beyond its number of candidates without damage to memory."""


class Guards(NamedTuple):
    """Memory for the answers of calls.

    Attributes
    ----------
    rows : int32 array, shape (3, PACKET_COLUMNS)
    out : int32 array, shape (rows, 3)
    fillings : int32 array, shape (2, cells)
        What the other packets' rows and `out` hold before a call.
    """

    rows: Any
    out: Any
    fillings: Any


@njit
def allocate_guards(most, channels):
    """Return guards with filling 0 for up to `most` candidates; fillings are like channels."""
    rows = np.zeros((3, PACKET_COLUMNS), np.int32)
    out = np.zeros((most + _SPARE_ROWS, 3), np.int32)
    fillings = np.empty((2, OTHER_CELLS + out.size), np.int32)
    number = np.uint64(2026)
    for cell in range(fillings.shape[1]):
        number = number * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        fillings[0, cell] = np.int64((number >> np.uint64(33)) % np.uint64(channels + 2)) - 1
        # never equal to the other one
        fillings[1, cell] = (
            fillings[0, cell] + 1 + np.int64((number >> np.uint64(20)) & np.uint64(7))
        )
    guards = Guards(rows, out, fillings)
    fill_guards(guards, 0, 0, len(out))
    return guards


@njit(_nrt=False)
def fill_guards(guards, number, first_row, end_row):
    """Write filling 0 or 1 to the other packets' rows, and to some rows of `out`."""
    filling, out = guards.fillings[number], guards.out
    for column in range(PACKET_COLUMNS):
        guards.rows[0, column] = filling[column]
        guards.rows[2, column] = filling[PACKET_COLUMNS + column]
    for row in range(first_row, end_row):
        for column in range(3):
            out[row, column] = filling[OTHER_CELLS + 3 * row + column]


@njit(_nrt=False)
def changed_cell(guards, number, first_row):
    """Return a cell that a call has changed, of other packets or of `out` from a row on; −1: none.

    `number` is the filling before the call.
    """
    filling, rows, out = guards.fillings[number], guards.rows, guards.out
    # without branches, which would cost as much as the call
    difference = np.int32(0)
    for column in range(PACKET_COLUMNS):
        difference |= rows[0, column] ^ filling[column]
        difference |= rows[2, column] ^ filling[PACKET_COLUMNS + column]
    for row in range(first_row, len(out)):
        for column in range(3):
            difference |= out[row, column] ^ filling[OTHER_CELLS + 3 * row + column]
    if difference == 0:
        return -1
    for column in range(PACKET_COLUMNS):
        if rows[0, column] != filling[column]:
            return column
        if rows[2, column] != filling[PACKET_COLUMNS + column]:
            return PACKET_COLUMNS + column
    for row in range(first_row, len(out)):
        for column in range(3):
            if out[row, column] != filling[OTHER_CELLS + 3 * row + column]:
                return OTHER_CELLS + 3 * row + column
    return -1


@njit(_nrt=False)
def kept_cell(first, second, first_row, most):
    """Return a cell of the working space that depends on what it held before; −1: none.

    `first` and `second` are guards after calls with the same arguments, with fillings 0 and 1.
    """
    for row in range(first_row, most):
        for column in range(3):
            cell = OTHER_CELLS + 3 * row + column
            a, b = first.out[row, column], second.out[row, column]
            is_untouched = a == first.fillings[0, cell] and b == second.fillings[1, cell]
            if a != b and not is_untouched:
                return cell
    return -1


def cell_name(cell: int) -> str:
    """Return the name of a cell, as a function writes it."""
    if cell < OTHER_CELLS:
        behind, column = divmod(cell, PACKET_COLUMNS)
        return f"packets[packet {'+' if behind else '-'} 1, {column}]"
    row, column = divmod(cell - OTHER_CELLS, 3)
    return f"out[{row}, {column}]"
