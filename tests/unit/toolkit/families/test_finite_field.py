"""Finite fields: the axioms, and prime powers."""

import numpy as np
import pytest

from routelab.api import InputError
from routelab.toolkit.families.finite_field import FiniteField, check_prime_power, prime_power

ORDERS = [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 32, 49, 81, 121, 125, 128]


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, n))


def test_prime_powers():
    powers = {p**n: (p, n) for p in range(2, 600) if is_prime(p) for n in range(1, 10)}
    assert {q: prime_power(q) for q in range(600) if prime_power(q)} == {
        q: factors for q, factors in powers.items() if q < 600
    }


@pytest.mark.parametrize("q", ORDERS)
def test_the_axioms(q):
    field = FiniteField.of_order(q)
    add, multiply = field.add, field.multiply
    for table, neutral in ((add, 0), (multiply, 1)):
        assert ((table >= 0) & (table < q)).all()
        assert (table == table.T).all()
        assert (table[neutral] == np.arange(q)).all()
        # (a ∘ b) ∘ c = a ∘ (b ∘ c)
        assert (table[table] == table[:, table]).all()
    assert (multiply[0] == 0).all()
    # each row of sums, and of products other than by 0, has every element once
    assert (np.sort(add, axis=1) == np.arange(q)).all()
    assert (np.sort(multiply[1:], axis=1) == np.arange(q)).all()
    # a (b + c) = a b + a c
    assert (multiply[:, add] == add[multiply[:, :, np.newaxis], multiply[:, np.newaxis, :]]).all()
    assert (add[np.arange(q), field.negative] == 0).all()


@pytest.mark.parametrize("q", ORDERS)
def test_powers_of_a_primitive_element(q):
    field = FiniteField.of_order(q)
    assert sorted(field.powers.tolist()) == list(range(1, q))
    power = 1
    for expected in field.powers.tolist():
        assert power == expected
        power = int(field.multiply[power, field.powers[1 % (q - 1)]])
    assert power == 1


@pytest.mark.parametrize("p", [2, 3, 5, 7, 31])
def test_a_prime_field_is_arithmetic_modulo_p(p):
    field, numbers = FiniteField.of_order(p), np.arange(p)
    assert (field.add == np.add.outer(numbers, numbers) % p).all()
    assert (field.multiply == np.multiply.outer(numbers, numbers) % p).all()


@pytest.mark.parametrize("q", [0, 1, 6, 12, 100])
def test_other_orders_have_no_field(q):
    with pytest.raises(ValueError, match=f"q={q} is not a prime power"):
        FiniteField.of_order(q)


@pytest.mark.parametrize(
    ("q", "limits", "message"),
    [
        (6, {}, "net: q=6 is not a prime power; nearest: 5, 7$"),
        (24, {}, "nearest: 23, 25$"),
        (1, {}, "nearest: 2$"),
        (2, {"least": 3, "remainders": (0, 1, 3)}, "modulo 4 is 2.* 0, 1 or 3; nearest: 3$"),
        (14, {"remainders": (1,)}, "not a prime power; nearest: 13, 17$"),
    ],
)
def test_the_nearest_prime_powers(q, limits, message):
    with pytest.raises(InputError, match=message):
        check_prime_power("net", q, **limits)
