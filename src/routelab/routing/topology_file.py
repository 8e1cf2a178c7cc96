"""Topologies as files: ``topology.npz`` to load again, ``channels.csv`` to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from routelab.api.errors import InputError
from routelab.api.topology import Direction, Topology
from routelab.results.array_files import Arrays, arrays_digest, read_arrays, write_arrays
from routelab.results.tables import write_csv

FORMAT = "topology/1"

_ARRAYS = (
    "channel_source",
    "channel_target",
    "terminal_switch",
    "source_port",
    "target_port",
    "channel_direction",
    "channel_ring",
    "channel_latency",
    "channel_capacity",
)
_FACTS = (
    "family",
    "num_switches",
    "switch_names",
    "failed_switches",
    "failed_links",
    "attributes",
)
_IDENTITIES = ("terminal_names", "terminal_guids", "switch_guids", "channel_names")
"""Fields that a file has only if the topology has them."""


def topology_digest(topology: Topology) -> str:
    """Return the SHA-256 of all arrays and names, which route tables refer to."""
    # without identities just the names: older files, which have none, keep their digest
    identities = _identities(topology)
    names = topology.switch_names
    return arrays_digest(_arrays(topology), [names, identities] if identities else names)


def save_topology(
    topology: Topology,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a topology as npz: every array under its own name, the rest as JSON metadata.

    ``coordinates``, ``terminal_port``, flow control, names and GUIDs are written only if the
    topology has them.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    metadata = {
        "format": FORMAT,
        **{name: getattr(topology, name) for name in _FACTS},
        **_identities(topology),
        "directions": [asdict(direction) for direction in topology.directions],
        "digest": topology_digest(topology),
        "provenance": provenance or {},
    }
    write_arrays(path, metadata, _arrays(topology))


def load_topology(path: str | os.PathLike[str]) -> Topology:
    """Read what `save_topology` wrote.

    Raises
    ------
    InputError
        If the file is missing, damaged, of another format, or not consistent.
    """
    metadata, arrays = read_arrays(path, FORMAT, _ARRAYS)
    try:
        directions = [Direction(**direction) for direction in metadata["directions"]]
        values: dict[str, Any] = {name: metadata[name] for name in _FACTS} | arrays
        values |= {name: metadata[name] for name in _IDENTITIES if name in metadata}
        topology = Topology.create(directions=directions, **values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is damaged: expected the facts of a topology, found {error!r}; "
            "remove it and run again"
        ) from error
    if topology_digest(topology) != metadata.get("digest"):
        raise InputError(f"{path} is damaged: its digest does not match; remove it and run again")
    return topology


def channel_rows(topology: Topology) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of a table of channels, header first; None for unknown values."""
    names = topology.switch_names
    labels = [direction.name for direction in topology.directions]
    yield (
        "channel",
        "source",
        "target",
        "source_port",
        "target_port",
        "direction",
        "ring",
        "latency_seconds",
        "capacity",
    )
    yield from zip(
        range(topology.num_channels),
        (names[switch] for switch in topology.channel_source),
        (names[switch] for switch in topology.channel_target),
        map(_known_or_none, topology.source_port.tolist()),
        map(_known_or_none, topology.target_port.tolist()),
        (labels[label] if label >= 0 else None for label in topology.channel_direction.tolist()),
        map(_known_or_none, topology.channel_ring.tolist()),
        topology.channel_latency.tolist(),
        topology.channel_capacity.tolist(),
        strict=True,
    )


def write_channels_csv(topology: Topology, path: str | os.PathLike[str]) -> None:
    """Write `channel_rows` as CSV.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    heading, *rows = channel_rows(topology)
    write_csv(path, heading, rows)


def _arrays(topology: Topology) -> Arrays:
    """Return the arrays of the file by name; optional ones only if the topology has them."""
    arrays: Arrays = {name: getattr(topology, name) for name in _ARRAYS}
    if topology.coordinates is not None:
        arrays["coordinates"] = topology.coordinates
    if (topology.terminal_port >= 0).any():
        arrays["terminal_port"] = topology.terminal_port
    if topology.declares_flow_control:
        arrays["channel_bubble"] = topology.channel_bubble
    if topology.channel_buffer.any():
        arrays["channel_buffer"] = topology.channel_buffer
    return arrays


def _identities(topology: Topology) -> dict[str, tuple[str, ...]]:
    return {name: getattr(topology, name) for name in _IDENTITIES if getattr(topology, name)}


def _known_or_none(value: int) -> int | None:
    return value if value >= 0 else None
