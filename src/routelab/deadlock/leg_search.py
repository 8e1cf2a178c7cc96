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
"""States in each of which the declaration is verified; of later ones, a sample."""
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
    # The first and the last channel into each switch: candidates must be the same behind both.
    first, incoming = topology.incoming
    entering_channels = np.full((topology.num_switches, 2), -1, np.int32)
    with_input = np.flatnonzero(np.diff(first))
    entering_channels[with_input, 0] = incoming[first[with_input]]
    entering_channels[with_input, 1] = incoming[first[with_input + 1] - 1]
    settings = np.zeros(kernel.NUM_SETTINGS, np.int64)
    settings[kernel.S_PHASES], settings[kernel.S_CLASSES] = program.phases, program.vc_classes
    settings[kernel.S_CANDIDATES] = program.candidates
    settings[kernel.S_FULLY_VERIFIED_CALLS] = FULLY_VERIFIED_CALLS
    return LegInput(
        tables=arguments.tables,
        channels=channel_ports(topology),
        entering_channels=entering_channels,
        waypoints=waypoints,
        queue_contents=queue_contents,
        settings=settings,
    )


def list_legs(
    program: HopProgram,
    topology: Topology,
    sources: Int32Array,
    distance: Int32Array,
    waypoints: Int32Array,
    *,
    by_source: bool,
) -> Int32Array:
    """Return all legs, with the columns of `kernels.legs.LEG_SOURCE`; shape (N, 4).

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    sources : int32 array, shape (E,)
        Switches where routes begin.
    distance : int32 array, shape (E, S)
        Hops from each of them to every switch; −1 if no path leads there.
    waypoints : int32 array
        Switches that may be waypoints.
    by_source : bool
        Whether candidates of phase 1 depend on the source: then phase 1 has a leg for each pair,
        otherwise one for each target.
    """
    ends = topology.endpoints
    # A packet of phase 0 goes to a waypoint, or to its destination if it gets none.
    targets = ends if program.phases == 1 else np.union1d(ends, waypoints)
    source, target = np.nonzero(distance[:, targets] > 0)
    zeros = np.zeros(len(source), np.int64)
    legs = [np.column_stack((sources[source], targets[target], zeros, zeros))]
    if program.phases == 2:
        source, target = np.nonzero(distance[:, ends] > 0)
        if not by_source:
            # their rows name the first source of each target, which does not matter
            target, first_pair = np.unique(target, return_index=True)
            source = source[first_pair]
        phase = np.ones(len(source), np.int64)
        legs.append(np.column_stack((sources[source], ends[target], phase, target)))
    return np.concatenate(legs).astype(np.int32)


def initial_findings(
    topology: Topology, classes: int, legs: Int32Array, task: LegInput, *, collect: bool
) -> LegFindings:
    """Return findings before a search that is to `collect` dependencies, or not."""
    size = topology.num_channels * classes
    words = words_per_row(topology, classes) if collect else 0
    return LegFindings(
        dependencies=np.zeros((size, words), np.uint64),
        used=np.zeros((2, size), np.bool_),
        into_waypoint=np.zeros(size, np.bool_),
        from_waypoint=np.zeros((topology.num_switches, words), np.uint64),
        faults=np.zeros((kernel.NUM_FAULTS, kernel.FAULT_COLUMNS), np.int64),
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
        The argument, which is updated.
    """
    explore = compile_legs()
    search_in_chunks(
        lambda chunk, part: explore(program.hop, task, chunk, part),
        items=legs,
        findings=findings,
        num_searched=lambda: int(findings.numbers[kernel.N_LEGS]),
        chunk=_CHUNK,
    )
    return findings
