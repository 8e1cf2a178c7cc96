"""Proof of forwarding tables of InfiniBand, and of any other routes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import FlowControl, InputError, Topology
from routelab.cluster.infiniband.check import find_faults
from routelab.cluster.infiniband.inputs import Service, keep_only_hosts, read_fabric_tables
from routelab.cluster.infiniband.walk import host_routes
from routelab.deadlock import Switching
from routelab.deadlock.next_hops import Waits
from routelab.registry.names import Name
from routelab.routing.prove import Proof, prove_routes, route_facts, what_was_read, with_others
from routelab.toolkit.infiniband.netdiscover import has_records
from routelab.toolkit.input_files import is_regular, open_input
from routelab.toolkit.route_cells import FORMS

NETWORK_SUFFIXES = (".csv", ".edges", ".edgelist", ".txt", ".graphml", ".xml", ".json")
"""Suffixes of files that the topology ``graph`` reads."""

_ASSUMPTIONS = (
    "packets follow the tables",
    "every virtual lane has a buffer of its own",
    "packets at their target are always consumed",
)
"""Under which forwarding tables are proven."""


def prove_files(
    routes: Path,
    network: str | Topology | None = None,
    vcs: int | None = None,
    *,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
    pairs: Path | None = None,
) -> Proof:
    """Prove that routes of any format have no deadlock, or return why the proof fails.

    ========================================  ====================================================
    `network`                                 proof
    ========================================  ====================================================
    file of ``ibnetdiscover``                 `prove_forwarding`; `routes` are forwarding tables
    other file of a network, not ``.npz``     `prove_routes` with the topology ``graph~file=PATH``
    anything else                             `prove_routes`
    ========================================  ====================================================

    Raises
    ------
    InputError
        If a file cannot be read or is wrong, or the files do not belong together.
    """
    if isinstance(network, str) and is_regular(network) and not network.endswith(".npz"):
        path = Path(network)
        _refuse_list(path)
        # ibnetdiscover's output may have any suffix but those of other formats. A file ``.txt`` may
        # also be an edge list.
        suffix = path.suffix.lower()
        if suffix not in NETWORK_SUFFIXES or (suffix == ".txt" and has_records(path)):
            # These parameters are for other routes: forwarding tables leave nothing to choose.
            defaults = None, None, "any", "virtual-cut-through", None
            if (vcs, pairs, waits, switching, flow_control) != defaults:
                raise InputError(
                    f"{network} is a fabric, whose lanes and flow control are those of InfiniBand; "
                    "name the fabric and its forwarding tables only"
                )
            return prove_forwarding(path, routes)
        network = str(Name("graph", (("file", network),)))
    return prove_routes(
        routes,
        network,
        vcs,
        waits=waits,
        switching=switching,
        flow_control=flow_control,
        pairs=pairs,
    )


def _refuse_list(path: Path) -> None:
    """Refuse a list of routes as a network: the user may have swapped the two files.

    Raises
    ------
    InputError
    """
    try:
        with open_input(path) as stream:
            first_line = stream.readline(1000).decode("utf-8", "replace").lower()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    # The last column of such a list has the name of a form of routes, such as "switches". A
    # spreadsheet adds quotes and a byte-order mark.
    cells = [cell.strip(' "\ufeff') for cell in re.split("[,;\t]", first_line.strip())]
    if cells[-1] in FORMS:
        raise InputError(f"{path} is a list of routes; name it last, and a network before it")


def prove_forwarding(fabric_file: Path, lft_file: Path) -> Proof:
    """Prove that packets arrive and cannot deadlock, whatever their service levels are.

    Service levels may break a cycle of cables, or not. These files lack them, so tables with such a
    cycle are not decided here, but by `routelab.cluster.infiniband.check.check_fabric`.

    Raises
    ------
    InputError
        If a file is wrong, or the two do not belong together.
    """
    report_phase("prove", "reading")
    tables = read_fabric_tables(fabric_file, lft_file)
    faults = find_faults(tables, Service())
    table = host_routes(keep_only_hosts(tables))
    facts = {"routes": int(np.count_nonzero(table.path_length))} | route_facts(table)
    read = what_was_read(table.topology, facts)
    report_phase("prove", faults.verdict, ended=True)
    if faults.texts:
        # with a fault, be it a credit loop, the report has no other facts
        reason = with_others(faults.texts[0][1], len(faults.texts))
        return Proof(faults.verdict, reason, {"routes": facts["routes"]}, read=read)
    if faults.gaps:
        assumption = " and ".join(gap.assumption for gap in faults.gaps)
        reason = (
            f"{'. '.join(gap.missing for gap in faults.gaps)}. If {assumption}, the verdict is "
            f"{faults.assumed_verdict}. `routelab infiniband check` reads further files"
        )
        return Proof(faults.verdict, reason, facts, read=read)
    reason = "the cables have no cycle of dependencies, on any service levels and virtual lanes"
    return Proof(faults.verdict, reason, facts, _ASSUMPTIONS, read=read)
