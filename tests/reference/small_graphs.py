"""Small deterministic routing graphs for selections: regular, damaged, irregular, with hubs."""

from __future__ import annotations

from hypothesis import strategies as st

from routelab.api import RoutingGraph, Topology
from routelab.testing.graphs import GRAPHS
from routelab.toolkit import build_grid, determinized


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Random connected networks; some switches have no terminal, some have several."""
    count = draw(st.integers(2, 6))
    links = [(draw(st.integers(0, k - 1)), k) for k in range(1, count)]
    extra = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links += [(a, b) for a, b in draw(st.lists(extra, max_size=6)) if a != b]
    return Topology.create(
        num_switches=count,
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
        terminal_switch=draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=9)),
    )


def plain_graphs() -> st.SearchStrategy[RoutingGraph]:
    """Routing graphs of the rules that the conformance kit brings along."""
    return st.builds(
        lambda rules, topology: determinized(rules(topology)),
        st.sampled_from(list(GRAPHS.values())),
        networks(),
    )


def graphs() -> st.SearchStrategy[RoutingGraph]:
    """Routing graphs of the built-in rules."""
    # tests of the core draw `plain_graphs` where there are no built-in plugins
    from routelab_plugins.rules.angara import Angara
    from routelab_plugins.rules.unrestricted import Unrestricted
    from routelab_plugins.rules.up_down import UpDown

    torus = st.builds(
        lambda dims, fail, seed: build_grid("torus", dims, True, fail_links=fail, seed=seed),
        st.sampled_from([(4,), (2, 3), (4, 2), (3, 3), (2, 2, 2)]),
        st.integers(0, 1),
        st.integers(0, 99),
    )
    on_torus = st.builds(lambda t: Angara(turns="exact").routing_graph(t), torus)
    on_any = st.builds(
        lambda rules, topology: rules.routing_graph(topology),
        st.sampled_from([Unrestricted(), UpDown()]),
        networks(),
    )
    return on_torus | on_any
