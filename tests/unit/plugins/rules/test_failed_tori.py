"""What rules leave routable on damaged tori: laws that hold for each, and one that does not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.kernels.graph import route_lengths
from routelab.registry.instances import load
from routelab.toolkit import build_grid, determinized

FAR = 10**6

damaged = st.builds(
    lambda dims, links, switches, seed: {
        "dims": dims,
        "fail_links": links,
        "fail_switches": switches,
        "seed": seed,
    },
    st.sampled_from([(3, 3), (4, 2), (3, 2, 2), (4, 3, 2), (3, 3, 3), (2, 2, 2, 2)]),
    st.integers(0, 4),
    st.integers(0, 2),
    st.integers(0, 99),
)


def torus(**damage):
    return build_grid("torus", damage.pop("dims"), True, **damage)


def hops(rules, topology):
    """Hops of the shortest legal routes by the names of both ends; `FAR` where there is none."""
    graph = determinized(load("rules", rules).routing_graph(topology))
    lengths = route_lengths(graph.arrays, topology.endpoints)
    return np.where(lengths < 0, FAR, lengths)


@given(damaged)
def test_steps_and_turns_only_add_routes(damage):
    topology = torus(**damage)
    plain, in_order, theorem2, exact = (
        hops(rules, topology)
        for rules in (
            "direction-order",
            "angara~turns=none",
            "angara~turns=theorem2",
            "angara~turns=exact",
        )
    )
    assert np.all(in_order <= plain)
    assert np.all(theorem2 <= in_order)
    assert np.all(exact <= in_order)


@given(damaged, st.sampled_from(["direction-order", "angara~turns=none"]))
def test_more_failed_links_leave_no_shorter_routes(damage, rules):
    # rules whose turns do not depend on the network
    more = torus(**{**damage, "fail_links": damage["fail_links"] + 1})
    fewer = torus(**damage)
    assert set(fewer.failed_links) < set(more.failed_links)
    assert np.all(hops(rules, fewer) <= hops(rules, more))


def test_exact_turns_do_not_include_those_of_theorem_2():
    # both take turns greedily, so one that only `exact` admits may stand in another's way
    topology = torus(dims=(3, 3, 3), fail_links=3, fail_switches=2, seed=1)
    theorem2, exact = (hops(f"angara~turns={turns}", topology) for turns in ("theorem2", "exact"))
    assert np.count_nonzero(exact > theorem2) == 3
    assert np.count_nonzero(exact < theorem2) > 3
    assert max(exact.max(), theorem2.max()) < FAR
