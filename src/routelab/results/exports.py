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
        back = plugin.read(files)
    except InputError as error:
        raise PluginError(
            f"export/{plugin.name}: expected its files to be read back, found {error}"
        ) from None
    found = None if back is None else table_mismatch(table, back)
    if found is not None:
        raise PluginError(f"export/{plugin.name}: its files do not hold the routes: {found}")
    return files


def file_mismatch(plugin: ExportPlugin, table: RouteTable, files: Mapping[str, str]) -> str | None:
    """Return where files differ from a table; None if they have its network and its routes.

    Raises
    ------
    InputError
        If a file is missing or damaged, or the format cannot be read.
    """
    back = plugin.read(files)
    if back is None:
        raise InputError(f"{name_of(plugin)}: files of this format cannot be read back")
    return table_mismatch(table, back)


def table_mismatch(table: RouteTable, other: RouteTable) -> str | None:
    """Return the first difference between two tables, in words; None if there is none.

    Directions, virtual channels and capacities are not compared: formats need not have them.
    """
    for name in NETWORK:
        expected, found = getattr(table.topology, name), getattr(other.topology, name)
        if not np.array_equal(expected, found):
            return f"the network differs: {name} {_mismatch_text(expected, found)}"
    if table.per_terminal != other.per_terminal:
        kinds = [
            "routes to terminals" if each else "routes to switches"
            for each in (table.per_terminal, other.per_terminal)
        ]
        return f"the table has {kinds[0]}, the files {kinds[1]}"
    pair = _first_pair(table, other)
    if pair is None:
        return None
    expected, found = (_paths(each, pair) for each in (table, other))
    return f"from {table.describe_pair(pair)} the routes take {expected}, the files {found}"


def _mismatch_text(expected: object, found: object) -> str:
    one, other = (np.atleast_1d(np.asarray(value)) for value in (expected, found))
    if one.shape != other.shape:
        return f"has {len(one)} entries, the files {len(other)}"
    place = int(np.flatnonzero(one != other)[0])
    where = f" of number {place}" if len(one) > 1 else ""
    return f"{where} is {one[place]}, in the files {other[place]}".strip()


def _first_pair(table: RouteTable, other: RouteTable) -> int | None:
    """Return the first pair whose paths differ; None if there is none."""
    parts = ("pair_start", "path_start", "hop_channel")
    if all(np.array_equal(getattr(table, part), getattr(other, part)) for part in parts):
        off = ~np.isclose(table.path_weight, other.path_weight, rtol=1e-12, atol=0)
        return int(table.path_pair[off][0]) if off.any() else None
    return next(pair for pair in range(table.num_pairs) if _hops(table, pair) != _hops(other, pair))


def _hops(table: RouteTable, pair: int) -> list[list[int]]:
    paths = range(table.pair_start[pair], table.pair_start[pair + 1])
    start = table.path_start
    return [table.hop_channel[start[path] : start[path + 1]].tolist() for path in paths]


def _paths(table: RouteTable, pair: int) -> str:
    """Return the paths of a pair as text, with their shares if there are several."""
    paths = range(table.pair_start[pair], table.pair_start[pair + 1])
    share = [f" ({table.path_weight[path]!r})" if len(paths) > 1 else "" for path in paths]
    texts = [table.describe_path(path) + text for path, text in zip(paths, share, strict=True)]
    return " or ".join(texts) or "no path"
