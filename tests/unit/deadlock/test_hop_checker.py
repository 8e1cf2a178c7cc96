"""The checker of hop-by-hop algorithms: cases decided by hand, and a naive twin."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from deadlock_cases import ring, torus
from decision_programs import CHANNEL_FLITS, decision_program
from hop_cases import (
    KEEP,
    by_queues_program,
    listed,
    nearer,
    parity_program,
    program_of,
    random_program,
    random_steered_program,
    steered_program,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_deadlock import ring_successors
from naive_hop_states import NaiveStates

from routelab.api import HopProgram, InputError, Topology, needed_classes
from routelab.api.traffic import Demand
from routelab.deadlock import HopVerdict, allowed_routes, check_hop_routing, check_hops, hop_checker
from routelab.deadlock.reachable_states import explore_states
from routelab.deadlock.small_network import small_network
from routelab.kernels.hops import ESCAPE
from routelab.simulation import OpenLoop, Router, Simulation
from routelab.toolkit import build_grid

NETWORKS = (ring(5), ring(4, both=True), torus(3, 2), torus(3, 3))


def any_shortest(topology: Topology, classes: int = 1, *, escape: int = 0) -> HopProgram:
    """All channels that come nearer, on class 0; with `escape` on the others the first, too."""
    ways = nearer(topology)

    def answers(switch: int, target: int, vc: int) -> list[list[tuple[int, int, int]]]:
        candidates = [(channel, 0, 0) for channel in ways(switch, target)]
        return [candidates + [(channel, vc, escape) for channel, vc, _ in candidates[:1] if escape]]

    return program_of(topology, answers, classes)


def around(topology: Topology, answer, classes: int = 1, **more) -> HopProgram:
    """Clockwise on a ring; `answer` gives class and penalty of a hop's candidates."""
    return program_of(
        topology, lambda s, t, vc: [[(s, *each) for each in answer(s, t, vc)]], classes, **more
    )


def dependency_edges(verdict: HopVerdict) -> set:
    vcs = verdict.classes
    return {(divmod(a, vcs), divmod(b, vcs)) for a, b in verdict.dependencies.tolist()}


def assert_certified(verdict: HopVerdict, edges: set, bubble: tuple[int, ...]) -> None:
    """A rank or a cycle that shows what the verdict says, straight from their wording."""
    after = ring_successors(verdict.topology) if bubble else {}

    def along(a, b):
        return a[1] == b[1] and a[1] in bubble and after.get(a[0]) == b[0]

    assert dependency_edges(verdict) == edges
    if verdict.proven:
        for a, b in edges:
            low, high = verdict.rank[a], verdict.rank[b]
            assert low < high or (low == high and along(a, b))
        return
    cycle = [*verdict.cycle, verdict.cycle[0]]
    assert len(set(verdict.cycle)) == len(verdict.cycle)
    assert set(pairwise(cycle)) <= edges
    assert not all(along(a, b) for a, b in pairwise(cycle))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_agrees_with_the_naive_twin(seed: int) -> None:
    topology = NETWORKS[seed % len(NETWORKS)]
    program = random_program(topology, seed)
    naive = NaiveStates(program, topology)
    acyclic, bubble = (check_hops(program, topology, proof) for proof in ("acyclic", "bubble"))
    assert acyclic.proven == nx.is_directed_acyclic_graph(nx.DiGraph(naive.dependencies()))
    assert_certified(acyclic, naive.dependencies(), ())
    assert bubble.proven == naive.holds(naive.dependencies())
    assert_certified(bubble, naive.dependencies(), program.bubble)
    cut_through = check_hops(program, topology, "duato")
    if not naive.always_an_escape():
        assert cut_through.status == "unproven"
        assert "no candidate is an escape" in cut_through.reason
        return
    assert cut_through.proven == naive.holds(naive.cut_through())
    assert_certified(cut_through, naive.cut_through(), program.bubble)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_wormhole_agrees_with_the_naive_twin(seed: int) -> None:
    topology = NETWORKS[seed % len(NETWORKS)]
    program = random_program(topology, seed)
    program = HopProgram(listed, program.tables, program.vc_classes, candidates=8, max_hops=12)
    naive = NaiveStates(program, topology)
    verdict = check_hops(program, topology, "duato", switching="wormhole")
    if naive.always_an_escape():
        assert verdict.proven == naive.holds(naive.wormhole())
        edges = nx.transitive_closure(nx.DiGraph(dependency_edges(verdict))).edges
        # a walk through an escape is a chain of two dependencies, or one of the naive twin's
        assert dependency_edges(verdict) <= naive.wormhole() <= set(edges)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_waypoints_on_the_way_and_later_looks_agree_with_the_naive_twin(seed: int) -> None:
    topology = NETWORKS[seed % len(NETWORKS)]
    program = random_steered_program(topology, seed)
    naive = NaiveStates(program, topology)
    for proof, bubble in (("acyclic", ()), ("bubble", program.bubble)):
        verdict = check_hops(program, topology, proof)
        assert verdict.problems == ()
        assert_certified(verdict, naive.dependencies(), bubble)
    assert check_hops(program, topology, "bubble").proven == naive.holds(naive.dependencies())
    if program.ranking == "best":
        assert check_hops(program, topology, "duato").status == "unproven"
        program = replace(program, ranking="room")
    cut_through = check_hops(program, topology, "duato")
    if not naive.always_an_escape():
        assert "no candidate is an escape" in cut_through.reason
        return
    assert cut_through.proven == naive.holds(naive.cut_through())
    assert_certified(cut_through, naive.cut_through(), program.bubble)
    program = replace(program, bubble=())
    wormhole = check_hops(program, topology, "duato", switching="wormhole")
    assert wormhole.proven == nx.is_directed_acyclic_graph(nx.DiGraph(naive.wormhole()))
    edges = nx.transitive_closure(nx.DiGraph(dependency_edges(wormhole))).edges
    assert dependency_edges(wormhole) <= naive.wormhole() <= set(edges)


