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
    keep_only_hosts,
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
NUM_BUSIEST = 10
"""Cables in `FabricCheck.busiest`."""
MAX_NAMED = 3
"""Largest number of switches or LIDs that a sentence names; it counts the others."""


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
        `pairs` times the speed of the fastest cable over the speed of this one: 6 pairs on a cable
        of half the speed are a load of 12.
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
        What the files lack, as a sentence without its full stop.
    assumption : str
        What the check assumes instead, e.g. ``VL = SL``.
    remedy : str
        Input that would close the gap, e.g. ``the SL2VL tables of the fabric with --sl2vl``.
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
        Missing input on which the verdict depends. Without gaps and faults it is ``proven``.
    possible : tuple of (str, str)
        Kind and sentence of further faults, which exist if the assumptions of `gaps` hold.
    remarks : tuple of str
        Sentences on the traffic without a credit loop, and on the traffic outside the proof.
    busiest : tuple of CableLoad
        The busiest cables, in descending order of their load.
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
        levels=read_levels(levels) if isinstance(levels, Path) else levels,
        lanes=None if lane_file is None else read_lane_tables(lane_file),
        level_file=str(levels),
        lane_file=str(lane_file),
    )
    faults = find_faults(tables, service, replies)
    verdict = faults.verdict
    has_gap = verdict == "not enough input"

    # 2. Loads: those of routes between hosts only.
    report_phase("check", "loads")
    hosts = keep_only_hosts(tables, routers=routers)
    table = host_routes(hosts)
    busiest, load_facts = _measure_loads(tables, table, bound_seconds)
    num_connected, _ = connected_pairs(table)

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
        "lost_pairs": num_connected - reachable_pairs(table),
        "lost_switch_pairs": int(np.count_nonzero(faults.unneeded)),
        "credit_loops": faults.own_level_loops.count,
        "credit_loops_same": faults.same_level_loops.count if faults.same_level_loops else None,
        "service_levels": _levels_text(levels),
        "dropped_routes": faults.own_level_loops.dropped,
        "unlisted_levels": faults.unlisted.between_hosts,
        "unlisted_switch_levels": faults.unlisted.with_switch,
        **load_facts,
    }
    report_phase("check", verdict, ended=True)
    return FabricCheck(facts, faults.texts, faults.gaps, faults.possible, faults.remarks, busiest)


def _levels_text(levels: Path | int | None) -> str:
    """Return ``unknown``, ``file``, or the service level of all packets."""
    if levels is None:
        return "unknown"
    return "file" if isinstance(levels, Path) else str(levels)


class UnlistedPairs(NamedTuple):
    """Numbers of ordered pairs at different switches for which the file lacks a service level.

    Attributes
    ----------
    between_hosts : int
        Pairs of end ports.
    with_switch : int
        Pairs with a switch at an end; these are left out of the verdict.
    """

    between_hosts: int
    with_switch: int


