"""Simulate packets at all loads and with all seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import (
    Demand,
    EngineCase,
    EngineResult,
    RouteTable,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.api.hops import program_digest
from routelab.api.verdicts import PROVEN
from routelab.metrics import channel_load_bound, ejection_bound
from routelab.registry.requirements import require_unchanged
from routelab.routing.demands import demand_of
from routelab.simulation.packet.closed_loop import messages_of
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.facts import (
    blocked_at,
    curve_row,
    highest_load_facts,
    notes_of,
    saturation_facts,
)
from routelab.simulation.packet.load_progress import LoadProgress
from routelab.simulation.packet.measurement.result import LoadResult
from routelab.simulation.packet.measurement.rows import from_row, to_row
from routelab.simulation.packet.measurement.saturation import find_saturation
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.measurement.sweep import sweep_loads
from routelab.simulation.packet.result_tables import (
    latency_table,
    packet_channel_table,
    terminal_table,
)
from routelab.simulation.packet.routing import make_packet_program, penalty_warning
from routelab.simulation.packet.traffic import (
    ClosedLoop,
    OfferedTraffic,
    OpenLoop,
    active_terminals,
)

MOST_PAIRED = 2048
"""Largest number of terminals for which `_overload_limit` adds up the traffic of all pairs."""


def simulate_packets(case: EngineCase, settings: SimulationSettings) -> EngineResult:
    """Simulate all loads with all seeds, on as many threads as the process may use.

    The number of threads changes only the columns of `PacketEngine.clock`, which are times.

    Raises
    ------
    UnsupportedError
        If network, routing, traffic and routers do not work together; the text is the reason.
    PluginError
        If a plugin breaks its contract.
    """
    network, traffic = case.network, case.work
    assert isinstance(traffic, TrafficPlugin)
    # 1. The demand; in open loop it is drawn once for each seed.
    case.report_progress(traffic.name, "traffic")

    @cache
    def demand(seed: int) -> Demand:
        drawn = demand_of(traffic, network, seed)
        require_unchanged(traffic.name, network)
        return drawn

    first_demand = demand(settings.seed)
    if not first_demand.rate.any():
        raise UnsupportedError(f"{traffic.name}: no terminal sends anything on this network")
    case.report_progress(traffic.name, "ok", ended=True)
    # 2. The routing as a program, with the verdict of the deadlock checker.
    router = settings.routers()
    program, table, deadlock_facts = make_packet_program(case, router, settings.proof_states)
    # 3. Functions that measure a load with a seed, for `sweep_loads`. A finished result is stored
    #    under digest, load and seed, so that a run that was killed continues. The digest of the
    #    program is part of the key, because a random routing may have drawn another table since.
    digest = program_digest(program)
    progress = LoadProgress(settings)

    def offered_traffic(load: float, seed: int) -> OfferedTraffic:
        packets, in_order = settings.message_packets, settings.in_order
        if not settings.messages:
            return OpenLoop(demand(seed), load, message_packets=packets, in_order=in_order)
        messages = messages_of(traffic, network, settings.messages, seed)
        return ClosedLoop(messages, message_packets=packets, in_order=in_order)

    def make_simulation(load: float, seed: int) -> Simulation:
        return Simulation(network, program, router, offered_traffic(load, seed), seed)

    def on_result(measured: LoadResult) -> None:
        case.store.save(f"{digest} {measured.load!r} {measured.seed}", to_row(measured))
        progress.finish(measured)

    def find_result(load: float, seed: int) -> LoadResult | None:
        row = case.store.find(f"{digest} {load!r} {seed}")
        return None if row is None else from_row(row, settings)

    # measure(loads) returns a `Point` for each load, with the results of all seeds.
    measure = partial(
        sweep_loads,
        make_simulation,
        settings,
        on_result=on_result,
        find_result=find_result,
        on_progress=progress.report,
    )
    # 4. All loads of the settings. A search for saturation begins with their results.
    progress.begin()
    points = measure(settings.loads)
    bubble = bool(program.bubble)
    facts = {
        "convention": first_demand.convention,
        **deadlock_facts,
        **highest_load_facts(points, network, bubble=bubble),
    }
    curve = [curve_row(point, bubble=bubble) for point in points]
    if settings.find_saturation:
        limit = _overload_limit(table, first_demand)
        saturation = find_saturation(measure, settings, known=points, limit=limit)
        facts |= saturation_facts(saturation)
        curve = [curve_row(point, bubble=bubble) for point in saturation.points]

    # 5. Tables. The loads that a search has tried are only in the table "loads" (`curve`); the
    #    other tables have those of the settings. Which terminals send and receive does not depend
    #    on the load, so the first one serves all.
    @cache
    def senders_and_receivers(seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return active_terminals(offered_traffic(points[0].load, seed))

    terminals = terminal_table(points, network, senders_and_receivers)
    if settings.messages:
        rates = [rate for rate in terminals["throughput"] if rate is not None]
        facts["terminal_throughput"] = float(np.mean(rates)) if rates else None
    facts["blocked"] = blocked_at(curve)
    _check_against_proof(facts, curve)
    tables = {
        "loads": {name: [row[name] for row in curve] for name in curve[0]},
        "channels": packet_channel_table(points, network),
        "terminals": terminals,
        "latencies": latency_table(points),
    }
    notes = notes_of(settings, facts, curve)
    warning = penalty_warning(program, router)
    if warning:
        facts["text"] += f". Warning: {warning}"
        notes.append(f"warning: {warning}")
    return EngineResult(facts, tables, notes)


def _check_against_proof(facts: Mapping[str, Any], curve: Sequence[Mapping[str, Any]]) -> None:
    """Raise RuntimeError if a routing that is proven free of deadlock deadlocked in a simulation.

    Then the checker or the engine is wrong.
    """
    if facts["deadlock"] not in PROVEN or all(row["state"] != "deadlock" for row in curve):
        return
    check = f"the check says {facts['deadlock']} ({facts['deadlock_reason']})"
    raise RuntimeError(f"{check}, and the simulation ends in a deadlock ({facts['blocked']})")


def _overload_limit(table: RouteTable | None, demand: Demand) -> float:
    """Return a load above which a terminal or a channel certainly gets more than it can carry.

    The saturation search counts undecided loads above it as saturated. Channels are known only with
    a table. Infinite (no limit) above `MOST_PAIRED` terminals.
    """
    if len(demand.rate) > MOST_PAIRED:
        return inf
    limits = [ejection_bound(demand)]
    if table is not None:
        limits.append(channel_load_bound(table, demand))
    return min(limits)