def flood(topology: Topology, program: HopProgram, seed: int, *, lanes: int = 2, cycles: int = 600):
    """What cannot move any more after some cycles of uniform traffic at full load."""
    router = Router(
        router="input-queued",
        vcs=lanes * needed_classes(program),
        buffer_flits=2,
        packet_flits=1,
        priority="round-robin",
    )
    demand = Demand.uniform(topology, "uniform")
    simulation = Simulation(topology, program, router, OpenLoop(demand, 1.0), seed=seed)
    simulation.run(cycles)
    return simulation.blocked()


def test_proven_programs_never_deadlock_in_the_engine() -> None:
    """On two lanes a class; programs that are not proven do get stuck, some of them."""
    proven = stuck = 0
    for seed in range(60):
        topology = NETWORKS[seed % len(NETWORKS)]
        program = random_program(topology, seed)
        verdicts = [check_hops(program, topology, proof) for proof in ("bubble", "duato")]
        blocked = flood(topology, program, seed)
        if any(verdict.proven for verdict in verdicts):
            proven += 1
            assert blocked is None, seed
        stuck += blocked is not None
    assert min(proven, stuck) > 5


def test_proven_programs_that_steer_and_look_again_never_deadlock_in_the_engine() -> None:
    proven, stuck = Counter(), Counter()
    for seed in range(160):
        topology = NETWORKS[seed % len(NETWORKS)]
        program = random_steered_program(topology, seed)
        verdicts = [check_hops(program, topology, proof) for proof in ("bubble", "duato")]
        # the engine waits for 1000 cycles before it calls a packet stuck that is asked again
        blocked = flood(topology, program, seed, lanes=1, cycles=2500)
        kind = program.ranking, program.again
        if any(verdict.proven for verdict in verdicts):
            proven[kind] += 1
            assert blocked is None, seed
        else:
            stuck[kind] += blocked is not None
    # every ranking, with one look and with many
    assert len(proven) == 6
    assert len(+stuck) == 6


def test_an_escape_does_not_help_a_packet_that_waits_for_its_best_candidate() -> None:
    """What is refused under ranking ``best`` alone locks in the engine under ``best`` alone."""
    topology = ring(5)
    locked = {
        ranking: flood(topology, around(topology, ahead, 3, ranking=ranking), seed=1)
        for ranking in ("room", "best-or-escape", "best")
    }
    assert locked["room"] is locked["best-or-escape"] is None
    assert locked["best"].kind == "deadlock"


