"""Bounds of throughput against programs over all paths, closed forms, laws and forgeries."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_throughput import pairs_of, proven, throughput
from random_tables import networks

from routelab.api import Demand, InputError, Topology, UnsupportedError
from routelab.metrics.bounds.throughput import (
    ChannelWeights,
    ThroughputBound,
    Traffic,
    accepted_from_weights,
    balance,
    bound_throughput,
    search,
    sustained_from_weights,
    terminal_limit,
)
from routelab.metrics.bounds.throughput.facts import throughput_facts, throughput_numbers
from routelab.metrics.bounds.throughput.problem import flow_problem
from routelab.toolkit import build_grid

SPEEDS = (1,), (5,), (1, 4)
EXACT = 1e-6
NEAR = 0.12
"""Largest gap of balanced loads in these tests, most of them far below."""


@st.composite
def cases(draw: st.DrawFn) -> tuple[Topology, Demand]:
    """Networks with uniform traffic, a permutation, or several parts with different rates."""
    several = networks(max_switches=4, speeds=SPEEDS).filter(lambda net: 1 < net.num_terminals < 7)
    network = draw(several)
    count = network.num_terminals
    kind = draw(st.sampled_from(["uniform", "permutation", "hot"]))
    if kind == "uniform":
        return network, Demand.uniform(network, "", to_self=draw(st.booleans()))
    if kind == "permutation":
        target = draw(st.permutations(range(count)))
        assume(target != list(range(count)))
        return network, Demand.permutation(target, "")
    return network, hot(network, draw(st.sampled_from([0.25, 0.5, 0.9])))


def hot(network: Topology, share: float) -> Demand:
    """A share of the traffic of all other terminals goes to terminal 0; rates differ."""
    count = network.num_terminals
    return Demand.create(
        rate=[1.0, *(0.5 + 0.5 * (t % 2) for t in range(1, count))],
        part_start=[0, *range(1, 2 * count, 2)],
        part_share=[1.0, *([share, 1 - share] * (count - 1))],
        part_set=[1, *([0, 1] * (count - 1))],
        set_start=[0, 1, count + 1],
        members=[0, *range(count)],
        to_self=False,
        convention="",
    )


def parts_of(demand: Demand) -> dict[tuple[int, int], Fraction]:
    """The demand of pairs in fractions, from the parts of tests only."""
    matrix = demand.between_terminals()
    return {
        (int(t), int(u)): Fraction(float(matrix[t, u])).limit_denominator(10_000)
        for t, u in np.argwhere(matrix > 0)
    }


def no_folding(monkeypatch) -> None:
    monkeypatch.setattr(search, "find_folding", lambda problem: None)


@given(cases(), st.sampled_from([0.3, 0.7, 1.0, 2.5]))
@settings(max_examples=60)
def test_the_folded_program_equals_the_program_over_all_paths(case, load) -> None:
    network, demand = case
    assume(pairs_of(network, demand))
    bound = bound_throughput(network, demand, (load,))
    best = throughput(network, demand, None)
    assert bound.sustained == pytest.approx(best, rel=EXACT)
    assert bound.attained == pytest.approx(best, rel=EXACT)
    (accepted,) = bound.accepted
    senders = int((demand.rate > 0).sum())
    best = throughput(network, demand, load) / senders
    assert accepted.value == pytest.approx(best, rel=2 * EXACT)
    assert accepted.attained == pytest.approx(best, rel=2 * EXACT)


@given(case=cases(), load=st.sampled_from([0.3, 0.7, 1.0, 2.5]))
@settings(max_examples=40)
def test_balanced_loads_enclose_the_optimum_over_all_paths(case, load) -> None:
    network, demand = case
    assume(pairs_of(network, demand))
    with pytest.MonkeyPatch.context() as patch:
        no_folding(patch)
        bound = bound_throughput(network, demand, (load,))
    assert bound.method in ("balance", "none")
    best = throughput(network, demand, None)
    assert bound.attained <= best * (1 + EXACT)
    assert bound.sustained >= best * (1 - EXACT)
    assert bound.sustained <= bound.attained * (1 + NEAR)
    (accepted,) = bound.accepted
    best = throughput(network, demand, load) / int((demand.rate > 0).sum())
    assert accepted.attained <= best * (1 + EXACT)
    assert accepted.value >= best * (1 - EXACT)


@given(cases(), st.data())
@settings(max_examples=60)
def test_certificates_are_added_up_exactly(case, data) -> None:
    network, demand = case
    traffic = Traffic(network, demand)

    def draw(count: int) -> list[int]:
        return data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))

    count = network.num_terminals
    channel, injection, ejection = draw(network.num_channels), draw(count), draw(count)
    unit = data.draw(st.integers(1, 30))
    arrays = (np.array(part, dtype=np.int64) for part in (channel, injection, ejection))
    weights = ChannelWeights(*arrays, unit)
    carried, weighed, missing = proven(
        network, parts_of(demand), channel, (injection, ejection), unit
    )
    value = sustained_from_weights(traffic, weights)
    assert value == (carried / weighed if weighed else None)
    # no weights prove less than what all paths allow
    if value is not None and pairs_of(network, demand):
        assert value >= throughput(network, demand, None) * (1 - EXACT)
    senders = int((demand.rate > 0).sum())
    line = carried / unit / senders, missing / unit / senders
    assert accepted_from_weights(traffic, weights) == line


def uniform(network: Topology) -> Demand:
    return Demand.uniform(network, "")


def half_way(size: int) -> Demand:
    """Tornado traffic on a ring: one less than half of the way round."""
    return Demand.permutation([(t + (size - 1) // 2) % size for t in range(size)], "")


def complete(size: int) -> Topology:
    ends = [(a, b) for a in range(size) for b in range(size) if a != b]
    return Topology.create(
        num_switches=size, channel_source=[a for a, _ in ends], channel_target=[b for _, b in ends]
    )


def cube(dimensions: int) -> Topology:
    count = 2**dimensions
    ends = [(s, s ^ (1 << d)) for s in range(count) for d in range(dimensions)]
    return Topology.create(
        num_switches=count, channel_source=[a for a, _ in ends], channel_target=[b for _, b in ends]
    )


@pytest.mark.parametrize(
    ("network", "demand", "channel"),
    [
        # channels over the mean sum of hops: 4 per switch, mean distance 4 × 64/63
        (build_grid("torus", (8, 8), True), uniform, Fraction(63, 64)),
        # 4 per switch, of which a pair of half of a ring's length has two ways
        (build_grid("torus", (4, 4), True), uniform, Fraction(15, 8)),
        # each dimension of a hypercube of n nodes: n channels, n²/2 × n/(n − 1) crossings / n
        (cube(4), uniform, Fraction(15, 8)),
        (cube(6), uniform, Fraction(63, 32)),
        # all pairs have their own channel
        (complete(5), uniform, Fraction(4)),
        # a ring of 7: 2 channels per switch, mean distance 2
        (build_grid("torus", (7,), True), uniform, Fraction(1)),
        # tornado on a ring of 8: 3 hops one way or 5 the other: 3a = 5b, a + b is the load
        (build_grid("torus", (8,), True), lambda _: half_way(8), Fraction(8, 15)),
        # the middle link of a path of 4 carries 2 × 2 pairs each way
        (build_grid("mesh", (4,), False), uniform, Fraction(3, 4)),
    ],
)
@pytest.mark.parametrize("folded", [True, False])
def test_closed_forms(network, demand, channel, folded, monkeypatch) -> None:
    if not folded:
        no_folding(monkeypatch)
    bound = bound_throughput(network, demand(network))
    assert bound.method == ("lp" if folded else "balance")
    assert bound.terminal == 1
    assert bound.channel == pytest.approx(float(channel), rel=1e-9 if folded else 0.03)
    assert bound.channel >= float(channel) * (1 - 1e-12)
    assert bound.attained <= min(float(channel), 1) * (1 + 1e-12)
    assert bound.attained >= bound.sustained * (1 - (EXACT if folded else 0.03))


def test_a_small_certificate_of_a_closed_form_is_exact() -> None:
    torus = build_grid("torus", (8, 8), True)
    bound = bound_throughput(torus, uniform(torus), ())
    assert set(bound.weights.channel.tolist()) == {1}
    assert sustained_from_weights(Traffic(torus, uniform(torus)), bound.weights) == Fraction(63, 64)


def test_a_hot_terminal_limits_offered_and_accepted_load() -> None:
    star = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[0] * 5
    )
    demand = Demand.permutation([-1, 0, 0, 0, 0], "")
    bound = bound_throughput(star, demand, (1.0,))
    assert (bound.method, bound.sustained, bound.attained) == ("none", 0.25, 0.25)
    (accepted,) = bound.accepted
    assert (accepted.value, accepted.attained) == (0.25, 0.25)
    assert accepted.weights.ejection.tolist() == [1, 0, 0, 0, 0]
    assert terminal_limit(Traffic(star, demand)) == Fraction(1, 4)


def test_a_forged_certificate_proves_less_and_a_wrong_one_is_refused() -> None:
    mesh = build_grid("mesh", (4,), False)
    traffic = Traffic(mesh, uniform(mesh))
    bound = bound_throughput(mesh, uniform(mesh))
    channel = bound.weights.channel
    value = sustained_from_weights(traffic, bound.weights)
    assert value == Fraction(3, 4)
    for number in np.flatnonzero(channel):
        forged = channel.copy()
        forged[number] = 0
        forged_bound = sustained_from_weights(traffic, replace(bound.weights, channel=forged))
        assert forged_bound is None or forged_bound >= value
    forged = np.ones_like(channel)
    assert sustained_from_weights(traffic, replace(bound.weights, channel=forged)) > value
    for wrong, problem in (
        (channel[:-1], "5 weights of channel for 6"),
        (-channel, "negative weight"),
        (channel.astype(float), "expected a list of integers"),
        (channel * 2**58, "too large"),
    ):
        with pytest.raises(InputError, match=problem):
            sustained_from_weights(traffic, replace(bound.weights, channel=wrong))
    with pytest.raises(InputError, match="the weight that represents 1 is 0"):
        replace(bound.weights, one=0)
    nothing = replace(bound.weights, channel=np.zeros_like(channel))
    assert sustained_from_weights(traffic, nothing) is None


def test_every_certificate_bounds_every_load() -> None:
    ring = build_grid("torus", (8,), True)
    bound = bound_throughput(ring, uniform(ring), (0.9, 1.5, 3.0))
    numbers = throughput_numbers(bound)
    for load in (0.5, 0.9, 1.2, 3.0):
        best = throughput(ring, uniform(ring), load) / 8
        facts = throughput_facts([numbers], load)
        assert facts["accepted_bound"] >= best * (1 - EXACT)
        assert (facts["accepted_attained"] is None) == (load in (0.5, 1.2))
        if load in (0.9, 3.0):
            assert facts["accepted_bound"] == pytest.approx(best, rel=EXACT)


def numbers(sustained: float, accepted: float) -> dict[str, object]:
    line = {"load": 1.0, "accepted_attained": accepted, "start": accepted, "slope": 0.0}
    return {"sustained_bound": sustained, "sustained_attained": 0.1, "accepted": [line]}


def test_seeds_share_the_smallest_sustained_load_and_the_mean_accepted_load() -> None:
    facts = throughput_facts([numbers(0.5, 0.6), numbers(0.4, 0.8)], 1.0)
    assert (facts["sustained_bound"], facts["accepted_bound"]) == (0.4, pytest.approx(0.7))
    assert throughput_facts([], 1.0)["accepted_bound"] is None
    assert throughput_facts([numbers(0.5, 0.6)], None)["accepted_bound"] is None


def test_silent_traffic_and_impossible_loads_are_refused() -> None:
    ring = build_grid("torus", (4,), True)
    silent = Demand.permutation([-1] * 4, "")
    with pytest.raises(UnsupportedError, match="no terminal sends"):
        bound_throughput(ring, silent)
    with pytest.raises(InputError, match="load 0 is not a positive"):
        bound_throughput(ring, uniform(ring), (0.0,))


def scattered() -> tuple[Topology, Demand]:
    """A random permutation, whose loads are hard to balance."""
    network = build_grid("torus", (7, 7), True)
    return network, Demand.permutation(np.random.default_rng(0).permutation(49).tolist(), "")


def with_clock(monkeypatch, step: float, seconds: float) -> ThroughputBound:
    """Bound under a clock that advances by some seconds per pass."""
    monkeypatch.setattr(balance, "thread_time", partial(next, count(0.0, step)))
    return bound_throughput(*scattered(), seconds=seconds)


def test_more_seconds_prove_tighter_bounds(monkeypatch) -> None:
    short, longer = (with_clock(monkeypatch, 0.0, seconds) for seconds in (0.5, 5.0))
    assert (short.method, longer.method) == ("balance", "balance")
    assert longer.channel < short.channel
    assert short.sustained > short.attained * 1.01
    for value, attained in (
        (longer.sustained, longer.attained),
        (longer.accepted[0].value, longer.accepted[0].attained),
    ):
        assert attained < value < attained * 1.003


def test_a_search_returns_the_weights_of_its_bound() -> None:
    problem = flow_problem(Traffic(*scattered()))
    for passes in range(10, 60, 5):
        result = balance.balance_sustained(problem, 60.0, passes * 26_000)
        bound, _ = balance.sustained_bound(problem, result.weights)
        assert bound == pytest.approx(result.bound, rel=1e-9)


def test_the_speed_of_the_machine_does_not_count(monkeypatch) -> None:
    fast, slow = (with_clock(monkeypatch, step, 2.0) for step in (0.0, 1e-3))
    assert (fast.channel, fast.attained) == (slow.channel, slow.attained)
    assert fast.accepted[0].value == slow.accepted[0].value
