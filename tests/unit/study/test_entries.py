import math
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from routelab.study import Choice, choices
from routelab.study.entries import Entry

ENTRY = TypeAdapter(Entry)


def expanded(entry):
    return list(choices(ENTRY.validate_python(entry)))


def test_the_three_forms_of_an_entry():
    assert expanded("sssp@angara~turns=exact") == [Choice("sssp@angara~turns=exact")]
    assert expanded({"torus": {"dims": "4x2", "x": [1, 2]}}) == [
        Choice("torus", {"dims": "4x2", "x": [1, 2]})
    ]
    assert expanded({"use": "a@b", "as": "c"}) == [Choice("a@b", alias="c")]
    assert expanded({"dor": None}) == [Choice("dor", {})]


def test_sweeps_are_taken_in_order_and_the_last_one_turns_fastest():
    entry = {"bfs": {"sort": {"sweep": ["sum", "min"]}, "fixed": True, "seed": {"range": 2}}}
    assert [tuple(choice.values.values()) for choice in expanded(entry)] == [
        ("sum", True, 0),
        ("sum", True, 1),
        ("min", True, 0),
        ("min", True, 1),
    ]


SCALARS = st.one_of(st.booleans(), st.integers(), st.text())
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS),
    st.fixed_dictionaries({"sweep": st.lists(SCALARS, min_size=1, max_size=4)}),
    st.fixed_dictionaries({"range": st.integers(1, 4)}),
)


@given(st.dictionaries(st.text(min_size=1), VALUES, max_size=4))
def test_a_product_has_every_combination_once(parameters):
    combinations = expanded({"name": parameters})
    marked = {key: value for key, value in parameters.items() if isinstance(value, dict)}
    sizes = [value.get("range") or len(value["sweep"]) for value in marked.values()]
    assert len(combinations) == math.prod(sizes)
    for choice in combinations:
        assert list(choice.values) == list(parameters)
        for key, value in parameters.items():
            if "sweep" in marked.get(key, {}):
                assert choice.values[key] in value["sweep"]
            elif "range" in marked.get(key, {}):
                assert choice.values[key] in range(value["range"])
            else:
                assert choice.values[key] == value


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (12, "an entry must be a name"),
        ({"a": {}, "b": {}}, "an entry names one plugin, this one names 2"),
        ({}, "an entry names one plugin, this one names 0"),
        ({"a": {"b": {"sweeep": [1]}}}, "a mapping here must be {sweep"),
        ({"a": {"b": {"sweep": []}}}, "at least 1 item"),
        ({"a": {"b": {"range": 0}}}, "greater than or equal to 1"),
        ({"a": {"b": {"sweep": [[1]]}}}, "must be a single number, word or truth value"),
        ({"use": "a", "as": "../b"}, "pattern"),
        ({"use": "a"}, "give it an alias with 'as: NAME', or select networks with 'on'"),
    ],
)
def test_wrong_entries_are_refused_once(entry, message):
    with pytest.raises(ValidationError) as raised:
        ENTRY.validate_python(entry)
    (detail,) = raised.value.errors()
    assert message in detail["msg"]


def grids(**box):
    return [choice.values["dims"] for choice in expanded({"torus": {"dims": {"boxes": box}}})]


def test_boxes_are_the_systems_of_the_papers_survey():
    # 49 and 339: Mukosey et al., section 5.1; of their 1,173 4-D systems they do not say which
    assert len(grids(dimensions=2, sizes=[2, 8])) == 49
    assert len(grids(dimensions=3, sizes=[2, 8], max_nodes=400)) == 339
    assert len(grids(dimensions=4, sizes=[2, 8], max_nodes=432)) == 1183


@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 3), st.integers(1, 300))
def test_boxes_are_all_orders_of_all_sizes_within_the_limit(dimensions, low, more, most):
    assume(low**dimensions <= most)
    boxes = grids(dimensions=dimensions, sizes=[low, low + more], max_nodes=most)
    every = product(range(low, low + more + 1), repeat=dimensions)
    assert boxes == ["x".join(map(str, dims)) for dims in every if math.prod(dims) <= most]


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ({"dimensions": 2, "sizes": [8, 2]}, "the smaller one first"),
        ({"dimensions": 2, "sizes": [1, 2]}, "two sizes of at least 2"),
        ({"dimensions": 2, "sizes": [2]}, "Field required"),
        ({"dimensions": 0, "sizes": [2, 3]}, "greater than or equal to 1"),
        (
            {"dimensions": 2, "sizes": [2, 8], "max_nodes": 3},
            "the least of these grids has 4 nodes",
        ),
        ({"dimensions": 8, "sizes": [2, 9]}, "stands for 10001 instances"),
    ],
)
def test_wrong_boxes_are_refused(box, message):
    with pytest.raises(ValidationError, match=message):
        ENTRY.validate_python({"torus": {"dims": {"boxes": box}}})