@dataclass(frozen=True, eq=False)
class FabricFaults:
    """Faults of forwarding tables and service levels, without their loads.

    Attributes
    ----------
    loops : tuple of Loop
    unreachable : bool array, shape (S, T + S)
        Whether a switch cannot send packets to a destination, although cables connect them; without
        the pairs in `unneeded`. Destinations are the terminals, then the switches.
    unneeded : bool array, shape (S, T + S)
        Whether a switch without hosts cannot send packets to another switch. This is no fault,
        because hosts do not need such a route.
    own_level_loops : CreditLoops
        Credit loops if replies use the SL of their own path record.
    same_level_loops : CreditLoops or None
        Credit loops if replies use the SL of the request; None without service levels.
    unlisted : UnlistedPairs
    texts : tuple of (str, str)
        Kind and sentence of each fault: `FabricCheck.faults`.
    gaps, possible, remarks
        The attributes of `FabricCheck` with these names.
    """

    loops: tuple[Loop, ...]
    unreachable: BoolArray
    unneeded: BoolArray
    own_level_loops: CreditLoops
    same_level_loops: CreditLoops | None
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
        """Verdict if the assumptions of `gaps` hold."""
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
    """Find loops, wrong and missing entries, and credit loops.

    Parameters
    ----------
    tables : FabricTables
    service : Service
    replies : {"own", "same"}
        Whether credit loops that arise only if replies use the SL of the request are faults.
    """
    # 1. Entries that lead nowhere, in a loop, or are missing.
    report_phase("check", "routes")
    fates, loops = fates_of(tables)
    unreachable, unneeded = _mark_unreachable(tables, fates)
    texts = [("loop", _loop_text(tables, loop)) for loop in loops]
    texts += [("entry", text) for text in _entry_fault_texts(tables, unreachable)]

    # 2. Credit loops, for both uses of service levels by replies. The fabric does not say which one
    #    its applications have, so the caller decides which of them is a fault.
    report_phase("check", "credit loops")
    own_level_loops = find_credit_loops(tables, service, fates)
    same_level_loops = None
    if service.levels is not None:  # None: all packets count as SL 0, also replies
        same_level_loops = find_credit_loops(tables, service, fates, same_level_replies=True)
    same_level_replies = same_level_loops is not None and replies == "same"
    credit_loops = own_level_loops
    if same_level_loops is not None and same_level_replies:
        credit_loops = same_level_loops

    # 3. What the files leave open. If a file is missing, all credit loops depend on an assumption,
    #    so they are no faults yet. If only the levels of some pairs are missing, the loops of the
    #    other routes are faults, because further routes cannot remove them.
    unlisted = _count_unlisted(tables, service)
    gaps = list(_missing_file_gaps(tables, service))
    if not gaps:
        texts += _lane_faults(tables, credit_loops)
    if unlisted.between_hosts:
        gaps.append(
            Gap(
                missing=f"The file with service levels lacks {unlisted.between_hosts} pairs of end "
                "ports",
                assumption="these pairs use SL 0",
                remedy="a complete file with --sls",
            )
        )

    # 4. Close the gaps if what is missing cannot matter. A cycle of lanes is also a cycle of
    #    cables. So if all traffic on one lane, which is `Service()`, closes no cycle of cables, no
    #    service levels and lanes close one. Dropped routes are another matter: VL 15 drops packets
    #    whatever the cables are, so with them the gaps remain.
    remarks: tuple[str, ...] = ()
    assumed_loops = credit_loops
    has_gaps = bool(gaps or unlisted.with_switch)
    if (
        has_gaps
        and not credit_loops.dropped
        and not find_credit_loops(tables, Service(), fates).count
    ):
        gaps, unlisted = [], unlisted._replace(with_switch=0)
        if service.levels is not None:
            remarks = ("No service levels close a credit loop: all traffic may be on one VL.",)
    else:
        # Pairs of hosts without a level may close further loops: assume SL 0 for them.
        if unlisted.between_hosts:
            completed = _with_level_0(service, tables.topology.num_terminals)
            assumed_loops = find_credit_loops(
                tables, completed, fates, same_level_replies=same_level_replies
            )
        remarks = tuple(
            _remarks(
                tables,
                service,
                fates,
                loops=assumed_loops,
                unlisted_with_switch=unlisted.with_switch,
                same_level_replies=same_level_replies,
            )
        )

    # 5. Routes to LIDs that the fabric lacks are not examined, so this gap remains in any case.
    if tables.foreign_lids:
        gaps.append(_foreign_lid_gap(tables.foreign_lids))
    # What is a fault already is not listed again as one that depends on an assumption.
    certain_kinds = {kind for kind, _ in texts}
    possible = [
        (kind, text)
        for kind, text in _lane_faults(tables, assumed_loops)
        if kind not in certain_kinds
    ]
    return FabricFaults(
        loops=loops,
        unreachable=unreachable,
        unneeded=unneeded,
        own_level_loops=own_level_loops,
        same_level_loops=same_level_loops,
        unlisted=unlisted,
        texts=tuple(texts),
        gaps=tuple(gaps),
        possible=tuple(possible),
        remarks=remarks,
    )


def _verdict_of(kinds: Collection[str]) -> Status:
    """Return the verdict about faults of these kinds.

    A credit loop alone is a ``cycle``; with any other fault the tables are ``broken``.
    """
    if not kinds:
        return "proven"
    return "cycle" if set(kinds) == {"credit loop"} else "broken"


def _missing_file_gaps(tables: FabricTables, service: Service) -> Iterator[Gap]:
    """Yield a gap for each missing file, if credit loops depend on it."""
    if service.levels is None:
        yield Gap(
            missing="The service levels are unknown (no --sls)",
            assumption="all unicast traffic is on SL 0",
            remedy="the service levels of the fabric with --sls",
        )
    elif service.lanes is None:
        has_cable_route = tables.ends[:, np.newaxis] != tables.ends
        used_levels = np.unique(service.levels[has_cable_route & (service.levels >= 0)])
        # Routes on one level are safe if the cables have no cycle, whatever the lanes are. Level 15
        # is different, because packets on VL 15 are dropped.
        if len(used_levels) > 1 or MANAGEMENT_LANE in service.levels:
            yield Gap(
                missing="The virtual lanes of the service levels are unknown (no --sl2vl)",
                assumption="VL = SL",
                remedy="the SL2VL tables of the fabric with --sl2vl",
            )


