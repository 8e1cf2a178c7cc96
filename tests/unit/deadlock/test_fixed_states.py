"""Programs with fixed candidates: every state, against naive sets and cases decided by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from deadlock_cases import ring, torus
from hop_cases import distances, program_of, random_program
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_fixed_states import NaiveFixedStates
from naive_hop_states import NaiveStates
from naive_polarized import PolarizedRoutes

from routelab.api import HopProgram, PluginError, Topology, pack_tables
from routelab.deadlock import allowed_routes, check_hop_routing, check_hops, fixed_states
from routelab.deadlock.fixed_states import explore_fixed
from routelab.kernels.hops import (
    ESCAPE,
    HOPS,
    SOURCE,
    STATE,
    TARGET,
    WAYPOINT,
    channel_packets,
    hop_kernel,
    inject_kernel,
    pick,
    table,
)
from routelab.registry.instances import load_routing
from routelab.routing.routing import Routing

NETWORKS = (ring(5), ring(4, both=True), torus(3, 2), torus(3, 3))


@st.composite
def graphs(draw) -> Topology:
    """Connected networks of 3 to 8 switches, with links in both directions."""
    size = draw(st.integers(3, 8))
    tree = [(draw(st.integers(0, k - 1)), k) for k in range(1, size)]
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    more = draw(st.lists(ends, max_size=10))
    links = sorted({(min(a, b), max(a, b)) for a, b in [*tree, *more] if a != b})
    both = [*links, *((b, a) for a, b in links)]
    return Topology.create(
        num_switches=size, channel_source=[a for a, _ in both], channel_target=[b for _, b in both]
    )


def dependency_edges(exploration) -> set:
    a, b = exploration.dependency_edges("acyclic")
    return {
        (divmod(x, exploration.classes), divmod(y, exploration.classes))
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    }


def assert_agrees(exploration, naive: NaiveFixedStates, topology: Topology) -> None:
    walks = exploration.allowed_routes
    if exploration.ascending and naive.short:
        # those behind the last class count, too
        assert walks.dead_ends >= len(naive.dead_ends)
    else:
        assert walks.dead_ends == len(naive.dead_ends)
    assert bool(walks.dead_end_example) == bool(walks.dead_ends)
    assert walks.missing_class_states == len(naive.short)
    diameter = max(map(max, distances(topology)))
    assert walks.diameter == diameter
    if not naive.short:
        assert walks.longest == naive.longest
        assert walks.long_route_pairs == sum(
            hops > 2 * diameter for hops in naive.longest_of.values()
        )


def both_searches(program, topology: Topology, monkeypatch) -> list:
    """The search with dependencies, and that of large networks."""
    first = explore_fixed(program, topology)
    assert first.complete
    assert not first.ascending
    monkeypatch.setattr(fixed_states, "FIRST_CALLS", 0)
    second = explore_fixed(program, topology)
    monkeypatch.undo()
    assert second.complete
    assert second.ascending == (program.vc_classes > 1)
    return [first, second]


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(1, 12))
def test_polarized_agrees_with_naive_sets(topology, classes) -> None:
    naive = NaiveFixedStates(topology, PolarizedRoutes(topology).allowed, classes)
    plugin = load_routing("polarized").plugin
    program = replace(plugin.prepare(topology, classes), vc_classes=classes, max_hops=None)
    with pytest.MonkeyPatch.context() as patch:
        small, large = both_searches(program, topology, patch)
    assert dependency_edges(small) == naive.dependencies
    assert small.findings.numbers[0] == len(naive.states)
    for exploration in (small, large):
        assert_agrees(exploration, naive, topology)
        assert exploration.problems == {}


@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(1, 7))
def test_minimal_agrees_with_naive_sets(topology, classes) -> None:
    hops = distances(topology)

    def allowed(source: int, target: int, here: int) -> list[int]:
        return [
            c
            for c in range(len(hops))
            if hops[here][c] == 1 and hops[c][target] < hops[here][target]
        ]

    naive = NaiveFixedStates(topology, allowed, classes)
    program = load_routing("minimal").plugin.prepare(topology, 99)
    program = replace(program, vc_classes=classes, max_hops=None)
    with pytest.MonkeyPatch.context() as patch:
        small, large = both_searches(program, topology, patch)
    assert dependency_edges(small) == naive.dependencies
    for exploration in (small, large):
        assert_agrees(exploration, naive, topology)


@hop_kernel
def first_listed(tables, packets, packet, queues, switch, channel, vc, random, out):
    """The first of the answers of `hop_cases.listed`."""
    size, classes = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    state = (switch * size + packets[packet, TARGET]) * (classes + 1) + vc + 1
    answer = tables[table(tables, 1) + state]
    begin, end = tables[table(tables, 2) + answer], tables[table(tables, 2) + answer + 1]
    for k in range(begin, end):
        for column in range(3):
            out[k - begin, column] = tables[table(tables, 3) + 3 * k + column]
    return end - begin


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_classes_agree_with_the_search_of_all_states(seed) -> None:
    """Cyclic classes, bubbles and escapes: verdicts as for programs that declare nothing."""
    topology = NETWORKS[seed % len(NETWORKS)]
    plain = replace(random_program(topology, seed), hop=first_listed, max_hops=None)
    declared = replace(plain, fixed=True)
    naive = NaiveStates(plain, topology)
    for proof in ("acyclic", "bubble", "duato"):
        verdict, other = check_hops(declared, topology, proof), check_hops(plain, topology, proof)
        assert (verdict.proven, *verdict.reason.split(", if ")[:1]) == (
            other.proven,
            other.reason,
        ) or ("no candidate is an escape" in verdict.reason and "no candidate" in other.reason)
        assert verdict.status == (f"{other.status} if declared" if other.proven else other.status)
        assert np.array_equal(verdict.dependencies, other.dependencies)
        if verdict.rank is not None:
            assert np.array_equal(verdict.rank, other.rank)
    verdict = check_hops(declared, topology, "acyclic")
    assert len(verdict.dependencies) == len(naive.dependencies())
    for (a, i), (b, j), pair in zip(
        verdict.cycle, (*verdict.cycle[1:], *verdict.cycle[:1]), verdict.cycle_routes, strict=True
    ):
        assert any(
            state.came == (a, i) and way[0] == (b, j) and state.ends[:2] == pair
            for state in naive.answers
            for way in naive.ways[state]
        )


def around(topology: Topology, answer, classes: int = 1, **more):
    """Clockwise on a ring; `answer` gives class and penalty of a hop's candidates."""
    return program_of(
        topology,
        lambda s, t, vc: [[(s, *each) for each in answer(s, t, vc)]],
        classes,
        fixed=True,
        **more,
    )


