"""Routings that are built on others: names, errors, and what is handed in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from routelab.api import InputError, RouteTable, RoutingPlugin, UnsupportedError
from routelab.registry.instances import CompleteRouting, canonical, load_routing
from routelab.routing.routing import Routing
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
    with pytest.raises(UnsupportedError, match=r"routes (lead )?to terminals"):
        Routing.from_name(text).prepare(topology, 8)


class TowardsFirst(RoutingPlugin):
    """Counter-clockwise on a ring, to switch 0 only."""

    name, summary = "towards-first", "Routes to the first switch"

    def route(self, topology):
        step = np.flatnonzero(topology.channel_target < topology.channel_source)
        next_hop = np.full((topology.num_switches, topology.num_switches), -1)
        next_hop[topology.channel_source[step], 0] = step
        return RouteTable.from_next_hops(topology, next_hop)


def test_a_waypoint_needs_routes_between_all_switches() -> None:
    plugins = load_routing("valiant")
    routing = Routing(replace(plugins, parts={"base": CompleteRouting(TowardsFirst())}))
    line = build_grid("mesh", (4,), wrap=False)
    assert Routing(CompleteRouting(TowardsFirst())).supports(line, 1) is None
    assert routing.supports(line, 2) == "base towards-first: some pairs have no route"


def test_a_base_computes_its_table_once(monkeypatch) -> None:
    """Valiant asks for the least number of virtual channels of its base, which a table knows."""
    routed, route = [], Routing._run_plugins
    torus = build_grid("torus", (4, 4), wrap=True)

    def count(routing, topology, report):
        routed.append(topology is torus)
        return route(routing, topology, report)

    monkeypatch.setattr(Routing, "_run_plugins", count)
    routing = Routing.from_name("valiant~base=lash")
    assert "needs 4 virtual channels" in routing.supports(torus, 2)
    routing.prepare(torus, 4)
    assert sum(routed) == 1


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
        Routing.from_name("rdr").prepare(torus, 1)
    # shortest ways close rings, which one layer cannot hold
    with pytest.raises(UnsupportedError, match=r"dfsssp: needs . virtual channels; available: 1"):
        Routing.from_name("dfsssp").prepare(torus, 1)
    with pytest.raises(UnsupportedError, match="decides hop by hop and has no route table"):
        Routing.from_name("rdr").table(torus)
