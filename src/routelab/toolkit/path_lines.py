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
        Text for a hop over each channel; shape (C,).

    Examples
    --------
    >>> import routelab
    >>> from routelab.toolkit import route_lines
    >>> table = routelab.route("mesh~dims=2x2", "dor").table
    >>> list(route_lines(table, ["east"] * table.topology.num_channels))[:2]
    ['0 1 1.0 east', '0 2 1.0 east']
    """
    endpoints = table.topology.endpoints.tolist()
    # Pair ``source_index * number of targets + target_index``: the first is the index of an
    # endpoint, the second that of an endpoint or of a terminal.
    target_endpoint = table.destination_endpoint.tolist()
    targets = range(len(target_endpoint)) if table.per_terminal else endpoints
    if table.per_terminal:
        yield TO_TERMINALS
    for path, (pair, weight) in enumerate(
        zip(table.path_pair.tolist(), table.path_weight.tolist(), strict=True)
    ):
        source_index, target_index = divmod(pair, len(targets))
        # Paths to the source's own switch have no hops, and readers add them.
        if source_index != target_endpoint[target_index]:
            channels = table.hop_channel[table.path_start[path] : table.path_start[path + 1]]
            ends = str(endpoints[source_index]), str(targets[target_index])
            yield " ".join((*ends, repr(weight), *(hop[channel] for channel in channels.tolist())))


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
    # 1. Pair ``source * num_targets + target``: `source` is the index of an endpoint, `target` that
    #    of an endpoint or a terminal. The path of no hops from the target's own switch has no line,
    #    so it is added.
    lines = list(lines)
    per_terminal = TO_TERMINALS in lines
    endpoints = topology.endpoints.tolist()
    endpoint = {switch: index for index, switch in enumerate(endpoints)}
    target_endpoint = (
        topology.terminal_endpoint.tolist() if per_terminal else list(range(len(endpoints)))
    )
    num_targets = len(target_endpoint)
    # A line names its target by the number of a terminal, which is its index, or of a switch.
    terminal_index = {terminal: terminal for terminal in range(num_targets)}
    target_index = terminal_index if per_terminal else endpoint
    paths_of_pair: dict[int, list[tuple[float, list[int]]]] = {
        source * num_targets + target: [(1.0, [])] for target, source in enumerate(target_endpoint)
    }
    # 2. The lines. One that is not a route raises the same error, whatever is wrong with it.
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            source_text, target_text, weight_text, *hop_texts = words
            switch, target = read_integer(source_text), read_integer(target_text)
            weight = read_number(weight_text)
            pair = endpoint[switch] * num_targets + target_index[target]
            route: list[int] = []
            for hop_text in hop_texts:
                route.append(channel(switch, hop_text))
                switch = int(topology.channel_target[route[-1]])
        except (IndexError, KeyError, ValueError):
            raise InputError(f"{line.strip()!r} is not a route of this network") from None
        paths_of_pair.setdefault(pair, []).append((weight, route))
    # 3. The table, whose own checks find wrong weights and routes that end elsewhere.
    paths = [path for pair in sorted(paths_of_pair) for path in paths_of_pair[pair]]
    counts = np.zeros(len(endpoints) * num_targets, dtype=np.int64)
    counts[list(paths_of_pair)] = [len(pair_paths) for pair_paths in paths_of_pair.values()]
    try:
        return RouteTable.create(
            topology,
            pair_start=_starts(counts),
            path_start=_starts(np.array([len(route) for _, route in paths], dtype=np.int64)),
            path_weight=np.array([weight for weight, _ in paths], dtype=np.float64),
            hop_channel=np.array([hop for _, route in paths for hop in route], dtype=np.int32),
            per_terminal=per_terminal,
        )
    except PluginError as error:
        raise InputError(str(error)) from None


def _starts(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where each group starts, and where the last one ends: 2 and 3 become 0, 2 and 5."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