def test_a_cycle_of_classes_is_refused_and_a_dateline_is_proven() -> None:
    topology = ring(5)

    def dateline(s, t, vc):
        return [(1 if vc == 1 or s == 4 else 0, 0)]

    assert check_hops(around(topology, dateline, 2), topology, "acyclic").proven
    verdict = check_hops(
        around(topology, lambda s, t, vc: [(max(vc, 0), 0)], 2), topology, "acyclic"
    )
    assert verdict.status == "cycle"
    assert verdict.cycle == tuple((channel, 0) for channel in range(5))
    for (channel, _), (source, target) in zip(verdict.cycle, verdict.cycle_routes, strict=True):
        assert (channel - source) % 5 < (channel + 1 - source) % 5 < (target - source) % 5


def test_an_ignored_escape_is_refused() -> None:
    topology = ring(5)

    def ahead(s, t, vc):
        return [(0, 0), (1 if t < s else 2, ESCAPE)]

    for ranking, status in (("room", "proven if declared"), ("best", "unproven")):
        verdict = check_hops(around(topology, ahead, 3, ranking=ranking), topology, "duato")
        assert verdict.status == status
    assert "a packet waits for its best candidate" in verdict.reason

    def forgetful(s, t, vc):
        return [(0, 0)] if (s, t, vc) == (2, 4, 0) else ahead(s, t, vc)

    verdict = check_hops(around(topology, forgetful, 3), topology, "duato")
    assert "no candidate is an escape: " in verdict.reason
    assert "to 4, at switch 2, come on class 0" in verdict.reason


