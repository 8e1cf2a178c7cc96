from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import model_validator

from routelab.api import Dims, Integers, Numbers, Parameters, Words, parameter
from routelab.api.parameters import MAX_DIMS, MAX_INTEGER
from routelab.registry.names import parse_name
from routelab.registry.parameters import as_text, describe_parameters, read_parameters


class Shape(Parameters):
    dims: Dims = parameter(description="sizes")
    failed: Integers = parameter((), description="taken away")
    links: Words = parameter(("0-1", "3-7"), description="links")
    class_: Literal["a", "b"] = parameter("a", description="a keyword")
    scale: float = parameter(1.0, gt=0, le=2.5, description="how large")
    limit: int | Literal["auto"] = parameter("auto", description="how many")
    most: int | None = parameter(None, ge=1, description="at most")
    wrap: bool = parameter(True, description="rings")
    start: Dims = parameter("2x2", description="a default that is written as text")
    file: Path = parameter(Path("net.csv"), description="a file")
    label: str = ""


def problems_of(**values):
    parameters, problems = read_parameters(Shape, values)
    assert parameters is None
    return problems


def test_text_becomes_typed_values():
    values = {
        "dims": "4x2",
        "failed": "3+7",
        "class": "b",
        "scale": "0.5",
        "limit": "3",
        "wrap": "false",
    }
    parameters, problems = read_parameters(Shape, values)
    assert problems == []
    assert (parameters.dims, parameters.failed, parameters.class_) == ((4, 2), (3, 7), "b")
    assert (parameters.scale, parameters.limit, parameters.wrap) == (0.5, 3, False)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"dims": "4y2"}, "dims=4y2: '4y2' is not a list of dimensions; write them as 4x2x2"),
        ({"scale": "big"}, "scale=big: must be a valid number"),
        ({"scale": "-1"}, "scale=-1: must be greater than 0"),
        ({"class": "c"}, "class=c: must be 'a' or 'b'"),
        ({"wrap": "perhaps"}, "wrap=perhaps: must be true or false"),
        ({"failed": "3+x"}, "failed=3+x: item 2 must be a valid integer"),
        ({"limit": "some"}, "limit=some: must be a valid integer or must be 'auto'"),
        ({"class_": "a"}, "unknown parameter 'class_'; did you mean 'class'?"),
        ({"zzz": "1"}, "unknown parameter 'zzz'"),
    ],
)
def test_one_wrong_value_gives_one_plain_sentence(values, said):
    assert problems_of(**{"dims": "4", **values}) == [said]


@pytest.mark.parametrize("sizes", ["x".join(["1"] * 33), [1] * 33])
def test_too_many_dimensions_are_refused_in_every_form(sizes):
    parameters, problems = read_parameters(Shape, {"dims": sizes})
    assert parameters is None
    assert len(problems) == 1
    assert "at most 32 dimensions" in problems[0]


def test_a_rule_over_several_parameters_speaks_for_itself():
    class Pair(Parameters):
        low: int = 0
        high: int = 1

        @model_validator(mode="after")
        def _ordered(self):
            if self.low > self.high:
                raise ValueError("low must not be above high")
            return self

    assert read_parameters(Pair, {"low": "3"}) == (None, ["low must not be above high"])


@given(
    st.fixed_dictionaries(
        {"dims": st.lists(st.integers(1, 99), min_size=1, max_size=MAX_DIMS).map(tuple)},
        optional={
            "failed": st.lists(st.integers(-5, 99)).map(tuple),
            "class_": st.sampled_from("ab"),
            "scale": st.floats(0, 2.5, exclude_min=True),
            "limit": st.integers(-MAX_INTEGER, MAX_INTEGER) | st.just("auto"),
            "most": st.none() | st.integers(1, 9),
            "wrap": st.booleans(),
            "start": st.lists(st.integers(1, 99), min_size=1, max_size=MAX_DIMS).map(tuple),
        },
    )
)
def test_written_values_are_read_back(values):
    parameters = Shape(**values)
    assert read_parameters(Shape, parameters.non_defaults()) == (parameters, [])


def test_none_is_a_value_where_it_is_allowed_and_the_default_is_another():
    class Limited(Parameters):
        most: int | None = 5
        label: str | None = "x"

    limited = Limited(most=None, label="none")
    assert limited.non_defaults() == {"most": "none", "label": "none"}
    assert read_parameters(Limited, limited.non_defaults()) == (limited, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (0.25, "0.25"), (True, "true"), ([2, 4], ["2", "4"]), ("4x2", "4x2"), (None, None)],
)
def test_values_of_a_study_become_typed_text(value, text):
    assert as_text(value) == text


def test_a_default_in_a_row_can_be_typed_and_means_the_default():
    typed = parse_name(
        "x~" + ",".join(f"{row.name}={row.default or '4'}" for row in describe_parameters(Shape))
    )
    assert read_parameters(Shape, dict(typed.parameters)) == (Shape(dims=(4,)), [])


def test_a_tilde_is_the_home_folder(monkeypatch):
    class Files(Parameters):
        file: Path = parameter(description="a file")
        other: Path | None = parameter(Path("~/b"), description="another file")
        label: str = parameter("", description="any text")

    monkeypatch.setenv("HOME", "/home/me")
    parameters, problems = read_parameters(Files, {"file": "~/nets/a.csv", "label": "~/nets"})
    assert not problems
    assert parameters.file == Path("/home/me/nets/a.csv")
    assert parameters.other == Path("/home/me/b")
    assert parameters.label == "~/nets"
    assert read_parameters(Files, {"file": "a~/b"})[0].file == Path("a~/b")
    _, problems = read_parameters(Files, {"file": "~no-such-user/a"})
    assert problems == [
        "file=~no-such-user/a: cannot find the home folder of ~no-such-user/a; write the whole path"
    ]


@pytest.mark.parametrize("written", ["0.1+2", 0.5, 3, [0.1, 0.2], (1.5,)])
def test_written_lists_of_numbers_are_read_back(written):
    class Loads(Parameters):
        loads: Numbers = parameter((), description="numbers")

    once = Loads(loads=written)
    assert Loads(loads=once.texts()["loads"]) == once
