"""Random schedules of ranks, for property tests of the flow engine."""

import random as standard

import numpy as np
from hypothesis import strategies as st
from random_tables import walk, weighted_table

from routelab.api import Topology
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.workloads.block_builder import BlockBuilder

SIZES = (0.0, 8.0, 500.0, 1000.0, 1000.0, 1024.0, 5000.0)


def schedule_of(*blocks, tape=None, timed=None, rounds=(0,), total_rounds=0):
    """Blocks one after the other, or as a tape says."""
    tape = np.array(range(len(blocks)) if tape is None else tape, np.int32)
    return Schedule(
        ranks=blocks[0].ranks,
        blocks=blocks,
        names=tuple(f"block {k}" for k in range(len(blocks))),
        tape=tape,
        timed=(0, len(tape)) if timed is None else timed,
        round_start=np.array(rounds, np.int64),
        total_rounds=total_rounds,
    )


def linear(ranks, size):
    """Everybody sends to all others at once."""
    builder, rank = BlockBuilder(ranks), np.arange(ranks)
    for step in range(1, ranks):
        builder.ireceive(rank, (rank - step) % ranks, size)
    for step in range(1, ranks):
        builder.isend(rank, (rank + step) % ranks, size)
    return builder.wait(rank).build()


@st.composite
def reachable_tables(draw):
    """Tables on rings of switches with further channels, one to three paths for every pair.

    Drawn by a seed: what hypothesis draws entry by entry is small, and nothing shares a channel.
    """
    random = standard.Random(draw(st.integers(0, 2**32)))
    size = random.randint(1, 7)
    ends = [(s, (s + 1) % size) for s in range(size if size > 1 else 0)]
    while size > 1 and random.random() < 0.8:
        ends.append(tuple(random.sample(range(size), 2)))
    at_switch = [random.choice([0, 1, 1, 2]) for _ in range(size)]
    at_switch[random.randrange(size)] += 1
    topology = Topology.create(
        num_switches=size,
        channel_source=[source for source, _ in ends],
        channel_target=[target for _, target in ends],
        terminal_switch=np.repeat(np.arange(size), at_switch),
        channel_capacity=[random.choice([1.0, 1.0, 0.5, 2.0]) for _ in ends],
    )

    def equal_ways(source, target):
        ways = []
        while not ways or (source != target and random.random() < 0.3 and len(ways) < 3):
            way = walk(topology, source, target, random)
            ways += [] if way is None else [way]
        return [(1 / len(ways), way) for way in ways]

    return weighted_table(topology, equal_ways, per_terminal=draw(st.booleans()))


@st.composite
def blocks(draw, ranks, may_stick=False):
    """Messages and computation in one order that all ranks keep, so that it comes to an end."""
    builder = BlockBuilder(ranks)
    random = standard.Random(draw(st.integers(0, 2**32)))
    open_ = [0] * ranks
    later = []
    blocking = random.choice([0.05, 0.5])
    for step in range(random.randrange(12 * ranks)):
        what = random.random()
        first, second = random.randrange(ranks), random.randrange(ranks)
        if what < 0.1:
            builder.compute(first, random.choice([0, 10, 700]))
        elif what < 0.2 and open_[first]:
            if random.random() < 0.3:
                open_[first] = 0
                builder.wait(first)
            else:
                builder.wait(first, random.randrange(open_[first]))
                open_[first] -= 1
        else:
            size, tag = random.choice(SIZES), step if may_stick else random.randrange(2)
            # of the two ends of a message one may block; a rank has nothing open when it does, or
            # others would wait for what they only ask for later
            waits = random.random() < blocking and (may_stick or first != second)
            ends = [(first, second, "send"), (second, first, "receive")]
            random.shuffle(ends)
            for rank, peer, name in ends:
                if waits and not may_stick:
                    builder.wait(rank)
                    open_[rank] = 0
                do = getattr(builder, name if waits else f"i{name}")
                if may_stick and random.random() < 0.1:
                    later.append((do, rank, peer, size, tag))
                else:
                    open_[rank] += not waits
                    do(rank, peer, size, tag)
                waits = waits and may_stick
    for do, *more in later:
        do(*more)
    builder.wait(range(ranks))
    return builder.build()


@st.composite
def schedules(draw, ranks, may_stick=False):
    """Some blocks, some of them more than once."""
    drawn = draw(st.lists(blocks(ranks, may_stick=may_stick), min_size=1, max_size=3))
    tape = draw(st.lists(st.integers(0, len(drawn) - 1), min_size=1, max_size=5))
    return schedule_of(*drawn, tape=tape)
