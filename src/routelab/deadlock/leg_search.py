"""Search of the legs of a program with fixed candidates: input, legs, and the search in chunks."""

from __future__ import annotations

import numpy as np

from routelab.api import HopProgram, RunTables, Topology
from routelab.api.topology import Int32Array
from routelab.deadlock.dependency_graph import channel_ports, search_in_chunks, words_per_row
from routelab.deadlock.kernels import legs as kernel
from routelab.deadlock.kernels.leg_search import compile_legs
from routelab.deadlock.kernels.legs import LegFindings, LegInput

FULLY_VERIFIED_CALLS = 20_000
"""Number of states of which the declaration is verified in each."""
_CHUNK = 1 << 13
"""Legs between two chances to interrupt a search."""


def leg_input(
    program: HopProgram,
    topology: Topology,
    arguments: RunTables,
    queue_contents: Int32Array,
    waypoints: Int32Array,
) -> LegInput:
    """Return the input of a search; `waypoints` are the switches that may be waypoints."""
    start, incoming = topology.incoming
    entries = np.full((topology.num_switches, 2), -1, np.int32)
    with_input = np.flatnonzero(np.diff(start))
    entries[with_input, 0] = incoming[start[with_input]]
    entries[with_input, 1] = incoming[start[with_input + 1] - 1]
    limits = np.zeros(kernel.LIMITS, np.int64)
    limits[kernel.L_PHASES], limits[kernel.L_CLASSES] = program.phases, program.vc_classes
    limits[kernel.L_CANDIDATES] = program.candidates
    limits[kernel.L_ALL_VERIFIED] = FULLY_VERIFIED_CALLS
    return LegInput(
        tables=arguments.tables,
        channels=channel_ports(topology),
        entries=entries,
        waypoints=waypoints,
        queue_contents=queue_contents,
        limits=limits,
    )


def list_legs(
    program: HopProgram,
    topology: Topology,
    starts: tuple[Int32Array, Int32Array],
    waypoints: Int32Array,
    *,
    by_source: bool,
) -> Int32Array:
    """Return source, target, phase and row of all legs; shape (N, 4).

    `starts`: switches where routes begin, and their distances. `by_source`: one leg of phase 1 for
    each pair, not only for each target.
    """
    (sources, distance), ends = starts, topology.endpoints
    targets = ends if program.phases == 1 else np.union1d(ends, waypoints)
    source, target = np.nonzero(distance[:, targets] > 0)
    zeros = np.zeros(len(source), np.int64)
    legs = [np.column_stack((sources[source], targets[target], zeros, zeros))]
    if program.phases == 2:
        source, target = np.nonzero(distance[:, ends] > 0)
        if not by_source:
            # any source: the first that there is
            target, first_pair = np.unique(target, return_index=True)
            source = source[first_pair]
        phase = np.ones(len(source), np.int64)
        legs.append(np.column_stack((sources[source], ends[target], phase, target)))
    return np.concatenate(legs).astype(np.int32)


def initial_findings(
    topology: Topology, classes: int, legs: Int32Array, task: LegInput, *, dependencies: bool
) -> LegFindings:
    """Return findings before a search; without `dependencies`, dependencies are not collected."""
    size = topology.num_channels * classes
    words = words_per_row(topology, classes) if dependencies else 0
    return LegFindings(
        dependencies=np.zeros((size, words), np.uint64),
        used=np.zeros((2, size), np.bool_),
        into_waypoint=np.zeros(size, np.bool_),
        from_waypoint=np.zeros((topology.num_switches, words), np.uint64),
        faults=np.zeros((kernel.FAULTS, kernel.FAULT_COLUMNS), np.int64),
        longest=np.zeros(len(legs), np.int32),
        longest_from_waypoint=np.zeros((len(topology.endpoints), len(task.waypoints)), np.int32),
        numbers=np.zeros(kernel.NUMBERS, np.int64),
        queries=np.empty((0, 3), np.int64),
    )


def search_legs(
    program: HopProgram, task: LegInput, legs: Int32Array, findings: LegFindings
) -> LegFindings:
    """Search legs until all are searched, a limit is reached, or all queries are answered.

    Returns
    -------
    LegFindings
        `findings`, updated.
    """
    explore = compile_legs()
    search_in_chunks(
        lambda chunk, part: explore(program.hop, task, chunk, part),
        legs,
        findings,
        lambda: int(findings.numbers[kernel.N_LEGS]),
        _CHUNK,
    )
    return findings
