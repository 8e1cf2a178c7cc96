"""Route tables as files: ``routes.npz``, each array in the smallest type that fits."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api.errors import InputError, PluginError
from routelab.api.route_table import RouteTable
from routelab.api.topology import Int64Array, Topology
from routelab.deadlock import network_digest, routes_digest
from routelab.results.array_files import narrow_integers, read_arrays, write_arrays
from routelab.routing.topology_file import topology_digest

FORMAT = "routes/1"

_ARRAYS = ("pair_paths", "path_hops", "path_weight", "hop_channel", "hop_vc")


def save_routes(
    table: RouteTable,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a route table as npz.

    Arrays: ``pair_paths`` (number of paths of each pair, source by source), ``path_hops`` (number
    of hops of each path), ``path_weight``, ``hop_channel`` and ``hop_vc``, all in unsigned integers
    but the weights. The metadata has the digest of the topology, because channels are numbers of
    that topology, and ``per_terminal`` if the destinations are terminals.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    topology = table.topology
    metadata = {
        "format": FORMAT,
        "flow_control": table.flow_control,
        "topology": {
            "digest": topology_digest(topology),
            "family": topology.family,
            "switches": topology.num_switches,
            "channels": topology.num_channels,
            "endpoints": len(topology.endpoints),
        },
        **({"per_terminal": True} if table.per_terminal else {}),
        "provenance": provenance or {},
    }
    arrays = {
        "pair_paths": narrow_integers(np.diff(table.pair_start)),
        "path_hops": narrow_integers(np.diff(table.path_start)),
        "path_weight": table.path_weight,
        "hop_channel": narrow_integers(table.hop_channel),
        "hop_vc": narrow_integers(table.hop_vc),
    }
    write_arrays(path, metadata, arrays)


def load_routes(path: str | os.PathLike[str], topology: Topology) -> RouteTable:
    """Read what `save_routes` wrote, for the topology that the routes were made on.

    Raises
    ------
    InputError
        If the file is missing, damaged, of another format, or belongs to another topology.
    """
    metadata, arrays = read_arrays(path, FORMAT, _ARRAYS)
    try:
        made_on = metadata["topology"]
        if made_on["digest"] != topology_digest(topology):
            raise InputError(
                f"{path} belongs to another topology: its routes are for {made_on['family']} with "
                f"{made_on['switches']} switches and {made_on['channels']} channels, this is "
                f"{topology.family} with {topology.num_switches} switches and "
                f"{topology.num_channels} channels (digests differ); give the topology that the "
                "routes were made for, or compute them again"
            )
        return RouteTable.create(
            topology,
            pair_start=_offsets(arrays["pair_paths"]),
            path_start=_offsets(arrays["path_hops"]),
            path_weight=arrays["path_weight"],
            hop_channel=arrays["hop_channel"],
            hop_vc=arrays["hop_vc"],
            flow_control=metadata["flow_control"],
            per_terminal=metadata.get("per_terminal", False),
        )
    except (KeyError, TypeError, ValueError, PluginError) as error:
        raise InputError(
            f"{path} is damaged: expected a route table, found {error}; remove it and run again"
        ) from error


def table_digest(table: RouteTable) -> str:
    """Return the SHA-256 of network, routes and weights, hexadecimal."""
    digests = network_digest(table.topology), routes_digest(table)  # without the weights
    weights = np.ascontiguousarray(table.path_weight).tobytes()
    return hashlib.sha256(" ".join(digests).encode() + weights).hexdigest()


def _offsets(counts: NDArray[Any]) -> Int64Array:
    """Return where each of consecutive groups begins, and the end: (2, 3) becomes (0, 2, 5)."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start
