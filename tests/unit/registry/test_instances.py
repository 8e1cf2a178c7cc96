import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.registry.instances import (
    CompleteRouting,
    canonical,
    canonical_with_parameters,
    load,
    load_routing,
    name_of,
    parameter_rows,
)

# the catalogue is only read, so examples may share it
shared = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=60,
)

GRIDS = st.fixed_dictionaries(
    {"dims": st.lists(st.integers(1, 9), min_size=1, max_size=4)},
    optional={
        "failed_switches": st.lists(st.integers(0, 9), max_size=3),
        "class": st.sampled_from("ab"),
        "scale": st.floats(0, 9, exclude_min=True),
        "limit": st.none() | st.integers(1, 9),
        "wrap": st.booleans(),
        "label": st.text("ab ,~@=[]", max_size=5).filter(
            lambda text: "[" not in text and "]" not in text
        ),
        "file": st.sampled_from(["a/b.csv", "../x-y.z", "~/n@1.csv"]),
    },
)


def refused(function, *arguments):
    with pytest.raises(InputError) as error:
        function(*arguments)
    return str(error.value)


@shared
@given(values=GRIDS)
def test_a_canonical_name_stands_for_the_same_instance(zoo, values):
    name = canonical_with_parameters("topology", "grid", values, zoo)
    plugin = load("topology", name, zoo)
    assert plugin.parameters == type(plugin)(**values).parameters
    assert name_of(plugin) == canonical("topology", name, zoo) == name


@shared
@given(values=GRIDS, random=st.randoms())
def test_the_order_of_parameters_does_not_matter(zoo, values, random):
    items = list(values.items())
    random.shuffle(items)
    assert canonical_with_parameters(
        "topology", "grid", dict(items), zoo
    ) == canonical_with_parameters("topology", "grid", values, zoo)


def test_defaults_are_left_out_and_keywords_lose_their_underscore(zoo):
    text = "grid~wrap=true,class=b,scale=1,dims=4x2x2,failed_switches=3+7,failed_links=0-1+3-7"
    assert canonical("topology", text, zoo) == (
        "grid~dims=4x2x2,failed_switches=3+7,failed_links=0-1+3-7,class=b"
    )
    assert canonical("topology", "bare", zoo) == "bare"


def test_a_study_and_the_command_line_mean_the_same(zoo):
    values = {"dims": [4, 2], "failed_links": ["0-1"], "scale": 2, "wrap": False, "limit": None}
    typed = "grid~dims=4x2,failed_links=0-1,scale=2,wrap=false,limit=none"
    assert canonical_with_parameters("topology", "grid", values, zoo) == canonical(
        "topology", typed, zoo
    )
    assert canonical_with_parameters("topology", "grid", {"dims": 4}, zoo) == "grid~dims=4"
    assert (
        canonical_with_parameters("topology", "grid~dims=4", {"class": "b"}, zoo)
        == "grid~dims=4,class=b"
    )
    assert "'dims' is given twice" in refused(
        canonical_with_parameters, "topology", "grid~dims=4", {"dims": 5}, zoo
    )


def test_all_that_is_wrong_with_an_instance_is_one_message(zoo):
    message = refused(load, "topology", "grid~dmis=4x2,scale=big,class=z", zoo)
    for said in (
        "did you mean 'dims'?",
        "'dims' is required",
        "class=z",
        "scale=big",
        "takes dims",
    ):
        assert said in message
    assert "topology/bare takes no parameters" in refused(load, "topology", "bare~x=1", zoo)


def test_routings_of_parts_do_not_run_by_themselves(zoo):
    assert load("routing", "whole~depth=3", zoo).parameters.depth == 3
    assert "made of parts" in refused(load, "routing", "published", zoo)


def test_a_complete_algorithm(zoo):
    routing = load_routing("whole~depth=1", zoo)
    assert routing.name == "whole"
    assert isinstance(routing, CompleteRouting)
    assert routing.plugins == (routing.plugin,)
    assert load_routing("whole~depth=4", zoo).name == "whole~depth=4"


def test_a_composition_gives_each_part_its_own_parameters(zoo):
    routing = load_routing("pick~seed=1@turns~seed=2,admit=many@stack~height=3", zoo)
    assert routing.name == "pick~seed=1@turns~admit=many,seed=2@stack~height=3"
    assert (routing.selection.parameters.seed, routing.rules.parameters.seed) == (1, 2)
    assert routing.layers.parameters.height == 3
    assert routing.plugins == (routing.selection, routing.rules, routing.layers)


@pytest.mark.parametrize("text", ["pick@turns", "pick@turns@none", "pick~seed=0@turns~admit=few"])
def test_no_layers_go_without_saying(zoo, text):
    routing = load_routing(text, zoo)
    assert routing.name == canonical("routing", text, zoo) == "pick@turns"
    assert routing.layers.name == "none"


