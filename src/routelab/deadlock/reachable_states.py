"""Reachable states of any hop-by-hop algorithm, its dependencies and violations of its contract.

1. List the pairs of switches (or terminals) that the network connects, in drawn order.
2. For each, follow a packet through all states that it can reach, for all outcomes of random draws
   and several contents of the queues (`routelab.deadlock.kernels.state_search`).
3. Each candidate in a state is a dependency of the resource that the packet holds
   (`ReachableStates.dependency_edges`).
4. For Duato's extended graph, first learn which resources are escapes, then search again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routelab.api import HopProgram, RunTables, Topology, needed_classes, run_tables
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.deadlock.allowed_routes import SEED, AllowedRoutes, endpoint_distances, sample_sources
from routelab.deadlock.dependency_graph import (
    channel_ports,
    dependency_queries,
    edges_from_bits,
    search_in_chunks,
    unpack_bits,
    words_per_row,
)
from routelab.deadlock.kernels import packet_states as kernel
from routelab.deadlock.kernels.guards import cell_name
from routelab.deadlock.kernels.packet_states import (
    AS_CANDIDATE,
    AS_ESCAPE,
    Q_BIT,
    Q_CAUSE,
    Q_ROW,
    Findings,
    SearchInput,
)
from routelab.deadlock.kernels.state_search import compile_search
from routelab.deadlock.program_code import reads_queues, reads_random_words
from routelab.kernels.hops import (
    BUSY_UNTIL,
    CREDITS,
    FRONT_FLITS,
    NOW,
)

MAX_STATES = 4_000_000
"""Number of states at which a search stops: about ten seconds."""
MAX_STATES_OF_A_PAIR = 50_000
MAX_DEPENDENCIES = 10_000_000
"""Largest number of extended dependencies (after further hops)."""
UNBOUNDED_HOPS = 64
"""Hops to follow for an algorithm without a bound."""

UNITS = 8
"""Size in flits of each buffer in the queues for functions."""
_QUEUE_CONTENTS = 8
_CHUNK = 1 << 10
"""Pairs between two chances to interrupt a search."""

PROBLEMS = {
    "dead-end": (kernel.DEAD_END, "there is no candidate"),
    "channel": (kernel.WRONG_CHANNEL, "candidate {} is not a channel that leaves the switch"),
    "class": (kernel.WRONG_CLASS, "a candidate is of class {}; classes are 0..{classes}"),
    "count": (kernel.WRONG_COUNT, "{} candidates are returned, the program claims {candidates}"),
    "penalty": (kernel.WRONG_PENALTY, "a candidate has penalty {}, expected 0 or more"),
    "columns": (kernel.WRITES, "column {} of the packet is written to, which is the engine's"),
    "waypoint": (kernel.WRONG_WAYPOINT, "waypoint {} is set, and {cause}"),
    "max-hops": (kernel.TOO_LONG, "{} hops are taken, the program claims at most {max_hops}"),
    "cells": (kernel.WRITES_ELSEWHERE, "{cell} is written to, which the function must not change"),
    "memory": (kernel.CELL_WITH_MEMORY, "what a call leaves in {cell} depends on earlier calls"),
    "random": (kernel.NOT_REPEATABLE, "the same arguments give other candidates"),
}
"""Violations of the contract: name, row of the kernel's findings, message."""
_OPEN_QUESTIONS = (
    (kernel.TOO_MANY_DRAWS, "draws have too many outcomes to try all"),
    (kernel.ON_QUEUES, "candidates depend on queues, and not by `either` or penalties alone"),
    (kernel.OTHER_DRAWS, "random words give candidates that no outcome of `pick` gives"),
)
"""Why not all candidates are known: row of the kernel's findings, message."""


