"""Prove that listed routes or next hops cannot deadlock, or find a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import FlowControl, InputError, RouteTable, Topology
from routelab.api.topology import BoolArray, Float64Array, Int16Array
from routelab.api.verdicts import Status
from routelab.deadlock import Switching, check_table, write_certificate
from routelab.deadlock.next_hops import (
    Waits,
    check_next_hops,
    preconditions,
    write_removal,
)
from routelab.deadlock.verdict import used_numbers
from routelab.kernels.routes import weighted_loads
from routelab.metrics import (
    channel_loads,
    max_hops,
    mean_hops,
    network_cost,
    pairs,
    reachable_pairs,
    relative_loads,
)
from routelab.results.atomic import atomic_file
from routelab.results.outcome import OUTCOME
from routelab.routing.export import read_export, table_of
from routelab.routing.route import ROUTES
from routelab.routing.routes_file import load_routes
from routelab.routing.topology import load_network
from routelab.toolkit.doubtful_names import doubtful_names
from routelab.toolkit.input_files import is_folder, is_regular
from routelab.toolkit.next_hop_list import NextHops, read_next_hops
from routelab.toolkit.pair_list import Pairs
from routelab.toolkit.route_cells import FROM_LIST, MAX_VC, Form, Rows, read_pairs, read_rows
from routelab.toolkit.route_list import RouteList, read_route_list

LIST = "routes.csv"
"""What ``routelab export routes`` writes."""


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proven, or not, about a file of routes or next hops.

    Attributes
    ----------
    status : Status
        ``proven``, ``cycle``, ``broken`` or ``not enough input``; see `routelab.api.verdicts`.
    reason : str
        One sentence.
    facts : dict
        Numbers for the report: routes or entries of the file; unless they are broken, also pairs
        without a route, hops, virtual channels and, for routes, the maximum load.
    preconditions : tuple of str
        What the verdict assumes.
    cycle : tuple of (str, str, str)
        For each step of a cycle, in words: a resource, the next one that packets in it wait for,
        and a route or packets that cause this.
    write : callable or None
        Writes the certificate to a path; None without a proof.
    read : dict
        What was read: ``network`` (``"named"``, or ``"from the list"``), ``switches``, ``links``,
        ``routes`` or ``entries``, ``pairs_with_route`` and ``pairs`` (not of broken next hops),
        ``flow_control`` (channels by what the network declares, if it does), and ``notes`` on names
        and lines that may be typing errors.
    table : RouteTable, NextHops or None
        What was checked; None if a route or next hop does not exist, if the virtual channels are
        too few, or for tables of InfiniBand.
    listed : RouteList or None
        The list that `table` was read from; None if it was read from another file.
    form : {"switches", "ports", "links"} or None
        How a CSV file names hops: by the next switch, the port or the link. None for other files,
        and without a table.
    """

    status: Status
    reason: str
    facts: dict[str, Any]
    preconditions: tuple[str, ...] = ()
    cycle: tuple[tuple[str, str, str], ...] = ()
    write: Callable[[Path], None] | None = None
    read: dict[str, Any] = field(default_factory=dict)
    table: RouteTable | NextHops | None = None
    listed: RouteList | None = None
    form: Form | None = None


def prove_routes(
    routes: Path,
    network: str | Topology | None = None,
    vcs: int | None = None,
    *,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
    pairs: Path | None = None,
) -> Proof:
    """Read routes or next hops, and prove that they cannot deadlock, or find a cycle.

    Parameters
    ----------
    routes : path
        CSV, see `routelab.toolkit.route_list` and `routelab.toolkit.next_hop_list`; a folder or
        ``routes.npz`` that ``routelab route`` wrote; or a folder that ``routelab export`` wrote.
    network : str or Topology, optional
        A network, or its name, folder or ``topology.npz`` (default: that of the folder, or the
        switches and links that the CSV file uses).
    vcs : int, optional
        Virtual channels that the network has (default: as many as the file uses).
    waits : {"any", "one", "escape"}
        What packets with several next hops wait for: whichever has room first, one that they choose
        when they arrive, or the first (others are taken only if they have room at once).
    switching : {"virtual-cut-through", "wormhole"}
    flow_control : {"plain", "bubble"}, optional
        That of routes: whether each ring of the network keeps a bubble (default: that which the
        network declares for each channel, else that of the file, else plain).
    pairs : path, optional
        CSV file of the pairs that send packets, see `routelab.toolkit.pair_list` (default: all).
        Only their routes count, or the next hops that their packets come to.

    Raises
    ------
    InputError
        If a name, number or file is wrong, or a line is damaged.
    """
    if vcs is not None and not 1 <= vcs <= MAX_VC + 1:
        raise InputError(f"{vcs} virtual channels: give 1 to {MAX_VC + 1}")
    report_phase("prove", "reading")
    # 1. A table that routelab wrote; `routelab export routes` writes a list for any program.
    if is_folder(routes) and is_regular(routes / LIST):
        routes /= LIST
    if is_folder(routes) or routes.suffix == ".npz":
        if pairs is not None:
            raise InputError(
                f"{routes}: pairs are chosen of a list of routes or a table of next hops; "
                "`routelab export routes` writes one"
            )
        proof = prove_table(_load_table(routes, network), vcs, switching, flow_control)
        report_phase("prove", proof.status, ended=True)
        return proof
    # 2. A list of routes or a table of next hops; the first line of the file says which.
    topology = None if network is None else load_network(network)[1]
    rows = read_rows(routes)
    senders = None if pairs is None else read_pairs(pairs)
    if rows.content == "routes":
        proof = prove_list(rows, topology, vcs, switching, flow_control, senders=senders)
    elif flow_control == "bubble":
        raise InputError("bubble flow control is proven for routes, not for next hops")
    else:
        _require_one_declaration(topology, flow_control)
        proof = prove_next_hops(rows, topology, vcs, waits, switching, senders=senders)
    report_phase("prove", proof.status, ended=True)
    return proof


