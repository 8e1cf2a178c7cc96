"""States of programs whose candidates are fixed, on networks of any size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routelab.api import HopProgram, RunTables, Topology, needed_classes, run_tables
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.deadlock.allowed_routes import SEED, AllowedRoutes, drawn_sources, endpoint_distances
from routelab.deadlock.dependency_rows import edges_of, places_of
from routelab.deadlock.hop_states import UNITS, queue_pictures
from routelab.deadlock.kernels import legs as kernel
from routelab.deadlock.kernels.legs import LegFindings, LegInput
from routelab.deadlock.kernels.waypoints import compile_samples
from routelab.deadlock.leg_search import blank_findings, leg_input, list_legs, search_legs

MAX_CALLS = 500_000_000
"""Largest number of states of all pairs: about a minute by switches, two with dependencies."""
FIRST_CALLS = 1_000_000
"""States up to which dependencies are always collected: less than a second."""
_PICTURES = 8
_MOST_BY_SWITCH = 62
_INJECT_CALLS = 200_000
_MOST_WORDS = 2520

_PROBLEMS = {
    "channel": (kernel.CHANNEL, "candidate {} is not a channel that leaves the switch"),
    "class": (kernel.CLASS, "a candidate is of class {}; classes are 0..{classes}"),
    "count": (kernel.COUNT, "{} candidates are returned, the program claims {candidates}"),
    "penalty": (kernel.PENALTY, "a candidate has penalty {}, expected 0 or more"),
    "columns": (
        kernel.WRITES,
        "column {} of the packet is written to, and the program declares fixed candidates",
    ),
}
_CHANGES = {
    kernel.ON_QUEUES: "queues",
    kernel.ON_RANDOM: "the random word",
    kernel.ON_HOPS: "HOPS or a terminal",
    kernel.ON_STATE: "STATE",
    kernel.ON_CHANNEL: "the channel that the packet arrived over",
    kernel.ON_DESTINATION: "DESTINATION or WAYPOINT",
}


@dataclass(frozen=True, eq=False)
class FixedStates:
    """All reachable states of a program with fixed candidates.

    Attributes
    ----------
    topology : Topology
    program : HopProgram
    classes : int
        Classes of all phases; resource ``channel * classes + class``.
    legs : int32 array, shape (N, 4)
        Source, target and phase, in the order of the search.
    ascending : bool
        Every hop uses the class behind that of the hop before, and dependencies are not collected.
    drawn : bool
        Whether legs begin at some switches only, because the network is very large.
    waypoints : str
        Which waypoints are assumed; empty for a program without waypoints.
    findings : LegFindings
    task : LegInput
    allowed_routes : AllowedRoutes
    injection : str
        Violation of the contract by inject, empty for none.
    """

    topology: Topology
    program: HopProgram
    classes: int
    legs: Int32Array
    ascending: bool
    drawn: bool
    waypoints: str
    findings: LegFindings
    task: LegInput
    allowed_routes: AllowedRoutes
    injection: str

    @property
    def verified(self) -> int:
        """Number of calls that agree with the declaration of fixed candidates."""
        return int(self.findings.numbers[kernel.N_VERIFIED])

    @property
    def complete(self) -> bool:
        """Whether the search was complete."""
        return not self.drawn and int(self.findings.numbers[kernel.N_LEGS]) == len(self.legs)

    @property
    def part(self) -> str:
        """Text about the examined part, if the search was not complete."""
        done = int(self.findings.numbers[kernel.N_LEGS])
        if self.program.phases == 1:
            return f"{done:,} of {self.allowed_routes.pairs:,} pairs"
        some = ", with sources drawn" if self.drawn else ""
        return f"{done:,} of {len(self.legs):,} halves of routes{some}"

    @property
    def coverage(self) -> str:
        """Text about the extent of the search."""
        numbers = self.findings.numbers
        extent = f"{self.allowed_routes.pairs:,} pairs" if self.complete else self.part
        states = f"{int(numbers[kernel.N_CALLS]):,} states of {extent}"
        if self.ascending:
            states += ", each for all classes, as the class counts the hops"
        text = states
        if self.waypoints:
            text += f"; waypoints: {self.waypoints}, both halves of the way are joined freely"
        return f"{text}; {self.allowed_routes.text}" if self.complete else text

    @cached_property
    def problems(self) -> dict[str, str]:
        """Violations of the contract; one example each."""
        problems = {}
        example = self._example(kernel.UNFIXED)
        if example is not None:
            cause = _CHANGES[example[kernel.F_VALUE]]
            problems["fixed"] = (
                f"candidates depend on {cause}, and the program declares them fixed: "
                f"{self._location(example)}"
            )
        for name, (row, message) in _PROBLEMS.items():
            example = self._example(row)
            if example is not None:
                text = message.format(
                    example[kernel.F_VALUE],
                    classes=self.program.vc_classes - 1,
                    candidates=self.program.candidates,
                )
                problems[name] = f"{text}: {self._location(example)}"
        if self.injection:
            problems["waypoint"] = self.injection
        most, longest = self.program.max_hops, self.allowed_routes.longest
        if problems or self.allowed_routes.obstacle or most is None:
            return problems
        if self.program.phases == 1 and (longest is None or longest > most):
            taken = "without end" if longest is None else f"of {longest} hops"
            problems["max-hops"] = f"routes {taken} exist, the program claims at most {most} hops"
        return problems

    @property
    def without_escape(self) -> str:
        """Describe a state in which no candidate is an escape; empty if every state has one."""
        example = self._example(kernel.NO_ESCAPE)
        return "" if example is None else self._location(example)

    def used(self, proof: str) -> BoolArray:
        """Return which resources the criterion of a proof concerns: at most these; shape (R,)."""
        if self.ascending:
            return np.ones(self.findings.used.shape[1], np.bool_)
        used: BoolArray = self.findings.used[1 if proof == "duato" else 0]
        return used

    def edges(self, proof: str) -> tuple[Int64Array, Int64Array]:
        """Return the dependencies of the criterion of a proof: resources a, then b, ascending.

        `explore_fixed` was called with `escapes` for ``duato``, and only then. Not for ``duato``
        under wormhole switching.
        """
        rows, targets = self.findings.rows, self.topology.channel_target
        joined = rows.copy()
        heads = targets[np.arange(len(rows)) // self.classes]
        last = self.findings.last
        joined[last] |= self.findings.first[heads[last]]
        joined[~self.used(proof)] = 0
        return edges_of(self.topology, self.classes, joined)

    def causes(self, source: Int32Array, target: Int32Array) -> Int32Array:
        """Return a source and a target switch whose packets cause each dependency; (K, 2)."""
        wanted = places_of(self.topology, self.classes, source, target)
        blank = blank_findings(self.topology, self.classes, self.legs, self.task, rows=True)
        search_legs(self.program, self.task, self.legs, blank._replace(wanted=wanted))
        pairs: Int32Array = self.legs[wanted[:, 2], :2]
        return pairs

    def _example(self, row: int) -> list[int] | None:
        example: list[int] = self.findings.faults[row].tolist()
        return example if example[kernel.F_COUNT] else None

    def _location(self, example: list[int]) -> str:
        return describe_state(self.topology, example)


def describe_state(topology: Topology, example: list[int]) -> str:
    """Describe the state of a row of `LegFindings.faults`."""
    names = topology.switch_names
    source, target = (names[example[k]] for k in (kernel.F_SOURCE, kernel.F_TARGET))
    vc = example[kernel.F_CLASS]
    came = "at injection" if vc < 0 else f"come on class {vc}"
    return f"{source} to {target}, at switch {names[example[kernel.F_SWITCH]]}, {came}"


def explore_fixed(
    program: HopProgram,
    topology: Topology,
    virtual_channels: int | None = None,
    *,
    escapes: bool = False,
    collect: bool = False,
    max_states: int = MAX_CALLS,
) -> FixedStates:
    """Follow every packet of a program with fixed candidates through a network.

    Parameters
    ----------
    program : HopProgram
        Prepared for `topology`.
    topology : Topology
    virtual_channels : int, optional
        Virtual channels of the program (default: as many as it needs).
    escapes : bool
        Collect the dependencies on escape candidates only.
    collect : bool
        Collect dependencies even if classes increase with every hop.
    max_states : int
        Limit at which the search stops; it stops early if some pairs show that it will not suffice.
    """
    sources = drawn_sources(topology, len(topology.endpoints))
    distance = endpoint_distances(topology, sources)
    classes = needed_classes(program)
    vcs = max(virtual_channels or classes, classes)
    given = run_tables(program, topology, vcs, capacity=UNITS)
    pictures = queue_pictures(given, vcs, waiting=program.waiting, count=_PICTURES)
    roots, waypoints, injection = _roots(program, topology, given, pictures)
    task = leg_input(program, topology, given, pictures, roots)
    task.limits[kernel.L_ESCAPES] = escapes
    for by_source in (False, True):
        legs = list_legs(program, topology, (sources, distance), roots, by_source=by_source)
        legs = legs[np.random.default_rng(SEED).permutation(len(legs))]
        task.limits[kernel.L_CALLS] = max_states if collect else min(max_states, FIRST_CALLS)
        blank = blank_findings(topology, classes, legs, task, rows=True)
        findings = search_legs(program, task, legs, blank)
        open_ones = not findings.numbers[kernel.N_BROKEN]
        open_ones &= int(findings.numbers[kernel.N_LEGS]) < len(legs)
        affordable = _expected_states(topology, legs, findings) <= max_states
        if open_ones and affordable and not collect:
            task.limits[kernel.L_CALLS] = max_states
            legs = legs[np.lexsort((legs[:, 1], legs[:, 0], legs[:, 2]))]
            findings = _search_large(program, topology, task, legs, findings)
        if not findings.numbers[kernel.N_READS_SOURCE]:
            break
    ascending = bool(task.limits[kernel.L_BY_SWITCH])
    task.limits[kernel.L_BY_SWITCH] = 0
    return FixedStates(
        topology,
        program,
        classes,
        legs,
        ascending,
        len(sources) < len(topology.endpoints),
        waypoints,
        findings,
        task,
        _walks(topology, (sources, distance), roots, legs, findings),
        injection,
    )


def _roots(
    program: HopProgram, topology: Topology, given: RunTables, pictures: Int32Array
) -> tuple[Int32Array, str, str]:
    """Return switches that may be waypoints, a text about them, and a fault of inject."""
    ends = topology.endpoints.astype(np.int32)
    if program.inject is None:
        return ends, "any switch with terminals" if program.phases == 2 else "", ""
    terminal = np.full(topology.num_switches, -1)
    terminal[topology.terminal_switch] = np.arange(topology.num_terminals)
    all_pairs = len(ends) * (len(ends) - 1)
    words = max(1, min(_MOST_WORDS, _INJECT_CALLS // max(all_pairs, 1)))
    if program.phases == 2:
        words = max(words, min(4 * len(ends), _MOST_WORDS))
    step = max(1, all_pairs * words // _INJECT_CALLS)
    place, other = np.divmod(np.arange(0, all_pairs, step), max(len(ends) - 1, 1))
    other += other >= place
    pairs = np.column_stack(
        (ends[place], ends[other], terminal[ends[place]], terminal[ends[other]])
    )
    seen = np.zeros(topology.num_switches, np.bool_)
    wrong = compile_samples()(
        program.hop,
        program.inject,
        given.tables,
        program.reals.copy(),
        pictures,
        pairs.astype(np.int32),
        words,
        program.candidates,
        seen,
    )
    names = topology.switch_names
    if wrong >= 0 or (seen.any() and program.phases == 1):
        where = f"{names[pairs[wrong, 0]]} to {names[pairs[wrong, 1]]}: " if wrong >= 0 else ""
        return ends, "", f"{where}inject writes to a column or sets a waypoint that it must not"
    if program.phases == 1:
        return ends, "", ""
    if seen[np.setdiff1d(np.arange(topology.num_switches), ends)].any():
        return np.arange(topology.num_switches, dtype=np.int32), "any switch", ""
    return ends, "any switch with terminals", ""


def _expected_states(topology: Topology, legs: Int32Array, first: LegFindings) -> float:
    """Estimate the states of all legs from those of some."""
    done, calls = (int(first.numbers[k]) for k in (kernel.N_LEGS, kernel.N_CALLS))
    expected = calls * len(legs) / max(done, 1)
    if first.numbers[kernel.N_LOOSE]:
        return expected
    # all classes of a switch count once
    return min(expected, float(len(legs) * topology.num_switches))


def _search_large(
    program: HopProgram, topology: Topology, task: LegInput, legs: Int32Array, first: LegFindings
) -> LegFindings:
    """Search by switches if each hop seems to use the next class, and by classes if it does not.

    Afterwards, `limits` contain how the search was done.
    """
    classes = needed_classes(program)
    escapes, loose = task.limits[kernel.L_ESCAPES], first.numbers[kernel.N_LOOSE]
    if not (loose or escapes) and 2 <= program.vc_classes <= _MOST_BY_SWITCH:
        task.limits[kernel.L_BY_SWITCH] = 1
        blank = blank_findings(topology, classes, legs, task, rows=False)
        findings = search_legs(program, task, legs, blank)
        if not findings.numbers[[kernel.N_LOOSE, kernel.N_CYCLIC]].any():
            return findings
        task.limits[kernel.L_BY_SWITCH] = 0
    return search_legs(
        program, task, legs, blank_findings(topology, classes, legs, task, rows=True)
    )


def _walks(
    topology: Topology,
    begins: tuple[Int32Array, Int32Array],
    roots: Int32Array,
    legs: Int32Array,
    findings: LegFindings,
) -> AllowedRoutes:
    """Derive facts about routes from the longest walks of all legs.

    `begins`: switches where routes begin, and their distances.
    """
    (sources, distance), ends = begins, topology.endpoints
    between = distance[:, ends]
    diameter, pairs = int(between.max(initial=0)), int((between > 0).sum())
    if len(sources) < len(ends):
        pairs = len(ends) * (len(ends) - 1)
    place = np.full(topology.num_switches, -1)
    place[sources] = np.arange(len(sources))
    source, target, phase, _ = legs.T
    longest = np.zeros(distance.shape, np.int32)
    whole = phase == 0
    longest[place[source[whole]], target[whole]] = findings.longest[whole]
    total = longest[:, ends]
    if (phase == 1).any():
        # from each source over each waypoint to each target
        for row, first in zip(total, longest[:, roots], strict=True):
            np.maximum(row, (first + findings.tails).max(axis=1), out=row)
    total[between <= 0] = 0
    faults = findings.faults
    short = faults[kernel.SHORT].tolist()
    dead = faults[kernel.DEAD_END].tolist()
    return AllowedRoutes(
        longest=None if findings.numbers[kernel.N_CYCLIC] else int(total.max(initial=0)),
        diameter=diameter,
        pairs=pairs,
        far_pairs=int((total > 2 * diameter).sum()),
        dead_ends=dead[kernel.F_COUNT],
        dead_end=describe_state(topology, dead) if dead[kernel.F_COUNT] else "",
        short_states=short[kernel.F_COUNT],
        short_state=f"{describe_state(topology, short)}, needs class {short[kernel.F_VALUE]}"
        if short[kernel.F_COUNT]
        else "",
    )
