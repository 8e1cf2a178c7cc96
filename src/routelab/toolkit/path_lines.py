"""Routes as lines of text, for exports: ``SOURCE TARGET WEIGHT HOP HOP ...``, one per path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from routelab.api.errors import InputError, PluginError
from routelab.api.number_texts import read_integer, read_number
from routelab.api.route_table import RouteTable
from routelab.api.topology import Topology

TO_TERMINALS = "# routes to terminals"
"""First line of a table whose targets are terminals."""


def route_lines(table: RouteTable, hop: Sequence[str]) -> Iterator[str]:
    """Yield the paths between different switches with terminals, pair after pair.

    A table per terminal begins with the line `TO_TERMINALS`; its TARGETs are terminals.

    Parameters
    ----------
    table : RouteTable
    hop : sequence of str
        Text of each channel; shape (C,).

    Examples
    --------
    >>> import routelab
    >>> from routelab.toolkit import route_lines
    >>> table = routelab.route("mesh~dims=2x2", "dor").table
    >>> list(route_lines(table, ["east"] * table.topology.num_channels))[:2]
    ['0 1 1.0 east', '0 2 1.0 east']
    """
    ends, near = table.topology.endpoints.tolist(), table.destination_endpoint.tolist()
    targets = range(len(near)) if table.per_terminal else ends
    if table.per_terminal:
        yield TO_TERMINALS
    for path, (pair, weight) in enumerate(
        zip(table.path_pair.tolist(), table.path_weight.tolist(), strict=True)
    ):
        source, target = divmod(pair, len(targets))
        if source != near[target]:
            channels = table.hop_channel[table.path_start[path] : table.path_start[path + 1]]
            way = (hop[channel] for channel in channels.tolist())
            yield " ".join((str(ends[source]), str(targets[target]), repr(weight), *way))


def table_from_lines(
    topology: Topology, lines: Iterable[str], channel: Callable[[int, str], int]
) -> RouteTable:
    """Read the lines of `route_lines`.

    Parameters
    ----------
    topology : Topology
    lines : iterable of str
        Empty ones and those that begin with ``#`` are ignored, except `TO_TERMINALS`.
    channel : function
        Returns the channel for a hop's text at a switch; may raise KeyError or ValueError.

    Raises
    ------
    InputError
        If a line is not a route between switches with terminals, or to a terminal, or weights do
        not add up.
    """
    # 1. Rows and columns of pairs: switches with terminals, or terminals. The path of no hops, from
    #    the target's own switch, is not listed.
    lines = list(lines)
    per_terminal = TO_TERMINALS in lines
    ends = topology.endpoints.tolist()
    endpoint = {switch: index for index, switch in enumerate(ends)}
    near = topology.terminal_endpoint.tolist() if per_terminal else list(range(len(ends)))
    column = {terminal: terminal for terminal in range(len(near))} if per_terminal else endpoint
    paths_of_pair: dict[int, list[tuple[float, list[int]]]] = {
        index * len(near) + target: [(1.0, [])] for target, index in enumerate(near)
    }
    # 2. The lines. One that is not a route raises the same error, whatever is wrong with it.
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            at, target = read_integer(words[0]), read_integer(words[1])
            weight = read_number(words[2])
            pair = endpoint[at] * len(near) + column[target]
            way: list[int] = []
            for word in words[3:]:
                way.append(channel(at, word))
                at = int(topology.channel_target[way[-1]])
        except (IndexError, KeyError, ValueError):
            raise InputError(f"{line.strip()!r} is not a route of this network") from None
        paths_of_pair.setdefault(pair, []).append((weight, way))
    # 3. The table, whose own checks find wrong weights and routes that end elsewhere.
    paths = [path for pair in sorted(paths_of_pair) for path in paths_of_pair[pair]]
    counts = np.zeros(len(ends) * len(near), dtype=np.int64)
    counts[list(paths_of_pair)] = [len(of_pair) for of_pair in paths_of_pair.values()]
    try:
        return RouteTable.create(
            topology,
            pair_start=_starts(counts),
            path_start=_starts(np.array([len(way) for _, way in paths], dtype=np.int64)),
            path_weight=np.array([weight for weight, _ in paths], dtype=np.float64),
            hop_channel=np.array([hop for _, way in paths for hop in way], dtype=np.int32),
            per_terminal=per_terminal,
        )
    except PluginError as error:
        raise InputError(str(error)) from None


def _starts(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
