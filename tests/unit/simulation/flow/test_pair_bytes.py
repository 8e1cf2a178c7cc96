"""Bytes between terminals, and between blocks of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.simulation.flow.result import PairBytes

MESSAGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30)


@given(MESSAGES, st.integers(1, 4))
def test_sums_are_those_of_a_plain_count(messages, block):
    source, target, amount = (np.array([m[k] for m in messages], dtype=np.int64) for k in range(3))
    pairs = PairBytes.summed(source, target, amount.astype(float)).in_blocks(block)
    expected: Counter[tuple[int, int]] = Counter()
    for a, b, size in messages:
        if a != b and size:
            expected[a // block * block, b // block * block] += size
    ends = list(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))
    assert dict(zip(ends, pairs.bytes.tolist(), strict=True)) == dict(expected)
    assert ends == sorted(ends)
