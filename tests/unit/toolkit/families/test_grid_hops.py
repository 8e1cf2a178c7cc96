"""Orders of dimensions as they are written, and what whole grids need."""

from __future__ import annotations

import pytest

from routelab.kernels.grid_hops import ORDERS
from routelab.toolkit import build_grid
from routelab.toolkit.families.dimension_orders import check_order, dimension_sequence
from routelab.toolkit.families.grid_hops import (
    count_orders,
    grid_diameter,
    grid_tables,
    longest_route,
    whole_grid,
)
from routelab.toolkit.grids import Grid


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("natural", [0, 1, 2, 3]),
        ("reversed", [3, 2, 1, 0]),
        ("longest", [1, 3, 0, 2]),
        ("shortest", [0, 2, 1, 3]),
        ("2+0+3+1", [2, 0, 3, 1]),
    ],
)
def test_orders_keep_equal_dimensions_in_natural_order(order, expected) -> None:
    assert dimension_sequence(check_order(order), (2, 5, 2, 5)) == expected


@pytest.mark.parametrize("order", ["up", "0+0", "1+2", "0+x", "rotated"])
def test_invalid_orders_are_rejected(order) -> None:
    with pytest.raises(ValueError, match=r"is not an order|every dimension"):
        check_order(order)


def test_drawn_orders_are_all_there_once() -> None:
    torus = build_grid("torus", (3, 4, 2), wrap=True)
    for order, count in (("rotated", 3), ("random", 6)):
        assert count_orders(order, whole_grid(torus)) == count
        tables = grid_tables(torus, order=order)
        begin = tables[1 + ORDERS]
        rows = tables[begin : begin + 3 * count].reshape(count, 3).tolist()
        assert len({tuple(row) for row in rows}) == count
        assert all(sorted(row) == [0, 1, 2] for row in rows)


def test_distances_of_rings_and_lines() -> None:
    grid = Grid((5, 4, 2), (True, False, False))
    assert grid_diameter(grid) == 2 + 3 + 1
    assert longest_route(grid) == 4 + 3 + 1