@dataclass(frozen=True, eq=False)
class ReachableStates:
    """Reachable states of a program: all, or those of some pairs.

    Attributes
    ----------
    topology : Topology
    program : HopProgram
    classes : int
        Classes of all phases; resource ``channel * classes + class``.
    pairs : int32 array, shape (N, 2)
        Source and destination switch of every connected pair, in the order of the
        search; of every pair of terminals, if the program is `by_terminal`. On very large networks,
        only pairs with drawn sources.
    num_pairs : int
        Number of all pairs.
    escapes : int64 array, shape (E,), or None
        Resources that are escapes, ascending: row and bit i of `Findings.extended_dependencies` are
        about ``escapes[i]``. None if Duato's extended graph is not collected.
    findings : Findings
        Results of the search.
    search : callable
        Repeats the search: takes `initial_findings` and updates them.
    """

    topology: Topology
    program: HopProgram
    classes: int
    pairs: Int32Array
    num_pairs: int
    escapes: Int64Array | None
    findings: Findings
    search: Callable[[Findings], None]

    ascending = False
    """Dependencies are always collected."""

    @property
    def states(self) -> int:
        """Number of states of all pairs."""
        return int(self.findings.numbers[kernel.N_STATES])

    @property
    def num_examined_pairs(self) -> int:
        """Number of pairs of which all states were examined."""
        numbers = self.findings.numbers
        return int(numbers[kernel.N_PAIRS] - numbers[kernel.N_UNFINISHED])

    @property
    def complete(self) -> bool:
        """Whether the search was complete."""
        return self.num_examined_pairs == self.num_pairs

    @property
    def examined_part(self) -> str:
        """Text about the examined part, if the search was not complete."""
        return f"{self.num_examined_pairs:,} of {self.num_pairs:,} pairs"

    @property
    def coverage(self) -> str:
        """Text about the extent of the search."""
        pairs = f"{self.num_pairs:,} pairs" if self.complete else self.examined_part
        unbounded = self.program.max_hops is None
        hop_limit = f" up to {UNBOUNDED_HOPS} hops away" if unbounded else ""
        of_terminals = " of terminals" if self.program.by_terminal else ""
        drawn = "" if self.complete else f", drawn with seed {SEED}"
        extent = f"{pairs}{of_terminals}{hop_limit}{drawn}"
        return f"{self.states:,} states of {extent}, each for all outcomes of draws"

    @cached_property
    def problems(self) -> dict[str, str]:
        """Violations of the contract, by the names of `PROBLEMS`; one example each."""
        problems = {}
        for name, (problem, message) in PROBLEMS.items():
            example = self._example(problem)
            # without a claim, `UNBOUNDED_HOPS` ends the search, which is no fault
            if example is None or (name == "max-hops" and self.program.max_hops is None):
                continue
            text = message.format(
                example[kernel.P_VALUE],
                classes=self.program.vc_classes - 1,
                candidates=self.program.candidates,
                max_hops=self.program.max_hops,
                cause=self._waypoint_fault(example),
                cell=cell_name(example[kernel.P_VALUE]),
            )
            problems[name] = f"{text}: {self._location(example)}"
        return problems

    @property
    def num_sampled_calls(self) -> int:
        """Number of calls with random words whose answers are those of some outcome of draws."""
        return int(self.findings.numbers[kernel.N_SAMPLED])

    @property
    def open_question(self) -> str:
        """Say why packets may have candidates that the search did not see; empty if they have none.

        A proof then does not hold.
        """
        if self.raw_word_reader:
            return f"{self.raw_word_reader} reads random words other than by `pick`"
        for problem, text in _OPEN_QUESTIONS:
            example = self._example(problem)
            if example is not None:
                return f"{text}: {self._location(example)}"
        return ""

    @cached_property
    def raw_word_reader(self) -> str:
        """Name the function that reads random words itself; empty if none does."""
        return reads_random_words(self.program.hop) or reads_random_words(self.program.inject)

    @property
    def without_escape(self) -> str:
        """Describe a state in which no candidate is an escape; empty if every state has one."""
        example = self._example(kernel.NO_ESCAPE)
        return "" if example is None else self._location(example)

    @property
    def several_routes(self) -> str:
        """Describe a state with a choice of routes for a pair; empty if routes are unique."""
        example = self._example(kernel.SEVERAL_ROUTES)
        return "" if example is None else self._location(example)

    @cached_property
    def allowed_routes(self) -> AllowedRoutes:
        """Facts about the routes; dead ends and classes that do not exist are `problems`, too."""
        ends = self.topology.endpoints
        sources = sample_sources(self.topology, len(ends))
        diameter = int(endpoint_distances(self.topology, sources)[:, ends].max(initial=0))
        longest = self.findings.longest
        dead_end, missing_class = self._example(kernel.DEAD_END), self._example(kernel.WRONG_CLASS)
        # A negative class is an error of the program; more virtual channels would not help.
        if missing_class and missing_class[kernel.P_VALUE] < 0:
            missing_class = None
        missing_class_example = ""
        if missing_class:
            needed = missing_class[kernel.P_VALUE]
            missing_class_example = f"{self._location(missing_class)}, needs class {needed}"
        return AllowedRoutes(
            # entries are −1 for pairs of which no walk was examined, or none ends
            longest=int(longest.max(initial=0)),
            diameter=diameter,
            pairs=self.num_pairs,
            long_route_pairs=int((longest > 2 * diameter).sum()),
            dead_ends=dead_end[kernel.P_COUNT] if dead_end else 0,
            dead_end_example=self._location(dead_end) if dead_end else "",
            missing_class_states=missing_class[kernel.P_COUNT] if missing_class else 0,
            missing_class_example=missing_class_example,
        )

    def criterion_resources(self, proof: str) -> BoolArray:
        """Return which resources are vertices of the graph that a proof examines; bool, shape (R,).

        For ``duato`` those are the escapes, otherwise all candidates.
        """
        used: BoolArray = self.findings.used[AS_ESCAPE if proof == "duato" else AS_CANDIDATE]
        return used

    @property
    def num_extended_dependencies(self) -> int:
        """Number of edges of Duato's extended graph; 0 if these are not collected."""
        return int(np.bitwise_count(self.findings.extended_dependencies).sum())

    def dependency_edges(self, proof: str) -> tuple[Int64Array, Int64Array]:
        """Return the channel dependency graph whose cycles the criterion of a proof forbids.

        Parameters
        ----------
        proof : str
            ``duato``: only escape resources, after `explore_states` with `escapes` or `indirect`;
            any other: all resources, after a search without.

        Returns
        -------
        held, awaited : int64 array
            Resources of each edge, ascending.
        """
        if self.escapes is None:
            # For ``duato``, drop the edges of held resources that are no escapes. Awaited ones need
            # no such step: a search with `escapes` sets the bits of escapes alone.
            awaited_bits = self.findings.dependencies.copy()
            awaited_bits[~self.criterion_resources(proof)] = 0
            return edges_from_bits(self.topology, self.classes, awaited_bits)
        # In the extended graph a row is an awaited escape, and its bits are the held ones. It is
        # transposed, so that edges are sorted by the held escape. The last word has bits to spare.
        is_awaited_by = unpack_bits(self.findings.extended_dependencies)[:, : len(self.escapes)]
        held, awaited = np.nonzero(is_awaited_by.T)
        return self.escapes[held], self.escapes[awaited]

    def example_pairs(self, held: Int32Array, awaited: Int32Array) -> Int32Array:
        """Return a source and a target switch whose packets cause each dependency; (K, 2)."""
        # Search all pairs again: this time, the search writes the index of the first pair that has
        # a dependency to its query.
        queries = dependency_queries(self.topology, self.classes, held, awaited)
        if self.escapes is not None:
            # in the extended graph, rows are awaited escapes and bits are held ones
            queries[:, Q_ROW] = np.searchsorted(self.escapes, awaited)
            queries[:, Q_BIT] = np.searchsorted(self.escapes, held)
        initial = initial_findings(self.topology, self.classes, len(self.pairs), self.escapes)
        self.search(initial._replace(queries=queries))
        pairs: Int32Array = self.pairs[queries[:, Q_CAUSE]]
        return pairs

    def _example(self, problem: int) -> list[int] | None:
        """Return the row of a problem with an example, or None if no state has it."""
        example: list[int] = self.findings.problems[problem].tolist()
        return None if example[kernel.P_SOURCE] < 0 else example

    def _waypoint_fault(self, example: list[int]) -> str:
        """Say which rule of the contract forbids the waypoint that a packet gets in an example.

        The rules are those of `kernels.state_search._aim_at_waypoint`, which found the fault.
        """
        if self.program.phases == 1:
            return "the program has one phase"
        switch, waypoint = example[kernel.P_SWITCH], example[kernel.P_VALUE]
        if not -1 <= waypoint < self.topology.num_switches:
            return f"there are switches 0..{self.topology.num_switches - 1}"
        # −1 removes the waypoint, so that the packet heads for its destination
        target = example[kernel.P_DESTINATION] if waypoint < 0 else waypoint
        # of all rules, only that of phase 0 is left
        return "the packet is there" if switch == target else "the packet is in phase 1"

    def _location(self, example: list[int]) -> str:
        """Return in words where the packet of an example is, and how it came there."""
        names = self.topology.switch_names
        source, destination = names[example[kernel.P_SOURCE]], names[example[kernel.P_DESTINATION]]
        switch, channel = names[example[kernel.P_SWITCH]], example[kernel.P_CHANNEL]
        arrival = "at injection" if channel < 0 else f"over {self.topology.channel_name(channel)}"
        ends = f"{source} to {destination}"
        if self.program.by_terminal:
            ends = (
                f"terminal {example[kernel.P_SOURCE_TERMINAL]} at {source} to "
                f"terminal {example[kernel.P_TARGET_TERMINAL]} at {destination}"
            )
        return f"{ends}, at switch {switch}, come {arrival}"


