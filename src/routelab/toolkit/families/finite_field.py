"""Arithmetic in finite fields, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, product

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Int64Array


def prime_power(q: int) -> tuple[int, int] | None:
    """Return (p, n) with q = p^n and p prime; None if q is not the power of a prime."""
    if q < 2:
        return None
    # The least divisor above 1 is a prime; without one up to the root, q itself is.
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    n = 1
    while p**n < q:
        n += 1
    return (p, n) if p**n == q else None


def check_prime_power(
    family: str, q: int, least: int = 2, remainders: Sequence[int] = range(4)
) -> None:
    """Raise an error unless there is a network for the field of q elements.

    Parameters
    ----------
    family : str
    q : int
    least : int
        Smallest order of a field that has a network.
    remainders : sequence of int
        Remainders modulo 4 that the order may have; by default all.

    Raises
    ------
    InputError
        If `q` is not a prime power, or has another remainder. The text names the nearest orders
        that fit.
    """

    def fits(number: int) -> bool:
        return number % 4 in remainders and prime_power(number) is not None

    if fits(q):
        return
    below = next(filter(fits, range(q - 1, least - 1, -1)), None)
    above = next(filter(fits, count(max(q + 1, least))))
    problem = "is not a prime power"
    if prime_power(q) is not None:
        *other_remainders, last = map(str, remainders)
        problem = f"modulo 4 is {q % 4}, but must be {', '.join(other_remainders)} or {last}"
    nearest = above if below is None else f"{below}, {above}"
    raise InputError(f"{family}: q={q} {problem}; nearest: {nearest}")


@dataclass(frozen=True, eq=False)
class FiniteField:
    """The field of q elements, numbered from 0; 0 and 1 are the neutral elements.

    The digits of an element's number to the base p, the lowest first, are the coefficients of a
    polynomial over the integers modulo p. Multiplication is modulo the first polynomial, in the
    order of coefficients, of which x is a primitive element.

    Attributes
    ----------
    add, multiply : int64 arrays, shape (q, q)
        Sum and product of two elements.
    powers : int64 array, shape (q − 1,)
        Powers of a primitive element, from the 0th on: every element but 0.
    """

    add: Int64Array
    multiply: Int64Array
    powers: Int64Array

    @classmethod
    def of_order(cls, q: int) -> FiniteField:
        """Build the tables.

        Raises
        ------
        ValueError
            If `q` is not a prime power.
        """
        factors = prime_power(q)
        if factors is None:
            raise ValueError(f"q={q} is not a prime power")
        p, n = factors
        # An element's number is Σ digit · weight.
        weights = p ** np.arange(n)
        digits = np.arange(q)[:, np.newaxis] // weights % p
        powers = np.array(_primitive_powers(p, n)) @ weights
        # The product of two powers of x is the power of the sum of their exponents; 0 is none.
        logarithm = np.zeros(q, dtype=np.int64)
        logarithm[powers] = np.arange(q - 1)
        multiply = powers[(logarithm[:, np.newaxis] + logarithm) % (q - 1)]
        multiply[0] = multiply[:, 0] = 0
        return cls(
            add=(digits[:, np.newaxis] + digits) % p @ weights, multiply=multiply, powers=powers
        )

    @property
    def negative(self) -> Int64Array:
        """Additive inverse of each element; int64, shape (q,)."""
        inverse: Int64Array = np.argmin(self.add, axis=1)
        return inverse


def _primitive_powers(p: int, n: int) -> list[tuple[int, ...]]:
    """Return the powers of x modulo the first polynomial of degree n that makes it primitive."""
    one = (1, *[0] * (n - 1))
    for coefficients in product(range(1, p), *[range(p)] * (n - 1)):
        # Compute with x^n = Σ coefficients[i] x^i. As coefficients[0] is not 0, x has an inverse,
        # and its powers return to 1. If they are all polynomials but 0 on the way, this is a field.
        powers, power = [one], _times_x(one, coefficients, p)
        while power != one:
            powers.append(power)
            power = _times_x(power, coefficients, p)
        if len(powers) == p**n - 1:
            return powers
    raise AssertionError("every finite field has a primitive element")


def _times_x(power: tuple[int, ...], coefficients: tuple[int, ...], p: int) -> tuple[int, ...]:
    """Return x · power, where x^n is the polynomial with these coefficients.

    Multiplying moves each coefficient of `power` one place up; the last one becomes that of x^n.
    """
    shifted = (0, *power[:-1])
    return tuple((s + power[-1] * c) % p for s, c in zip(shifted, coefficients, strict=True))