def _count_unlisted(tables: FabricTables, service: Service) -> UnlistedPairs:
    """Count the pairs without a service level that need one: a path of cables connects them."""
    if service.levels is None:
        return UnlistedPairs(0, 0)
    ends, num_hosts = tables.ends, tables.topology.num_terminals
    component_of_end = tables.component[ends]
    # by source and destination; within a switch no cable is used
    has_path = component_of_end[:, np.newaxis] == component_of_end
    is_unlisted = (service.levels < 0) & has_path & (ends[:, np.newaxis] != ends)
    between_hosts = int(np.count_nonzero(is_unlisted[:num_hosts, :num_hosts]))
    num_pairs = int(np.count_nonzero(is_unlisted))
    return UnlistedPairs(between_hosts, with_switch=num_pairs - between_hosts)


def _foreign_lid_gap(lids: tuple[int, ...]) -> Gap:
    """Return the gap of table entries for LIDs that the fabric does not have."""
    named = ", ".join(f"0x{lid:04x}" for lid in lids[:MAX_NAMED])
    more = f" and {len(lids) - MAX_NAMED} more" if len(lids) > MAX_NAMED else ""
    return Gap(
        missing="The tables have entries for LIDs that no port of the fabric has "
        f"({named}{more}): further LIDs of ports with LMC above 0, or ports that were missing when "
        "the fabric was listed",
        assumption="no packets are sent to these LIDs",
        remedy="a fabric and tables of the same time, with lmc 0",
    )


def _with_level_0(service: Service, num_ends: int) -> Service:
    """Return the service with SL 0 where the first `num_ends` ends have no SL to each other."""
    levels = np.array(service.levels)
    first_levels = levels[:num_ends, :num_ends]
    first_levels[first_levels < 0] = 0
    return replace(service, levels=frozen_array(levels, np.int8))


def _lane_faults(tables: FabricTables, loops: CreditLoops) -> Iterator[tuple[str, str]]:
    """Yield kind and sentence of the faults of service levels and lanes."""
    if loops.count:
        resources = [f"{tables.out_port(channel)} on VL {lane}" for channel, lane in loops.example]
        yield "credit loop", " waits for ".join([*resources, resources[0]])
    if loops.dropped:
        yield "lane", f"{loops.dropped} routes are dropped: their SL leads to VL 15"


def _remarks(
    tables: FabricTables,
    service: Service,
    fates: Int8Array,
    loops: CreditLoops,
    unlisted_with_switch: int,
    *,
    same_level_replies: bool,
) -> Iterator[str]:
    """Yield sentences on traffic without a credit loop, and on traffic outside the proof.

    Parameters
    ----------
    loops : CreditLoops
        Credit loops if pairs of hosts without a service level use SL 0.
    unlisted_with_switch : int
        Number of pairs with a switch at an end that have no service level.
    """
    if loops.count:
        # Are packets from and to switches the only cause? Search again without them.
        num_hosts = tables.topology.num_terminals
        completed = service if service.levels is None else _with_level_0(service, num_hosts)
        if not find_credit_loops(
            tables, completed, fates, same_level_replies=same_level_replies, hosts_only=True
        ).count:
            yield "Without packets from and to switches there is no credit loop."
    elif unlisted_with_switch:
        completed = _with_level_0(service, len(tables.ends))
        has_loop = find_credit_loops(
            tables, completed, fates, same_level_replies=same_level_replies
        ).count
        yield (
            f"The file with service levels lacks {unlisted_with_switch} pairs with a switch at an "
            "end, which are left out. On SL 0 "
            + ("they would close a credit loop." if has_loop else "they close no credit loop.")
        )


def _mark_unreachable(tables: FabricTables, fates: Int8Array) -> tuple[BoolArray, BoolArray]:
    """Mark the destinations that a switch cannot send packets to, although cables connect them.

    Returns
    -------
    unreachable : bool array, shape (S, T + S)
        By switch and destination, without those in `unneeded`.
    unneeded : bool array, shape (S, T + S)
        Other switches, from switches without hosts: OpenSM's engines for trees have no entries for
        some of them, and hosts need none.
    """
    topology, entries = tables.topology, tables.entries
    is_connected = tables.component[:, np.newaxis] == tables.component[tables.ends]
    does_not_arrive = is_connected & (fates != ARRIVES)
    has_no_hosts = (topology.terminals_per_switch == 0)[:, np.newaxis]
    # A loop is a fault even where no host sends packets; only a missing route can be unneeded.
    unneeded = is_connected & (fates == IS_LOST) & has_no_hosts
    # Routes to hosts are needed everywhere.
    unneeded[:, : topology.num_terminals] = False
    # An entry for a port without a cable to a switch is wrong, not missing. And a switch without an
    # entry for itself loses the packets that all others send to it.
    unneeded &= (entries.ports < 0) | (entries.steps >= 0)
    switches = np.arange(topology.num_switches)
    unneeded[switches, topology.num_terminals + switches] = False
    return does_not_arrive & ~unneeded, unneeded


