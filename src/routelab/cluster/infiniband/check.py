"""Check the forwarding tables of a fabric: faults, credit loops, loads, the worst failure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import RouteTable
from routelab.api.topology import BoolArray, Float64Array, Int8Array, frozen_array
from routelab.api.verdicts import Status
from routelab.cluster.infiniband.credit_loops import (
    MANAGEMENT_LANE,
    CreditLoops,
    find_credit_loops,
)
from routelab.cluster.infiniband.inputs import (
    FabricTables,
    Service,
    hosts_only,
    read_fabric_tables,
    read_levels,
    service_of,
)
from routelab.cluster.infiniband.interrupted_pairs import pairs_over_links
from routelab.cluster.infiniband.walk import ARRIVES, IS_LOST, Loop, fates_of, host_routes
from routelab.metrics import (
    channel_loads,
    connected_pairs,
    effective_bisection,
    reachable_pairs,
    relative_loads,
)
from routelab.routing.bound import bound_load
from routelab.toolkit.infiniband import destination_ports, read_lane_tables

SAMPLES = 1000
"""Random bisections, with seed 0."""
BUSIEST = 10
"""Cables of `FabricCheck.busiest`."""
NAMED = 3
"""Switches and LIDs that a sentence names."""


@dataclass(frozen=True)
class CableLoad:
    """Load of a cable in one direction.

    Attributes
    ----------
    port, peer : str
        Ports at its ends, e.g. ``s3:7``.
    pairs : int
        Ordered pairs of hosts whose route uses it.
    load : float
        Their number times the speed of the fastest cable over that of this one.
    """

    port: str
    peer: str
    pairs: int
    load: float


@dataclass(frozen=True)
class Gap:
    """Input that is missing, so that the verdict needs an assumption.

    Attributes
    ----------
    missing : str
        What they lack, as a sentence without its full stop.
    assumption : str
        Under which the rest was checked, e.g. ``VL = SL``.
    remedy : str
        What else to give.
    """

    missing: str
    assumption: str
    remedy: str


@dataclass(frozen=True, eq=False)
class FabricCheck:
    """The result of a check.

    Attributes
    ----------
    facts : dict
        Value of each column of `routelab.cluster.infiniband.columns.CHECK`, by its name.
    faults : tuple of (str, str)
        Kind and sentence of each fault. Kinds: ``loop`` of forwarding entries, wrong or missing
        forwarding ``entry``, ``credit loop``, virtual ``lane`` 15, which drops packets.
    gaps : tuple of Gap
        Input that the verdict would need; with neither gaps nor faults the tables are proven.
    possible : tuple of (str, str)
        Kind and sentence of faults that exist if the assumptions of `gaps` hold.
    remarks : tuple of str
        Which part of the traffic has no credit loop, or is not in the proof.
    busiest : tuple of CableLoad
        The busiest cables, in descending order.
    """

    facts: dict[str, Any]
    faults: tuple[tuple[str, str], ...]
    gaps: tuple[Gap, ...]
    possible: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    busiest: tuple[CableLoad, ...]

    @property
    def verdict(self) -> Status:
        """Whether unicast packets arrive and cannot deadlock; see `routelab.api.verdicts`."""
        verdict: Status = self.facts["verdict"]
        return verdict

    @property
    def possible_loop(self) -> str:
        """The credit loop among `possible`; empty if there is none."""
        return dict(self.possible).get("credit loop", "")


def check_fabric(
    fabric_file: Path,
    lft_file: Path,
    levels: Path | int | None = None,
    lane_file: Path | None = None,
    *,
    replies: Literal["own", "same"] = "own",
    routers: bool = False,
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
    routers : bool
        Whether end ports of routers are hosts.
    bound_seconds : float
        Approximate time limit of the bound.

    Raises
    ------
    InputError
        If a file is wrong, or the files do not belong together.
    """
    # 1. Faults: those of all traffic, also from and to routers, aggregation nodes and switches.
    report_phase("check", "reading")
    tables = read_fabric_tables(fabric_file, lft_file)
    service = service_of(
        tables,
        read_levels(levels) if isinstance(levels, Path) else levels,
        None if lane_file is None else read_lane_tables(lane_file),
        str(levels),
        str(lane_file),
    )
    faults = find_faults(tables, service, replies)
    verdict = faults.verdict
    has_gap = verdict == "not enough input"

    # 2. Loads: those of routes between hosts. What is no host was in the first step only.
    report_phase("check", "loads")
    hosts = hosts_only(tables, routers=routers)
    table = host_routes(hosts)
    busiest, load_facts = _loads(tables, table, bound_seconds)

    topology = tables.topology
    facts: dict[str, Any] = {
        "switches": topology.num_switches,
        "hosts": hosts.topology.num_terminals,
        "left_out": topology.num_terminals - hosts.topology.num_terminals,
        "routers": 0 if routers else tables.fabric.num_router_ports,
        "cables": len(topology.links),
        "verdict": verdict,
        "assumed_verdict": faults.assumed_verdict if has_gap else "",
        "assumption": " and ".join(gap.assumption for gap in faults.gaps) if has_gap else "",
        "loops": len(faults.loops),
        "unreachable_lids": int(np.count_nonzero(faults.unreachable.any(axis=0))),
        "foreign_lids": len(tables.foreign_lids),
        "lost_pairs": connected_pairs(table)[0] - reachable_pairs(table),
        "lost_switch_pairs": int(np.count_nonzero(faults.optional)),
        "credit_loops": faults.own.count,
        "credit_loops_same": faults.same.count if faults.same else None,
        "service_levels": _kind_of(levels),
        "dropped_routes": faults.own.dropped,
        "unlisted_levels": faults.unlisted.of_hosts,
        "unlisted_switch_levels": faults.unlisted.with_switch,
        **load_facts,
    }
    report_phase("check", verdict, ended=True)
    return FabricCheck(facts, faults.texts, faults.gaps, faults.possible, faults.remarks, busiest)


