"""Checks of workloads."""

from __future__ import annotations

from functools import partial

from routelab.api import ALL, IRECV, ISEND, RECV, SEND, WAIT, Block, Collective, Program
from routelab.simulation.flow.collectives import collective_block
from routelab.testing.results import Failed
from routelab.testing.subjects import Trial, call_plugin


def convention(trial: Trial) -> str:
    """Check that the program describes the workload in words."""
    program: Program = trial.result
    if not isinstance(program.convention, str) or not program.convention.strip():
        raise Failed(
            f"the convention is {program.convention!r}; describe who sends to whom, by rank or by "
            "coordinates, in one direction or both"
        )
    return program.convention


def timed(trial: Trial) -> str:
    """Check that the timed part of the program is not empty."""
    program: Program = trial.result
    # walk() goes through a whole program, so make one of the timed part
    timed_part = Program(program.ranks, program.timed, program.convention)
    num_steps = sum(
        times
        for step, times in timed_part.walk()
        if isinstance(step, Collective) or len(step.kind) > 0
    )
    if not num_steps:
        raise Failed("the timed part is empty; refuse such a job in supports()")
    return f"{num_steps} blocks and calls"


def calls(trial: Trial) -> str:
    """Check that collective calls name existing ranks and fit together."""
    program: Program = trial.result
    steps = [step for step, _ in program.walk() if isinstance(step, Collective)]
    for step in steps:
        call_plugin("a collective", partial(collective_block, step, program.ranks))
    return f"{len(steps)} calls in the text of the program"


def ends(trial: Trial) -> str:
    """Check that no rank waits forever for a message that can only be sent later."""
    program: Program = trial.result
    blocks: dict[int, Block] = {}
    for step, _ in program.walk():
        # No message leads from one block to another: if each of them ends, any sequence ends.
        if isinstance(step, Block) and id(step) not in blocks:
            blocks[id(step)] = step
            stuck_ranks = _stuck_ranks(step)
            if stuck_ranks:
                some_ranks = ", ".join(map(str, stuck_ranks[:5]))
                raise Failed(
                    f"in a block of {len(step.kind)} operations ranks wait for each other "
                    f"forever: {some_ranks}; send before receiving, or use isend"
                )
    return f"{len(blocks)} blocks"


def _stuck_ranks(block: Block) -> list[int]:
    """Return the ranks that never finish a block, even if no send has to wait.

    Two ranks, each of which receives from the other before it sends, are both stuck.
    """
    kinds, peers = block.kind.tolist(), block.peer.tolist()
    receive_of, start = block.receive_of.tolist(), block.start.tolist()
    rank_of = block.rank_of().tolist()
    # The operations of rank r are start[r] to start[r + 1].
    next_operation, end = start[:-1], start[1:]
    # For each operation that receives: whether its message was sent.
    sent = [False] * len(kinds)
    # The open requests of each rank, the oldest first: the operation of an irecv, or −1 for an
    # isend, which never waits here.
    requests: list[list[int]] = [[] for _ in next_operation]
    # Each rank runs until it waits for a message. No order of the ranks changes where they end,
    # because a message that was sent stays sent.
    ready = list(range(block.ranks))
    while ready:
        rank = ready.pop()
        while next_operation[rank] < end[rank]:
            operation = next_operation[rank]
            kind = kinds[operation]
            if kind in (SEND, ISEND):
                # the receiver may be waiting for this message: let it try again
                receive = receive_of[operation]
                sent[receive] = True
                ready.append(rank_of[receive])
            if kind in (ISEND, IRECV):
                requests[rank].append(-1 if kind == ISEND else operation)
            if kind == RECV and not sent[operation]:
                break
            if kind == WAIT:
                # `peer` of a wait is no rank, but the position of a request among the open ones
                position = peers[operation]
                awaited = requests[rank] if position == ALL else [requests[rank][position]]
                if not all(request < 0 or sent[request] for request in awaited):
                    break
                if position == ALL:
                    requests[rank].clear()
                else:
                    del requests[rank][position]
            next_operation[rank] += 1
    return [rank for rank in range(block.ranks) if next_operation[rank] < end[rank]]
