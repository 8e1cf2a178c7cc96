"""Run the messages of a program as flows over a route table."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from routelab.api import (
    EngineCase,
    EngineResult,
    Job,
    RouteTable,
    Topology,
    UnsupportedError,
    WorkloadPlugin,
)
from routelab.api.topology import Float64Array, Int32Array
from routelab.simulation.flow.collectives import parse_choice
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.machine_engine import machine_of
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.placement import is_file, rank_terminals, read_placement
from routelab.simulation.flow.result import FlowRun
from routelab.simulation.flow.schedule import Schedule, schedule
from routelab.simulation.flow.settings import FlowSettings
from routelab.simulation.flow.workload import program_of
from routelab.toolkit.machine import Machine

Columns = Mapping[str, Sequence[Any]]
MAX_SIDE = 256
"""Largest number of terminals whose pairs are listed. In larger networks, pairs of at most so many
blocks of consecutive terminals are listed."""


def place_ranks(case: EngineCase, settings: FlowSettings) -> tuple[Paths, Machine, dict[str, Any]]:
    """Route the network and place the ranks.

    Returns
    -------
    paths : Paths
        Routes, and the terminal of each rank.
    machine : Machine
    facts : dict
        Facts of the job and the machine.

    Raises
    ------
    UnsupportedError
        If the routing has no table, or does not support the network.
    InputError
        If the machine or the placement is invalid.
    PluginError
        If a plugin breaks its contract.
    """
    machine = machine_of(settings)
    network, table = case.network, _require_table(case)
    terminal = rank_terminals(
        settings.placement,
        ranks=_num_ranks(network, settings),
        topology=network,
        ranks_per_node=settings.ranks_per_node,
    )
    facts = {
        **machine.model_dump(mode="json"),
        "ranks": len(terminal),
        "terminals_used": len(np.unique(terminal)),
    }
    return Paths.create(table, terminal), machine, facts


def set_up_flows(
    case: EngineCase, settings: FlowSettings
) -> tuple[Schedule, Paths, Machine, dict[str, Any]]:
    """Route the network, place the ranks and make their program, for any engine.

    Returns
    -------
    schedule : Schedule
    paths : Paths
        Routes, and the terminal of each rank.
    machine : Machine
    facts : dict
        Facts of the job, the machine and the workload.

    Raises
    ------
    UnsupportedError
        If the routing has no table, or the routing or the workload does not support the network or
        the job.
    InputError
        If the machine or the placement is invalid.
    PluginError
        If a plugin breaks its contract.
    """
    paths, machine, facts = place_ranks(case, settings)
    workload = case.work
    assert isinstance(workload, WorkloadPlugin)  # for mypy: these engines run workloads only
    case.report_progress(workload.name, "program")
    program = program_of(workload, Job.placed(paths.terminal, case.network))
    max_rounds = settings.iterations or None  # 0: all
    program_schedule = schedule(program, parse_choice(settings.collectives), max_rounds)
    return program_schedule, paths, machine, facts | {"convention": program.convention}


def _require_table(case: EngineCase) -> RouteTable:
    """Return the route table of the routing; refuse a routing that has none."""
    if case.routing.hop_by_hop:
        raise UnsupportedError(
            f"{case.routing.name}: it decides hop by hop and has no route table, which this engine "
            "needs; simulate packets under some traffic instead"
        )
    return case.routing.table(case.network)


def _num_ranks(network: Topology, settings: FlowSettings) -> int:
    """Return the ranks of the settings or the placement file, or else as many as fit."""
    if settings.ranks:
        return settings.ranks
    if is_file(settings.placement):
        return len(read_placement(Path(settings.placement)))
    return network.num_terminals * settings.ranks_per_node


def simulate_flows(case: EngineCase, settings: FlowSettings) -> EngineResult:
    """Run a program on a network.

    Raises
    ------
    UnsupportedError, InputError, PluginError
        In the cases that `set_up_flows` lists.
    StuckError
        If the ranks wait for each other forever (an `InputError`).
    """
    program_schedule, paths, machine, facts = set_up_flows(case, settings)
    assert isinstance(case.work, WorkloadPlugin)  # for mypy; `set_up_flows` has checked it
    case.report_progress(case.work.name, "flows")
    began = time.perf_counter()
    run = run_flows(program_schedule, paths, machine, settings.seed)
    seconds = time.perf_counter() - began
    tables = {
        "flow-channels": flow_channel_table(run),
        "flow-ranks": rank_table(run, paths.terminal),
        "flow-pairs": pair_table(run),
    }
    facts |= run_facts(run) | {"engine_seconds": seconds}
    notes = [f"workload: {facts['convention']}"]
    return EngineResult(facts, tables, notes)


def run_facts(run: FlowRun) -> dict[str, Any]:
    """Return the facts of a run, by column; None where the workload has no such value."""
    return {
        "completion_time_s": float(run.finish.max(initial=0)),
        "timed_s": run.seconds,
        "mops": run.mops if run.operations else None,
        "operations": run.operations or None,
        "bottleneck_channel": run.bottleneck_channel or None,
        "bottleneck_share": run.bottleneck_share,
        "bottleneck_bytes": float(run.channel_bytes.max(initial=0)),
        "messages": run.messages,
        "bytes": run.bytes,
        "network_bytes": float(run.injected_bytes.sum()),
        "memory_bytes": float(run.memory_bytes.sum()),
        "iterations_simulated": run.rounds,
        "iterations_of": run.total_rounds,
    }


def flow_channel_table(run: FlowRun) -> Columns:
    """Return the traffic of each channel in the timed part."""
    topology = run.topology
    names = topology.switch_names
    # If the timed part takes no time, all channels are busy for 0 s, and the shares are 0.
    share: Float64Array = run.channel_seconds / run.seconds if run.seconds else run.channel_seconds
    return {
        "channel": list(range(topology.num_channels)),
        "source": [names[switch] for switch in topology.channel_source],
        "target": [names[switch] for switch in topology.channel_target],
        "direction": [
            topology.directions[d].name if d >= 0 else "" for d in topology.channel_direction
        ],
        "bytes": run.channel_bytes.tolist(),
        "seconds": run.channel_seconds.tolist(),
        "share": share.tolist(),
    }


def rank_table(run: FlowRun, terminal: Int32Array) -> Columns:
    """Return the terminal and the times of each rank."""
    topology = run.topology
    return {
        "rank": list(range(len(terminal))),
        "terminal": terminal.tolist(),
        "name": [topology.terminal_name(t) for t in terminal.tolist()],
        "switch": [topology.switch_names[s] for s in topology.terminal_switch[terminal]],
        "begin": run.begin.tolist(),
        "end": run.end.tolist(),
        "finish": run.finish.tolist(),
        "timed_s": (run.end - run.begin).tolist(),
    }


def pair_table(run: FlowRun) -> Columns:
    """Return the bytes between terminals, or between at most `MAX_SIDE` blocks of them."""
    # terminals per block, rounded up; 1 if no terminal exists
    block_size = max(1, -(-run.topology.num_terminals // MAX_SIDE))
    pairs = run.pairs if block_size == 1 else run.pairs.in_blocks(block_size)
    return {
        "sender": pairs.source.tolist(),
        "receiver": pairs.target.tolist(),
        "block": [block_size] * len(pairs.bytes),
        "bytes": pairs.bytes.tolist(),
    }
