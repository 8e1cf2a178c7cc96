"""Rows of bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.kernels.bits import is_marked, mark, mark_if
from routelab.kernels.jit import jit

ITEMS = 150


@jit
def marked(conditions, items, bits):
    """Mark in row 0 without branches and in row 1 with them; return whether items of row 0 are."""
    for k in range(len(items)):
        mark_if(conditions[k], bits, 0, items[k])
        if conditions[k]:
            mark(bits, 1, items[k])
    return np.array([is_marked(bits, 0, item) for item in range(ITEMS)])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, ITEMS - 1)), min_size=1))
def test_items_whose_condition_holds_are_marked(marks):
    conditions = np.array([holds for holds, _ in marks])
    items = np.array([item if holds else -1 for holds, item in marks])
    bits = np.zeros((2, 3), np.uint64)
    words = marked(conditions, items, bits)
    assert set(np.flatnonzero(words)) == set(items[conditions])
    np.testing.assert_array_equal(bits[0], bits[1])
