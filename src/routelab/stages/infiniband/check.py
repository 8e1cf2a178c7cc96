"""Check the forwarding tables of a fabric: faults, credit loops, loads, the worst failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from routelab._progress import tell
from routelab.api.topology import BoolArray, Float64Array, Int8Array
from routelab.api.verdicts import Status
from routelab.metrics import (
    channel_loads,
    connected_pairs,
    effective_bisection,
    reachable_pairs,
    relative_loads,
)
from routelab.stages.bound import bound_load
from routelab.stages.infiniband.credit_loops import CreditLoops, find_credit_loops
from routelab.stages.infiniband.inputs import (
    FabricTables,
    Service,
    hosts_only,
    read_fabric_tables,
    read_levels,
    service_of,
)
from routelab.stages.infiniband.losses import pairs_over_links
from routelab.stages.infiniband.walk import ARRIVES, IS_LOST, Loop, fates_of, host_routes
from routelab.toolkit.infiniband import destination_ports, read_lane_tables

SAMPLES = 1000
"""Random bisections, with seed 0."""
BUSIEST = 10
NAMED = 3
"""Switches and LIDs that a sentence names."""


@dataclass(frozen=True)
class CableLoad:
    """Load of a cable in one direction.

    Attributes
    ----------
    port, peer : str
        Ports at its ends, e.g. ``s3:7``.
    load : float
        Ordered pairs of hosts, relative to the capacity.
    """

    port: str
    peer: str
    load: float


@dataclass(frozen=True, eq=False)
class FabricCheck:
    """The result of a check.

    Attributes
    ----------
    facts : dict
        By the names of `routelab.stages.infiniband.columns.CHECK`.
    faults : tuple of (str, str)
        Kind (``loop``, ``entry``, ``credit loop`` or ``lane``) and sentence.
    possible_loop : str
        Credit loop that service levels may avoid; empty if there is none, or they are known.
    busiest : tuple of CableLoad
        The busiest cables, in descending order.
    remarks : tuple of str
        Which part of the traffic has no credit loop, although all of it has.
    """

    facts: dict[str, Any]
    faults: tuple[tuple[str, str], ...]
    possible_loop: str
    remarks: tuple[str, ...]
    busiest: tuple[CableLoad, ...]

    @property
    def verdict(self) -> Status:
        """Whether packets arrive and cannot deadlock; see `routelab.api.verdicts`."""
        if not self.faults:
            return "not enough input" if self.possible_loop else "proven"
        return "cycle" if all(kind == "credit loop" for kind, _ in self.faults) else "broken"


def check_fabric(
    fabric_file: Path,
    lft_file: Path,
    levels: Path | int | None = None,
    lane_file: Path | None = None,
    *,
    replies: Literal["own", "same"] = "own",
    bound_seconds: float = 60.0,
) -> FabricCheck:
    """Check the unicast forwarding tables, with service levels if they are known.

    Parameters
    ----------
    fabric_file, lft_file : Path
        Output of ``ibnetdiscover``, and forwarding tables.
    levels : Path or int, optional
        File of service levels (as ``ibdmchk`` reads them, or a QoS policy), or the service level
        of all packets.
    lane_file : Path, optional
        SL2VL tables.
    replies : {"own", "same"}
        Whether credit loops that arise only if replies use the SL of the request are faults.
    bound_seconds : float
        Approximate time limit of the bound.

    Raises
    ------
    InputError
        If a file is wrong, or the files do not belong together.
    """
    tell("check", "reading")
    tables = read_fabric_tables(fabric_file, lft_file)
    service = service_of(
        tables,
        read_levels(levels) if isinstance(levels, Path) else levels,
        None if lane_file is None else read_lane_tables(lane_file),
        str(levels),
        str(lane_file),
    )
    topology = tables.topology
    faults = find_faults(tables, service, replies)
    tell("check", "loads")
    hosts = hosts_only(tables)
    table = host_routes(hosts)
    loads = relative_loads(hosts.topology, channel_loads(table))
    bandwidth = effective_bisection(table, SAMPLES, 0)
    over = pairs_over_links(table)
    worst = int(over.argmax()) if len(over) else None
    tell("check", "bound")
    bound = bound_load(hosts.topology, None, seconds=bound_seconds)
    facts: dict[str, Any] = {
        "switches": topology.num_switches,
        "hosts": hosts.topology.num_terminals,
        "left_out": topology.num_terminals - hosts.topology.num_terminals,
        "cables": len(topology.links),
        "verdict": "",
        "loops": len(faults.loops),
        "unreachable_lids": int(np.count_nonzero(faults.unreachable.any(axis=0))),
        "foreign_lids": tables.foreign_lids,
        "lost_pairs": connected_pairs(table)[0] - reachable_pairs(table),
        "lost_switch_pairs": int(np.count_nonzero(faults.optional)),
        "credit_loops": faults.own.count,
        "credit_loops_same": faults.same.count if faults.same else None,
        "service_levels": _kind_of(levels),
        "dropped_routes": faults.own.dropped,
        "unlisted_levels": service.unlisted,
        "max_load": float(loads.max(initial=0)),
        "load_bound": float(bound.load),
        "effective_bisection": bandwidth.mean if bandwidth else None,
        "effective_bisection_half_width": bandwidth.half_width if bandwidth else None,
        "worst_cable": "" if worst is None else tables.cable_name(worst),
        "worst_cable_pairs": 0 if worst is None else int(over[worst]),
    }
    found = FabricCheck(
        facts,
        faults.texts,
        faults.possible_loop,
        faults.remarks,
        _busiest(tables, loads),
    )
    facts["verdict"] = found.verdict
    tell("check", found.verdict, ended=True)
    return found


def _kind_of(levels: Path | int | None) -> str:
    if levels is None:
        return "unknown"
    return "file" if isinstance(levels, Path) else str(levels)


@dataclass(frozen=True, eq=False)
class Faults:
    """Faults of forwarding tables and service levels, without their loads.

    Attributes
    ----------
    loops : tuple of Loop
    unreachable : bool array, shape (S, T + S)
        Whether a switch cannot send packets to a destination, although cables connect them.
    optional : bool array, shape (S, T + S)
        The same for switches without hosts that cannot send packets to switches: no fault.
    own, same : CreditLoops
        If replies use the SL of their own path record, or that of the request. `same` is None
        without service levels.
    texts : tuple of (str, str)
        See `FabricCheck.faults`.
    possible_loop : str
    remarks : tuple of str
        See `FabricCheck`.
    """

    loops: tuple[Loop, ...]
    unreachable: BoolArray
    optional: BoolArray
    own: CreditLoops
    same: CreditLoops | None
    texts: tuple[tuple[str, str], ...]
    possible_loop: str
    remarks: tuple[str, ...]


def find_faults(
    tables: FabricTables,
    service: Service,
    replies: Literal["own", "same"] = "own",
) -> Faults:
    """Find loops, wrong and missing entries, and credit loops; see `check_fabric`."""
    tell("check", "routes")
    fates, loops = fates_of(tables)
    unreachable, optional = _unreachable(tables, fates)
    texts = [("loop", _loop_text(tables, loop)) for loop in loops]
    texts += [("entry", text) for text in _entry_faults(tables, unreachable)]
    tell("check", "credit loops")
    own = find_credit_loops(tables, service, fates)
    same = None
    if service.levels is not None:
        same = find_credit_loops(tables, service, fates, same=True)
    possible_loop = ""
    remarks: tuple[str, ...] = ()
    case = same if same is not None and replies == "same" else own
    if case.count:
        remarks = tuple(_remarks(tables, service, fates, same=case is same))
        if service.levels is None:
            possible_loop = _cycle_text(tables, case)
        else:
            texts.append(("credit loop", _cycle_text(tables, case)))
    if case.dropped:
        texts.append(("lane", f"{case.dropped} routes are dropped: their SL leads to VL 15"))
    return Faults(
        loops,
        unreachable,
        optional,
        own,
        same,
        tuple(texts),
        possible_loop,
        remarks,
    )


def _remarks(
    tables: FabricTables, service: Service, fates: Int8Array, *, same: bool
) -> Iterator[str]:
    """Describe parts of the traffic without a credit loop."""
    if not find_credit_loops(tables, service, fates, same=same, hosts_only=True).count:
        yield "Without packets from and to switches there is no credit loop."


def _unreachable(tables: FabricTables, fates: Int8Array) -> tuple[BoolArray, BoolArray]:
    """Mark the switches from which a destination in their part is not reached; both (S, T + S).

    Packets from switches without hosts to switches are apart, in the second array: OpenSM's
    engines for trees have no entries for some of them, and hosts need none.
    """
    topology, entries = tables.topology, tables.entries
    lost = (tables.part[:, np.newaxis] == tables.part[tables.ends]) & (fates != ARRIVES)
    optional = lost & (fates == IS_LOST) & (topology.terminals_per_switch == 0)[:, np.newaxis]
    optional[:, : topology.num_terminals] = False
    # an entry that leads nowhere is wrong anyhow, and so is a missing one of a switch for itself
    optional &= (entries.ports < 0) | (entries.steps >= 0)
    own = np.arange(topology.num_switches)
    optional[own, topology.num_terminals + own] = False
    return lost & ~optional, optional


def _loop_text(tables: FabricTables, loop: Loop) -> str:
    ports = " -> ".join(tables.out_port(channel) for channel in loop.channels)
    end = tables.topology.switch_names[tables.topology.channel_source[loop.channels[0]]]
    return f"packets for {_some(tables, loop.destinations)} loop: {ports} -> {end}"


def _some(tables: FabricTables, destinations: tuple[int, ...]) -> str:
    """Name some destinations, and count the others."""
    named = ", ".join(tables.destination_name(one) for one in destinations[:NAMED])
    more = len(destinations) - NAMED
    return f"{named} and {more} more" if more > 0 else named


def _entry_faults(tables: FabricTables, unreachable: BoolArray) -> Iterator[str]:
    """Describe each wrong or missing entry."""
    topology, ports = tables.topology, tables.entries.ports
    names = topology.switch_names
    right = destination_ports(topology, tables.addresses)
    for destination in np.flatnonzero(unreachable.any(axis=0)).tolist():
        end, name = int(tables.ends[destination]), tables.destination_name(destination)
        if not tables.entries.is_delivered[destination]:
            found = int(ports[end, destination])
            instead = "has no entry" if found < 0 else f"sends it to port {found}"
            yield (
                f"switch {names[end]} does not deliver {name} to port {int(right[destination])}: "
                f"it {instead}"
            )
        others = unreachable[:, destination].copy()
        others[end] = False
        missing = np.flatnonzero(others & (ports[:, destination] < 0))
        if missing.size:
            some = ", ".join(names[switch] for switch in missing[:NAMED])
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            yield f"{name} has no entry at {len(missing)} switches: {some}{more}"
        dead = others & (ports[:, destination] >= 0) & (tables.entries.steps[:, destination] < 0)
        for switch in np.flatnonzero(dead).tolist():
            yield (
                f"switch {names[switch]} sends {name} to port {int(ports[switch, destination])}, "
                "which has no cable to a switch"
            )


def _cycle_text(tables: FabricTables, loops: CreditLoops) -> str:
    """Describe the example of a credit loop."""
    steps = [f"{tables.out_port(channel)} on VL {lane}" for channel, lane in loops.example]
    return " waits for ".join([*steps, steps[0]])


def _busiest(tables: FabricTables, loads: Float64Array) -> tuple[CableLoad, ...]:
    topology = tables.topology
    back = np.empty(topology.num_channels, dtype=np.int64)
    back[topology.links[:, 0]], back[topology.links[:, 1]] = (
        topology.links[:, 1],
        topology.links[:, 0],
    )
    order = np.argsort(-loads, kind="stable")[:BUSIEST]
    return tuple(
        CableLoad(tables.out_port(one), tables.out_port(int(back[one])), float(loads[one]))
        for one in order.tolist()
    )
