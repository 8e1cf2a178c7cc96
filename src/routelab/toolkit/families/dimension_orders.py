"""Orders of dimensions as values of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from routelab.api.errors import InputError

_NAMED = ("natural", "reversed", "longest", "shortest")


def check_order(order: str, named: Sequence[str] = _NAMED) -> str:
    """Return `order` if it is a name or a list of all dimensions from 0 on, such as 2+0+1.

    Raises
    ------
    ValueError
        With the problem.
    """
    if order in named:
        return order
    dimensions = order.split("+")
    if not all(part.isascii() and part.isdigit() for part in dimensions):
        raise ValueError(
            f"{order!r} is not an order; use {', '.join(named)} or a list such as 2+0+1"
        )
    if sorted(map(int, dimensions)) != list(range(len(dimensions))):
        raise ValueError(f"{order!r} must name every dimension from 0 on once")
    return order


DimensionOrder = Annotated[str, AfterValidator(check_order)]
"""One order: natural, reversed, longest or shortest dimension first, or a list such as 2+0+1."""


def dimension_sequence(order: str, sizes: Sequence[int]) -> list[int]:
    """Return the dimensions in the order that a parameter names.

    With the sizes 4, 8 and 4, ``longest`` gives [1, 0, 2], and ``2+0+1`` gives [2, 0, 1].

    Parameters
    ----------
    order : str
        A name or a list that `check_order` allows.
    sizes : sequence of int
        Size of each dimension; equal ones stay in natural order.

    Raises
    ------
    InputError
        If `order` lists another number of dimensions than `sizes`.
    """
    natural = list(range(len(sizes)))
    if order not in _NAMED:
        listed = [int(part) for part in order.split("+")]
        if len(listed) != len(sizes):
            raise InputError(
                f"order={order} lists {len(listed)} dimensions, but the network has {len(sizes)}"
            )
        return listed
    if order in ("natural", "reversed"):
        return natural[:: -1 if order == "reversed" else 1]
    return sorted(natural, key=lambda d: sizes[d] * (-1 if order == "longest" else 1))