def test_unrestricted_shortest_ways_on_a_ring_wait_in_a_circle() -> None:
    topology = ring(4)
    verdict = check_hops(any_shortest(topology), topology, "acyclic")
    assert verdict.status == "cycle"
    assert sorted(verdict.cycle) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    line = verdict.describe_cycle()[0]
    assert line.startswith("0>1 class 0 waits for 1>2 class 0 (packets ")
    # each dependency comes from a pair whose way has both channels
    for (channel, _), (source, target) in zip(verdict.cycle, verdict.cycle_routes, strict=True):
        assert (channel - source) % 4 < (channel + 1 - source) % 4 < (target - source) % 4


def test_a_dateline_breaks_it_and_a_forgotten_one_does_not() -> None:
    topology = ring(5)

    def dateline(s, t, vc):
        return [(1 if vc == 1 or s == 4 else 0, 0)]

    assert check_hops(around(topology, dateline, 2), topology, "acyclic").proven
    forgotten = around(topology, lambda s, t, vc: [(1 if vc == 1 else 0, 0)], 2)
    assert len(check_hops(forgotten, topology, "acyclic").cycle) == 5


def test_bubble_needs_a_ring_that_is_one_and_a_class_that_is_named() -> None:
    program = around(ring(4), lambda s, t, vc: [(0, 0)], bubble=(0,))
    assert check_hops(program, ring(4), "bubble").proven
    assert [each.channels for each in check_hops(program, ring(4), "bubble").rings] == [
        (0, 1, 2, 3)
    ]
    # the same channels, nobody's ring; and a ring of a class without bubble
    alone = check_hops(program, ring(4, claims=[-1] * 4), "bubble")
    unnamed = check_hops(around(ring(4), lambda s, t, vc: [(0, 0)]), ring(4), "bubble")
    assert (len(alone.cycle), len(unnamed.cycle)) == (4, 4)
    assert check_hops(program, ring(4), "bubble", switching="wormhole").status == "unproven"
    assert check_hops(program, ring(4), "bubble", packets_per_buffer=1).status == "unproven"


def test_without_a_ring_the_preconditions_are_those_without_bubbles() -> None:
    topology = ring(5, claims=[-1] * 5)  # channels of no ring
    for switching in ("wormhole", "virtual-cut-through"):
        plain, bubble = (
            check_hops(
                around(topology, ahead, 3, bubble=bubble), topology, "duato", switching=switching
            )
            for bubble in ((), (1,))
        )
        assert bubble.proven
        assert bubble.preconditions == plain.preconditions
        needs_empty_buffer = any("its buffer is empty" in text for text in bubble.preconditions)
        assert needs_empty_buffer is (switching == "wormhole")


def test_all_turns_of_a_mesh_are_a_cycle_with_and_without_bubble() -> None:
    mesh = build_grid("mesh", (3, 3), wrap=False)
    program = any_shortest(mesh)
    assert check_hops(program, mesh, "bubble").cycle


def ahead(s, t, vc):
    """Any way on class 0; the escape is on class 1 before the dateline and on 2 behind it."""
    return [(0, 0), (1 if t < s else 2, ESCAPE)]


def test_escapes_with_a_dateline_that_depends_on_the_place_are_proven() -> None:
    topology = ring(5)
    program = around(topology, ahead, 3)
    assert check_hops(program, topology, "duato").proven
    assert check_hops(program, topology, "duato", switching="wormhole").proven
    assert check_hops(program, topology, "acyclic").cycle
    shared = check_hops(program, topology, "duato", switching="wormhole", shared_buffers=True)
    assert shared.status == "unproven"


def test_a_packet_that_waits_for_its_best_candidate_cannot_count_on_an_escape() -> None:
    topology = ring(5)
    for ranking, status in (
        ("room", "proven"),
        ("best-or-escape", "proven"),
        ("best", "unproven"),
    ):
        verdict = check_hops(around(topology, ahead, 3, ranking=ranking), topology, "duato")
        assert verdict.status == status
    assert "a packet waits for its best candidate" in verdict.reason
    # other proofs hold whichever candidate a packet waits for
    dateline = around(topology, lambda s, t, vc: [(vc == 1 or s == 4, 0)], 2, ranking="best")
    assert check_hops(dateline, topology, "acyclic").proven
    clockwise = around(topology, lambda s, t, vc: [(0, 0)], bubble=(0,), ranking="best")
    assert check_hops(clockwise, topology, "bubble").proven


