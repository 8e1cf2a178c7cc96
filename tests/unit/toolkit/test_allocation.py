"""Allocations: connected or boxes, of the size that was requested, out of what is free."""

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.metrics import connected_components
from routelab.toolkit import build_grid
from routelab.toolkit.allocation import connected_set, free_box

sizes = st.lists(st.integers(2, 4), min_size=1, max_size=3)


@given(sizes, st.booleans(), st.integers(0, 50), st.data())
def test_a_connected_allocation_is_connected_and_grows_with_its_size(dims, wrap, seed, data):
    fail_links = data.draw(st.integers(0, 3 if prod(dims) > 8 else 0))
    damage = {"fail_links": fail_links, "seed": seed}
    largest = len(connected_components(build_grid("grid", dims, wrap, **damage))[0])
    count = data.draw(st.integers(1, largest))
    some = build_grid("grid", dims, wrap, allocate=count, **damage)
    assert some.num_switches == count
    assert len(connected_components(some)) == 1
    more = build_grid("grid", dims, wrap, allocate=largest, **damage)
    if len(connected_components(build_grid("grid", dims, wrap, **damage))) == 1:
        assert set(some.switch_names) <= set(more.switch_names)
    # left out is not failed
    assert some.failed_switches == ()


def naive_boxes(dims, wrap, count):
    """Every set of switches that is a box, by its shape."""
    boxes = {}
    for box in product(*(range(1, size + 1) for size in dims)):
        if prod(box) != count:
            continue
        for corner in product(*map(range, dims)):
            along = [
                [first + k for k in range(length)]
                for first, length in zip(corner, box, strict=True)
            ]
            if any(
                line[-1] >= size and not ring
                for line, size, ring in zip(along, dims, wrap, strict=True)
            ):
                continue
            places = {
                tuple(x % size for x, size in zip(place, dims, strict=True))
                for place in product(*along)
            }
            boxes.setdefault(box, set()).add(frozenset(places))
    return boxes


@given(sizes, st.booleans(), st.integers(0, 30), st.data())
def test_a_box_is_the_most_compact_one_that_is_free(dims, rings, seed, data):
    total = prod(dims)
    wrap = [rings and size > 2 for size in dims]
    free = np.array(data.draw(st.lists(st.booleans(), min_size=total, max_size=total)))
    count = data.draw(st.sampled_from([k for k in range(1, total + 1) if total % k == 0]))
    places = list(product(*map(range, dims)))
    taken = {place for place, ok in zip(places, free, strict=True) if not ok}
    boxes = {
        box: {spot for spot in spots if not spot & taken}
        for box, spots in naive_boxes(dims, wrap, count).items()
    }
    able = {box: spots for box, spots in boxes.items() if spots}
    if not able:
        with pytest.raises(InputError, match=r"is free|has"):
            free_box(dims, wrap, free, count, seed)
        return
    mask = free_box(dims, wrap, free, count, seed)
    chosen = frozenset(place for place, is_chosen in zip(places, mask, strict=True) if is_chosen)
    least = min(map(sum, able))
    assert any(chosen in spots for box, spots in able.items() if sum(box) == least)


def test_all_places_of_a_box_are_chosen_in_turn():
    free = np.ones(12, dtype=bool)
    counts = Counter(
        tuple(np.flatnonzero(free_box((4, 3), (True, True), free, 4, seed))) for seed in range(400)
    )
    # a 2x2 box has twelve places in this torus
    assert len(counts) == 12
    assert min(counts.values()) > 10


def test_growth_takes_all_neighbours_alike():
    # a star: the hub is the second one chosen, then every leaf with the same probability
    leaves = range(1, 5)
    free = np.ones(5, dtype=bool)

    def neighbours(switch):
        return leaves if switch == 0 else [0]

    counts = Counter(
        tuple(np.flatnonzero(connected_set(neighbours, free, 2, seed))) for seed in range(600)
    )
    assert set(counts) == {(0, leaf) for leaf in leaves}
    assert min(counts.values()) > 100


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"allocate": 17},
            "torus: allocate: no connected part has 17 switches, the largest has 16",
        ),
        ({"allocate": 7, "shape": "box"}, "no box of 4x4 has 7 switches; choose a number"),
        (
            {"allocate": 16, "shape": "box", "fail_switches": 1},
            "no box of 16 switches is free in 4x4; allocate fewer",
        ),
    ],
)
def test_allocations_that_do_not_fit_are_refused(wanted, message):
    with pytest.raises(InputError, match=message):
        build_grid("torus", (4, 4), True, **wanted)
