"""Routings that are built on others: names, errors, and what is handed in."""

from __future__ import annotations

import pytest

from routelab.api import InputError, UnsupportedError
from routelab.registry.instances import canonical, load_routing
from routelab.simulation.programs import part_of, program
from routelab.toolkit import build_grid


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("valiant~base=natural", "valiant"),
        (
            "valiant~base=[dimension-order~order=natural,ties=random]",
            "valiant~base=[dimension-order~ties=random]",
        ),
        ("valiant~base=[dor~selection.ties=positive]", "valiant~base=[dor~ties=positive]"),
        ("valiant~base=[sssp@angara~turns=theorem2@none]", "valiant~base=[sssp@angara]"),
        ("angara-adaptive~escape=[angara-sssp~tie_seed=0]", "angara-adaptive"),
        (
            "valiant~base=[angara-adaptive~escape=[dor~ties=positive]]",
            "valiant~base=[angara-adaptive~escape=[dor~ties=positive]]",
        ),
    ],
)
def test_names_in_names_become_canonical(written, name) -> None:
    assert canonical("routing", written) == name
    assert canonical("routing", name) == name


def test_all_plugins_take_part() -> None:
    names = [plugin.name for plugin in load_routing("valiant~base=[sssp@angara]").plugins]
    assert names == ["valiant", "sssp", "angara", "none"]


@pytest.mark.parametrize(
    "text",
    ["valiant~base=[dfsssp~routes=terminals]", "angara-adaptive~escape=[dfsssp~routes=terminals]"],
)
def test_routes_to_terminals_are_nothing_to_build_on(text) -> None:
    """A waypoint is a switch, and so is the place where an escape begins."""
    topology = build_grid("torus", (3, 3), wrap=True, terminals=2)
    with pytest.raises(UnsupportedError, match="its routes lead to terminals"):
        program(load_routing(text), topology, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("valiant~base=valliant", "valiant~base=valliant: base: no routing plugin is called"),
        ("valiant~base=[dor~order=up]", "'up' is not an order"),
        ("valiant~base=sssp", "a selection makes a routing as sssp@RULES"),
        ("angara-adaptive~escape=[]", "escape: bad name"),
    ],
)
def test_mistakes_in_nested_names_are_reported(text, message) -> None:
    with pytest.raises(InputError) as caught:
        load_routing(text)
    assert message in str(caught.value)


def test_a_program_that_does_not_apply_says_why() -> None:
    torus = build_grid("torus", (4, 4), wrap=True)
    with pytest.raises(UnsupportedError, match="rdr: needs 2 virtual channels"):
        program(load_routing("rdr"), torus, 1)
    # shortest ways close rings, which one layer cannot hold
    with pytest.raises(UnsupportedError, match=r"dfsssp: needs . virtual channels; available: 1"):
        program(load_routing("dfsssp"), torus, 1)
    with pytest.raises(UnsupportedError, match="decides hop by hop and has no route table"):
        part_of(load_routing("rdr")).table(torus)