def complete(size: int) -> Topology:
    """A channel from every switch to every other: source * size + target, without the diagonal."""
    ends = [(a, b) for a in range(size) for b in range(size) if a != b]
    return Topology.create(
        num_switches=size,
        channel_source=[a for a, _ in ends],
        channel_target=[b for _, b in ends],
    )


def test_a_waypoint_that_hop_sets_leads_to_the_second_set_of_classes() -> None:
    topology = complete(4)
    ways = nearer(topology)

    def steps(s, t, phase, own, vc):
        direct = (KEEP, 0, [(*ways(s, t), 0, 0)])
        if phase == 1:
            return [direct]
        others = [other for other in range(4) if other not in (s, t)]
        return [direct] + [(other, 0, [(*ways(s, other), 0, 0)]) for other in others]

    verdict = check_hops(steered_program(topology, steps, 1), topology, "acyclic")
    assert verdict.proven
    # every channel of phase 0 before every channel of phase 1 that goes on to a third switch
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    assert dependency_edges(verdict) == {
        ((a, 0), (b, 1))
        for a, (first, middle) in enumerate(ends)
        for b, (start, last) in enumerate(ends)
        if start == middle and last != first
    }


def test_a_detour_without_a_second_set_of_classes_is_a_cycle() -> None:
    topology = complete(4)
    ways = nearer(topology)

    def steps(s, t, phase, own, vc):
        if own == 1:
            return [(KEEP, 1, [(*ways(s, t), 0, 0)])]
        return [(KEEP, 1, [(*ways(s, other), 0, 0)]) for other in range(4) if other != s]

    program = steered_program(topology, steps, 1, phases=1)
    verdict = check_hops(program, topology, "acyclic")
    assert len(verdict.cycle) >= 3
    assert_certified(verdict, NaiveStates(program, topology).dependencies(), ())


@pytest.mark.parametrize("changes", [False, True])
def test_a_waypoint_that_moves_on_leads_past_the_dateline_again(changes) -> None:
    """The dateline of each phase is enough for waypoints of injection, not for later ones."""
    topology = ring(5)

    def steps(s, t, phase, own, vc):
        onward = [(s, 1 if vc == 1 or s == 4 else 0, 0)]
        answers = [(KEEP, own, onward)]
        if phase == 0 and own < 2 and (vc == -1 or changes):
            answers += [(other, own + 1, onward) for other in range(5) if other != s]
        return answers

    verdict = check_hops(steered_program(topology, steps, 2), topology, "acyclic")
    assert verdict.problems == ()
    assert verdict.proven is not changes
    if changes:
        assert verdict.cycle == tuple((channel, 1) for channel in range(5))


@pytest.mark.parametrize(
    ("waypoint", "phases", "when", "cause"),
    [
        (3, 1, 0, "waypoint 3 is set, and the program has one phase: "),
        (7, 2, 0, "waypoint 7 is set, and there are switches 0..4: "),
        (2, 2, 0, "waypoint 2 is set, and the packet is there: 2 to "),
        (3, 2, 1, "waypoint 3 is set, and the packet is in phase 1: "),
    ],
)
def test_waypoints_that_break_the_contract(waypoint, phases, when, cause) -> None:
    def steps(s, t, phase, own, vc):
        onward = [(s, 0, 0)]
        if (s, phase, vc) == (2, when, -1):
            return [(waypoint, 0, onward)]
        return [(2 if phase == 0 and when and s != 2 else KEEP, 0, onward)]

    program = steered_program(ring(5), steps, 1, phases=phases)
    verdict = check_hops(program, ring(5), "none")
    assert [problem for problem in verdict.problems if problem.startswith(cause)]


def test_a_waypoint_is_not_given_up_where_the_packet_would_have_to_leave() -> None:
    topology = ring(5)

    def steps(s, t, phase, own, vc):
        # to 4 by way of 2, where hop thinks better of it
        waypoint = {0: 4, 2: -1}.get(s, KEEP) if phase == 0 else KEEP
        return [(waypoint, 0, [(s, 0, 0)])]

    program = steered_program(topology, steps, 1)
    verdict = check_hops(program, topology, "none")
    beginning = "waypoint -1 is set, and the packet is there: "
    where = [problem for problem in verdict.problems if problem.startswith(beginning)]
    assert where[0].endswith(" to 2, at switch 2, come over 1>2")


