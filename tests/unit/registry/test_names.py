import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.registry.names import (
    Name,
    compose,
    parse_name,
    parse_routing,
    without_parameters,
)

WORDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
PIECES = st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    PIECES,
    lambda inner: st.builds(lambda a, b, c: f"{a}[{b}]{c}", PIECES, inner, PIECES),
    max_leaves=4,
)
NAMES = st.builds(
    Name,
    WORDS,
    st.lists(st.tuples(WORDS, VALUES), max_size=3, unique_by=lambda pair: pair[0]).map(tuple),
)
ROUTINGS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)


@given(NAMES)
def test_reading_a_written_name_gives_it_back(name):
    assert parse_name(str(name)) == name


@given(ROUTINGS)
def test_reading_a_written_routing_gives_it_back(names):
    assert parse_routing(compose(names)) == names


@given(st.text("ab1~@=,[]+-./ ", max_size=14))
def test_any_text_is_read_reversibly_or_refused_at_a_place_in_it(text):
    try:
        names = parse_routing(text)
    except InputError as error:
        _, shown, marker = str(error).rsplit("\n", 2)
        assert shown == f"    {text}"
        assert re.fullmatch(r" *\^", marker)
        assert 4 <= marker.index("^") <= 4 + len(text)
    else:
        assert parse_routing(compose(names)) == names


@given(NAMES)
def test_nesting_a_name_in_a_name_keeps_it(name):
    outer = Name("valiant", (("base", str(name)),))
    assert parse_name(parse_name(str(outer)).parameters[0][1]) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torus", Name("torus")),
        (
            "graph~file=~/a.csv,directed=true",
            Name("graph", (("file", "~/a.csv"), ("directed", "true"))),
        ),
        (
            "torus~dims=4x2x2x2,failed_switches=3+7",
            Name("torus", (("dims", "4x2x2x2"), ("failed_switches", "3+7"))),
        ),
        ("valiant~base=[dor~order=longest]", Name("valiant", (("base", "dor~order=longest"),))),
        ("graph~file=../nets/a-b.csv", Name("graph", (("file", "../nets/a-b.csv"),))),
        ("graph~file=[odd~name=1.csv]", Name("graph", (("file", "odd~name=1.csv"),))),
        ("x~selection.ties=a", Name("x", (("selection.ties", "a"),))),
        ("x~label=[]", Name("x", (("label", ""),))),
    ],
)
def test_names_of_the_design(text, name):
    assert parse_name(text) == name
    assert str(name) == text


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 0, "name of a plugin"),
        ("torus~", 6, "expected a parameter"),
        ("torus~dims", 10, "expected '='"),
        ("graph~file=a,b.txt", 18, "comma goes in brackets, file=[...]"),
        ("graph~file=a, b.txt", 13, "comma goes in brackets, file=[...]"),
        ("torus~dims=", 11, "write [] for an empty one"),
        ("torus~dims=4x2,,seed=1", 15, "expected a parameter"),
        ("torus~seed=1,seed=2", 13, "'seed' is given twice"),
        ("torus=4x2", 5, "come after '~'"),
        ("torus 4x2", 5, "unexpected ' '"),
        ("v~base=dor~order=x", 10, "base=[...]"),
        ("v~base=[dor~order=x", 7, "never closed"),
        ("v~base=[dor]s", 12, "after the closing bracket"),
        ("v~base=a]", 8, "goes in brackets"),
        ("a@b@c@d", 5, "at most three parts"),
        ("a@", 2, "name of a plugin"),
    ],
)
def test_bad_text_is_refused_with_a_pointer_at_the_place(text, column, said):
    with pytest.raises(InputError) as error:
        parse_routing(text)
    message, shown, marker = str(error.value).rsplit("\n", 2)
    assert said in message
    assert (shown, marker) == (f"    {text}", " " * (4 + column) + "^")


def test_only_routings_are_put_together():
    with pytest.raises(InputError, match="only routings"):
        parse_name("torus@mesh")


@pytest.mark.parametrize(
    ("key", "parameters", "said"),
    [
        ("to rus", (), "'to rus' cannot be used in a name"),
        ("torus", (("di ms", "4"),), "'di ms' cannot be used in a name"),
        ("torus", (("x", "a]b["),), "not balanced"),
        ("torus", (("x", "1"), ("x", "2")), "given twice"),
    ],
)
def test_unwritable_names_are_rejected(key, parameters, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Name(key, parameters)


@pytest.mark.parametrize(
    ("name", "left_out", "rest"),
    [
        ("genetic~seed=3", {"seed"}, "genetic"),
        ("genetic~seed=3,size=9", {"seed"}, "genetic~size=9"),
        ("g~seed=3@angara~turns=exact@lash~seed=1", {"seed"}, "g@angara~turns=exact@lash"),
        ("v~base=[dor~seed=1],seed=2", {"seed"}, "v~base=[dor~seed=1]"),
        ("g~selection.seed=3", {"selection.seed"}, "g"),
        ("g~seed=3", set(), "g~seed=3"),
    ],
)
def test_names_without_pooled_parameters(name, left_out, rest):
    assert without_parameters(name, left_out) == rest
