"""The checker: cases decided by hand, and a naive twin on random tables."""

from __future__ import annotations

from itertools import pairwise

import naive_deadlock as naive
import numpy as np
import pytest
from deadlock_cases import (
    clockwise_ring_table,
    random_table,
    ring,
    table_of,
    torus,
    torus_table,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError, RouteTable, Topology
from routelab.deadlock import Verdict, check_table

FIRST_STEPS = {(0, 9): "YX", (10, 3): "YX"}
"""Two pairs of a 4x4 torus that go +Y first, at different places."""


def assert_ranks_prove(verdict: Verdict, table: RouteTable) -> None:
    """The rank rule, straight from its wording."""
    after = naive.ring_successors(table.topology) if verdict.flow_control == "bubble" else {}
    rank = {
        (c, verdict.vc_numbers[v]): verdict.rank[c, v] for c, v in np.argwhere(verdict.rank >= 0)
    }
    for a, b in naive.dependencies(table):
        assert rank[a] < rank[b] or (rank[a] == rank[b] and naive.is_continuation(after, a, b))
    assert set(rank) == {hop for path in naive.hops_of_paths(table) for hop in path}


def assert_cycle_refutes(verdict: Verdict, table: RouteTable) -> None:
    """The cycle is simple, made of dependencies with their routes, and more than one ring."""
    after = naive.ring_successors(table.topology) if verdict.flow_control == "bubble" else {}
    cycle = [*verdict.cycle, verdict.cycle[0]]
    assert len(set(verdict.cycle)) == len(verdict.cycle)
    assert not all(naive.is_continuation(after, a, b) for a, b in pairwise(cycle))
    hops = naive.hops_of_paths(table)
    for (a, b), (source, target) in zip(pairwise(cycle), verdict.cycle_routes, strict=True):
        ends = table.topology.endpoints.tolist()
        pair = ends.index(source) * len(ends) + ends.index(target)
        paths = hops[table.pair_start[pair] : table.pair_start[pair + 1]]
        assert any((a, b) in pairwise(path) for path in paths)


def test_torus_xy_needs_the_bubble_of_its_positive_rings() -> None:
    table = torus_table(4, 4)
    verdict = check_table(table)
    assert verdict.proven
    assert_ranks_prove(verdict, table)
    # ties go in the positive direction, so only positive rings carry routes of two hops
    directions = {table.topology.channel_direction[c] for r in verdict.rings for c in r.channels}
    assert (len(verdict.rings), directions) == (8, {0, 1})
    assert check_table(table, "plain").status == "cycle"


def test_rank_is_constant_on_a_ring_and_small() -> None:
    verdict = check_table(torus_table(4, 4))
    for proven_ring in verdict.rings:
        assert len({int(verdict.rank[c, proven_ring.vc]) for c in proven_ring.channels}) == 1
    assert set(np.unique(verdict.rank)) == {0, 1}  # X rings, then Y rings


def test_first_step_turns_pass_the_naive_rule_and_are_refused() -> None:
    """Continuations must not be ignored: the cycle goes through four rings."""
    table = torus_table(4, 4, FIRST_STEPS)
    assert naive.proven_if_continuations_are_ignored(table)
    verdict = check_table(table)
    assert verdict.status == "cycle"
    assert_cycle_refutes(verdict, table)
    assert set(verdict.cycle_routes) >= set(FIRST_STEPS)
    claims = [int(table.topology.channel_ring[channel]) for channel, _ in verdict.cycle]
    assert len(set(claims)) == 4


def test_first_step_turns_do_deadlock_and_dimension_order_does_not() -> None:
    seeds = range(8)
    turned, plain = torus_table(4, 4, FIRST_STEPS), torus_table(4, 4)
    assert any(naive.BubbleNetwork(turned, bubble=True, seed=s).deadlocks(300) for s in seeds)
    assert not any(naive.BubbleNetwork(plain, bubble=True, seed=s).deadlocks(300) for s in seeds)
    # without the bubble the rings themselves fill up
    assert any(naive.BubbleNetwork(plain, bubble=False, seed=s).deadlocks(300) for s in seeds)


def test_ring_with_one_vc_is_a_cycle_without_bubble() -> None:
    table = clockwise_ring_table(ring(4), hops=2)
    verdict = check_table(table)
    assert verdict.status == "cycle"
    assert sorted(verdict.cycle) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert_cycle_refutes(verdict, table)
    assert verdict.describe_cycle(table.topology)[0] == (
        "0>1 vc 0 waits for 1>2 vc 0 (route 0 to 2)"
    )


def test_ring_with_one_vc_is_proven_with_bubble() -> None:
    verdict = check_table(clockwise_ring_table(ring(4), hops=2), "bubble")
    assert verdict.proven
    assert [(proven_ring.vc, proven_ring.channels) for proven_ring in verdict.rings] == [
        (0, (0, 1, 2, 3))
    ]
    assert any("2 free slots" in text for text in verdict.preconditions)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param([-1, -1, -1, -1, -1, -1, -1, -1], id="no claim"),
        pytest.param([0, 0, 0, -1, 1, 1, 1, 1], id="one channel is not claimed"),
        pytest.param([0, 0, 0, 0, 0, 0, 0, 0], id="two rings under one id"),
        pytest.param([0, 0, 1, 1, 2, 2, 2, 2], id="two halves"),
        pytest.param([0, 0, 0, 0, 0, 1, 1, 1], id="a chord too many"),
    ],
)
def test_false_ring_claims_prove_nothing(claims: list[int]) -> None:
    table = clockwise_ring_table(ring(4, both=True, claims=claims), hops=2)
    verdict = check_table(table, "bubble")
    assert verdict.status == ("cycle" if max(claims) >= 0 else "not enough input")
    assert_cycle_refutes(verdict, table)