def _load_table(routes: Path, network: str | Topology | None) -> RouteTable:
    """Return the table that `routelab route` or `routelab export` wrote."""
    # 1. A folder of an export contains its network, and no outcome of a job.
    if is_folder(routes) and not is_regular(routes / OUTCOME):
        if network is not None:
            raise InputError(
                f"{routes} contains its network; name the folder alone, or name the network with "
                "a list of routes (`routelab export routes`) or a result of `routelab route`"
            )
        return read_export(routes)
    # 2. A result of `routelab route`: its folder, or routes.npz, whose folder names the network.
    if network is None:
        return table_of([str(routes)])
    file = routes / ROUTES if is_folder(routes) else routes
    return load_routes(file, load_network(network)[1])


def prove_table(
    table: RouteTable,
    vcs: int | None = None,
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
    *,
    listed: RouteList | None = None,
) -> Proof:
    """Prove that a table cannot deadlock, or find a cycle; see `prove_routes`.

    `listed` is the list that the table was read from, if any: then the facts count its lines, and
    the pairs that they serve.
    """
    if listed is None:
        facts = {"routes": int(np.count_nonzero(table.path_length)), **route_facts(table)}
        read = what_was_read(table.topology, facts)
    else:
        facts = {"routes": len(listed.rows.line), **_list_facts(listed)}
        read = _list_summary(listed)
    if vcs is not None and table.virtual_channels > vcs:
        reason = f"the table needs {table.virtual_channels} virtual channels, and there are {vcs}"
        return Proof("broken", reason, {"routes": facts["routes"]}, read=read)
    report_phase("prove", "proof")
    network = table.topology
    _require_one_declaration(network, flow_control)
    declared = "declared" if network.declares_flow_control else None
    verdict = check_table(table, flow_control or declared, switching=switching)
    reason = verdict.reason
    # Neither the user nor the network says whether the routers keep bubbles. If these would help,
    # the report says so.
    if verdict.status == "cycle" and flow_control is None and not declared:
        bubble_verdict = check_table(table, "bubble", switching=switching)
        # Bubbles need rings. A network that names its rings or directions lets this check decide.
        # Others, as in files that an export wrote for other programs, do not say whether they have
        # rings: then the verdict is "not enough input", and bubbles may help.
        may_help = bubble_verdict.status == "not enough input" and listed is None
        if bubble_verdict.proven or may_help:
            reason += "; if the routers keep a bubble in each ring, add --flow-control bubble"
    return Proof(
        status=verdict.status,
        reason=reason,
        facts=facts,
        preconditions=verdict.preconditions,
        cycle=tuple(verdict.cycle_steps(table.topology)),
        write=partial(write_certificate, verdict, table) if verdict.proven else None,
        read=read,
        table=table,
        listed=listed,
        form=listed.rows.form if listed is not None else None,
    )


def _require_one_declaration(network: Topology | None, flow_control: str | None) -> None:
    """Refuse the option ``--flow-control`` if the network declares flow control by channel."""
    if flow_control is not None and network is not None and network.declares_flow_control:
        raise InputError(
            f"--flow-control {flow_control}: the network declares the flow control of its "
            "channels; leave the option out, or the declaration"
        )


