"""SMPI's time-independent traces: the actions of every rank as text, one per line.

The format is that of SimGrid's ``smpirun -trace-ti`` and ``-replay`` (3.32): a rank, an action, its
arguments. Supported are `init`, `finalize`, `compute`, `send`, `isend`, `recv`, `irecv`, `wait`,
`waitall` and the collectives of all ranks that programs have, and `sendRecv` for reading only. The
algorithm of a collective is not part of the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.api.errors import UnsupportedError
from routelab.api.workload import Collective, Loop, Program, Step

LIST = "trace.txt"
"""File that lists the files of the ranks."""
MAX_ACTIONS = 50_000_000
"""Largest number of lines of all files of a trace: about a gigabyte."""

_ACTION_NAMES = {SEND: "send", ISEND: "isend", RECV: "recv", IRECV: "irecv"}


def write_trace(program: Program) -> dict[str, str]:
    """Write a program as a trace, loops unrolled.

    Parameters
    ----------
    program : Program

    Returns
    -------
    files : dict of str to str
        Text by file name: `LIST`, and one file for each rank.

    Raises
    ------
    UnsupportedError
        If only some of the ranks call a collective, which the format cannot express, or the
        trace would have more than `MAX_ACTIONS`.
    """
    # 1. Refuse a program that is too long. Every rank writes a line for a collective.
    num_actions = sum(
        times * (program.ranks if isinstance(step, Collective) else len(step.kind))
        for step, times in program.walk()
    )
    if num_actions > MAX_ACTIONS:
        raise UnsupportedError(
            f"a trace of this program would have {num_actions} actions, the limit is {MAX_ACTIONS};"
            " use fewer iterations"
        )
    # 2. Write the steps. A loop yields the same objects in every repetition, so their texts are
    #    made once. The program keeps the objects, so no id is used twice.
    texts_of_step: dict[int, list[str]] = {}
    texts_of_rank: list[list[str]] = [[f"{rank} init\n"] for rank in range(program.ranks)]
    for step in _unroll(program.steps):
        if id(step) not in texts_of_step:
            texts_of_step[id(step)] = list(_rank_texts(step, program.ranks))
        for rank, text in enumerate(texts_of_step[id(step)]):
            texts_of_rank[rank].append(text)
    # 3. One file for each rank, and the list of them.
    files = {
        f"rank-{rank}.txt": "".join([*texts, f"{rank} finalize\n"])
        for rank, texts in enumerate(texts_of_rank)
    }
    return {LIST: "".join(f"{name}\n" for name in files)} | files


def _unroll(steps: Iterable[Step]) -> Iterator[Block | Collective]:
    """Yield blocks and collectives in the order in which they run."""
    for step in steps:
        if isinstance(step, Loop):
            for _ in range(step.times):
                yield from _unroll(step.steps)
        else:
            yield step


def _rank_texts(step: Block | Collective, ranks: int) -> Iterator[str]:
    """Yield a text for each rank in turn, with its lines of the step."""
    if isinstance(step, Collective):
        for rank in range(ranks):
            yield f"{rank} {_call_action(step, rank, ranks)}\n"
        return
    for rank in range(ranks):
        actions = _block_actions(step, rank)
        yield "".join(f"{rank} {action}\n" for action in actions)


def _block_actions(block: Block, rank: int) -> Iterator[str]:
    """Yield the actions of one rank, such as ``send 1 0 64``."""
    of_rank = slice(block.start[rank], block.start[rank + 1])
    columns = (block.kind, block.peer, block.amount, block.tag)
    operations = zip(*(column[of_rank].tolist() for column in columns), strict=True)
    # sender, receiver and tag of each open request, by which a trace names it in a wait
    requests: list[str] = []
    for kind, peer, amount, tag in operations:
        if kind == COMPUTE:
            yield f"compute {_number(amount)}"
        elif kind == WAIT and peer == ALL:
            if requests:  # otherwise there is nothing to wait for
                yield f"waitall {len(requests)}"
            requests.clear()
        elif kind == WAIT:
            # `peer` of a wait is the index of an open request, which the wait closes
            yield f"wait {requests.pop(peer)}"
        else:
            yield f"{_ACTION_NAMES[kind]} {peer} {tag} {_number(amount)}"
        if kind == ISEND:
            requests.append(f"{rank} {peer} {tag}")
        elif kind == IRECV:
            requests.append(f"{peer} {rank} {tag}")


def _number(amount: float) -> str:
    """Return 64 for 64.0, and a fraction with all its digits."""
    return str(int(amount)) if amount == int(amount) else repr(amount)


def _call_action(call: Collective, rank: int, ranks: int) -> str:
    """Return the action of a rank's call, such as ``bcast 64 0``.

    Sizes are in bytes, because `init` has no argument (with one, they would be in MPI_DOUBLE).
    """
    groups = call.members(ranks)
    if len(groups) != 1 or not np.array_equal(groups[0], np.arange(ranks)):
        raise UnsupportedError(
            f"{call.name} is called by groups of ranks; a trace has only calls of all ranks"
        )
    size = call.bytes
    if call.matrix is not None:
        # alltoallv: bytes sent in all and to each rank, bytes received in all and from each rank
        sent, received = call.matrix[rank].tolist(), call.matrix[:, rank].tolist()
        return " ".join(map(str, [call.name, sum(sent), *sent, sum(received), *received]))
    # Two equal sizes are what the rank sends to and receives from each peer. The 0 after a size is
    # the number of operations of the reduction: only messages take time.
    return {
        "allgather": f"allgather {size} {size}",
        "allreduce": f"allreduce {size} 0",
        "alltoall": f"alltoall {size} {size}",
        "barrier": "barrier",
        "bcast": f"bcast {size} {call.root}",
        "reduce": f"reduce {size} 0 {call.root}",
    }[call.name]
