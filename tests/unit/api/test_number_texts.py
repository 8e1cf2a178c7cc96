"""Numbers in texts are written in the digits 0 to 9, and lists have no empty items."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from routelab.api import Bytes, Dims, Integers, Numbers, Parameters, Words
from routelab.api.number_texts import check_number_text, read_integer, read_number
from routelab.api.parameters import split_items

ODD = ["٣", "1_0", "+3", " 3", "3 ", "３", "1_0.5", "+1e3", "٠.1"]


class Sample(Parameters):
    whole: int = 0
    real: float = 0.0
    maybe: int | None = None
    integers: Integers = ()
    numbers: Numbers = ()
    dims: Dims = (2,)
    size: Bytes = 1
    words: Words = ()
    text: str = ""


@pytest.mark.parametrize("text", ODD)
def test_odd_numbers_are_refused(text):
    for read in (read_integer, read_number, check_number_text):
        with pytest.raises(ValueError, match="0 to 9"):
            read(text)


@pytest.mark.parametrize("field", ["whole", "real", "maybe", "integers", "numbers", "dims", "size"])
@pytest.mark.parametrize("text", ODD)
def test_no_parameter_takes_an_odd_number(field, text):
    with pytest.raises(ValidationError):
        Sample(**{field: text})


@pytest.mark.parametrize("field", ["integers", "numbers"])
@pytest.mark.parametrize("text", ODD)
def test_no_list_takes_an_odd_number(field, text):
    with pytest.raises(ValidationError):
        Sample(**{field: f"1+{text}"})
    with pytest.raises(ValidationError):
        Sample(**{field: ["1", text]})


@pytest.mark.parametrize("text", ODD)
def test_texts_may_be_anything(text):
    assert Sample(text=text, words=[text]).words == (text,)


@given(st.integers())
def test_integers_are_read(number):
    assert read_integer(str(number)) == number


@given(st.floats(allow_nan=False))
def test_numbers_are_read(number):
    assert read_number(repr(number)) == number
    assert Sample(real=repr(number)).real == number


def test_nan_is_a_number():
    assert math.isnan(read_number("nan"))


@pytest.mark.parametrize("field", ["integers", "numbers", "words"])
@pytest.mark.parametrize("text", ["+", "1+", "+1", "1++2"])
def test_no_list_has_an_empty_item(field, text):
    with pytest.raises(ValidationError, match="empty item"):
        Sample(**{field: text})


def test_no_list_of_a_study_has_an_empty_item():
    with pytest.raises(ValidationError, match="empty"):
        Sample(words=["a", ""])


def test_an_empty_list_is_a_list():
    assert split_items("") == ()
    assert Sample(words="").words == ()