def test_dead_ends_and_missing_classes_are_counted() -> None:
    topology = ring(6)
    # packets from 0, 1 and 2 to 4 and 5 get stuck at switch 3; those from 3 start there
    lost = program_of(
        topology, lambda s, t, vc: [[]] if s == 3 else [[(s, vc + 1, 0)]], 6, fixed=True
    )
    verdict = check_hops(lost, topology, "acyclic")
    assert verdict.status == "broken"
    stuck = sum((3 - s) % 6 < (t - s) % 6 for s, t in permutations(range(6), 2))
    assert verdict.allowed_routes.dead_ends == stuck
    assert verdict.reason.startswith(f"{stuck} dead ends without a candidate: ")
    assert "at switch 3" in verdict.allowed_routes.dead_end_example

    short = around(topology, lambda s, t, vc: [(vc + 1, 0)], 4)
    verdict = check_hops(short, topology, "acyclic")
    assert verdict.status == "broken"
    # one state for each pair that is five hops apart
    assert verdict.allowed_routes.missing_class_states == 6
    assert "need more virtual channels" in verdict.reason
    assert verdict.allowed_routes.missing_class_example.endswith("come on class 3, needs class 4")
    enough = check_hops(around(topology, lambda s, t, vc: [(vc + 1, 0)], 5), topology, "acyclic")
    assert enough.proven
    assert (
        enough.allowed_routes.longest,
        enough.allowed_routes.long_route_pairs,
        enough.allowed_routes.pairs,
    ) == (5, 0, 30)
    assert "no route exceeds 5 hops" in enough.coverage


def test_routes_without_end_are_found() -> None:
    topology = ring(4, both=True)
    # at switch 1 a packet for 3 may turn back

    def answers(s, t, vc):
        return [[(s, 0, 0), (4 + s, 0, 0)]] if t == 3 else [[(s, 0, 0)]]

    program = program_of(topology, answers, 1, fixed=True)
    verdict = check_hops(program, topology, "acyclic")
    assert verdict.allowed_routes.longest is None
    assert "routes without end exist, the program claims at most 12 hops" in verdict.reason
    once = replace(around(ring(4), lambda s, t, vc: [(vc + 1, 0)], 4), max_hops=2)
    verdict = check_hops(once, ring(4), "acyclic")
    assert "routes of 3 hops exist, the program claims at most 2 hops" in verdict.reason


LIES = ("queues", "random", "HOPS", "STATE", "channel", "DESTINATION", "writes")


