"""Search of the legs of a program with fixed candidates: input, legs, and the search in chunks.

A leg is a part of routes that is searched on its own: a source, a target and a phase. A route
without a waypoint has one leg; one with a waypoint has a leg to it (phase 0) and one from it to the
destination (phase 1).
"""

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
    """Return the input of a search; `waypoints` are the switches that may be waypoints.

    The caller sets the remaining settings: the limit of states, `S_BY_SWITCH` and `S_ESCAPES_ONLY`.
    """
    # Fixed candidates do not depend on the channel that a packet came over. To verify that, the
    # search calls hop with the first and the last channel into each switch.
    start, incoming = topology.incoming  # those of switch s are incoming[start[s]:start[s + 1]]
    entering_channels = np.full((topology.num_switches, 2), -1, np.int32)
    with_channels = np.flatnonzero(np.diff(start))
    entering_channels[with_channels, 0] = incoming[start[with_channels]]
    entering_channels[with_channels, 1] = incoming[start[with_channels + 1] - 1]
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
    """Return all legs, a row for each, with columns LEG_SOURCE, LEG_TARGET, LEG_PHASE and LEG_ROW.

    `kernels.legs` describes these columns. Int32, shape (N, 4).

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
        Whether candidates of phase 1 depend on the source, which hop may read from the packet's
        row: then phase 1 has a leg for each pair, otherwise one for each target.
    """
    ends = topology.endpoints
    # 1. Phase 0: a packet goes to a waypoint, or to its destination if it gets none. Below, i and j
    #    are positions in the lists of sources and of targets. A distance of 0 is no leg.
    targets = ends if program.phases == 1 else np.union1d(ends, waypoints)
    i, j = np.nonzero(distance[:, targets] > 0)
    zeros = np.zeros(len(i), np.int64)
    legs = [np.column_stack((sources[i], targets[j], zeros, zeros))]
    # 2. Phase 1: packets come from any waypoint, so a leg needs no source, only a target. In column
    #    LEG_ROW, j is the row of the target in `LegFindings.longest_from_waypoint`.
    if program.phases == 2:
        i, j = np.nonzero(distance[:, ends] > 0)
        if not by_source:
            # the packet's row has to name some source: the first one that reaches the target
            j, first_pair = np.unique(j, return_index=True)
            i = i[first_pair]
        ones = np.ones(len(i), np.int64)
        legs.append(np.column_stack((sources[i], ends[j], ones, j)))
    return np.concatenate(legs).astype(np.int32)


def initial_findings(
    topology: Topology, classes: int, legs: Int32Array, task: LegInput, *, collect: bool
) -> LegFindings:
    """Return the findings before a search of `legs`: nothing is found yet.

    Without `collect`, rows of bits have no words, which tells the search to collect no
    dependencies. `classes` counts those of all phases.
    """
    num_resources = topology.num_channels * classes
    words = words_per_row(topology, classes) if collect else 0
    return LegFindings(
        dependencies=np.zeros((num_resources, words), np.uint64),
        used=np.zeros((2, num_resources), np.bool_),
        into_waypoint=np.zeros(num_resources, np.bool_),
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
    """Search legs until all are searched, the search stops early, or all queries are answered.

    It stops early at `S_MAX_CALLS` states of `task.settings`, and for the reasons that
    `kernels.leg_search.explore_legs` lists.

    Returns
    -------
    LegFindings
        The argument, which is updated.
    """
    explore = compile_legs()
    search_in_chunks(
        lambda chunk, chunk_findings: explore(program.hop, task, chunk, chunk_findings),
        items=legs,
        findings=findings,
        num_searched=lambda: int(findings.numbers[kernel.N_LEGS]),
        chunk=_CHUNK,
    )
    return findings