def test_a_packet_that_is_asked_again_may_change_its_mind() -> None:
    """At the first look it minds the dateline, at later ones, which STATE tells, it does not."""
    topology = ring(5)

    def steps(s, t, phase, own, vc):
        seen = vc >= 0 and own == s % 3
        return [(KEEP, s % 3, [(s, 0 if seen else int(vc == 1 or s == 4), 0)])]

    once, again = (steered_program(topology, steps, 2, again=again) for again in (False, True))
    assert check_hops(once, topology, "acyclic").proven
    verdict = check_hops(again, topology, "acyclic")
    assert verdict.cycle == tuple((channel, 0) for channel in range(5))
    assert_certified(verdict, NaiveStates(again, topology).dependencies(), ())


@pytest.mark.parametrize("when", range(5))
def test_dependence_on_queues_is_detected(when) -> None:
    topology = ring(5)
    verdict = check_hops(by_queues_program(topology, when), topology, "acyclic")
    assert verdict.proven is (when == 0)
    if when:
        assert verdict.cycle == tuple((channel, 0) for channel in range(5))


@pytest.mark.parametrize("how", ["turns", "detours"])
def test_programs_that_look_ahead_keep_their_contract(how) -> None:
    """Every hop has a class of its own, whatever inject learns from hop and hop changes later."""
    topology = torus(3, 3)
    program = decision_program(topology, CHANNEL_FLITS, waiting=True, **{how: True})
    # where hop turns, the packet first takes a hop towards what it headed for before
    program = replace(program, vc_classes=program.vc_classes + (how == "turns"))
    exploration = explore_states(program, topology)
    assert exploration.problems == {}
    # some packets go by way of another switch, some do not
    straight = explore_states(decision_program(topology, CHANNEL_FLITS), topology)
    assert exploration.findings.longest.max() > straight.findings.longest.max()
    assert check_hops(program, topology, "acyclic").proven


def test_packets_that_go_by_terminal_are_explored_by_terminal() -> None:
    """Odd terminals go round the other way, whose dateline is forgotten."""
    topology = replace(ring(4, both=True), terminal_switch=np.repeat(np.arange(4), 2))
    right = parity_program(topology, 2, by_terminal=True)
    verdict = check_hops(right, topology, "acyclic")
    assert verdict.proven
    assert {channel for edge in dependency_edges(verdict) for channel, _ in edge} == set(range(8))
    assert "of 48 pairs of terminals" in verdict.coverage
    forgotten = parity_program(topology, 1, by_terminal=True)
    verdict = check_hops(forgotten, topology, "acyclic")
    assert sorted(verdict.cycle) == [(channel, 0) for channel in range(4, 8)]
    assert_certified(verdict, NaiveStates(forgotten, topology).dependencies(), ())
    # pairs of switches, with their first terminals, would all go clockwise
    assert check_hops(parity_program(topology, 1), topology, "acyclic").proven
    short = replace(forgotten, max_hops=2)
    # three hops: clockwise from even terminals, back from odd ones
    where = re.search(
        r"terminal (\d) at (\d) to terminal \d at (\d)", check_hops(short, topology, "none").reason
    )
    terminal, source, target = map(int, where.groups())
    assert terminal // 2 == source
    assert (target - source) % 4 == (1 if terminal % 2 else 3)


def test_an_escape_that_one_state_lacks_is_missed() -> None:
    topology = ring(5)

    def forgetful(s, t, vc):
        return [(0, 0)] if (s, t, vc) == (2, 4, 0) else ahead(s, t, vc)

    verdict = check_hops(around(topology, forgetful, 3), topology, "duato")
    assert verdict.status == "unproven"
    assert verdict.reason.startswith("no candidate is an escape: ")
    assert "to 4, at switch 2, come over 1>2" in verdict.reason