@pytest.mark.parametrize(("text", "use"), [("pick", "pick@RULES"), ("turns", "SELECTION@turns")])
def test_a_part_alone_is_no_routing_but_nearly(zoo, text, use):
    assert use in refused(load_routing, text, zoo)


def test_a_named_composition_fixes_some_parameters_and_forwards_the_rest(zoo):
    routing = load_routing("published~tie_seed=4,selection.seed=2,rules.seed=3", zoo)
    assert routing.name == "published~tie_seed=4,selection.seed=2,rules.seed=3"
    assert (routing.selection.parameters.tie_seed, routing.selection.parameters.seed) == (4, 2)
    assert (routing.rules.parameters.admit, routing.rules.parameters.seed) == ("many", 3)
    assert routing.layers.name == "none"
    assert [plugin.name for plugin in routing.plugins] == ["published", "pick", "turns", "none"]


def test_a_named_composition_keeps_its_name_and_leaves_out_defaults(zoo):
    assert canonical("routing", "published~rules.seed=0", zoo) == "published"
    assert canonical("routing", "settled~height=3,seed=1", zoo) == "settled~seed=1,height=3"


def test_a_qualified_name_is_shortened_where_it_can_be(zoo):
    assert canonical("routing", "published~selection.tie_seed=4", zoo) == "published~tie_seed=4"
    assert canonical("routing", "settled~selection.seed=4", zoo) == "settled~seed=4"
    assert load_routing("settled~seed=4", zoo).rules.parameters.seed == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "published~seed=1",
            (
                "'seed' is a parameter of selection/pick and rules/turns; "
                "write selection.seed= or rules.seed="
            ),
        ),
        ("published~admit=few", "'admit' is fixed: the routing uses rules/turns with admit=many"),
        ("published~rules.admit=few", "'rules.admit' is fixed"),
        ("settled~rules.seed=1", "'rules.seed' is fixed: the routing uses rules/turns with seed=5"),
        ("published~tie_sed=1", "unknown parameter 'tie_sed'; did you mean 'tie_seed'?"),
        ("published~layers.tie_seed=1", "unknown parameter 'layers.tie_seed'"),
        ("published~tie_seed=1,selection.tie_seed=2", "'selection.tie_seed' is given twice"),
        ("published~rules.seed=x", "rules/turns: rules.seed=x: must be a valid integer"),
    ],
)
def test_parameters_that_a_composition_cannot_take(zoo, text, said):
    message = refused(load_routing, text, zoo)
    assert said in message
    assert f"routing/{text.partition('~')[0]} takes " in message


def test_a_study_may_give_parameters_to_any_composition(zoo):
    values = {"tie_seed": 3, "rules.seed": 1}
    assert (
        canonical_with_parameters("routing", "published", values, zoo)
        == "published~tie_seed=3,rules.seed=1"
    )
    assert (
        canonical_with_parameters("routing", "pick@turns~admit=many", values, zoo)
        == "pick~tie_seed=3@turns~admit=many,seed=1"
    )
    assert "given twice" in refused(
        canonical_with_parameters, "routing", "published~tie_seed=1", values, zoo
    )
    assert "is fixed" in refused(
        canonical_with_parameters, "routing", "pick~tie_seed=1@turns", values, zoo
    )


@shared
@given(
    values=st.fixed_dictionaries(
        {},
        optional={name: st.integers(0, 5) for name in ("tie_seed", "selection.seed", "rules.seed")},
    )
)
def test_a_composition_and_the_same_parts_by_hand_are_the_same_plugins(zoo, values):
    named = load_routing(canonical_with_parameters("routing", "published", values, zoo), zoo)
    parts = load_routing(
        canonical_with_parameters("routing", "pick@turns~admit=many", values, zoo), zoo
    )
    assert [(type(plugin), plugin.parameters) for plugin in named.plugins[1:]] == [
        (type(plugin), plugin.parameters) for plugin in parts.plugins
    ]
    assert load_routing(named.name, zoo).name == named.name
    assert load_routing(parts.name, zoo).name == parts.name


def test_rows_of_a_composition_are_its_open_parameters(zoo):
    rows = parameter_rows(zoo.plugin("routing", "published"), zoo)
    assert [(row.name, row.default) for row in rows] == [
        ("tie_seed", "0"),
        ("selection.seed", "0"),
        ("rules.seed", "0"),
    ]
    settled = parameter_rows(zoo.plugin("routing", "settled"), zoo)
    assert [row.name for row in settled] == ["tie_seed", "seed", "admit", "height"]
    assert settled[-1].description == "virtual channels"
