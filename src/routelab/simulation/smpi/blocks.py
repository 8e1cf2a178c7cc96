"""Blocks in the form that SimGrid's SMPI needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.api.topology import Int32Array, frozen_array
from routelab.api.workload import Program
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.machine import Machine
from routelab.toolkit.workloads.block_builder import BlockBuilder


def smpi_program(schedule: Schedule, places: int, machine: Machine, speed: float) -> Program:
    """Return the first places of a schedule's tape as a program that SMPI replays equivalently.

    Every message of a block gets a unique tag among those from its source to its target. So
    receives match the same sends as in the schedule, and waits find their requests. The overhead of
    a message becomes a computation, because SMPI has none for messages that wait for receivers.

    Parameters
    ----------
    schedule : Schedule
    places : int
    machine : Machine
    speed : float
        Operations per second of a host.
    """
    blocks, next_tag = [], 0
    for block in schedule.blocks:
        tags = _unique_tags(block, next_tag)
        next_tag = int(tags.max(initial=next_tag)) + 1
        tagged = replace(block, tag=tags)
        blocks.append(
            _with_overhead(tagged, machine.overhead * speed) if machine.overhead else tagged
        )
    steps = tuple(blocks[number] for number in schedule.tape[:places].tolist())
    return Program(schedule.ranks, steps, convention="as scheduled")


def _unique_tags(block: Block, first_tag: int) -> Int32Array:
    """Return tags that count the messages between two ranks, from `first_tag` on."""
    sends = np.flatnonzero(block.receive_of >= 0)
    ranks, peers = block.rank_of()[sends].tolist(), block.peer[sends].tolist()
    counted: Counter[tuple[int, int]] = Counter()
    tags = np.zeros(len(block.kind), dtype=np.int32)
    for send, pair in zip(sends.tolist(), zip(ranks, peers, strict=True), strict=True):
        tags[send] = tags[block.receive_of[send]] = first_tag + counted[pair]
        counted[pair] += 1
    return frozen_array(tags, np.int32)


def _with_overhead(block: Block, operations: float) -> Block:
    """Add a computation before every send, and after every receive or the wait for it."""
    builder = BlockBuilder(block.ranks)
    for rank, kind, peer, amount, tag in _operations(block, operations):
        if kind == COMPUTE:
            builder.compute(rank, amount)
        elif kind == SEND:
            builder.send(rank, peer, amount, tag)
        elif kind == ISEND:
            builder.isend(rank, peer, amount, tag)
        elif kind == RECV:
            builder.receive(rank, peer, amount, tag)
        elif kind == IRECV:
            builder.ireceive(rank, peer, amount, tag)
        else:
            builder.wait(rank, peer)
    return builder.build()


def _operations(block: Block, operations: float) -> Iterator[tuple[int, int, int, float, int]]:
    """Yield rank, kind, peer, amount and tag; replace waits for all by waits for each."""
    columns = (block.kind, block.peer, block.amount, block.tag)
    for rank in range(block.ranks):
        part = slice(block.start[rank], block.start[rank + 1])
        receives: list[bool] = []
        for kind, peer, amount, tag in zip(*(c[part].tolist() for c in columns), strict=True):
            if kind == WAIT:
                for _ in range(len(receives) if peer == ALL else 1):
                    request = 0 if peer == ALL else peer
                    yield rank, WAIT, request, 0.0, 0
                    if receives.pop(request):
                        yield rank, COMPUTE, -1, operations, 0
                continue
            if kind in (SEND, ISEND):
                yield rank, COMPUTE, -1, operations, 0
            yield rank, kind, peer, amount, tag
            if kind == RECV:
                yield rank, COMPUTE, -1, operations, 0
            if kind in (ISEND, IRECV):
                receives.append(kind == IRECV)
