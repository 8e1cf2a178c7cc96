"""Rerouting churn: the naive twin by names, and laws about what has to change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import MetricContext, Topology, UnsupportedError
from routelab.metrics import channel_loads, terminal_pairs
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid
from routelab_plugins.metric.rerouting_churn import ReroutingChurn


def context_of(topology, routing):
    chosen = Routing.from_name(routing)
    routed = chosen.routes(topology)
    return MetricContext(routed.table, routed.graph, chosen.reroute)


def churn(context, **parameters):
    return {m.metric: m.value for m in ReroutingChurn(**parameters).measure_in(context)}


def by_names(table):
    """For every pair of switches: its paths as switches and directions by name."""
    topology = table.topology
    named = {}
    for a in topology.endpoints.tolist():
        for b in topology.endpoints.tolist():
            ways = [[topology.channel_name(c) for c in way] for way in table.paths(a, b)]
            named[topology.switch_names[a], topology.switch_names[b]] = ways
    return named


def naive_churn(context):
    """Forced, unforced and lost pairs of every link."""
    topology = context.table.topology
    before = by_names(context.table)
    rows = []
    for link in topology.links.tolist():
        after = by_names(context.reroute(topology.without(channels=link)))
        cut = {topology.channel_name(c) for c in link if c >= 0}
        forced = {pair for pair, ways in before.items() if any(cut & set(way) for way in ways)}
        other = {pair for pair in before if before[pair] != after[pair]} - forced
        lost = {pair for pair in before if before[pair] and not after[pair]}
        rows.append([len(forced), len(other), len(lost)])
    return np.array(rows)


@settings(max_examples=12)
@given(
    st.sampled_from([(3, 2), (4, 3), (2, 2, 2), (3, 3)]),
    st.integers(0, 2),
    st.sampled_from(["angara-sssp", "sssp@angara~turns=exact", "sssp@direction-order"]),
    st.integers(0, 20),
)
def test_churn_is_that_of_the_definition(dims, fail_links, routing, seed):
    context = context_of(build_grid("torus", dims, True, fail_links=fail_links, seed=seed), routing)
    facts = churn(context)
    rows = naive_churn(context)
    pairs = terminal_pairs(context.table.topology).sum()
    assert facts["churn_links"] == len(rows)
    assert facts["churn_refused"] == 0
    names = ("churn_forced", "churn_unforced", "churn_lost")
    assert [facts[name] for name in names] == pytest.approx(rows.mean(axis=0))
    assert facts["churn_forced_share"] == pytest.approx(rows[:, 0].mean() / pairs)
    assert facts["churn_unforced_share"] == pytest.approx(rows[:, 1].mean() / pairs)
    assert facts["churn_worst_share"] == pytest.approx(rows[:, :2].sum(axis=1).max() / pairs)


@settings(max_examples=8)
@given(
    st.sampled_from([(4, 3), (3, 2, 2), (5,)]),
    st.integers(1, 2),
    st.sampled_from(["first@unrestricted", "sssp@unrestricted", "dfsssp~routes=terminals"]),
)
def test_every_crossing_is_forced_once(dims, terminals, routing):
    # a shortest route crosses a link at most once, so forced changes add up to the load
    context = context_of(build_grid("torus", dims, True, terminals=terminals), routing)
    facts = churn(context)
    total = channel_loads(context.table).sum()
    assert facts["churn_forced"] * facts["churn_links"] == pytest.approx(total)


@pytest.mark.parametrize("rules", ["unrestricted", "direction-order"])
@pytest.mark.parametrize("dims", [(4, 3), (3, 2, 2)])
def test_a_routing_that_takes_the_first_route_changes_nothing_it_need_not(rules, dims):
    # the other routes come in the same order, and none of them is shorter without the link
    facts = churn(context_of(build_grid("torus", dims, True), f"first~ties=positive@{rules}"))
    assert facts["churn_unforced"] == 0
    assert facts["churn_forced"] > 0


def test_a_bridge_cuts_off_the_pairs_of_its_two_sides():
    # lines have bridges only: cutting after k of 4 switches parts k from 4 - k, both ways
    facts = churn(context_of(build_grid("mesh", (4,), False), "first@unrestricted"))
    assert facts["churn_lost"] == pytest.approx(np.mean([2 * k * (4 - k) for k in (1, 2, 3)]))
    assert facts["churn_forced"] == facts["churn_lost"]


def test_samples_are_links_of_the_whole_and_more_include_the_fewer():
    context = context_of(build_grid("torus", (4, 3), True), "angara-sssp")
    seen = []

    def spy(topology):
        seen.append(topology.failed_links[0])
        return context.reroute(topology)

    spied = MetricContext(context.table, context.graph, spy)
    sampled = []
    for samples in (3, 6, 24, 99):
        seen.clear()
        assert churn(spied, samples=samples, seed=2)["churn_links"] == min(samples, 24)
        sampled.append(set(seen))
    assert sampled[0] < sampled[1] < sampled[2] == sampled[3]
    assert [len(links) for links in sampled] == [3, 6, 24, 24]
    seen.clear()
    churn(spied, samples=3, seed=3)
    assert set(seen) != sampled[0]


def test_links_that_the_routing_needs_are_counted_and_left_out():
    context = context_of(build_grid("torus", (4,), True), "angara-sssp")

    def picky(topology):
        if topology.failed_links != ("0-1",):
            raise UnsupportedError("needs the other links")
        return context.reroute(topology)

    facts = churn(MetricContext(context.table, context.graph, picky))
    assert (facts["churn_links"], facts["churn_refused"]) == (4, 3)
    assert facts["churn_forced"] == channel_loads(context.table)[[0, 3]].sum()


def test_a_network_without_links_has_no_churn():
    alone = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    assert churn(context_of(alone, "first@unrestricted")) == {
        "churn_links": 0,
        "churn_refused": 0,
    }
