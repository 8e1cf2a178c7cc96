"""All outcomes of draws are examined; what cannot be listed is no proof."""

from __future__ import annotations

import hop_cases
import numpy as np
import pytest

from routelab.api import HopProgram, Topology, pack_tables
from routelab.deadlock import check_hops
from routelab.kernels.hops import (
    STATE,
    RandomWord,
    another,
    channel_flits,
    either,
    hop_kernel,
    inject_kernel,
    pick,
    pick_share,
    pick_word,
    redraw,
    table,
    unscripted,
)

SIZE = 4
RING = Topology.create(
    num_switches=SIZE,
    channel_source=list(range(SIZE)),
    channel_target=[(s + 1) % SIZE for s in range(SIZE)],
)
"""One way round: classes must rise somewhere."""


def verdict_of(hop, inject=None):
    program = HopProgram(hop, pack_tables(RING), 8, inject=inject, max_hops=SIZE)
    return check_hops(program, RING, "acyclic")


@hop_kernel
def honest(tables, packets, packet, queues, switch, channel, vc, random, out):
    """The class counts the hops."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    return 1


@hop_kernel
def rarely(tables, packets, packet, queues, switch, channel, vc, random, out):
    """One packet in 4,096 falls back to class 0."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if pick(random, 4096) == 7:
        out[0, 1] = 0
    return 1


@hop_kernel
def after_another(tables, packets, packet, queues, switch, channel, vc, random, out):
    """The same, by two draws, of which the second has outcomes that depend on the first."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    first = pick(random, 90)
    if first == 71 and pick(another(random), first) == 70:
        out[0, 1] = 0
    return 1


@hop_kernel
def by_bits(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Reads the word itself."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if random.word % np.uint64(1 << 40) == np.uint64(7):
        out[0, 1] = 0
    return 1


@hop_kernel
def by_queue(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Leaves out a class if flits wait: harmless, but not all contents of queues are examined."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if channel_flits(tables, queues, switch) > 0:
        out[0, 1] += 1
    return 1


@hop_kernel
def by_queue_as_shown(tables, packets, packet, queues, switch, channel, vc, random, out):
    """The same with `either`."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if either(random, channel_flits(tables, queues, switch) > 0):
        out[0, 1] += 1
    return 1


@hop_kernel
def by_a_rare_queue(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Falls back to class 0 for a content of the queues that the checker does not have."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if either(random, channel_flits(tables, queues, switch) == 1 << 20):
        out[0, 1] = 0
    return 1


@hop_kernel
def by_cost(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Penalties may depend on queues: all candidates count."""
    flits = channel_flits(tables, queues, switch)
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, flits
    return 1


@hop_kernel
def endlessly(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Draws too often."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    for _ in range(40):
        out[0, 2] = pick(random, 2)
        random = another(random)
    return 1


@hop_kernel
def drawn_again(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Falls back to class 0 after an outcome that it says does not count."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if pick(random, 4096) == 7:
        random = redraw(random)
        out[0, 1] = 0
    return 1


@hop_kernel
def not_tried(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Falls back to class 0 by a draw that it says decides nothing."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    if pick(unscripted(random), 1 << 31) == 7:
        out[0, 1] = 0
    return 1


@hop_kernel
def through_a_module(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Reads the word in a function of another module."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    return 1 + hop_cases.low_bit(random)


@pytest.mark.parametrize(
    ("hop", "status", "reason"),
    [
        (honest, "proven", "acyclic"),
        (rarely, "cycle", "4 resources wait"),
        (after_another, "cycle", "4 resources wait"),
        (by_bits, "unproven", "by_bits reads random words other than by `pick`"),
        (by_queue, "unproven", "depend on queues, and not by `either`"),
        (by_queue_as_shown, "proven if declared", "calls agree"),
        (by_a_rare_queue, "cycle", "4 resources wait"),
        (by_cost, "proven if declared", "calls agree"),
        (endlessly, "unproven", "too many outcomes"),
        (drawn_again, "proven if declared", "draws that are not tried decide nothing"),
        (not_tried, "proven if declared", "draws that are not tried decide nothing"),
        (through_a_module, "unproven", "low_bit reads random words other than by `pick`"),
    ],
)
def test_every_outcome_counts(hop, status, reason) -> None:
    verdict = verdict_of(hop)
    assert (verdict.status, reason in verdict.reason) == (status, True), verdict.reason
    assert (verdict.rank is not None) == verdict.proven


@inject_kernel
def below_two(tables, reals, packets, packet, queues, hop, random, out):
    """Draw 0 or 1, by one of three numbers."""
    number = pick(random, 3)
    while number == 2:
        random = redraw(random)
        number = pick(random, 3)
    packets[packet, STATE] = number
    return 0


@inject_kernel
def below_three(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, STATE] = pick(random, 3)
    return 0


@hop_kernel
def with_a_dead_end(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer nothing to packets that drew 2."""
    out[0, 0], out[0, 1], out[0, 2] = switch, vc + 1, 0
    return 0 if packets[packet, STATE] == 2 else 1


def test_an_outcome_that_does_not_count_is_skipped() -> None:
    assert verdict_of(with_a_dead_end, below_two).status == "proven if declared"
    assert verdict_of(with_a_dead_end, below_three).status == "broken"


def test_shares_are_those_of_the_array() -> None:
    upto = (np.array([0.2, 0.2, 0.7, 1.0]) * 2**31).astype(np.int64) - [0, 0, 0, 1]
    tables = pack_tables(RING, upto)
    begin = table(tables, 0)
    for word in np.random.default_rng(0).integers(2**64, size=500, dtype=np.uint64):
        share = pick_word(word, 1 << 31)
        expected = int(np.searchsorted(upto[:-1], share, side="right"))
        assert pick_share(RandomWord(word), tables, begin, 4) == expected
