"""Files of exports, and the check that they contain the routes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routelab.api import ExportPlugin, InputError, PluginError, RouteTable
from routelab.api.export import MachineSpeeds
from routelab.registry.instances import name_of
from routelab.registry.requirements import require_support

NETWORK = ("num_switches", "switch_names", "terminal_switch", "channel_source", "channel_target")
"""Attributes of a network that a file must preserve."""


def export_files(plugin: ExportPlugin, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
    """Return the files of a table, read back and compared with it if the format has a reader.

    Raises
    ------
    UnsupportedError
        If the format cannot represent the table.
    PluginError
        If the files cannot be read back or differ from the table.
    """
    require_support(name_of(plugin), plugin.supports(table))
    files = plugin.export(table, machine)
    try:
        file_table = plugin.read(files)
    except InputError as error:
        raise PluginError(
            f"export/{plugin.name}: expected its files to be read back, found {error}"
        ) from None
    mismatch = None if file_table is None else table_mismatch(table, file_table)
    if mismatch is not None:
        raise PluginError(f"export/{plugin.name}: its files do not hold the routes: {mismatch}")
    return files


def file_mismatch(plugin: ExportPlugin, table: RouteTable, files: Mapping[str, str]) -> str | None:
    """Return where files differ from a table; None if they have its network and its routes.

    Raises
    ------
    InputError
        If a file is missing or damaged, or the format cannot be read.
    """
    file_table = plugin.read(files)
    if file_table is None:
        raise InputError(f"{name_of(plugin)}: files of this format cannot be read back")
    return table_mismatch(table, file_table)


def table_mismatch(table: RouteTable, file_table: RouteTable) -> str | None:
    """Return the first difference between two tables, in words; None if there is none.

    Directions, virtual channels and capacities are not compared: formats need not have them.
    """
    for name in NETWORK:
        expected, exported = getattr(table.topology, name), getattr(file_table.topology, name)
        if not np.array_equal(expected, exported):
            return f"the network differs: {name} {_first_difference(expected, exported)}"
    if table.per_terminal != file_table.per_terminal:
        expected, exported = (
            "routes to terminals" if per_terminal else "routes to switches"
            for per_terminal in (table.per_terminal, file_table.per_terminal)
        )
        return f"the table has {expected}, the files {exported}"
    pair = _first_differing_pair(table, file_table)
    if pair is None:
        return None
    expected, exported = _paths_text(table, pair), _paths_text(file_table, pair)
    return f"from {table.describe_pair(pair)} the routes take {expected}, the files {exported}"


def _first_difference(expected: object, exported: object) -> str:
    """Return in words where the values of an attribute in the table and in the files first differ.

    For arrays ``of number 3 is 5, in the files 6``; for single numbers ``is 5, in the files 6``.
    """
    table_values, file_values = (np.atleast_1d(np.asarray(value)) for value in (expected, exported))
    if table_values.shape != file_values.shape:
        return f"has {len(table_values)} entries, the files {len(file_values)}"
    index = int(np.flatnonzero(table_values != file_values)[0])
    entry = f" of number {index}" if len(table_values) > 1 else ""
    return f"{entry} is {table_values[index]}, in the files {file_values[index]}".strip()


def _first_differing_pair(table: RouteTable, file_table: RouteTable) -> int | None:
    """Return the first pair of switch and destination whose paths, or their weights, differ.

    Weights are compared only if all paths are equal; None if they are equal, too.
    """
    # These arrays together hold the paths of all pairs. If one of them differs, so does a pair.
    arrays = ("pair_start", "path_start", "hop_channel")
    if all(np.array_equal(getattr(table, name), getattr(file_table, name)) for name in arrays):
        differs = ~np.isclose(table.path_weight, file_table.path_weight, rtol=1e-12, atol=0)
        return int(table.path_pair[differs][0]) if differs.any() else None
    return next(
        pair for pair in range(table.num_pairs) if _hops(table, pair) != _hops(file_table, pair)
    )


def _hops(table: RouteTable, pair: int) -> list[list[int]]:
    """Return the channels of each path of a pair."""
    paths = range(table.pair_start[pair], table.pair_start[pair + 1])
    start = table.path_start
    return [table.hop_channel[start[path] : start[path + 1]].tolist() for path in paths]


def _paths_text(table: RouteTable, pair: int) -> str:
    """Return the paths of a pair as text, with their weights if there are several."""
    paths = range(table.pair_start[pair], table.pair_start[pair + 1])
    texts = [table.describe_path(path) for path in paths]
    if len(paths) > 1:
        weights = table.path_weight[paths.start : paths.stop]
        texts = [f"{text} ({weight!r})" for text, weight in zip(texts, weights, strict=True)]
    return " or ".join(texts) or "no path"
