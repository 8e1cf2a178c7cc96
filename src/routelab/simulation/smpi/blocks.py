"""Blocks in the form that SimGrid's SMPI needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.api.topology import Int32Array, frozen_array
from routelab.api.workload import Program
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.machine import Machine
from routelab.toolkit.workloads.block_builder import BlockBuilder


def smpi_program(
    schedule: Schedule, tape_length: int, machine: Machine, host_speed: float
) -> Program:
    """Return the beginning of a schedule as a program that SMPI replays equivalently.

    A schedule's *tape* lists the numbers of the blocks that every rank runs, in order: 0 1 1 runs
    block 0 and then block 1 twice.

    Every message of a block gets a tag that is unique among the messages from its source to its
    target. So receives match the same sends as in the schedule, and waits find their requests. The
    overhead of a message becomes a computation, because SMPI has none for messages that wait for
    receivers.

    Parameters
    ----------
    schedule : Schedule
    tape_length : int
        Number of entries of the tape after which the program ends.
    machine : Machine
    host_speed : float
        Operations per second of a host.
    """
    blocks, next_tag = [], 0
    for block in schedule.blocks:
        tags = _unique_tags(block, first_tag=next_tag)
        # above all tags so far; `initial` is for a block without messages, whose tags are all 0
        next_tag = int(tags.max(initial=next_tag)) + 1
        smpi_block = replace(block, tag=tags)
        if machine.overhead:
            smpi_block = _with_overhead(smpi_block, operations=machine.overhead * host_speed)
        blocks.append(smpi_block)
    steps = tuple(blocks[number] for number in schedule.tape[:tape_length].tolist())
    return Program(schedule.ranks, steps, convention="as scheduled")


def _unique_tags(block: Block, first_tag: int) -> Int32Array:
    """Return tags that number the messages from one rank to another, from `first_tag` on.

    A send and its receive get the same tag; waits and computations have 0.
    """
    sends = np.flatnonzero(block.receive_of >= 0)  # −1: no send
    sources, targets = block.rank_of()[sends].tolist(), block.peer[sends].tolist()
    num_messages: Counter[tuple[int, int]] = Counter()  # so far, by source and target
    tags = np.zeros(len(block.kind), dtype=np.int32)
    for send, source, target in zip(sends.tolist(), sources, targets, strict=True):
        tags[send] = tags[block.receive_of[send]] = first_tag + num_messages[source, target]
        num_messages[source, target] += 1
    return frozen_array(tags, np.int32)


def _with_overhead(block: Block, operations: float) -> Block:
    """Add a computation before every send, and after every receive or the wait for it.

    Waits for all requests become waits for each, so that a computation can follow each receive.
    """
    builder = BlockBuilder(block.ranks)
    columns = (block.kind, block.peer, block.amount, block.tag)
    for rank in range(block.ranks):
        rows = slice(block.start[rank], block.start[rank + 1])
        # For each request that is not waited for yet, the oldest first: whether it is a receive.
        is_receive: list[bool] = []
        for kind, peer, amount, tag in zip(*(c[rows].tolist() for c in columns), strict=True):
            if kind == COMPUTE:
                builder.compute(rank, amount)
            elif kind == SEND:
                builder.compute(rank, operations)
                builder.send(rank, peer, amount, tag)
            elif kind == ISEND:
                builder.compute(rank, operations)
                builder.isend(rank, peer, amount, tag)
                is_receive.append(False)
            elif kind == RECV:
                builder.receive(rank, peer, amount, tag)
                builder.compute(rank, operations)
            elif kind == IRECV:
                builder.ireceive(rank, peer, amount, tag)
                is_receive.append(True)
            elif kind == WAIT:
                # `peer` of a wait is the index of its request among the open ones. A wait removes
                # its request, so to wait for all means to wait for request 0 as often as there are
                # requests.
                requests = [0] * len(is_receive) if peer == ALL else [peer]
                for request in requests:
                    builder.wait(rank, request)
                    if is_receive.pop(request):
                        builder.compute(rank, operations)
    return builder.build()
