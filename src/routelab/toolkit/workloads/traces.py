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

_WORDS = {SEND: "send", ISEND: "isend", RECV: "recv", IRECV: "irecv"}


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
    actions = sum(
        times * (program.ranks if isinstance(step, Collective) else len(step.kind))
        for step, times in program.walk()
    )
    if actions > MAX_ACTIONS:
        raise UnsupportedError(
            f"a trace of this program would have {actions} actions, the limit is {MAX_ACTIONS}; "
            "use fewer iterations"
        )
    names = [f"rank-{rank}.txt" for rank in range(program.ranks)]
    pieces: list[list[str]] = [[f"{rank} init\n"] for rank in range(program.ranks)]
    lines_of_step: dict[int, list[str]] = {}
    for step in _unroll(program.steps):
        if id(step) not in lines_of_step:
            lines_of_step[id(step)] = list(_action_lines(step, program.ranks))
        for rank, text in enumerate(lines_of_step[id(step)]):
            pieces[rank].append(text)
    texts = {
        name: "".join([*pieces[rank], f"{rank} finalize\n"]) for rank, name in enumerate(names)
    }
    return {LIST: "".join(f"{name}\n" for name in names)} | texts


def _unroll(steps: Iterable[Step]) -> Iterator[Block | Collective]:
    for step in steps:
        if isinstance(step, Loop):
            for _ in range(step.times):
                yield from _unroll(step.steps)
        else:
            yield step


def _action_lines(step: Block | Collective, ranks: int) -> Iterator[str]:
    """Yield the lines of each rank."""
    if isinstance(step, Collective):
        for rank in range(ranks):
            yield f"{rank} {_call(step, rank, ranks)}\n"
        return
    arrays = (step.kind, step.peer, step.amount, step.tag)
    for rank in range(ranks):
        part = slice(step.start[rank], step.start[rank + 1])
        lines = _operations(rank, *(array[part].tolist() for array in arrays))
        yield "".join(f"{rank} {line}\n" for line in lines)


def _operations(
    rank: int, kinds: list[int], peers: list[int], amounts: list[float], tags: list[int]
) -> Iterator[str]:
    """Yield the actions of one rank's operations, as in a trace file without the rank."""
    requests: list[str] = []
    for kind, peer, amount, tag in zip(kinds, peers, amounts, tags, strict=True):
        if kind == COMPUTE:
            yield f"compute {_number(amount)}"
        elif kind == WAIT and peer == ALL:
            if requests:
                yield f"waitall {len(requests)}"
            requests.clear()
        elif kind == WAIT:
            yield f"wait {requests.pop(peer)}"
        else:
            yield f"{_WORDS[kind]} {peer} {tag} {_number(amount)}"
        if kind == ISEND:
            requests.append(f"{rank} {peer} {tag}")
        elif kind == IRECV:
            requests.append(f"{peer} {rank} {tag}")


def _number(amount: float) -> str:
    return str(int(amount)) if amount == int(amount) else repr(amount)


def _call(call: Collective, rank: int, ranks: int) -> str:
    """Return an action with sizes in bytes, the unit of `init` without an argument."""
    groups = call.members(ranks)
    if len(groups) != 1 or not np.array_equal(groups[0], np.arange(ranks)):
        raise UnsupportedError(
            f"{call.name} is called by groups of ranks; a trace has only calls of all ranks"
        )
    size = call.bytes
    if call.matrix is not None:
        sent, received = call.matrix[rank].tolist(), call.matrix[:, rank].tolist()
        return " ".join(map(str, [call.name, sum(sent), *sent, sum(received), *received]))
    return {
        "allgather": f"allgather {size} {size}",
        "allreduce": f"allreduce {size} 0",
        "alltoall": f"alltoall {size} {size}",
        "barrier": "barrier",
        "bcast": f"bcast {size} {call.root}",
        "reduce": f"reduce {size} 0 {call.root}",
    }[call.name]