def prove_list(
    rows: Rows,
    topology: Topology | None,
    vcs: int | None = None,
    switching: Switching = "virtual-cut-through",
    flow_control: FlowControl | None = None,
    *,
    senders: Rows | None = None,
) -> Proof:
    """Prove that the routes of a list cannot deadlock, or find a cycle.

    `senders` is the list of the pairs that send packets, None: all. `prove_routes` describes the
    other parameters.
    """
    listed = read_route_list(rows, topology, vcs, senders)
    if listed.table is None:
        reason = with_others(listed.first_fault, listed.faults, "route")
        facts = {"routes": len(listed.rows.line), "faulty_pairs": listed.faulty_pairs}
        proof = Proof("broken", reason, facts, read=_list_summary(listed))
    else:
        proof = prove_table(listed.table, vcs, switching, flow_control, listed=listed)
    # `senders` limits the list to the routes of some pairs
    num_left_out = len(rows.line) - len(listed.rows.line)
    proof.read["notes"] += _pair_notes(senders, num_left_out, "route")
    return proof


def prove_next_hops(
    rows: Rows,
    topology: Topology | None,
    vcs: int | None,
    waits: Waits,
    switching: Switching,
    *,
    senders: Rows | None = None,
) -> Proof:
    """Prove that packets cannot deadlock by a table of next hops, or find a cycle.

    `senders` is the list of the pairs that send packets, None: all. `prove_routes` describes the
    other parameters.
    """
    listed = read_next_hops(rows, topology, vcs, senders)
    facts: dict[str, Any] = {"entries": listed.num_entries}
    # `senders` limits the table to the entries that packets of some pairs come to
    table, num_left_out = listed.table, len(rows.line) - listed.num_entries
    notes = _name_notes(rows, listed.network) + _pair_notes(senders, num_left_out, "entry")
    if table is None:
        reason = with_others(listed.first_fault, listed.faults, "next hop")
        return Proof("broken", reason, facts, read=what_was_read(listed.network, facts, notes))
    report_phase("prove", "proof")
    verdict = check_next_hops(table, waits, switching)
    # None: the table is broken. Its packets are lost or loop, so there are no pairs with a route.
    if verdict.routed is not None:
        facts |= {
            **_pair_facts(table, verdict.routed, listed.senders),
            "max_hops": verdict.longest,
            **_vc_facts(table.vc),
        }
    # The certificate is an order in which all buffers can be removed, each when its packets can go
    # on to buffers that are removed already.
    write = partial(write_removal, verdict, table) if verdict.status == "proven" else None
    return Proof(
        status=verdict.status,
        reason=verdict.reason,
        facts=facts,
        preconditions=preconditions(table, waits, switching),
        cycle=verdict.cycle,
        write=write,
        read=what_was_read(listed.network, facts, notes),
        table=table,
        form=rows.form,
    )


