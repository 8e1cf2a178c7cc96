"""Placement of the ranks of a job: block, cyclic, from a file, or with short traffic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from routelab.api import RouteTable, Topology
from routelab.api.blocks import ISEND, SEND
from routelab.api.errors import InputError
from routelab.api.topology import Float64Array, Int32Array, frozen_array
from routelab.metrics.capacity import relative_loads
from routelab.metrics.traffic import traffic_loads
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.input_files import read_text

BLOCK, CYCLIC, OPTIMISED = "block", "cyclic", "optimised"
PLACEMENTS = (BLOCK, CYCLIC, OPTIMISED)
"""Placements by name; any other name is a file."""

STARTS = 4
"""Number of initial placements of the search: block, and random ones."""
LOAD_TRIES = 2000
"""Number of attempts to lower the largest load by a swap."""
MAX_PROBLEMS = 5
"""Largest number of mistakes in one error message."""


def is_file(name: str) -> bool:
    """Return whether a placement is a file."""
    return name not in PLACEMENTS


def rank_terminals(name: str, ranks: int, topology: Topology, ranks_per_node: int) -> Int32Array:
    """Return the terminals of ranks.

    Parameters
    ----------
    name : str
        ``block``: the first ranks on the first terminal; ``cyclic``: one after the other on as many
        terminals; or a file, see `read_placement`. ``optimise_placement`` starts as ``block``, see
        `optimise_placement`.
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
    room = topology.num_terminals * ranks_per_node
    if ranks > room:
        raise InputError(
            f"{ranks} ranks do not fit on {topology.num_terminals} terminals with "
            f"{ranks_per_node} each; raise `ranks_per_node`, or use at most {room} ranks"
        )
    if is_file(name):
        return _from_file(Path(name), ranks, topology, ranks_per_node)
    number = np.arange(ranks)
    if name == CYCLIC:
        return frozen_array(number % max(-(-ranks // ranks_per_node), 1), np.int32)
    return frozen_array(number // ranks_per_node, np.int32)


def read_placement(path: Path) -> list[tuple[int, int]]:
    """Read the terminals of ranks.

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
        known = ", ".join(PLACEMENTS)
        raise InputError(
            f"placement {path}: {error.strerror}; name a file, or one of {known}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save the file in that encoding") from None
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        cell = line.partition("#")[0].strip()
        if cell.isascii() and cell.isdigit() and len(cell) < 10:
            found.append((number, int(cell)))
        elif cell:
            problems.append(f"{path}:{number}: {cell!r} is not a terminal (0, 1, ...)")
    if not found and not problems:
        problems.append(f"{path}: no line names a terminal")
    _refuse(problems)
    return found


def _from_file(path: Path, ranks: int, topology: Topology, ranks_per_node: int) -> Int32Array:
    lines = read_placement(path)
    problems = []
    if len(lines) != ranks:
        problems.append(f"{path}: has {len(lines)} terminals, there are {ranks} ranks")
    there: dict[int, int] = {}
    for number, terminal in lines:
        there[terminal] = there.get(terminal, 0) + 1
        if terminal >= topology.num_terminals:
            problems.append(
                f"{path}:{number}: terminal {terminal} does not exist; the network has "
                f"{topology.num_terminals}"
            )
        elif there[terminal] == ranks_per_node + 1:
            problems.append(
                f"{path}:{number}: terminal {terminal} has more than {ranks_per_node} ranks; "
                "raise `ranks_per_node`"
            )
    _refuse(problems)
    return frozen_array([terminal for _, terminal in lines], np.int32)


def _refuse(problems: list[str]) -> None:
    if problems:
        more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
        raise InputError("\n".join([*problems[:MAX_PROBLEMS], *more]))


def bytes_between(schedule: Schedule) -> Float64Array:
    """Return the bytes between ranks in the whole program, including collectives.

    Returns
    -------
    float64 array, shape (ranks, ranks)
    """
    total = np.zeros((schedule.ranks, schedule.ranks))
    for block, times in zip(schedule.blocks, schedule.repeats().tolist(), strict=True):
        sends = (block.kind == SEND) | (block.kind == ISEND)
        pairs = block.rank_of()[sends], block.peer[sends]
        np.add.at(total, pairs, times * block.amount[sends])
    return total


@dataclass(frozen=True)
class Objective:
    """Cost of a placement: byte hops, and the largest load between equal ones.

    Attributes
    ----------
    byte_hops : float
        Bytes times channels that they cross; the mean over several paths of a pair.
    largest_load : float
        Bytes across the busiest channel, relative to the fastest one.
    """

    byte_hops: float
    largest_load: float

    def __lt__(self, other: Objective) -> bool:
        """Return whether this cost is lower, by more than rounding."""
        close = 1e-9 * max(abs(self.byte_hops), abs(other.byte_hops))
        if abs(self.byte_hops - other.byte_hops) > close:
            return self.byte_hops < other.byte_hops
        return self.largest_load < other.largest_load * (1 - 1e-9)


def placement_cost(terminal: Int32Array, between: Float64Array, table: RouteTable) -> Objective:
    """Return the cost of a placement.

    Parameters
    ----------
    terminal : int32 array, shape (ranks,)
    between : float64 array, shape (ranks, ranks)
        Bytes, from `bytes_between`.
    table : RouteTable
    """
    return Objective(
        float((between * _hops(table)[np.ix_(terminal, terminal)]).sum()),
        _largest_load(terminal, between, table),
    )


def optimise_placement(
    between: Float64Array, table: RouteTable, ranks_per_node: int, seed: int
) -> Int32Array:
    """Search a placement with few bytes times hops, and with a small largest load.

    Swaps two ranks, or a rank with an empty place, as long as that lowers the cost; starts with
    block and with random placements.

    Parameters
    ----------
    between : float64 array, shape (ranks, ranks)
        Bytes, from `bytes_between`.
    table : RouteTable
    ranks_per_node : int
    seed : int

    Returns
    -------
    terminal : int32 array, shape (ranks,)
        Its cost is never higher than that of block.
    """
    random = np.random.default_rng(seed)
    ranks = len(between)
    places = np.repeat(np.arange(table.topology.num_terminals), ranks_per_node)
    # empty places are ranks without messages
    traffic = np.zeros((len(places), len(places)))
    traffic[:ranks, :ranks] = between
    np.fill_diagonal(traffic, 0)
    hops = _hops(table)
    best: tuple[Objective, Int32Array] | None = None
    for start in range(STARTS):
        order = np.arange(len(places)) if start == 0 else random.permutation(len(places))
        terminal = _fewest_hops(places[order], traffic, hops)
        terminal = _smallest_load(terminal, traffic, hops, table, random)
        found = placement_cost(frozen_array(terminal[:ranks], np.int32), between, table)
        if best is None or found < best[0]:
            best = found, frozen_array(terminal[:ranks], np.int32)
    assert best is not None
    return best[1]


def _hops(table: RouteTable) -> Float64Array:
    """Return the mean hops between terminals; float64, shape (T, T)."""
    topology = table.topology
    total = np.zeros(table.num_pairs)
    np.add.at(total, table.path_pair, table.path_weight * table.path_length)
    between = total.reshape(len(topology.endpoints), -1)
    return between[np.ix_(topology.terminal_endpoint, table.terminal_destination)]


def _largest_load(terminal: NDArray[np.integer], between: Float64Array, table: RouteTable) -> float:
    matrix = np.zeros((table.topology.num_terminals,) * 2)
    np.add.at(matrix, (terminal[:, None], terminal[None, :]), between)
    loads = relative_loads(table.topology, traffic_loads(table, matrix))
    return float(loads.max(initial=0))


def _gains(
    rank: int, terminal: NDArray[np.int64], traffic: Float64Array, hops: Float64Array
) -> Float64Array:
    """Return the change of byte hops by each swap of a rank with another.

    Ranks send nothing to themselves, and a terminal is 0 hops from itself.
    """
    there = hops[np.ix_(terminal, terminal)]
    mine = there[rank]
    # its traffic from the other's place, and the other's from its place
    moved = there @ traffic[rank] + there.T @ traffic[:, rank]
    taken = traffic @ mine + traffic.T @ there[:, rank]
    crossing = traffic * there
    stayed = crossing.sum(axis=1) + crossing.sum(axis=0)
    change: Float64Array = moved + taken - stayed - stayed[rank]
    # the sums assume that the other one of the two does not move
    change += (traffic[rank] + traffic[:, rank]) * (mine + there[:, rank])
    change[rank] = 0
    return change


def _fewest_hops(
    terminal: NDArray[np.int64], traffic: Float64Array, hops: Float64Array
) -> NDArray[np.int64]:
    """Swap as long as byte hops decrease."""
    terminal = terminal.copy()
    least = -1e-9 * max(float((traffic * hops[np.ix_(terminal, terminal)]).sum()), 1.0)
    improved = True
    while improved:
        improved = False
        for rank in range(len(terminal)):
            change = _gains(rank, terminal, traffic, hops)
            other = int(change.argmin())
            if change[other] < least:
                terminal[[rank, other]] = terminal[[other, rank]]
                improved = True
    return terminal


def _smallest_load(
    terminal: NDArray[np.int64],
    traffic: Float64Array,
    hops: Float64Array,
    table: RouteTable,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Swap as long as byte hops stay equal and the largest load decreases."""
    total = max(float((traffic * hops[np.ix_(terminal, terminal)]).sum()), 1.0)
    load = _largest_load(terminal, traffic, table)
    tries = 0
    for rank in random.permutation(len(terminal)).tolist():
        change = _gains(rank, terminal, traffic, hops)
        same = np.flatnonzero((change <= 1e-12 * total) & (terminal != terminal[rank]))
        for other in same.tolist():
            if tries == LOAD_TRIES:
                return terminal
            tries += 1
            swapped = terminal.copy()
            swapped[[rank, other]] = swapped[[other, rank]]
            found = _largest_load(swapped, traffic, table)
            if found < load * (1 - 1e-9):
                terminal, load = swapped, found
                break
    return terminal