def explore_states(
    program: HopProgram,
    topology: Topology,
    virtual_channels: int | None = None,
    *,
    escapes: bool = False,
    indirect: bool = False,
    max_states: int = MAX_STATES,
) -> ReachableStates:
    """Follow packets of a program through a network, of all pairs or of as many as possible.

    Parameters
    ----------
    program : HopProgram
        Prepared for `topology`.
    topology : Topology
    virtual_channels : int, optional
        Virtual channels of the program (default: as many as it needs).
    escapes : bool
        Collect the dependencies on escape candidates only.
    indirect : bool
        Collect Duato's extended graph: also dependencies between escapes after further hops, which
        wormhole switching has.
    max_states : int
        Number of states at which the search stops.
    """
    pairs, num_pairs = _connected_pairs(topology, by_terminal=program.by_terminal)
    classes = needed_classes(program)
    vcs = max(virtual_channels or classes, classes)
    arguments = run_tables(program, topology, vcs, capacity=UNITS)
    task = SearchInput(
        tables=arguments.tables,
        reals=program.reals.copy(),
        channels=channel_ports(topology),
        escape_row=np.full(topology.num_channels * classes, -1, np.int32),
        queue_contents=sample_queue_contents(arguments, vcs, waiting=program.waiting),
        settings=_search_settings(program, topology, max_states),
    )
    task.settings[kernel.S_ESCAPES_ONLY] = escapes or indirect
    explore, choose_nothing = compile_search()
    inject = program.inject or choose_nothing

    def search(findings: Findings) -> None:
        search_in_chunks(
            lambda chunk, chunk_findings: explore(program.hop, inject, task, chunk, chunk_findings),
            items=pairs,
            findings=findings,
            num_searched=lambda: int(findings.numbers[kernel.N_PAIRS]),
            chunk=_CHUNK,
        )

    escape_resources: Int64Array | None = None
    findings = initial_findings(topology, classes, len(pairs), escape_resources)
    search(findings)
    # Duato's extended graph needs a row for each escape, and only a search shows which resources
    # are escapes. So search without rows, give each escape one, and search again. The second search
    # finds no other escapes if the program's answers are repeatable, as its contract demands. Of
    # another program it may: then search until every escape that was found has a row.
    while indirect:
        has_row = task.escape_row >= 0
        is_escape = findings.used[AS_ESCAPE]  # those of the last search
        if escape_resources is not None and not (is_escape & ~has_row).any():
            break
        escape_resources = np.flatnonzero(is_escape | has_row)
        task.escape_row[escape_resources] = np.arange(len(escape_resources))
        findings = initial_findings(topology, classes, len(pairs), escape_resources)
        search(findings)
    return ReachableStates(
        topology=topology,
        program=program,
        classes=classes,
        pairs=pairs[:, :2],  # the switches, without the terminals
        num_pairs=num_pairs,
        escapes=escape_resources,
        findings=findings,
        search=search,
    )


