"""Placement of the ranks of a job: block, cyclic, or from a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from routelab.api import Topology
from routelab.api.errors import InputError
from routelab.api.topology import Int32Array, frozen_array
from routelab.toolkit.input_files import read_text

BLOCK, CYCLIC = "block", "cyclic"
PLACEMENTS = (BLOCK, CYCLIC)
"""Placements by name; any other word is the path of a file."""

MAX_PROBLEMS = 5
"""Largest number of mistakes in one error message."""


def is_file(name: str) -> bool:
    """Return whether a placement is a file."""
    return name not in PLACEMENTS


def rank_terminals(name: str, ranks: int, topology: Topology, ranks_per_node: int) -> Int32Array:
    """Return the terminal that each rank of a job runs on.

    Parameters
    ----------
    name : str
        ``block``, ``cyclic``, or a file for `read_placement`. 5 ranks with at most 2 per terminal
        are on the terminals 0 0 1 1 2 (block) or 0 1 2 0 1 (cyclic).
    ranks : int
    topology : Topology
    ranks_per_node : int
        Largest number of ranks of a terminal.

    Returns
    -------
    terminal : int32 array, shape (ranks,)

    Raises
    ------
    InputError
        If the network has too few terminals, or the file is invalid.
    """
    max_ranks = topology.num_terminals * ranks_per_node
    if ranks > max_ranks:
        raise InputError(
            f"{ranks} ranks do not fit on {topology.num_terminals} terminals with "
            f"{ranks_per_node} each; raise `ranks_per_node`, or use at most {max_ranks} ranks"
        )
    if is_file(name):
        return _read_rank_terminals(Path(name), ranks, topology, ranks_per_node)
    rank = np.arange(ranks)
    if name == CYCLIC:
        num_terminals = -(-ranks // ranks_per_node)  # rounded up; 0 without ranks
        return frozen_array(rank % max(num_terminals, 1), np.int32)
    return frozen_array(rank // ranks_per_node, np.int32)


def read_placement(path: Path) -> list[tuple[int, int]]:
    """Read the terminals of ranks from a file.

    Parameters
    ----------
    path : Path
        Text: the terminal (a number from 0 on) of rank 0 on the first line, that of rank 1 on the
        second, and so on. Empty lines and comments after ``#`` are ignored.

    Returns
    -------
    lines : list of (int, int)
        Number of the line, and terminal, of every rank.

    Raises
    ------
    InputError
        If the file cannot be read, or lines are not numbers; lists at most five lines.
    """
    try:
        text = read_text(path, encoding="utf-8-sig")
    except OSError as error:
        names = ", ".join(PLACEMENTS)
        raise InputError(
            f"placement {path}: {error.strerror}; name a file, or one of {names}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save the file in that encoding") from None
    lines, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        cell = line.partition("#")[0].strip()
        # numbers of up to nine digits fit into int32
        if cell.isascii() and cell.isdigit() and len(cell) < 10:
            lines.append((number, int(cell)))
        elif cell:
            problems.append(f"{path}:{number}: {cell!r} is not a terminal (0, 1, ...)")
    if not lines and not problems:
        problems.append(f"{path}: no line names a terminal")
    _raise_if_any(problems)
    return lines


def _read_rank_terminals(
    path: Path, ranks: int, topology: Topology, ranks_per_node: int
) -> Int32Array:
    """Read the terminal of each rank from a file; refuse terminals that do not fit the job."""
    lines = read_placement(path)
    problems = []
    if len(lines) != ranks:
        problems.append(f"{path}: has {len(lines)} terminals, there are {ranks} ranks")
    num_ranks: Counter[int] = Counter()  # by terminal
    for number, terminal in lines:
        num_ranks[terminal] += 1
        if terminal >= topology.num_terminals:
            problems.append(
                f"{path}:{number}: terminal {terminal} does not exist; the network has "
                f"{topology.num_terminals}"
            )
        # once per terminal, at the first rank that is too many
        elif num_ranks[terminal] == ranks_per_node + 1:
            problems.append(
                f"{path}:{number}: terminal {terminal} has more than {ranks_per_node} ranks; "
                "raise `ranks_per_node`"
            )
    _raise_if_any(problems)
    return frozen_array([terminal for _, terminal in lines], np.int32)


def _raise_if_any(problems: list[str]) -> None:
    """Raise an InputError with the first problems, if there are any."""
    if problems:
        more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
        raise InputError("\n".join([*problems[:MAX_PROBLEMS], *more]))
