"""Proof of forwarding tables of InfiniBand, and of any other routes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import FlowControl, InputError, Topology
from routelab.cluster.infiniband.check import find_faults
from routelab.cluster.infiniband.inputs import Service, hosts_only, read_fabric_tables
from routelab.cluster.infiniband.walk import host_routes
from routelab.deadlock import Switching
from routelab.deadlock.next_hops import Waits
from routelab.routing.prove import Proof, prove_routes, route_facts, what_was_read, with_others
from routelab.toolkit.input_files import is_regular, open_input
from routelab.toolkit.route_cells import FORMS

NETWORK_SUFFIXES = (".csv", ".edges", ".edgelist", ".graphml", ".xml", ".json")
"""Suffixes of files that the topology ``graph`` reads."""


def prove_files(
    routes: Path,
    network: str | Topology | None = None,
    vcs: int | None = None,
    *,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
) -> Proof:
    """Prove routes of any format.

    If `network` is output of ``ibnetdiscover``, `routes` are forwarding tables; see
    `prove_forwarding`. All else is for `routelab.routing.prove.prove_routes`.

    Raises
    ------
    InputError
        As these.
    """
    if isinstance(network, str) and is_regular(Path(network)) and not network.endswith(".npz"):
        if vcs is not None or (waits, switching, flow_control) != (
            "any",
            "virtual-cut-through",
            None,
        ):
            raise InputError(
                f"{network} is a fabric, whose lanes and flow control are those of InfiniBand; "
                "name the fabric and its forwarding tables only"
            )
        _require_fabric(Path(network))
        return prove_forwarding(Path(network), routes)
    return prove_routes(
        routes, network, vcs, waits=waits, switching=switching, flow_control=flow_control
    )


def _require_fabric(path: Path) -> None:
    """Refuse lists of routes and files of other networks, which are no output of ibnetdiscover."""
    with open_input(path) as stream:
        first_line = stream.readline(1000).decode("utf-8", "replace").lower()
    cells = [cell.strip(' "\ufeff') for cell in re.split("[,;\t]", first_line.strip())]
    if cells[-1] in FORMS:
        raise InputError(f"{path} is a list of routes; name it last, and a network before it")
    if path.suffix.lower() in NETWORK_SUFFIXES:
        raise InputError(f"{path}: name the file of a network as graph~file={path}")


def prove_forwarding(fabric_file: Path, lft_file: Path) -> Proof:
    """Prove unicast forwarding tables, whatever the service levels of packets are.

    A credit loop is a cycle only with the service levels that close it, which these files lack;
    `routelab.cluster.infiniband.check.check_fabric` reads them.

    Raises
    ------
    InputError
        If a file is wrong, or the two do not belong together.
    """
    report_phase("prove", "reading")
    tables = read_fabric_tables(fabric_file, lft_file)
    faults = find_faults(tables, Service())
    table = host_routes(hosts_only(tables))
    facts = {"routes": int(np.count_nonzero(table.path_length))} | route_facts(table)
    read = what_was_read(table.topology, facts)
    report_phase("prove", faults.verdict, ended=True)
    if faults.texts:
        reason = with_others(faults.texts[0][1], len(faults.texts))
        return Proof(faults.verdict, reason, {"routes": facts["routes"]}, read=read)
    if faults.gaps:
        assumption = " and ".join(gap.assumption for gap in faults.gaps)
        reason = (
            f"{'. '.join(gap.missing for gap in faults.gaps)}. If {assumption}, the verdict is "
            f"{faults.assumed_verdict}. `routelab infiniband check` reads further files"
        )
        return Proof(faults.verdict, reason, facts, read=read)
    return Proof(
        faults.verdict,
        "the cables have no cycle of dependencies, on any service levels and virtual lanes",
        facts,
        (
            "packets follow the tables",
            "every virtual lane has a buffer of its own",
            "packets at their target are always consumed",
        ),
        read=read,
    )