def initial_findings(
    topology: Topology, classes: int, num_pairs: int, escapes: Int64Array | None
) -> Findings:
    """Return the findings before a search of `num_pairs` pairs: nothing is found yet.

    `classes` counts those of all phases. `escapes` are the vertices of Duato's extended graph
    (`ReachableStates.escapes`); with None, the search does not collect it.
    """
    num_resources = topology.num_channels * classes
    num_escapes = 0 if escapes is None else len(escapes)
    escape_words = (num_escapes + 63) // 64
    problems = np.full((kernel.NUM_PROBLEMS, kernel.PROBLEM_COLUMNS), -1, np.int64)
    problems[:, kernel.P_COUNT] = 0
    return Findings(
        dependencies=np.zeros((num_resources, words_per_row(topology, classes)), np.uint64),
        extended_dependencies=np.zeros((num_escapes, escape_words), np.uint64),
        used=np.zeros((2, num_resources), np.bool_),
        problems=problems,
        longest=np.full(num_pairs, -1, np.int32),
        numbers=np.zeros(kernel.NUMBERS, np.int64),
        queries=np.empty((0, 3), np.int64),
    )


def _search_settings(program: HopProgram, topology: Topology, max_states: int) -> Int64Array:
    """Return the entries of `SearchInput.settings`, but for `S_ESCAPES_ONLY`."""
    settings = np.zeros(kernel.NUM_SETTINGS, dtype=np.int64)
    settings[kernel.S_PHASES], settings[kernel.S_CLASSES] = program.phases, program.vc_classes
    settings[kernel.S_CANDIDATES] = program.candidates
    settings[kernel.S_MAX_HOPS] = UNBOUNDED_HOPS if program.max_hops is None else program.max_hops
    settings[kernel.S_MAX_STATES_OF_PAIR] = min(max_states, MAX_STATES_OF_A_PAIR)
    settings[kernel.S_MAX_STATES] = max_states
    settings[kernel.S_SWITCHES] = topology.num_switches
    settings[kernel.S_INJECT_CHOOSES] = program.inject is not None
    settings[kernel.S_KEEPS_STATE] = program.keeps_state
    settings[kernel.S_CALLED_AGAIN] = program.again
    # contents that no function reads cannot change its answers
    settings[kernel.S_QUEUE_CONTENTS] = _QUEUE_CONTENTS if reads_queues(program) else 1
    return settings


