"""Reachable states of a hop-by-hop algorithm on a small network, and violations of its contract."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from routelab.api import HopProgram, RunTables, Topology, needed_classes, run_tables
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.deadlock.kernels import hop_states as kernel
from routelab.deadlock.kernels.hop_search import compile_search
from routelab.deadlock.kernels.hop_states import ROUNDS, WORDS, Findings, SearchInput
from routelab.deadlock.walks import Walks, endpoint_distances
from routelab.kernels.distances import hop_distances
from routelab.kernels.hops import (
    BUSY_UNTIL,
    CREDITS,
    FRONT_FLITS,
    NOW,
)

MAX_SWITCHES = 64
"""Switches of the largest network that is explored."""
MAX_RESOURCES = 2560
"""Largest number of channels times classes; dependencies are a full matrix of them."""
MAX_STATES = 250_000
"""Largest total number of states of all pairs: a few seconds."""
MAX_STATES_OF_A_PAIR = 50_000
UNBOUNDED_HOPS = 64
"""Hops to follow for an algorithm without a bound."""

UNITS = 8
"""Size in flits of each buffer in the queues for functions."""
_PICTURES = 16

PROBLEMS = {
    "dead-end": (kernel.DEAD_END, "there is no candidate"),
    "channel": (kernel.WRONG_CHANNEL, "candidate {} is no channel that leaves the switch"),
    "class": (kernel.WRONG_CLASS, "a candidate is of class {}, there are 0..{classes}"),
    "count": (kernel.WRONG_COUNT, "{} candidates are returned, the program claims {candidates}"),
    "penalty": (kernel.WRONG_PENALTY, "a candidate has penalty {}, expected 0 or more"),
    "columns": (kernel.WRITES, "column {} of the packet is written to, which is the engine's"),
    "waypoint": (kernel.WRONG_WAYPOINT, "waypoint {} is set, and {cause}"),
    "max-hops": (kernel.TOO_LONG, "{} hops are taken, the program claims at most {max_hops}"),
    "random": (kernel.OWN_RANDOM, "the same random word and queues give other candidates"),
}
"""Violations of the contract: name, row of the kernel's findings, message."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """All reachable states of a program on a small network.

    Attributes
    ----------
    topology : Topology
    program : HopProgram
    classes : int
        Classes of all phases; resource ``channel * classes + class``.
    pairs : int32 array, shape (N, 2)
        Source and destination switch of every pair that the network joins; of every pair of
        terminals, if the program is `by_terminal`.
    findings : Findings
    """

    topology: Topology
    program: HopProgram
    classes: int
    pairs: Int32Array
    findings: Findings

    ascending = False
    """Dependencies are always collected."""

    @property
    def states(self) -> int:
        """Number of states of all pairs."""
        return int(self.findings.seen[0])

    @property
    def complete(self) -> bool:
        """Whether the search was complete."""
        return self._example(kernel.TOO_MANY_STATES) is None

    @property
    def coverage(self) -> str:
        """Text about the extent of the search."""
        far = "" if self.program.max_hops is not None else f" up to {UNBOUNDED_HOPS} hops away"
        of = " of terminals" if self.program.by_terminal else ""
        return (
            f"{self.states:,} states of {len(self.pairs):,} pairs{of}{far}, each asked with "
            f"{WORDS * ROUNDS} random words (every first draw among up to "
            f"{WORDS}; further draws and queues are sampled)"
        )

    @cached_property
    def problems(self) -> dict[str, str]:
        """Violations of the contract, by the names of `PROBLEMS`; one example each."""
        problems = {}
        for name, (row, message) in PROBLEMS.items():
            example = self._example(row)
            if example is None or (name == "max-hops" and self.program.max_hops is None):
                continue
            text = message.format(
                example[4],
                classes=self.program.vc_classes - 1,
                candidates=self.program.candidates,
                max_hops=self.program.max_hops,
                cause=self._against_waypoint(example),
            )
            problems[name] = f"{text}: {self._location(example)}"
        return problems

    @property
    def without_escape(self) -> str:
        """Describe a state in which no candidate is an escape; empty if every state has one."""
        example = self._example(kernel.NO_ESCAPE)
        return "" if example is None else self._location(example)

    @property
    def several_ways(self) -> str:
        """Describe a state with a choice of routes for a pair; empty if routes are unique."""
        example = self._example(kernel.SEVERAL_WAYS)
        return "" if example is None else self._location(example)

    @cached_property
    def walks(self) -> Walks:
        """Facts about the routes; dead ends and classes that do not exist are `problems`."""
        distance = endpoint_distances(self.topology)[:, self.topology.endpoints]
        diameter, longest = int(distance.max(initial=0)), self.findings.longest
        return Walks(
            longest=int(longest.max(initial=0)),
            diameter=diameter,
            pairs=len(self.pairs),
            far_pairs=int((longest > 2 * diameter).sum()),
        )

    def used(self, proof: str) -> BoolArray:
        """Return which resources the criterion of a proof concerns; shape (R,)."""
        used: BoolArray = self.findings.used[1 if proof == "duato" else 0]
        return used

    def edges(self, proof: str, switching: str) -> tuple[Int64Array, Int64Array]:
        """Return the dependencies of the criterion of a proof: resources a, then b, ascending."""
        source, target = np.nonzero(self._first_pairs(proof, switching) >= 0)
        return source, target

    def causes(
        self, source: Int32Array, target: Int32Array, proof: str, switching: str
    ) -> Int32Array:
        """Return a source and a target switch whose packets cause each dependency; (K, 2)."""
        pairs: Int32Array = self.pairs[self._first_pairs(proof, switching)[source, target]]
        return pairs

    def _first_pairs(self, proof: str, switching: str) -> Int32Array:
        """Return the pair that causes each dependency of the criterion, −1 for none; (R, R)."""
        dependencies, used = self.findings.dependencies, self.findings.used
        if proof != "duato":
            every: Int32Array = dependencies[kernel.ANY]
            return every
        row = kernel.AS_ESCAPE if switching == "virtual-cut-through" else kernel.LATER_AS_ESCAPE
        return np.where(used[1][:, np.newaxis], dependencies[row], np.int32(-1))

    def _example(self, row: int) -> list[int] | None:
        example: list[int] = self.findings.problems[row].tolist()
        return None if example[0] < 0 else example

    def _against_waypoint(self, example: list[int]) -> str:
        if self.program.phases == 1:
            return "the program has one phase"
        _, destination, switch, _, waypoint, *_ = example
        if not -1 <= waypoint < self.topology.num_switches:
            return f"there are switches 0..{self.topology.num_switches - 1}"
        there = destination if waypoint < 0 else waypoint
        return "the packet is there" if switch == there else "the packet is in phase 1"

    def _location(self, example: list[int]) -> str:
        names = self.topology.switch_names
        source, destination, switch, channel, _, first, last = example
        came = "at injection" if channel < 0 else f"over {self.topology.channel_name(channel)}"
        ends = f"{names[source]} to {names[destination]}"
        if self.program.by_terminal:
            ends = f"terminal {first} at {names[source]} to terminal {last} at {names[destination]}"
        return f"{ends}, at switch {names[switch]}, come {came}"


def too_large(topology: Topology, classes: int) -> str:
    """Return why a network with that many classes is not explored; empty if it is."""
    resources = topology.num_channels * classes
    if topology.num_switches > MAX_SWITCHES:
        return f"{topology.num_switches} switches, at most {MAX_SWITCHES} are looked at"
    if resources > MAX_RESOURCES:
        return f"{resources} channels times classes, at most {MAX_RESOURCES} are looked at"
    return ""


def explore_states(
    program: HopProgram,
    topology: Topology,
    virtual_channels: int | None = None,
    *,
    indirect: bool = False,
    max_states: int = MAX_STATES,
) -> Exploration:
    """Follow every packet of a program through a network.

    Parameters
    ----------
    program : HopProgram
        Prepared for `topology`.
    topology : Topology
        A network that is not `too_large`.
    virtual_channels : int, optional
        Virtual channels of the program (default: as many as it needs).
    indirect : bool
        Also find dependencies on resources after further hops (wormhole switching).
    max_states : int
        Limit at which the search stops.
    """
    pairs = _connected_pairs(topology, by_terminal=program.by_terminal)
    classes = needed_classes(program)
    vcs = max(virtual_channels or classes, classes)
    size = topology.num_channels * classes
    given = run_tables(program, topology, vcs, capacity=UNITS)
    findings = Findings(
        dependencies=np.full((3 if indirect else 2, size, size), -1, dtype=np.int32),
        used=np.zeros((2, size), dtype=np.bool_),
        problems=np.full((kernel.PROBLEMS, kernel.PROBLEM_COLUMNS), -1, dtype=np.int64),
        longest=np.full(len(pairs), -1, dtype=np.int32),
        seen=np.zeros(1, dtype=np.int64),
    )
    task = SearchInput(
        tables=given.tables,
        reals=program.reals.copy(),
        channel_source=topology.channel_source.copy(),
        channel_target=topology.channel_target.copy(),
        pictures=queue_pictures(given, vcs, waiting=program.waiting),
        limits=_limits(program, topology, max_states),
    )
    explore, choose_nothing = compile_search()
    explore(program.hop, program.inject or choose_nothing, task, pairs, findings)
    return Exploration(topology, program, classes, pairs[:, :2], findings)


def _limits(program: HopProgram, topology: Topology, max_states: int) -> Int64Array:
    limits = np.zeros(kernel.LIMITS, dtype=np.int64)
    limits[kernel.PHASES], limits[kernel.CLASSES] = program.phases, program.vc_classes
    limits[kernel.CANDIDATES] = program.candidates
    limits[kernel.MOST_HOPS] = UNBOUNDED_HOPS if program.max_hops is None else program.max_hops
    limits[kernel.MOST_OF_A_PAIR] = min(max_states, MAX_STATES_OF_A_PAIR)
    limits[kernel.MOST_STATES] = max_states
    limits[kernel.SWITCHES] = topology.num_switches
    limits[kernel.CHOICES] = program.inject is not None
    limits[kernel.KEEPS_STATE], limits[kernel.AGAIN] = program.keeps_state, program.again
    return limits


def _connected_pairs(topology: Topology, *, by_terminal: bool) -> Int32Array:
    """Return the ordered pairs of different switches with terminals that the network joins.

    Returns
    -------
    int32 array, shape (N, 4)
        Source switch, destination switch, and a terminal at each: all of them if `by_terminal`,
        else the first one.
    """
    ends = topology.endpoints
    distance = np.empty(topology.num_switches, np.int32)
    queue = np.empty_like(distance)
    terminals = {
        end: np.flatnonzero(topology.terminal_switch == end).tolist() for end in ends.tolist()
    }
    pairs: list[tuple[int, int, int, int]] = []
    for source in ends.tolist():
        hop_distances(*topology.outgoing, topology.channel_target, source, distance, queue)
        for target in ends.tolist():
            if distance[target] > 0:
                both = list(product(terminals[source], terminals[target]))
                pairs += [(source, target, *two) for two in (both if by_terminal else both[:1])]
    return np.array(pairs, dtype=np.int32).reshape(-1, 4)


def queue_pictures(
    given: RunTables, virtual_channels: int, *, waiting: bool, count: int = _PICTURES
) -> Int32Array:
    """Return possible contents of the queues: empty, full, and random.

    A random picture fills whole channels, or some virtual channels of all channels, or single
    buffers; the flits that wait inside the switches are drawn for each channel.
    """
    rng = np.random.default_rng(0)
    pictures = np.repeat(given.queues[np.newaxis], count, axis=0)
    buffers, channels = pictures[:, : given.buffers], given.buffers // virtual_channels
    inside = pictures[:, given.buffers : given.buffers + channels + 1]
    shapes = ((channels, 1), (1, virtual_channels), (channels, virtual_channels))
    for number, picture in enumerate(buffers):
        free = rng.integers(UNITS + 1, size=shapes[number % len(shapes)])
        picture[:, CREDITS] = np.broadcast_to(free, (channels, virtual_channels)).reshape(-1)
    buffers[0, :, CREDITS] = UNITS
    buffers[1, :, CREDITS] = 0
    if waiting:
        inside[1:, :-1, FRONT_FLITS] = rng.integers(2 * UNITS, size=(count - 1, channels))
        inside[1:, :-1, BUSY_UNTIL] = rng.integers(2 * UNITS, size=(count - 1, channels))
        inside[1:, -1, NOW] = UNITS
    return pictures
