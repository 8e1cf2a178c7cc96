"""The quick choice of one path a pair against a naive twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.kernels.least_loaded import least_loaded_paths

CHANNELS = 6


def naive(pairs, demand, factors):
    load = [0] * CHANNELS
    chosen = {}
    for p in sorted(range(len(pairs)), key=lambda p: (len(pairs[p]), p)):
        if pairs[p]:
            chosen[p] = min(
                pairs[p], key=lambda path: max((load[c] * factors[c] for c in path), default=0)
            )
            for c in chosen[p]:
                load[c] += demand[p]
    return chosen


@given(st.data())
def test_it_is_its_naive_twin(data) -> None:
    path = st.lists(st.integers(0, CHANNELS - 1), max_size=4)
    pairs = data.draw(st.lists(st.lists(path, max_size=3), max_size=8))
    demand = data.draw(st.lists(st.integers(1, 5), min_size=len(pairs), max_size=len(pairs)))
    factors = data.draw(
        st.lists(st.sampled_from([1.0, 1.5, 4.0]), min_size=CHANNELS, max_size=CHANNELS)
    )
    paths = [each for options in pairs for each in options]
    selected = least_loaded_paths(
        np.cumsum([0, *map(len, pairs)]),
        np.cumsum([0, *map(len, paths)]),
        np.array([c for each in paths for c in each], dtype=np.int32),
        np.array(demand, dtype=np.int64),
        np.array(factors),
    )
    assert [paths[k] for k in selected] == [
        chosen for _, chosen in sorted(naive(pairs, demand, factors).items())
    ]