def _connected_pairs(topology: Topology, *, by_terminal: bool) -> tuple[Int32Array, int]:
    """Return pairs of different switches with terminals that the network connects, in drawn order.

    Returns
    -------
    pairs : int32 array, shape (N, 4)
        Source switch, destination switch, and a terminal at each: all of them if `by_terminal`,
        else the first one. Of very large networks, those of some sources.
    num_pairs : int
        Their number; if they are only some, that of all pairs, connected or not.
    """
    terminal_switch = topology.terminal_switch
    # 1. The terminals (all, or the first of each switch), and the switches where packets begin
    #    (all, or some of a very large network).
    ends, first_terminal = np.unique(terminal_switch, return_index=True)
    terminals = np.arange(len(terminal_switch)) if by_terminal else first_terminal
    switch = terminal_switch[terminals]
    max_terminals = int(np.bincount(switch, minlength=1).max())
    sources = sample_sources(topology, max_terminals * len(terminals))
    # A row for each of `sources`. A distance of 0 is a pair at one switch, which needs no hop.
    is_connected = endpoint_distances(topology, sources) > 0
    # 2. Pairs of terminals, as indices of `terminals`: `senders` are those at the sources.
    source_row = np.full(topology.num_switches, -1)
    source_row[sources] = np.arange(len(sources))
    senders = np.flatnonzero(source_row[switch] >= 0)
    sender_reaches = is_connected[source_row[switch[senders]]][:, switch]
    sender_number, target = np.nonzero(sender_reaches)
    source = senders[sender_number]
    # 3. In drawn order, so that a search that stops early has seen pairs from everywhere.
    order = np.random.default_rng(SEED).permutation(len(source))
    source, target = source[order], target[order]
    pairs = np.column_stack((switch[source], switch[target], terminals[source], terminals[target]))
    num_pairs = len(pairs)
    if len(sources) < len(ends):
        # Of all sources: every pair of terminals but those at the same switch.
        num_pairs = len(switch) ** 2 - int((np.bincount(switch) ** 2).sum())
    return pairs.astype(np.int32), num_pairs