def test_broken_ring_is_a_line() -> None:
    """Without channel 3 > 0, two hops clockwise are acyclic, with bubble or not."""
    line = Topology.create(
        num_switches=4,
        channel_source=[0, 1, 2],
        channel_target=[1, 2, 3],
        channel_ring=[0, 0, 0],
    )
    table = table_of(line, lambda s, t: [[s, s + 1]] if t - s == 2 else [])
    for flow_control in ("plain", "bubble"):
        verdict = check_table(table, flow_control)
        assert (verdict.status, verdict.rings) == ("proven", ())
        assert_ranks_prove(verdict, table)


def test_a_ring_of_claimed_lines_is_no_ring() -> None:
    """A claim that lost a channel gives no bubble to a cycle that closes elsewhere.

    The cycle 0 > 1 > 2 > 3 > 0 runs over an unclaimed parallel channel in place of the lost one.
    """
    topology = ring(4, claims=[5, 5, 5, -1])
    assert check_table(clockwise_ring_table(topology, hops=2), "bubble").status == "cycle"


def test_dateline_makes_a_ring_acyclic_and_mixed_vcs_do_not() -> None:
    """Hops over channel 3 and after it go on vc 1: the classical proof without bubble."""

    def dateline(source: int, target: int) -> list[list[tuple[int, int]]]:
        hops = [(source + i) % 4 for i in range((target - source) % 4)]
        return [[(hop, int(3 in hops[: i + 1])) for i, hop in enumerate(hops)]]

    proven = table_of(ring(4), dateline)
    verdict = check_table(proven)
    assert verdict.proven
    assert verdict.vc_numbers == (0, 1)
    assert_ranks_prove(verdict, proven)
    back = table_of(
        ring(4), lambda s, t: [[(c, 1 - vc) for c, vc in dateline(s, t)[0]], *dateline(s, t)]
    )
    refused = check_table(back)
    assert {vc for _, vc in refused.cycle} <= {0, 1}
    assert_cycle_refutes(refused, back)