@hop_kernel
def liar(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Clockwise with one class per hop, but one penalty depends on something else."""
    lie = tables[table(tables, 0)]
    reason = False
    if switch == 2:
        if lie == 0:
            reason = channel_packets(tables, queues, switch) > 0
        elif lie == 1:
            reason = pick(random, 2) == 1
        elif lie == 2:
            reason = packets[packet, HOPS] == 3
        elif lie == 3:
            reason = packets[packet, STATE] != 0
        elif lie == 4:
            reason = channel >= 5
        elif lie == 5:
            reason = packets[packet, 2] == 0
        elif lie == 6:
            packets[packet, STATE] = 1
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, np.int64(reason)
    return 1


@inject_kernel
def via_any(tables, reals, packets, packet, queues, hop, random, out):
    """Draw a waypoint from all switches."""
    packets[packet, WAYPOINT] = pick(random, 5)
    return 0


@pytest.mark.parametrize("lie", range(len(LIES)))
def test_a_false_declaration_is_refused(lie) -> None:
    ends = [(s, (s + 1) % 5) for s in range(5)] * 2
    topology = Topology.create(
        num_switches=5, channel_source=[a for a, _ in ends], channel_target=[b for _, b in ends]
    )
    two = {"phases": 2, "inject": via_any} if LIES[lie] == "DESTINATION" else {}
    program = HopProgram(liar, pack_tables(topology, [lie]), 4, max_hops=None, fixed=True, **two)
    verdict = check_hops(program, topology, "acyclic")
    assert verdict.status == "broken"
    assert not verdict.proven
    assert "at switch 2" in verdict.reason
    assert ("is written to" if LIES[lie] == "writes" else LIES[lie]) in verdict.reason
    honest = replace(program, tables=pack_tables(topology, [99]))
    assert check_hops(honest, topology, "acyclic").proven


def test_fixed_programs_do_not_go_by_terminal() -> None:
    program = around(ring(4), lambda s, t, vc: [(vc + 1, 0)], 3)
    with pytest.raises(PluginError, match="set fixed or by_terminal"):
        replace(program, by_terminal=True)


@pytest.mark.parametrize("reads_source", [False, True])
def test_waypoints_join_both_halves(reads_source) -> None:
    """Every dependency of the search of all states is among those of the halves."""
    topology = ring(5)
    plain = program_of(topology, lambda s, t, vc: [[(s, vc + 1, 0)]], 4)
    hop = two_ways if reads_source else plain.hop
    plain = replace(plain, hop=hop, phases=2, inject=via_any, max_hops=None)
    naive = NaiveStates(plain, topology, words=200)
    exploration = explore_fixed(replace(plain, fixed=True), topology)
    assert naive.dependencies() <= dependency_edges(exploration)
    # only joins that a pair of the first half and one of the second cause, and no packet does
    assert all(a[1] < 4 <= b[1] for a, b in dependency_edges(exploration) - naive.dependencies())
    assert exploration.allowed_routes.longest == 8
    assert exploration.waypoint_text == "any switch with terminals"
    verdict = check_hops(replace(plain, fixed=True), topology, "acyclic")
    assert verdict.proven
    assert_ranked(verdict)


@hop_kernel
def two_ways(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Clockwise, one class per hop; the penalty depends on the source."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, packets[packet, SOURCE]
    return 1


def assert_ranked(verdict) -> None:
    rank = verdict.rank.reshape(-1)
    for a, b in verdict.dependencies.tolist():
        assert rank[a] < rank[b]


def test_networks_of_any_size_are_proven_and_short_ones_are_refused(monkeypatch) -> None:
    topology = torus(11, 11)
    part = Routing.from_name("minimal")
    verdict = check_hop_routing(part, topology, 10)
    assert verdict.proven
    assert verdict.allowed_routes.longest == 10
    assert verdict.small is None
    program = Routing.from_name("polarized").prepare(torus(4, 4), 9)
    by_class = explore_fixed(program, torus(4, 4)).findings.numbers[0]
    monkeypatch.setattr(fixed_states, "FIRST_CALLS", by_class // 2)
    # enough for all switches of all pairs, not for all their classes
    most = 16 * 15 * 16
    assert most < by_class
    assert explore_fixed(program, torus(4, 4), max_states=most).complete
    assert not explore_fixed(program, torus(4, 4), max_states=most // 4).complete
    verdict = check_hops(program, torus(4, 4), "acyclic", max_states=most // 4)
    assert verdict.status == "unproven"
    done = re.search(r"no fault in (\d+) of 240 pairs", verdict.reason)
    assert 0 < int(done[1]) < 240


def test_of_very_large_networks_some_sources_are_examined(monkeypatch) -> None:
    topology = ring(9)

    def rising(s, t, vc):
        return [(vc + 1, 0)]

    monkeypatch.setattr(allowed_routes, "MAX_PAIRS", 27)
    for phases in (1, 2):
        exploration = explore_fixed(around(topology, rising, 8, phases=phases), topology)
        assert len(set(exploration.legs[exploration.legs[:, 2] == 0, 0].tolist())) == 3
        assert not exploration.complete
        assert exploration.allowed_routes.pairs == 72
    verdict = check_hops(around(topology, rising, 8), topology, "acyclic")
    assert verdict.status == "unproven"
    assert verdict.reason.startswith("no fault in 24 of 72 pairs")
    # every source has a target that is eight hops away
    verdict = check_hops(around(topology, rising, 7), topology, "acyclic")
    assert verdict.reason.startswith("3 states need more virtual channels")
    verdict = check_hops(around(topology, lambda s, t, vc: [(0, 0)]), topology, "acyclic")
    assert len(verdict.cycle) == 9


def test_the_base_of_valiant_is_explored_by_halves() -> None:
    topology = torus(9, 9)
    verdict = check_hop_routing(Routing.from_name("valiant~base=minimal"), topology, 16)
    assert verdict.proven
    assert verdict.allowed_routes.longest == 16
    assert_ranked(verdict)


@pytest.mark.parametrize("wrong", [(2, 0), (2, 1), None])
def test_a_class_that_is_used_twice_is_not_overlooked(monkeypatch, wrong) -> None:
    """On a large network, where dependencies are collected only if classes do not increase.

    Packets that go from 0 to 2 directly come there on a lower class than those over 1.
    """
    size = 24
    ends = [*((s, (s + 1) % size) for s in range(size)), (0, 2)]
    topology = Topology.create(
        num_switches=size, channel_source=[a for a, _ in ends], channel_target=[b for _, b in ends]
    )

    def answers(s, t, vc):
        after = vc if (s, vc) == wrong else vc + 1
        return [[(s, after, 0)] + [(size, after, 0)] * (s == 0 and t != 1)]

    program = program_of(topology, answers, size - 1, fixed=True, max_hops=None)
    monkeypatch.setattr(fixed_states, "FIRST_CALLS", 0)
    exploration = explore_fixed(program, topology)
    assert exploration.ascending == (wrong is None)
    if wrong:
        channels = [size] if wrong == (2, 0) else [1]
        assert {((c, wrong[1]), (2, wrong[1])) for c in channels} <= dependency_edges(exploration)