def sample_queue_contents(
    arguments: RunTables, virtual_channels: int, *, waiting: bool, count: int = _QUEUE_CONTENTS
) -> Int32Array:
    """Return contents of the queues, to call functions with: empty, full, and random ones.

    A program may choose by any of them, so the checker calls its functions with several. A random
    content fills buffers of a channel alike, or those of a virtual channel number alike, or each
    buffer on its own, in turn; the flits that wait inside the switches are drawn for each channel.

    Returns
    -------
    int32 array, shape (count, Q, QUEUE_COLUMNS)
        The Q rows of a content are those of `RunTables.queues`: one for each buffer and, only if
        the program needs `waiting` flits, one for each channel and one for the cycle.
    """
    random = np.random.default_rng(0)
    contents = np.repeat(arguments.queues[np.newaxis], count, axis=0)
    buffers, channels = contents[:, : arguments.buffers], arguments.buffers // virtual_channels
    cycle_row = arguments.buffers + channels
    channel_rows = contents[:, arguments.buffers : cycle_row]
    # free flits: equal for the buffers of a channel, for those of a virtual channel, or for none
    shapes = ((channels, 1), (1, virtual_channels), (channels, virtual_channels))
    for number, buffer_rows in enumerate(buffers):
        free = random.integers(UNITS + 1, size=shapes[number % len(shapes)])
        buffer_rows[:, CREDITS] = np.broadcast_to(free, (channels, virtual_channels)).reshape(-1)
    # contents 0 and 1: all buffers empty, and all full
    buffers[0, :, CREDITS] = UNITS
    buffers[1, :, CREDITS] = 0
    if waiting:
        # Content 0 has no flits inside switches. In the others, some channels are busy until before
        # the present cycle, and some until after it.
        channel_rows[1:, :, FRONT_FLITS] = random.integers(2 * UNITS, size=(count - 1, channels))
        channel_rows[1:, :, BUSY_UNTIL] = random.integers(2 * UNITS, size=(count - 1, channels))
        contents[1:, cycle_row, NOW] = UNITS
    return contents
