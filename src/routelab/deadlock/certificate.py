"""Certificates: proofs as files that anyone can verify.

A certificate holds the network's channels, the routes, the dependencies, the rings and a rank for
each resource. These suffice for the proof without trust in routelab.
``instances/check.py --certificate`` verifies one with the standard library and shares no code with
routelab.

JSON fields, besides ``format``, ``provenance``, ``flow_control``, ``preconditions``:

``switches``
    Names of all switches; a switch's number is its index in the list.
``channels``
    ``[name, source, target]`` each; a channel's number is its index in the list.
``rings``
    ``{"vc": vc, "channels": [...]}``: the complete rings that the proof needs, in order.
``resources``
    ``[channel, vc, rank]``: every resource that a route uses.
``dependencies``
    ``[i, j]``: indices in ``resources`` of two consecutive hops.
``endpoints``, ``destinations``, ``routes``
    Switches where routes begin, and where they end. ``routes[i * len(destinations) + j]`` goes from
    endpoint i to destination j: hops as ``channel`` or, on another virtual channel than 0,
    ``channel:vc``, separated by spaces; several paths separated by ``;``; null if unreachable.
    If the destinations are terminals, a switch occurs once for each of its terminals; if they are
    the endpoints, ``destinations`` is omitted.
``digests``
    SHA-256 of the topology and of the routes (`network_digest`, `routes_digest`), which identify
    the table of the certificate. They can be computed from the other fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import InputError, RouteTable, Topology
from routelab.deadlock.verdict import Verdict

FORMAT = "deadlock-certificate/2"


def network_digest(topology: Topology) -> str:
    """Return the SHA-256 of a network's channels and endpoints, as little-endian int64."""
    return _digest(topology.channel_source, topology.channel_target, topology.endpoints)


def routes_digest(table: RouteTable) -> str:
    """Return the SHA-256 of a table's paths and virtual channels, as little-endian int64."""
    ends = (table.destination_switch,) if table.per_terminal else ()
    return _digest(table.pair_start, table.path_start, table.hop_channel, table.hop_vc, *ends)


def _digest(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.int64(len(array)).astype("<i8").tobytes())
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


def certificate(verdict: Verdict, table: RouteTable) -> dict[str, Any]:
    """Return a proof as JSON values; see the module's docstring for the fields.

    Parameters
    ----------
    verdict : Verdict
        Result of `check_table` for `table`.
    table : RouteTable

    Raises
    ------
    InputError
        If the verdict is not a proof.
    """
    if verdict.rank is None:
        raise InputError(f"no certificate for a table whose verdict is {verdict.status}")
    topology, vc_numbers = table.topology, np.array(verdict.vc_numbers)
    vcs = len(vc_numbers)
    # The certificate lists only resources that a route uses (rank 0 or more), and a dependency has
    # their positions in that list. If only resources 2 and 5 are used, dependency (2, 5) is [0, 1].
    rank = verdict.rank.reshape(-1)
    resources = np.flatnonzero(rank >= 0)
    list_position = np.full(len(rank), -1, dtype=np.int64)
    list_position[resources] = np.arange(len(resources))
    names = topology.switch_names
    # The field is left out if the destinations are the endpoints.
    destinations_field = (
        {"destinations": [names[switch] for switch in table.destination_switch]}
        if table.per_terminal
        else {}
    )
    return {
        "format": FORMAT,
        "flow_control": verdict.flow_control,
        "preconditions": list(verdict.preconditions),
        "digests": {"topology": network_digest(topology), "routes": routes_digest(table)},
        "switches": list(names),
        "channels": list_channels(topology),
        "rings": [{"vc": ring.vc, "channels": list(ring.channels)} for ring in verdict.rings],
        # resource r is virtual channel number r % vcs of those in use, of channel r // vcs
        "resources": np.column_stack(
            (resources // vcs, vc_numbers[resources % vcs], rank[resources])
        ).tolist(),
        "dependencies": list_position[verdict.dependencies].tolist(),
        "endpoints": [names[switch] for switch in topology.endpoints],
        **destinations_field,
        "routes": _list_routes(table),
    }


def list_channels(topology: Topology) -> list[list[str]]:
    """Return name, source and target of each channel, as certificates list them."""
    names = topology.switch_names
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    return [
        [topology.channel_name(channel), names[source], names[target]]
        for channel, (source, target) in enumerate(ends)
    ]


def _list_routes(table: RouteTable) -> list[str | None]:
    """Return the paths of each pair as text, such as ``3 7:1;4 8``; None without a route.

    That is two paths: channel 3, then channel 7 on virtual channel 1; or channels 4 and 8.
    """
    hops = [
        f"{channel}:{vc}" if vc else str(channel)
        for channel, vc in zip(table.hop_channel.tolist(), table.hop_vc.tolist(), strict=True)
    ]
    paths = [" ".join(hops[start:end]) for start, end in pairwise(table.path_start.tolist())]
    return [
        ";".join(paths[start:end]) if end > start else None
        for start, end in pairwise(table.pair_start.tolist())
    ]


def write_certificate(
    verdict: Verdict,
    table: RouteTable,
    path: Path,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a proof to a file.

    Parameters
    ----------
    verdict : Verdict
        Result of `check_table` for `table`.
    table : RouteTable
    path : Path
        Its folder must exist.
    provenance : mapping, optional
        Origin of the table, software and time; not part of the proof.

    Raises
    ------
    InputError
        If the verdict is not a proof.
    """
    content = certificate(verdict, table) | {"provenance": dict(provenance or {})}
    # in one piece: json.dump writes in small ones and takes several times as long
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")
