"""Search of the legs of a program with fixed candidates: input, legs, and the search in chunks."""

from __future__ import annotations

import numpy as np

from routelab.api import HopProgram, RunTables, Topology
from routelab.api.topology import Int32Array
from routelab.deadlock.kernels import legs as kernel
from routelab.deadlock.kernels.fixed_search import compile_legs
from routelab.deadlock.kernels.legs import LegFindings, LegInput

ALL_VERIFIED = 20_000
"""Number of states of which the declaration is verified in each."""
EVERY = 256
"""Every so many further states are verified, too."""
_CHUNK = 1 << 13
"""Legs between two chances to interrupt a search."""


def leg_input(
    program: HopProgram,
    topology: Topology,
    given: RunTables,
    pictures: Int32Array,
    roots: Int32Array,
) -> LegInput:
    """Return the input of a search; `roots` are the switches that may be waypoints."""
    start, channels = topology.outgoing
    port = np.empty(topology.num_channels, np.int32)
    port[channels] = np.arange(topology.num_channels) - start[topology.channel_source[channels]]
    first, incoming = topology.incoming
    entries = np.full((topology.num_switches, 2), -1, np.int32)
    some = np.flatnonzero(np.diff(first))
    entries[some, 0], entries[some, 1] = incoming[first[some]], incoming[first[some + 1] - 1]
    limits = np.zeros(kernel.LIMITS, np.int64)
    limits[kernel.L_PHASES], limits[kernel.L_CLASSES] = program.phases, program.vc_classes
    limits[kernel.L_CANDIDATES] = program.candidates
    limits[kernel.L_ALL], limits[kernel.L_EVERY] = ALL_VERIFIED, EVERY
    return LegInput(
        tables=given.tables,
        channels=np.column_stack((topology.channel_source, topology.channel_target, port)),
        entries=entries,
        roots=roots,
        pictures=pictures,
        limits=limits,
    )


def list_legs(
    program: HopProgram,
    topology: Topology,
    distance: Int32Array,
    roots: Int32Array,
    *,
    by_source: bool,
) -> Int32Array:
    """Return source, target, phase and row of all legs; shape (N, 4).

    `by_source`: one leg of phase 1 for each pair, not only for each target.
    """
    ends = topology.endpoints
    targets = ends if program.phases == 1 else np.union1d(ends, roots)
    source, target = np.nonzero(distance[:, targets] > 0)
    blank = np.zeros(len(source), np.int64)
    legs = [np.column_stack((ends[source], targets[target], blank, blank))]
    if program.phases == 2:
        source, target = np.nonzero(distance[:, ends] > 0)
        if not by_source:
            # any source: the first that there is
            target, one = np.unique(target, return_index=True)
            source = source[one]
        phase = np.ones(len(source), np.int64)
        legs.append(np.column_stack((ends[source], ends[target], phase, target)))
    return np.concatenate(legs).astype(np.int32)


def blank_findings(
    topology: Topology, classes: int, legs: Int32Array, task: LegInput, *, rows: bool
) -> LegFindings:
    """Return findings before a search; without `rows`, dependencies are not collected."""
    size = topology.num_channels * classes
    ports = int(np.diff(topology.outgoing[0]).max(initial=0))
    words = (ports * classes + 63) // 64 if rows else 0
    return LegFindings(
        rows=np.zeros((size, words), np.uint64),
        used=np.zeros((2, size), np.bool_),
        last=np.zeros(size, np.bool_),
        first=np.zeros((topology.num_switches, words), np.uint64),
        faults=np.zeros((kernel.FAULTS, kernel.FAULT_COLUMNS), np.int64),
        longest=np.zeros(len(legs), np.int32),
        tails=np.zeros((len(topology.endpoints), len(task.roots)), np.int32),
        numbers=np.zeros(kernel.NUMBERS, np.int64),
        wanted=np.empty((0, 3), np.int64),
    )


def search_legs(
    program: HopProgram, task: LegInput, legs: Int32Array, findings: LegFindings
) -> LegFindings:
    """Search legs until all are done, a limit is reached, or what is wanted is found.

    Returns
    -------
    LegFindings
        `findings`, updated.
    """
    explore = compile_legs()
    numbers, wanted = findings.numbers, findings.wanted
    for begin in range(0, len(legs), _CHUNK):
        end = min(begin + _CHUNK, len(legs))
        open_ones = np.flatnonzero(wanted[:, 2] < 0)
        explore(
            program.hop,
            task,
            legs[begin:end],
            findings._replace(longest=findings.longest[begin:end]),
        )
        new = open_ones[wanted[open_ones, 2] >= 0]
        wanted[new, 2] += begin
        if len(wanted) and (wanted[:, 2] >= 0).all():
            break
        if int(numbers[kernel.N_LEGS]) < end:
            break
    return findings
