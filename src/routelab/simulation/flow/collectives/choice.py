"""Choice of the algorithm of a collective call: MPICH's by size and ranks, or the study's."""

from __future__ import annotations

from collections.abc import Mapping

from routelab.api.errors import InputError
from routelab.api.workload import CollectiveName
from routelab.simulation.flow.collectives import alltoall, broadcasts, reductions
from routelab.simulation.flow.collectives.group import Algorithm, is_power_of_two

ALGORITHMS: Mapping[CollectiveName, Mapping[str, Algorithm]] = {
    "allgather": broadcasts.ALLGATHER,
    "allreduce": reductions.ALLREDUCE,
    "alltoall": alltoall.ALLTOALL,
    "alltoallv": alltoall.ALLTOALLV,
    "barrier": broadcasts.BARRIER,
    "bcast": broadcasts.BCAST,
    "reduce": reductions.REDUCE,
}
"""Algorithms of each collective, by name."""

MPICH = "mpich"
"""Name of MPICH's choice."""

POWERS_OF_TWO = {
    ("allgather", "recursive-doubling"),
    ("bcast", "scatter-recursive-doubling"),
}
"""Algorithms for powers of two only."""


def parse_choice(text: str) -> dict[str, str]:
    """Read ``alltoall=pairwise+bcast=binomial``.

    Parameters
    ----------
    text : str
        Collectives with their algorithms; the others use MPICH's choice. ``mpich`` or an empty
        text: all of them do.

    Returns
    -------
    choice : dict of str to str
        Algorithm by collective.

    Raises
    ------
    InputError
        With all problems.
    """
    choice: dict[str, str] = {}
    problems = []
    for part in [] if text.strip() in ("", MPICH) else text.split("+"):
        name, equals, algorithm = (piece.strip() for piece in part.partition("="))
        algorithms = ALGORITHMS.get(name)  # type: ignore[call-overload]
        if not equals:
            problems.append(f"{part!r} is not valid; write collective=algorithm")
        elif algorithms is None:
            problems.append(f"there is no collective {name!r}, there are {', '.join(ALGORITHMS)}")
        elif algorithm not in (*algorithms, MPICH):
            problems.append(
                f"{name} has no algorithm {algorithm!r}, it has {', '.join((*algorithms, MPICH))}"
            )
        elif name in choice:
            problems.append(f"{name} is chosen twice")
        choice[name] = algorithm
    if problems:
        raise InputError("collectives: " + "; ".join(problems))
    return {name: algorithm for name, algorithm in choice.items() if algorithm != MPICH}


def choice_text(choice: Mapping[str, str]) -> str:
    """Return the text that `parse_choice` reads, with collectives in alphabetical order."""
    return "+".join(f"{name}={choice[name]}" for name in sorted(choice)) or MPICH


def algorithm_of(name: CollectiveName, bytes_: int, ranks: int) -> str:
    """Return MPICH's default algorithm (versions 3.x and 4.x, one level, no topology).

    Parameters
    ----------
    name : str
    bytes_ : int
        Argument of the call.
    ranks : int
        Ranks of the group.

    Notes
    -----
    The thresholds are the defaults of MPICH's control variables (MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE
    and others); where MPICH uses a number of elements, this uses that of bytes.
    """
    power = 1 << (ranks.bit_length() - 1)
    if name == "alltoall":
        if bytes_ <= 256 and ranks >= 8:
            return "bruck"
        return "scattered" if bytes_ <= 32768 else "pairwise"
    if name == "alltoallv":
        return "scattered"
    if name == "allreduce":
        return "recursive-doubling" if bytes_ <= 2048 or bytes_ < power else "rabenseifner"
    if name == "reduce":
        return "binomial" if bytes_ <= 2048 or bytes_ < power else "rabenseifner"
    if name == "bcast":
        if bytes_ < 12288 or ranks < 8:
            return "binomial"
        doubling = bytes_ < 524288 and is_power_of_two(ranks)
        return "scatter-recursive-doubling" if doubling else "scatter-ring"
    if name == "allgather":
        total = bytes_ * ranks
        if total < 524288 and is_power_of_two(ranks):
            return "recursive-doubling"
        return "bruck" if total < 81920 else "ring"
    return "dissemination"
