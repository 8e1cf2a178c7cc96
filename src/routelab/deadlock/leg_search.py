"""Search of the legs of a program with fixed candidates: input, legs, and the search in chunks."""

from __future__ import annotations

import numpy as np

from routelab.api import HopProgram, RunTables, Topology
from routelab.api.topology import Int32Array
from routelab.deadlock.dependency_rows import channel_places, row_words, search_in_chunks
from routelab.deadlock.kernels import legs as kernel
from routelab.deadlock.kernels.fixed_search import compile_legs
from routelab.deadlock.kernels.legs import LegFindings, LegInput

ALL_VERIFIED = 20_000
"""Number of states of which the declaration is verified in each."""
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
    first, incoming = topology.incoming
    entries = np.full((topology.num_switches, 2), -1, np.int32)
    some = np.flatnonzero(np.diff(first))
    entries[some, 0], entries[some, 1] = incoming[first[some]], incoming[first[some + 1] - 1]
    limits = np.zeros(kernel.LIMITS, np.int64)
    limits[kernel.L_PHASES], limits[kernel.L_CLASSES] = program.phases, program.vc_classes
    limits[kernel.L_CANDIDATES] = program.candidates
    limits[kernel.L_ALL] = ALL_VERIFIED
    return LegInput(
        tables=given.tables,
        channels=channel_places(topology),
        entries=entries,
        roots=roots,
        pictures=pictures,
        limits=limits,
    )


def list_legs(
    program: HopProgram,
    topology: Topology,
    begins: tuple[Int32Array, Int32Array],
    roots: Int32Array,
    *,
    by_source: bool,
) -> Int32Array:
    """Return source, target, phase and row of all legs; shape (N, 4).

    `begins`: switches where routes begin, and their distances. `by_source`: one leg of phase 1 for
    each pair, not only for each target.
    """
    (sources, distance), ends = begins, topology.endpoints
    targets = ends if program.phases == 1 else np.union1d(ends, roots)
    source, target = np.nonzero(distance[:, targets] > 0)
    blank = np.zeros(len(source), np.int64)
    legs = [np.column_stack((sources[source], targets[target], blank, blank))]
    if program.phases == 2:
        source, target = np.nonzero(distance[:, ends] > 0)
        if not by_source:
            # any source: the first that there is
            target, one = np.unique(target, return_index=True)
            source = source[one]
        phase = np.ones(len(source), np.int64)
        legs.append(np.column_stack((sources[source], ends[target], phase, target)))
    return np.concatenate(legs).astype(np.int32)


def blank_findings(
    topology: Topology, classes: int, legs: Int32Array, task: LegInput, *, rows: bool
) -> LegFindings:
    """Return findings before a search; without `rows`, dependencies are not collected."""
    size = topology.num_channels * classes
    words = row_words(topology, classes) if rows else 0
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
    search_in_chunks(
        lambda some, found: explore(program.hop, task, some, found),
        legs,
        findings,
        lambda: int(findings.numbers[kernel.N_LEGS]),
        _CHUNK,
    )
    return findings