def test_each_vc_of_a_ring_is_a_ring_of_its_own() -> None:
    """Two layers of one ring are two rings; a change from one to the other and back is a cycle."""
    size = 4

    def layered(s: int, t: int) -> list[list[tuple[int, int]]]:
        return [[(s, vc), ((s + 1) % size, vc)] for vc in (0, 1)] if (t - s) % size == 2 else []

    verdict = check_table(table_of(ring(size), layered), "bubble")
    assert [proven_ring.vc for proven_ring in verdict.rings] == [0, 1]

    def swapping(s: int, t: int) -> list[list[tuple[int, int]]]:
        changed = [[(s, vc), ((s + 1) % size, 1 - vc)] for vc in (0, 1)]
        return layered(s, t) + changed if (t - s) % size == 2 else []

    table = table_of(ring(size), swapping)
    refused = check_table(table, "bubble")
    assert refused.status == "cycle"
    assert_cycle_refutes(refused, table)


def test_every_path_of_a_pair_counts() -> None:
    """The second path alone closes the cycle."""
    topology = ring(4, both=True)

    def paths(s: int, t: int) -> list[list[int]]:
        clockwise = [s, (s + 1) % 4]
        return [[4 + s, 4 + (s - 1) % 4], clockwise] if (t - s) % 4 == 2 else []

    table = table_of(topology, paths)
    assert len(check_table(table).cycle) == 4
    assert check_table(table, "bubble").proven


def test_bubble_is_not_applicable_without_its_preconditions() -> None:
    table = clockwise_ring_table(ring(4), hops=2, flow_control="bubble")
    small = check_table(table, packets_per_buffer=1)
    worm = check_table(table, switching="wormhole")
    assert (small.status, worm.status) == ("unproven", "unproven")
    assert "at least 2 packets" in small.reason
    assert "wormhole" in worm.reason
    acyclic = table_of(ring(4), lambda s, t: [[s]] if (t - s) % 4 == 1 else [])
    assert check_table(acyclic, packets_per_buffer=1, switching="wormhole").proven


def test_wrong_options_are_named_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        check_table(torus_table(3, 3), "bubbles", packets_per_buffer=0, switching="circuit")  # type: ignore[arg-type]
    for text in ("'bubbles'", "packets_per_buffer is 0", "'circuit'"):
        assert text in str(error.value)


def test_table_without_hops_is_proven() -> None:
    verdict = check_table(table_of(torus(3, 3), lambda s, t: []))
    assert verdict.proven
    assert verdict.dependencies.shape == (0, 2)
    assert np.all(verdict.rank == -1)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["plain", "bubble"]))
@settings(max_examples=150)
def test_agrees_with_the_naive_twin(seed: int, flow_control: str) -> None:
    table = random_table(seed)
    verdict = check_table(table, flow_control)
    numbers = verdict.vc_numbers
    assert naive.dependencies(table) == {
        tuple((r // len(numbers), numbers[r % len(numbers)]) for r in pair)
        for pair in verdict.dependencies.tolist()
    }
    assert verdict.proven == naive.proven(table, flow_control)
    if verdict.proven:
        assert_ranks_prove(verdict, table)
    else:
        assert_cycle_refutes(verdict, table)
        assert len(verdict.cycle) == naive.shortest_cycle_length(table, flow_control)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_proven_tables_never_deadlock(seed: int) -> None:
    table = random_table(seed)
    for flow_control in ("plain", "bubble"):
        if len(table.hop_channel) and check_table(table, flow_control).proven:
            network = naive.BubbleNetwork(table, bubble=flow_control == "bubble", seed=seed)
            assert not network.deadlocks(60)


def test_virtual_channels_count_by_use() -> None:
    """The same verdict, and no memory for the numbers between, if 1 becomes 32767."""
    table = table_of(ring(4), lambda s, t: [[((s + i) % 4, s % 2) for i in range((t - s) % 4)]])
    sparse = table.with_vcs(table.hop_vc * 32767)
    verdict, other = check_table(table), check_table(sparse)
    assert (verdict.status, other.vc_numbers) == (other.status, (0, 32767))
    assert len(other.dependencies) == len(verdict.dependencies)
    assert other.cycle == tuple((channel, vc * 32767) for channel, vc in verdict.cycle)
    line = table_of(ring(4), lambda s, t: [[(s, 0), ((s + 1) % 4, 32767)]] if t - s == 2 else [])
    proven = check_table(line)
    assert proven.rank.shape == (4, 2)
    assert_ranks_prove(proven, line)
