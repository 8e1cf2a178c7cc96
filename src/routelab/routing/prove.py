"""Prove that listed routes or next hops cannot deadlock, or find a cycle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import InputError, RouteTable, Topology
from routelab.api.topology import BoolArray
from routelab.api.verdicts import Status
from routelab.deadlock import Switching, check_table, write_certificate
from routelab.deadlock.next_hops import (
    NextHops,
    Waits,
    check_next_hops,
    preconditions,
    write_removal,
)
from routelab.metrics import (
    channel_loads,
    max_hops,
    mean_hops,
    pairs,
    reachable_pairs,
    relative_loads,
)
from routelab.results.atomic import atomic_file
from routelab.routing.topology import load_network
from routelab.toolkit.next_hop_list import read_next_hops
from routelab.toolkit.route_cells import MAX_VC, Rows, read_rows
from routelab.toolkit.route_list import read_route_list


@dataclass(frozen=True, eq=False)
class Proof:
    """The answer to a file of routes.

    Attributes
    ----------
    status : Status
        ``proven``, ``cycle``, ``broken`` or ``not enough input``; see `routelab.api.verdicts`.
    reason : str
        One sentence.
    facts : dict
        Routes or entries and, unless they are broken, pairs without a route, hops, virtual
        channels and, of routes, the maximum load.
    preconditions : tuple of str
        What the verdict assumes.
    cycle : tuple of (str, str, str)
        What waits, for what, and a route or packets that cause it.
    write : callable or None
        Writes the certificate to a path; None without a proof.
    """

    status: Status
    reason: str
    facts: dict[str, Any]
    preconditions: tuple[str, ...] = ()
    cycle: tuple[tuple[str, str, str], ...] = ()
    write: Callable[[Path], None] | None = None


def prove_routes(
    routes: Path,
    network: str | Topology | None = None,
    vcs: int | None = None,
    *,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
) -> Proof:
    """Read routes or next hops, and prove that they cannot deadlock, or find a cycle.

    Parameters
    ----------
    routes : path
        See `routelab.toolkit.route_list` and `routelab.toolkit.next_hop_list`.
    network : str or Topology, optional
        See `routelab.routing.topology.load_network`; without one, it is what the file uses.
    vcs : int, optional
        Virtual channels that the network has (default: as many as the file uses).
    waits : {"any", "one", "escape"}
        What packets with several next hops wait for; see `routelab.deadlock.next_hops`.
    switching : {"virtual-cut-through", "wormhole"}

    Raises
    ------
    InputError
        If a name, number or file is wrong, or a line is damaged.
    """
    if vcs is not None and not 1 <= vcs <= MAX_VC + 1:
        raise InputError(f"{vcs} virtual channels: give 1 to {MAX_VC + 1}")
    topology = None if network is None else load_network(network)[1]
    report_phase("prove", "reading")
    rows = read_rows(routes)
    if rows.content == "routes":
        proof = _prove_routes(rows, topology, vcs, switching)
    else:
        proof = _prove_next_hops(rows, topology, vcs, waits, switching)
    report_phase("prove", proof.status, ended=True)
    return proof


def _prove_routes(
    rows: Rows, topology: Topology | None, vcs: int | None, switching: Switching
) -> Proof:
    listed = read_route_list(rows, topology, vcs)
    facts: dict[str, Any] = {"routes": listed.num_routes}
    if listed.table is None:
        reason = _with_others(listed.first_fault, listed.faults, "route")
        return Proof("broken", reason, facts)
    report_phase("prove", "proof")
    verdict = check_table(listed.table, "plain", switching=switching)
    report_phase("prove", "facts")
    return Proof(
        verdict.status,
        verdict.reason,
        facts | _route_facts(listed.table),
        verdict.preconditions,
        tuple(verdict.cycle_steps(listed.table.topology)),
        partial(write_certificate, verdict, listed.table) if verdict.proven else None,
    )


def _prove_next_hops(
    rows: Rows, topology: Topology | None, vcs: int | None, waits: Waits, switching: Switching
) -> Proof:
    listed = read_next_hops(rows, topology, vcs)
    facts: dict[str, Any] = {"entries": listed.num_entries}
    if listed.faults:
        return Proof("broken", _with_others(listed.first_fault, listed.faults, "next hop"), facts)
    report_phase("prove", "proof")
    table = NextHops(listed.topology, listed.sources, listed.entry_start, listed.channel, listed.vc)
    verdict = check_next_hops(table, waits, switching)
    if verdict.routed is not None:
        facts |= {
            **_pair_facts(table.topology, verdict.routed),
            "max_hops": verdict.longest,
            "virtual_channels": table.virtual_channels,
        }
    return Proof(
        verdict.status,
        verdict.reason,
        facts,
        preconditions(table, waits, switching),
        verdict.cycle,
        partial(write_removal, verdict, table, waits) if verdict.status == "proven" else None,
    )


def _with_others(fault: str, faults: int, noun: str) -> str:
    """Return the first fault with the number of others."""
    more = faults - 1
    others = f"; {more} more {noun}{' has' if more == 1 else 's have'} a fault" if more else ""
    return f"{fault}{others}"


def _route_facts(table: RouteTable) -> dict[str, Any]:
    topology = table.topology
    loads = relative_loads(topology, channel_loads(table))
    count = pairs(topology)
    return {
        "pairs": count,
        "pairs_without_route": count - reachable_pairs(table),
        "max_hops": max_hops(table),
        "mean_hops": mean_hops(table),
        "max_load": float(loads.max(initial=0)),
        "virtual_channels": table.virtual_channels,
    }


def _pair_facts(topology: Topology, routed: BoolArray) -> dict[str, Any]:
    """Count the pairs of terminals; `routed` tells the switches with next hops, (S, D)."""
    demand = topology.demand
    has_route = routed[topology.endpoints]
    np.fill_diagonal(has_route, True)
    count = pairs(topology)
    without = int((demand[:, np.newaxis] * demand)[~has_route].sum())
    return {"pairs": count, "pairs_without_route": without}


def write_proof(proof: Proof, path: Path) -> None:
    """Write the certificate of a proof.

    Raises
    ------
    InputError
        If there is no proof, or the file cannot be written.
    """
    if proof.write is None:
        raise InputError(f"no certificate: the routes are not proven ({proof.reason})")
    with atomic_file(path) as new:
        proof.write(new)