def what_was_read(
    network: Topology, facts: dict[str, Any], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return `Proof.read`: the network, and the numbers of routes or entries and of pairs."""
    sizes: dict[str, Any] = {n: facts[n] for n in ("routes", "entries") if n in facts}
    if "pairs" in facts:
        sizes["pairs_with_route"] = facts["pairs"] - facts["pairs_without_route"]
        sizes["pairs"] = facts["pairs"]
    return {
        "network": "from the list" if network.family == FROM_LIST else "named",
        "switches": network.num_switches,
        "links": network_cost(network).links,
        **sizes,
        **_declared_channels(network),
        "notes": list(notes),
    }


def _declared_channels(network: Topology) -> dict[str, Any]:
    """Return the number of channels of each flow control, if the network declares any."""
    if not network.declares_flow_control:
        return {}
    values = {"bubble": 1, "plain": 0, "undeclared": -1}  # of `Topology.channel_bubble`
    counts = {
        flow_control: int((network.channel_bubble == value).sum())
        for flow_control, value in values.items()
    }
    return {"flow_control": {name: count for name, count in counts.items() if count}}


def _list_summary(listed: RouteList) -> dict[str, Any]:
    """Return `what_was_read` of a list of routes, also if its routes have faults."""
    sizes = {
        "routes": len(listed.rows.line),
        "pairs": listed.all_pairs,
        "pairs_without_route": listed.all_pairs - listed.num_pairs,
    }
    return what_was_read(listed.network, sizes, _name_notes(listed.rows, listed.network))


def _name_notes(rows: Rows, network: Topology) -> list[str]:
    """Return notes on lines left out, and on names that only the list declares and may be wrong."""
    names = network.switch_names if network.family == FROM_LIST else ()
    return doubtful_names(rows, names)


def with_others(fault: str, faults: int, noun: str = "place") -> str:
    """Return the first fault with the number of others: ``…; 2 more routes have a fault``."""
    more = faults - 1
    others = f"; {more} more {noun}{' has' if more == 1 else 's have'} a fault" if more else ""
    return f"{fault}{others}"


def route_facts(table: RouteTable) -> dict[str, Any]:
    """Return `Proof.facts` of routes that are not broken, for all pairs of terminals."""
    topology = table.topology
    count = pairs(topology)
    return {
        "pairs": count,
        "pairs_without_route": count - reachable_pairs(table),
        "max_hops": max_hops(table),
        "mean_hops": mean_hops(table),
        **_load_facts(topology, channel_loads(table)),
        **_vc_facts(table.hop_vc),
    }


def _vc_facts(vc: Int16Array) -> dict[str, Any]:
    """Return how many virtual channels a network needs, and which are in use."""
    return {"virtual_channels": int(vc.max(initial=0)) + 1, "vc_numbers": list(used_numbers(vc))}


def _load_facts(network: Topology, loads: Float64Array) -> dict[str, Any]:
    """Return the largest load, and whether it is in units of the fastest channel."""
    return {
        "max_load": float(relative_loads(network, loads).max(initial=0)),
        "load_is_relative": len(np.unique(network.channel_capacity)) > 1,
    }


def _list_facts(listed: RouteList) -> dict[str, Any]:
    """Return the facts of listed routes (`Proof.facts`), counted by the pairs that they serve.

    A list may have routes for single terminals, or for some pairs only. So a path of the table need
    not serve all pairs of terminals at its ends, as `route_facts` assumes.
    """
    table, network = listed.table, listed.network
    assert table is not None
    # 1. How many pairs of terminals send over each path, a pair with several paths by their shares.
    served_pairs = np.zeros(table.num_paths)
    has_hops = listed.path >= 0
    served_pairs[listed.path[has_hops]] = listed.served[has_hops]
    # 2. The loads. The kernel multiplies the weight of a path with that of its pair. Here all paths
    #    belong to one pair of weight 1, so that the weights of the paths alone count.
    load = weighted_loads(
        pair_start=np.array([0, table.num_paths]),
        path_start=table.path_start,
        path_weight=served_pairs,
        hop_channel=table.hop_channel,
        pair_weight=np.ones((1, 1)),
        num_channels=network.num_channels,
    )
    num_pairs = listed.num_pairs
    return {
        "pairs": listed.all_pairs,
        "pairs_without_route": listed.all_pairs - num_pairs,
        "max_hops": max_hops(table),
        "mean_hops": float(served_pairs @ table.path_length) / num_pairs if num_pairs else None,
        **_load_facts(network, load),
        **_vc_facts(table.hop_vc),
    }


def _pair_notes(senders: Rows | None, num_left_out: int, noun: str) -> list[str]:
    """Return notes on a list of pairs: doubtful names, and routes or entries that no pair uses.

    `num_left_out` is the number of the latter; `noun` is "route" or "entry".
    """
    if senders is None:
        return []
    notes = [f"{senders.path}: {note}" for note in doubtful_names(senders)]
    if num_left_out:
        singular, plural = {
            "route": ("route is", "routes are"),
            "entry": ("entry is", "entries are"),
        }[noun]
        subject = plural if num_left_out > 1 else singular
        notes.append(f"{num_left_out} {subject} not used by the pairs and left out")
    return notes


def _pair_facts(table: NextHops, routed: BoolArray, senders: Pairs | None) -> dict[str, Any]:
    """Count the pairs of terminals, and those without a route.

    Parameters
    ----------
    table : NextHops
    routed : bool array, shape (S, D)
        Whether packets at each switch come to each destination.
    senders : Pairs or None
        The pairs that count; None: all.
    """
    topology, destination = table.topology, table.destination_of_terminal
    if senders is not None:
        source_endpoint, _ = senders.source
        _, target_terminal = senders.target
        source, target = topology.endpoints[source_endpoint], destination[target_terminal]
        # A target of −1 is a terminal that the table has no entries for. It would index the last
        # column of `routed`.
        has_route = senders.is_local | (routed[source, target] & (target >= 0))
        num_without = int(senders.count[~has_route].sum())
        return {"pairs": senders.total, "pairs_without_route": num_without}
    # A row for each endpoint, a column for each terminal. Terminals of one switch need no route.
    has_route = routed[topology.endpoints][:, destination] & (destination >= 0)
    has_route[topology.terminal_endpoint, np.arange(topology.num_terminals)] = True
    # each endpoint counts as many times as it has terminals
    num_without = int(topology.demand @ np.count_nonzero(~has_route, axis=1))
    return {"pairs": pairs(topology), "pairs_without_route": num_without}


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