def _loop_text(tables: FabricTables, loop: Loop) -> str:
    """Name some destinations of a loop, count the others, and list its ports."""
    named = ", ".join(map(tables.destination_name, loop.destinations[:MAX_NAMED]))
    num_unnamed = len(loop.destinations) - MAX_NAMED
    destinations = f"{named} and {num_unnamed} more" if num_unnamed > 0 else named
    ports = " -> ".join(map(tables.out_port, loop.channels))
    first_switch = tables.topology.switch_names[tables.topology.channel_source[loop.channels[0]]]
    return f"packets for {destinations} loop: {ports} -> {first_switch}"


def _entry_fault_texts(tables: FabricTables, unreachable: BoolArray) -> Iterator[str]:
    """Yield a sentence for each wrong entry, and for each destination with missing entries.

    Parameters
    ----------
    unreachable : bool array, shape (S, T + S)
        The faults among the destinations that a switch cannot send packets to.
    """
    topology, ports = tables.topology, tables.entries.ports
    names = topology.switch_names
    right_ports = destination_ports(topology, tables.addresses)
    for destination in np.flatnonzero(unreachable.any(axis=0)).tolist():
        # 1. The destination's own switch must deliver the packets.
        end, name = int(tables.ends[destination]), tables.destination_name(destination)
        if not tables.entries.is_delivered[destination]:
            port, right_port = int(ports[end, destination]), int(right_ports[destination])
            problem = "has no entry" if port < 0 else f"sends it to port {port}"
            yield (
                f"switch {names[end]} does not deliver {name} to port {right_port}: it {problem}"
            )

        # 2. Every other switch must send them to another switch. A switch that does so is not at
        #    fault, even if packets are lost at a switch behind it.
        lost_at = unreachable[:, destination].copy()
        lost_at[end] = False
        has_entry = ports[:, destination] >= 0
        leads_to_switch = tables.entries.steps[:, destination] >= 0
        without_entry = np.flatnonzero(lost_at & ~has_entry)
        if without_entry.size:
            named = ", ".join(names[switch] for switch in without_entry[:MAX_NAMED])
            num_unnamed = len(without_entry) - MAX_NAMED
            more = f" and {num_unnamed} more" if num_unnamed > 0 else ""
            yield f"{name} has no entry at {len(without_entry)} switches: {named}{more}"
        for switch in np.flatnonzero(lost_at & has_entry & ~leads_to_switch).tolist():
            yield (
                f"switch {names[switch]} sends {name} to port {int(ports[switch, destination])}, "
                "which has no cable to a switch"
            )


def _measure_loads(
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
        Approximate time limit of the lower bound of the load.
    """
    pairs_per_channel = channel_loads(table)
    loads = relative_loads(table.topology, pairs_per_channel)
    busiest = _busiest_cables(tables, pairs_per_channel, loads)
    bandwidth = effective_bisection(table, SAMPLES, seed=0)
    pairs_over_cable = pairs_over_links(table)
    worst_cable = int(pairs_over_cable.argmax()) if len(pairs_over_cable) else None
    report_phase("check", "bound")
    bound = bound_load(table.topology, rules=None, seconds=bound_seconds)
    return busiest, {
        "max_load": float(loads.max(initial=0)),
        "max_load_pairs": busiest[0].pairs if busiest else 0,
        "load_bound": float(bound.load),
        "effective_bisection": bandwidth.mean if bandwidth else None,
        "effective_bisection_half_width": bandwidth.half_width if bandwidth else None,
        "worst_cable": "" if worst_cable is None else tables.cable_name(worst_cable),
        "worst_cable_pairs": 0 if worst_cable is None else int(pairs_over_cable[worst_cable]),
    }


def _busiest_cables(
    tables: FabricTables, pairs_per_channel: Float64Array, loads: Float64Array
) -> tuple[CableLoad, ...]:
    """Return the cables with the largest loads in one direction."""
    topology = tables.topology
    # Each cable is two channels, one in each direction. A port is named as the source of a channel,
    # so the port at the target is that of the opposite channel.
    opposite = np.empty(topology.num_channels, dtype=np.int64)
    opposite[topology.links[:, 0]] = topology.links[:, 1]
    opposite[topology.links[:, 1]] = topology.links[:, 0]
    busiest_channels = np.argsort(-loads, kind="stable")[:NUM_BUSIEST]
    return tuple(
        CableLoad(
            port=tables.out_port(channel),
            peer=tables.out_port(int(opposite[channel])),
            pairs=round(float(pairs_per_channel[channel])),
            load=float(loads[channel]),
        )
        for channel in busiest_channels.tolist()
    )
