"""The order of turns is balanced."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from routelab.cluster.bench.order import benchmark_order, routing_orders


@given(routings=st.integers(1, 9), rounds=st.integers(0, 40), seed=st.integers(0, 2**32))
def test_every_round_has_every_routing_once(routings, rounds, seed):
    orders = routing_orders(routings, rounds, seed)
    assert len(orders) == rounds
    assert all(sorted(order) == list(range(routings)) for order in orders)
    assert orders == routing_orders(routings, rounds, seed)


@given(routings=st.integers(2, 9), seed=st.integers(0, 2**32))
def test_places_and_predecessors_are_balanced_over_a_design(routings, seed):
    rounds = routings if routings % 2 == 0 else 2 * routings
    orders = routing_orders(routings, rounds, seed)
    places = Counter((place, which) for order in orders for place, which in enumerate(order))
    followers = Counter(pair for order in orders for pair in pairwise(order))
    assert set(places.values()) == {rounds // routings}
    assert len(places) == routings**2
    assert set(followers.values()) == {rounds // routings}
    assert len(followers) == routings * (routings - 1)


def test_the_seed_draws_the_order():
    assert len({str(routing_orders(4, 4, seed)) for seed in range(20)}) > 5


@given(benchmarks=st.integers(1, 8), turns=st.integers(1, 8))
def test_every_benchmark_is_first_in_its_turn(benchmarks, turns):
    firsts = [benchmark_order(benchmarks, round_, 1)[0] for round_ in range(benchmarks)]
    assert sorted(firsts) == list(range(benchmarks))
    assert sorted(benchmark_order(benchmarks, 3, turns)) == list(range(benchmarks))