def _kind_of(levels: Path | int | None) -> str:
    if levels is None:
        return "unknown"
    return "file" if isinstance(levels, Path) else str(levels)


class UnlistedPairs(NamedTuple):
    """Numbers of pairs with a route over cables for which the file has no service level.

    Attributes
    ----------
    of_hosts : int
        Pairs of hosts.
    with_switch : int
        Pairs with a switch at an end; these are left out of the verdict.
    """

    of_hosts: int
    with_switch: int


@dataclass(frozen=True, eq=False)
class FabricFaults:
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
    unlisted : UnlistedPairs
    texts : tuple of (str, str)
        See `FabricCheck.faults`.
    gaps : tuple of Gap
    possible : tuple of (str, str)
    remarks : tuple of str
        See `FabricCheck`.
    """

    loops: tuple[Loop, ...]
    unreachable: BoolArray
    optional: BoolArray
    own: CreditLoops
    same: CreditLoops | None
    unlisted: UnlistedPairs
    texts: tuple[tuple[str, str], ...]
    gaps: tuple[Gap, ...]
    possible: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]

    @property
    def verdict(self) -> Status:
        """Whether packets arrive and cannot deadlock; see `routelab.api.verdicts`."""
        if self.gaps and not self.texts:
            return "not enough input"
        return _verdict_of([kind for kind, _ in self.texts])

    @property
    def assumed_verdict(self) -> Status:
        """Verdict under the assumptions of `gaps`."""
        return _verdict_of([kind for kind, _ in self.texts + self.possible])

    @property
    def possible_loop(self) -> str:
        """The credit loop among `possible`; empty if there is none."""
        return dict(self.possible).get("credit loop", "")


def find_faults(
    tables: FabricTables,
    service: Service,
    replies: Literal["own", "same"] = "own",
) -> FabricFaults:
    """Find loops, wrong and missing entries, and credit loops; see `check_fabric`."""
    # 1. Entries that lead nowhere, in a loop, or are missing.
    report_phase("check", "routes")
    fates, loops = fates_of(tables)
    unreachable, optional = _unreachable(tables, fates)
    texts = [("loop", _loop_text(tables, loop)) for loop in loops]
    texts += [("entry", text) for text in _entry_faults(tables, unreachable)]

    # 2. Credit loops, for both uses of service levels by replies. The fabric does not say which one
    #    its applications have, so the caller decides which of them is a fault.
    report_phase("check", "credit loops")
    own = find_credit_loops(tables, service, fates)
    same = None
    if service.levels is not None:
        same = find_credit_loops(tables, service, fates, same=True)
    is_same = same is not None and replies == "same"
    credit_loops = same if same is not None and is_same else own

    # 3. What the files leave open. Routes with a service level keep their credit loops, whatever
    #    the level of the others is; but without levels or lanes, all loops are under an assumption.
    unlisted = _unlisted(tables, service)
    gaps = list(_unknown_files(tables, service))
    if not gaps:
        texts += _lane_faults(tables, credit_loops)
    if unlisted.of_hosts:
        gaps.append(
            Gap(
                f"The file with service levels lacks {unlisted.of_hosts} pairs of end ports",
                "these pairs use SL 0",
                "a complete file with --sls",
            )
        )

    # 4. Close the gaps, if possible: a cycle of lanes is also a cycle of cables. If the cables have
    #    none, which is the case of all traffic on one lane, no service levels and lanes close one.
    remarks: tuple[str, ...] = ()
    assumed_loops = credit_loops
    is_open = bool(gaps or unlisted.with_switch) and not credit_loops.dropped
    if is_open and not find_credit_loops(tables, Service(), fates).count:
        gaps, unlisted = [], unlisted._replace(with_switch=0)
        if service.levels is not None:
            remarks = ("No service levels close a credit loop: all traffic may be on one VL.",)
    else:
        if unlisted.of_hosts:
            filled = _on_level_0(service, tables.topology.num_terminals)
            assumed_loops = find_credit_loops(tables, filled, fates, same=is_same)
        remarks = tuple(
            _remarks(tables, service, fates, assumed_loops, unlisted.with_switch, same=is_same)
        )

    # 5. Routes to LIDs that the fabric lacks are not examined, so this gap remains in any case.
    if tables.foreign_lids:
        gaps.append(_foreign_gap(tables.foreign_lids))
    certain_kinds = {kind for kind, _ in texts}
    possible = [
        (kind, text)
        for kind, text in _lane_faults(tables, assumed_loops)
        if kind not in certain_kinds
    ]
    return FabricFaults(
        loops,
        unreachable,
        optional,
        own,
        same,
        unlisted,
        tuple(texts),
        tuple(gaps),
        tuple(possible),
        remarks,
    )


def _verdict_of(kinds: Collection[str]) -> Status:
    """Return the verdict about faults of these kinds."""
    if not kinds:
        return "proven"
    return "cycle" if set(kinds) == {"credit loop"} else "broken"


def _unknown_files(tables: FabricTables, service: Service) -> Iterator[Gap]:
    """Name the files without which credit loops depend on an assumption."""
    if service.levels is None:
        yield Gap(
            "The service levels are unknown (no --sls)",
            "all unicast traffic is on SL 0",
            "the service levels of the fabric with --sls",
        )
    elif service.lanes is None:
        apart = tables.ends[:, np.newaxis] != tables.ends
        used = np.unique(service.levels[apart & (service.levels >= 0)])
        # on one level, routes without a cycle of cables are safe, whatever its lanes are
        if len(used) > 1 or MANAGEMENT_LANE in service.levels:
            yield Gap(
                "The virtual lanes of the service levels are unknown (no --sl2vl)",
                "VL = SL",
                "the SL2VL tables of the fabric with --sl2vl",
            )


def _unlisted(tables: FabricTables, service: Service) -> UnlistedPairs:
    """Count the pairs without a service level."""
    if service.levels is None:
        return UnlistedPairs(0, 0)
    ends, hosts = tables.ends, tables.topology.num_terminals
    without_level = (service.levels < 0) & (ends[:, np.newaxis] != ends)
    without_level &= tables.part[ends][:, np.newaxis] == tables.part[ends]
    of_hosts = int(np.count_nonzero(without_level[:hosts, :hosts]))
    return UnlistedPairs(of_hosts, int(np.count_nonzero(without_level)) - of_hosts)


def _foreign_gap(lids: tuple[int, ...]) -> Gap:
    """Return the gap of table entries for LIDs that the fabric does not have."""
    named = ", ".join(f"0x{lid:04x}" for lid in lids[:NAMED])
    more = f" and {len(lids) - NAMED} more" if len(lids) > NAMED else ""
    return Gap(
        f"The tables have entries for LIDs that no port of the fabric has ({named}{more}): further "
        "LIDs of ports with LMC above 0, or ports that were missing when the fabric was listed",
        "no packets are sent to these LIDs",
        "a fabric and tables of the same time, with lmc 0",
    )


def _on_level_0(service: Service, num_ends: int) -> Service:
    """Put routes without a service level on SL 0, those between the first `num_ends` ends."""
    levels = np.array(service.levels)
    first_levels = levels[:num_ends, :num_ends]
    first_levels[first_levels < 0] = 0
    return replace(service, levels=frozen_array(levels, np.int8))


def _lane_faults(tables: FabricTables, loops: CreditLoops) -> Iterator[tuple[str, str]]:
    """Yield kind and sentence of the faults of service levels and lanes."""
    if loops.count:
        yield "credit loop", _cycle_text(tables, loops)
    if loops.dropped:
        yield "lane", f"{loops.dropped} routes are dropped: their SL leads to VL 15"


def _remarks(
    tables: FabricTables,
    service: Service,
    fates: Int8Array,
    loops: CreditLoops,
    unlisted_with_switch: int,
    *,
    same: bool,
) -> Iterator[str]:
    """Describe parts of the traffic without a credit loop, and those that are not in the proof.

    Parameters
    ----------
    loops : CreditLoops
        Of the routes with a service level.
    unlisted_with_switch : int
        Routes from or to switches without a service level.
    """
    if loops.count:
        hosts = tables.topology.num_terminals
        listed = service if service.levels is None else _on_level_0(service, hosts)
        if not find_credit_loops(tables, listed, fates, same=same, hosts_only=True).count:
            yield "Without packets from and to switches there is no credit loop."
    elif unlisted_with_switch:
        everything = _on_level_0(service, len(tables.ends))
        on_level_0 = find_credit_loops(tables, everything, fates, same=same).count
        yield (
            f"The file with service levels lacks {unlisted_with_switch} pairs with a switch at an "
            "end, which are left out. On SL 0 "
            + ("they would close a credit loop." if on_level_0 else "they close no credit loop.")
        )


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
    switches = np.arange(topology.num_switches)
    optional[switches, topology.num_terminals + switches] = False
    return lost & ~optional, optional


def _loop_text(tables: FabricTables, loop: Loop) -> str:
    """Name some destinations of a loop, count the others, and list its ports."""
    named = ", ".join(map(tables.destination_name, loop.destinations[:NAMED]))
    more = len(loop.destinations) - NAMED
    destinations = f"{named} and {more} more" if more > 0 else named
    ports = " -> ".join(map(tables.out_port, loop.channels))
    end = tables.topology.switch_names[tables.topology.channel_source[loop.channels[0]]]
    return f"packets for {destinations} loop: {ports} -> {end}"


def _entry_faults(tables: FabricTables, unreachable: BoolArray) -> Iterator[str]:
    """Describe each wrong or missing entry."""
    topology, ports = tables.topology, tables.entries.ports
    names = topology.switch_names
    right_ports = destination_ports(topology, tables.addresses)
    for destination in np.flatnonzero(unreachable.any(axis=0)).tolist():
        end, name = int(tables.ends[destination]), tables.destination_name(destination)
        if not tables.entries.is_delivered[destination]:
            port, right_port = int(ports[end, destination]), int(right_ports[destination])
            instead = "has no entry" if port < 0 else f"sends it to port {port}"
            yield (
                f"switch {names[end]} does not deliver {name} to port {right_port}: it {instead}"
            )
        lost_at = unreachable[:, destination].copy()
        lost_at[end] = False
        has_entry = ports[:, destination] >= 0
        leads_on = tables.entries.steps[:, destination] >= 0
        without_entry = np.flatnonzero(lost_at & ~has_entry)
        if without_entry.size:
            switches_named = ", ".join(names[switch] for switch in without_entry[:NAMED])
            more = f" and {len(without_entry) - NAMED} more" if len(without_entry) > NAMED else ""
            yield f"{name} has no entry at {len(without_entry)} switches: {switches_named}{more}"
        for switch in np.flatnonzero(lost_at & has_entry & ~leads_on).tolist():
            yield (
                f"switch {names[switch]} sends {name} to port {int(ports[switch, destination])}, "
                "which has no cable to a switch"
            )


def _cycle_text(tables: FabricTables, loops: CreditLoops) -> str:
    """Describe the example of a credit loop."""
    steps = [f"{tables.out_port(channel)} on VL {lane}" for channel, lane in loops.example]
    return " waits for ".join([*steps, steps[0]])


def _loads(
    tables: FabricTables, table: RouteTable, bound_seconds: float
) -> tuple[tuple[CableLoad, ...], dict[str, Any]]:
    """Return the busiest cables, and the facts about loads and the worst cable to lose.

    Parameters
    ----------
    tables : FabricTables
        They name the cables.
    table : RouteTable
        Routes between hosts, on the same cables.
    bound_seconds : float
    """
    pairs = channel_loads(table)
    loads = relative_loads(table.topology, pairs)
    busiest = _busiest(tables, pairs, loads)
    bandwidth = effective_bisection(table, SAMPLES, 0)
    pairs_over_cable = pairs_over_links(table)
    worst_cable = int(pairs_over_cable.argmax()) if len(pairs_over_cable) else None
    report_phase("check", "bound")
    bound = bound_load(table.topology, None, seconds=bound_seconds)
    return busiest, {
        "max_load": float(loads.max(initial=0)),
        "max_load_pairs": busiest[0].pairs if busiest else 0,
        "load_bound": float(bound.load),
        "effective_bisection": bandwidth.mean if bandwidth else None,
        "effective_bisection_half_width": bandwidth.half_width if bandwidth else None,
        "worst_cable": "" if worst_cable is None else tables.cable_name(worst_cable),
        "worst_cable_pairs": 0 if worst_cable is None else int(pairs_over_cable[worst_cable]),
    }


def _busiest(
    tables: FabricTables, pairs: Float64Array, loads: Float64Array
) -> tuple[CableLoad, ...]:
    """Return the cables with the largest loads in one direction."""
    topology = tables.topology
    opposite = np.empty(topology.num_channels, dtype=np.int64)
    opposite[topology.links[:, 0]], opposite[topology.links[:, 1]] = (
        topology.links[:, 1],
        topology.links[:, 0],
    )
    order = np.argsort(-loads, kind="stable")[:BUSIEST]
    return tuple(
        CableLoad(
            tables.out_port(channel),
            tables.out_port(int(opposite[channel])),
            round(float(pairs[channel])),
            float(loads[channel]),
        )
        for channel in order.tolist()
    )
