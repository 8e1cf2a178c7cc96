"""Prove that listed routes cannot deadlock, or find a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from routelab._runtime.progress import report_phase
from routelab.api import InputError, RouteTable, Topology
from routelab.api.verdicts import Status
from routelab.deadlock import Verdict, check_table, write_certificate
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
from routelab.toolkit.route_list import MAX_VC, RouteList, read_route_list


@dataclass(frozen=True, eq=False)
class Proof:
    """The answer to a list of routes.

    Attributes
    ----------
    status : Status
        ``proven``, ``cycle`` or ``broken``; see `routelab.api.verdicts`.
    reason : str
        One sentence.
    facts : dict
        Routes and, unless they are broken, pairs without a route, hops, the maximum load and
        virtual channels.
    cycle : tuple of (str, str, str)
        What waits, for what, and a route that causes it.
    table : RouteTable or None
        None if the routes are broken.
    verdict : Verdict or None
    """

    status: Status
    reason: str
    facts: dict[str, Any]
    cycle: tuple[tuple[str, str, str], ...] = ()
    table: RouteTable | None = None
    verdict: Verdict | None = None


def prove_routes(
    routes: Path, network: str | Topology | None = None, vcs: int | None = None
) -> Proof:
    """Read a list of routes, and prove that they cannot deadlock, or find a cycle.

    Parameters
    ----------
    routes : path
        See `routelab.toolkit.route_list`.
    network : str or Topology, optional
        See `routelab.routing.topology.load_network`; without one, it is what the routes use.
    vcs : int, optional
        Virtual channels that the network has (default: as many as the routes use).

    Raises
    ------
    InputError
        If a name, number or file is wrong, or a line is damaged.
    """
    if vcs is not None and not 1 <= vcs <= MAX_VC + 1:
        raise InputError(f"{vcs} virtual channels: give 1 to {MAX_VC + 1}")
    topology = None if network is None else load_network(network)[1]
    report_phase("prove", "reading")
    listed = read_route_list(routes, topology, vcs)
    if listed.table is None:
        report_phase("prove", "broken", ended=True)
        return Proof("broken", _fault_text(listed), {"routes": listed.num_routes})
    report_phase("prove", "proof")
    verdict = check_table(listed.table, "plain")
    report_phase("prove", "facts")
    facts = {"routes": listed.num_routes, **_facts(listed.table)}
    report_phase("prove", verdict.status, ended=True)
    cycle = tuple(verdict.cycle_steps(listed.table.topology))
    return Proof(verdict.status, verdict.reason, facts, cycle, listed.table, verdict)


def _fault_text(listed: RouteList) -> str:
    more = listed.faults - 1
    others = f"; {more} more {'route has' if more == 1 else 'routes have'} a fault" if more else ""
    return f"{listed.first_fault}{others}"


def _facts(table: RouteTable) -> dict[str, Any]:
    """Return the facts that a certificate has of a table."""
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


def write_proof(proof: Proof, path: Path) -> None:
    """Write the certificate of a proof.

    Raises
    ------
    InputError
        If the routes are not proven, or the file cannot be written.
    """
    if proof.status != "proven" or proof.table is None or proof.verdict is None:
        raise InputError(f"no certificate: the routes are not proven ({proof.reason})")
    with atomic_file(path) as new:
        write_certificate(proof.verdict, proof.table, new)
