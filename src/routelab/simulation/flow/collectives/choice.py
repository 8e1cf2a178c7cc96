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
"""Algorithms for groups of 1, 2, 4, ... ranks only."""

# MPICH's thresholds in bytes: defaults of its control variables MPIR_CVAR_<NAME>
ALLTOALL_SHORT_MSG_SIZE, ALLTOALL_MEDIUM_MSG_SIZE = 256, 32768
REDUCE_SHORT_MSG_SIZE = ALLREDUCE_SHORT_MSG_SIZE = 2048
BCAST_SHORT_MSG_SIZE, BCAST_LONG_MSG_SIZE = 12288, 524288
ALLGATHER_SHORT_MSG_SIZE, ALLGATHER_LONG_MSG_SIZE = 81920, 524288

BCAST_MIN_PROCS = 8
"""MPICH's MPIR_CVAR_BCAST_MIN_PROCS: smaller groups broadcast down a binomial tree."""


def parse_choice(text: str) -> dict[str, str]:
    """Read the algorithms of collectives from a text like ``alltoall=pairwise+bcast=binomial``.

    Parameters
    ----------
    text : str
        Collectives with their algorithms; the others use MPICH's choice. With ``mpich`` or an empty
        text, all collectives do.

    Returns
    -------
    choice : dict of str to str
        Algorithm by collective, without those for which MPICH chooses.

    Raises
    ------
    InputError
        Lists all mistakes in the text.
    """
    choice: dict[str, str] = {}
    problems = []
    items = [] if text.strip() in ("", MPICH) else text.split("+")
    for item in items:
        name, equals, algorithm = (piece.strip() for piece in item.partition("="))
        algorithms = ALGORITHMS.get(name)  # type: ignore[call-overload]
        if not equals:
            problems.append(f"{item!r} is not valid; write collective=algorithm")
        elif algorithms is None:
            problems.append(f"there is no collective {name!r}, there are {', '.join(ALGORITHMS)}")
        elif algorithm not in (*algorithms, MPICH):
            problems.append(
                f"{name} has no algorithm {algorithm!r}, it has {', '.join((*algorithms, MPICH))}"
            )
        elif name in choice:
            problems.append(f"{name} is chosen twice")
        choice[name] = algorithm  # used only if there are no problems
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
        Argument of the call, as in `routelab.api.workload.Collective`.
    ranks : int
        Ranks of the group.

    Notes
    -----
    Where MPICH uses a number of elements, this uses that of bytes.
    """
    # For allreduce and reduce: MPICH takes Rabenseifner's algorithms only if there are at least as
    # many elements as ranks that take part, the largest power of two up to `ranks`.
    largest_power = 1 << (ranks.bit_length() - 1)
    if name == "alltoall":
        if bytes_ <= ALLTOALL_SHORT_MSG_SIZE and ranks >= 8:
            return "bruck"
        return "scattered" if bytes_ <= ALLTOALL_MEDIUM_MSG_SIZE else "pairwise"
    if name == "alltoallv":
        return "scattered"
    if name == "allreduce":
        is_short = bytes_ <= ALLREDUCE_SHORT_MSG_SIZE or bytes_ < largest_power
        return "recursive-doubling" if is_short else "rabenseifner"
    if name == "reduce":
        is_short = bytes_ <= REDUCE_SHORT_MSG_SIZE or bytes_ < largest_power
        return "binomial" if is_short else "rabenseifner"
    if name == "bcast":
        if bytes_ < BCAST_SHORT_MSG_SIZE or ranks < BCAST_MIN_PROCS:
            return "binomial"
        doubling = bytes_ < BCAST_LONG_MSG_SIZE and is_power_of_two(ranks)
        return "scatter-recursive-doubling" if doubling else "scatter-ring"
    if name == "allgather":
        total = bytes_ * ranks
        if total < ALLGATHER_LONG_MSG_SIZE and is_power_of_two(ranks):
            return "recursive-doubling"
        return "bruck" if total < ALLGATHER_SHORT_MSG_SIZE else "ring"
    return "dissemination"  # of a barrier