def test_wormhole_asks_for_more_than_cut_through() -> None:
    """A dateline that is forgotten on the way: class 2 is for those that come over class 2.

    No packet waits on class 1 for class 1 across the dateline, so cut-through is safe. But one may
    leave its tail in class 1, cross on class 0 and wait for class 1 again.
    """
    topology = ring(5)

    def forgotten(s, t, vc):
        return [(0, 0), (2 if vc == 2 or s == 4 else 1, ESCAPE)]

    program = around(topology, forgotten, 3)
    assert check_hops(program, topology, "duato").proven
    verdict = check_hops(program, topology, "duato", switching="wormhole")
    assert verdict.status == "cycle"
    assert {vc for _, vc in verdict.cycle} == {1}
    direct = NaiveStates(program, topology).cut_through()
    assert not set(pairwise([*verdict.cycle, verdict.cycle[0]])) <= direct


@pytest.mark.parametrize("proof", ["recovery", "none"])
def test_programs_without_claims_are_not_proven(proof) -> None:
    verdict = check_hops(any_shortest(ring(3)), ring(3), proof)
    assert (verdict.status, verdict.problems) == ("unproven", ())


def test_a_broken_contract_is_reported_with_any_proof() -> None:
    topology = ring(4)
    program = around(topology, lambda s, t, vc: [(0, 0)], max_hops=2)
    verdict = check_hops(program, topology, "bubble")
    assert verdict.status == "broken"
    assert verdict.problems[0].startswith("3 hops are taken, the program claims at most 2: ")
    lost = program_of(topology, lambda s, t, vc: [[]] if s == 2 else [[(s, 0, 0)]], 1)
    verdict = check_hops(lost, topology, "none")
    assert "there is no candidate: " in verdict.reason
    # packets to 3 from 0 and 1, and to 0 from 1, which all stop at switch 2, and those from 2
    stuck = sum((2 - s) % 4 < (t - s) % 4 for s, t in permutations(range(4), 2))
    assert verdict.allowed_routes.obstacle.startswith(f"{stuck} dead ends without a candidate: ")
    short = around(topology, lambda s, t, vc: [(vc + 1, 0)], 2)
    verdict = check_hops(short, topology, "acyclic")
    # three hops from every switch
    assert verdict.allowed_routes.obstacle.startswith(
        "4 states need more virtual channels than available: "
    )
    assert verdict.allowed_routes.missing_class_example.endswith("needs class 2")


def test_pairs_that_the_network_does_not_join_are_nobody_s_fault() -> None:
    line = Topology.create(num_switches=3, channel_source=[0, 1], channel_target=[1, 2])
    exploration = explore_states(any_shortest(line), line)
    longest = exploration.findings.longest.tolist()
    lengths = dict(zip(map(tuple, exploration.pairs.tolist()), longest, strict=True))
    assert lengths == {(0, 1): 1, (0, 2): 2, (1, 2): 1}
    assert exploration.problems == {}


def test_wrong_options_are_named_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        check_hops(any_shortest(ring(3)), ring(3), "sure", packets_per_buffer=0, switching="x")
    for text in ("'sure'", "packets_per_buffer is 0", "'x'"):
        assert text in str(error.value)


def test_a_part_of_the_states_proves_nothing() -> None:
    verdict = check_hops(any_shortest(ring(4)), ring(4), "none", max_states=5)
    assert (verdict.status, verdict.partial) == ("unproven", False)
    topology = ring(20)
    rising = around(topology, lambda s, t, vc: [(vc + 1, 0)], 19, max_hops=19)
    verdict = check_hops(rising, topology, "acyclic", max_states=1000)
    assert (verdict.status, verdict.partial) == ("unproven", True)
    assert verdict.rank is None
    done = re.search(r"no fault in (\d+) of 380 pairs", verdict.reason)
    # a pair has 10 states, on average
    assert 70 < int(done[1]) < 130
    assert f"{done[1]} of 380 pairs, drawn with seed 0" in verdict.coverage
    assert check_hops(rising, topology, "acyclic").proven


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
@settings(max_examples=40)
def test_a_fault_in_a_part_is_one_of_all_states(seed: int, most: int) -> None:
    topology = NETWORKS[seed % len(NETWORKS)]
    program = replace(random_program(topology, seed), bubble=())
    cases = [("acyclic", "virtual-cut-through"), ("duato", "wormhole")]
    for proof, switching in cases:
        whole = check_hops(program, topology, proof, switching=switching)
        part = check_hops(program, topology, proof, switching=switching, max_states=most)
        assert part.status in ("cycle", "unproven") or part.coverage == whole.coverage
        assert dependency_edges(part) <= dependency_edges(whole) or proof == "duato"
        if part.status == "cycle":
            assert whole.status == "cycle" or whole.reason.startswith("no candidate is an escape")
        for (a, i), (b, j), ends in zip(
            part.cycle, (*part.cycle[1:], *part.cycle[:1]), part.cycle_routes, strict=True
        ):
            assert ((a, i), (b, j)) in dependency_edges(part)
            assert ends[0] != ends[1]


@pytest.mark.parametrize("by_terminal", [False, True])
def test_of_very_large_networks_some_sources_are_examined(monkeypatch, by_terminal) -> None:
    topology = replace(ring(9), terminal_switch=np.repeat(np.arange(9), 2))
    program = around(topology, lambda s, t, vc: [(vc + 1, 0)], 8, by_terminal=by_terminal)
    monkeypatch.setattr(allowed_routes, "MAX_PAIRS", 108 if by_terminal else 27)
    exploration = explore_states(program, topology)
    assert len(np.unique(exploration.pairs[:, 0])) == 3
    assert exploration.num_pairs == (72 * 4 if by_terminal else 72)
    verdict = check_hops(program, topology, "acyclic")
    assert verdict.status == "unproven"
    part = "96 of 288 pairs" if by_terminal else "24 of 72 pairs"
    assert verdict.reason.startswith(f"no fault in {part}")
    assert check_hops(any_shortest(topology), topology, "acyclic").cycle


class Anywhere:
    """A routing for all networks."""

    name, proof = "anywhere", "bubble"

    def supports(self, topology, virtual_channels):
        return None

    def prepare(self, topology, virtual_channels):
        # one route of each pair on large networks: no cycle
        ways, only = nearer(topology), 1 if topology.num_switches > 20 else 4

        def answers(switch: int, target: int, vc: int) -> list[list[tuple[int, int, int]]]:
            return [[(channel, 0, 0) for channel in ways(switch, target)[:only]]]

        return program_of(topology, answers, 1, max_hops=None)

    def table(self, topology):
        raise NotImplementedError


def test_a_large_network_is_stood_for_by_a_small_one(monkeypatch) -> None:
    monkeypatch.setattr(hop_checker, "MAX_STATES", 2500)
    large = build_grid("mesh", (5, 8), wrap=False)
    verdict = check_hop_routing(Anywhere(), large, 1)
    assert (verdict.status, verdict.small.status) == ("unproven", "cycle")
    assert verdict.small.topology.attributes["dims"] == [5, 4]
    assert "; the verdict on a mesh 5x4 is cycle: " in verdict.reason
    assert verdict.describe_cycle() == verdict.small.describe_cycle() != []
    cut = build_grid("mesh", (5, 8), wrap=False, failed_links=("0-1",))
    alone = check_hop_routing(Anywhere(), cut, 1)
    assert (alone.status, alone.small, alone.describe_cycle()) == ("unproven", None, [])


@pytest.mark.parametrize(
    ("dims", "most", "small"),
    [
        ((16, 16), 64, (4, 4)),
        ((10, 10, 10), 64, (4, 4, 4)),
        ((10, 10, 10), 25, (4, 4)),
        ((7, 7, 7), 64, (3, 3, 5)),
        ((7, 8, 9, 6, 6), 64, (3, 4, 3)),
        ((3, 2, 5), 64, (3, 2, 5)),
    ],
)
def test_small_networks_keep_parity(dims, most, small) -> None:
    torus = build_grid("torus", dims, wrap=True)
    assert tuple(small_network(torus, most).attributes["dims"]) == small
    assert np.prod(small) <= most


@pytest.mark.parametrize(("terminals", "kept"), [(1, 1), (2, 2), (7, 2)])
def test_small_networks_have_several_terminals_where_large_ones_do(terminals, kept) -> None:
    torus = build_grid("torus", (9, 9), wrap=True, terminals=terminals)
    small = small_network(torus, 25)
    assert np.bincount(small.terminal_switch).tolist() == [kept] * small.num_switches
