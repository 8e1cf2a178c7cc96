"""The plan of a comparison: every run with its exact command, before a node-hour is spent."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from routelab.api import (
    BenchmarkPlugin,
    BenchmarkTask,
    InputError,
    RouteTable,
)
from routelab.cluster.bench.comparison import AS_IT_IS, Comparison, ComparisonPart
from routelab.cluster.bench.environment import relevant_variables
from routelab.cluster.bench.fabric.fabric import Fabric, FabricJob
from routelab.cluster.bench.launchers import Launcher
from routelab.cluster.bench.order import benchmark_order, routing_orders
from routelab.cluster.bench.store import fingerprint_of
from routelab.routing.routes_file import table_digest
from routelab.study.cluster.keys import ClusterFile
from routelab.toolkit.input_files import MAX_ARRAYS, open_input

RUN_FOLDER = Path()
"""Folder of a run, as its command uses it: the working directory."""


@dataclass(frozen=True)
class PlannedRun:
    """A run of a comparison.

    Attributes
    ----------
    routing, benchmark : ComparisonPart
    round : int
        From 1 on; warm-up rounds have 0 and less.
    turn : int
        Position of the routing in the round, from 1 on.
    fingerprint : str
        Digest of `identity`, by which the run is stored; empty for a run that is not possible.
    identity : mapping
        Everything that may change the figures. A stored run is used again only if it is equal.
    command : tuple of str
        The benchmark's program and its arguments, without the launcher.
    files : mapping of str to str
        Text of the input files in its folder, by name.
    refusal : str
        Why the run is not possible: the network does not fit the benchmark or the routing. Empty
        for a run that is possible.
    """

    routing: ComparisonPart
    benchmark: ComparisonPart
    round: int
    turn: int
    fingerprint: str = ""
    identity: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""


@dataclass(frozen=True)
class Turn:
    """A turn of a routing in a round: the runs of all benchmarks while this routing is applied.

    Attributes
    ----------
    routing : ComparisonPart
    round : int
    runs : tuple of PlannedRun
    """

    routing: ComparisonPart
    round: int
    runs: tuple[PlannedRun, ...]


@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """A comparison with everything that it needs.

    Attributes
    ----------
    comparison : Comparison
    topology : str
        Canonical name of the network.
    file : ClusterFile
    launcher : Launcher
    tables : mapping of str to RouteTable
        Routes by id of the routing, without those in `refusals`.
    refusals : mapping of str to str
        Why a routing has no table here, by its id.
    benchmarks : mapping of str to BenchmarkPlugin
        Plugins by id of the benchmark.
    executables : mapping of str to Path
        Programs by id of the benchmark.
    fabric : Fabric or None
        None: the routing of the system stays as it is.
    """

    comparison: Comparison
    topology: str
    file: ClusterFile
    launcher: Launcher
    tables: Mapping[str, RouteTable]
    refusals: Mapping[str, str]
    benchmarks: Mapping[str, BenchmarkPlugin]
    executables: Mapping[str, Path]
    fabric: Fabric | None

    @property
    def switches_fabric(self) -> bool:
        """Whether routings are applied to the fabric; otherwise it is measured as it is."""
        return self.fabric is not None and bool(self.comparison.routings)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts in the order of the network's terminals; empty: this machine."""
        return self.launcher.hosts

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Return the turns of all rounds, in order."""
        settings = self.comparison.settings
        # Without routings, the fabric has one turn per round, as it is.
        routings = self.comparison.routings or (ComparisonPart(id=AS_IT_IS, text=AS_IT_IS),)
        num_rounds = settings.warm_up + settings.repeats
        orders = routing_orders(len(routings), num_rounds, settings.seed)
        # Of 2 warm-up rounds the numbers are −1 and 0, so that the first measured round is 1.
        first_round = 1 - settings.warm_up
        return tuple(
            self._plan_turn(routings[routing], round_, turn_number)
            for round_, order in enumerate(orders, first_round)
            for turn_number, routing in enumerate(order, 1)
        )

    @property
    def digests(self) -> dict[str, str]:
        """Digests of the tables, by routing."""
        return {routing: _digest(table) for routing, table in self.tables.items()}

    @property
    def runs(self) -> Iterator[PlannedRun]:
        """Iterate over the runs of all turns."""
        return (run for turn in self.turns for run in turn.runs)

    def job(self, routing: ComparisonPart, folder: Path) -> FabricJob:
        """Return the fabric's job for a routing; equal routes have the same folder in `folder`."""
        table = self.tables[routing.id]
        return FabricJob(
            routing=routing.text,
            table=table,
            hosts=self.hosts,
            folder=folder / _digest(table)[:16],
            topology=self.topology,
        )

    def task(self, benchmark: str, folder: Path = RUN_FOLDER) -> BenchmarkTask:
        """Return the task of the benchmark with an id: its ranks, nodes, program and folder."""
        executable = self.executables.get(benchmark, Path())
        return BenchmarkTask(self.launcher.ranks, self.launcher.nodes, executable, folder)

    def _plan_turn(self, routing: ComparisonPart, round_: int, turn_number: int) -> Turn:
        """Return the runs of all benchmarks in a turn of a routing."""
        benchmarks = self.comparison.benchmarks
        order = benchmark_order(len(benchmarks), round_, turn_number)
        runs = tuple(
            self._plan_run(routing, benchmarks[number], round_, turn_number) for number in order
        )
        return Turn(routing, round_, runs)

    def _plan_run(
        self, routing: ComparisonPart, benchmark: ComparisonPart, round_: int, turn_number: int
    ) -> PlannedRun:
        """Return a run with its command and fingerprint, or with the reason why it is refused."""
        launcher, plugin = self.launcher, self.benchmarks[benchmark.id]
        refusal = self.refusals.get(routing.id) or plugin.supports(
            launcher.ranks, launcher.ranks_per_node
        )
        if refusal:
            return PlannedRun(routing, benchmark, round_, turn_number, refusal=refusal)
        task = self.task(benchmark.id)
        command, files = plugin.command(task), plugin.files(task)
        table = self.tables.get(routing.id)
        launch = launcher.make_launch(command)

        # What may change the figures: a stored run is used again only if it is equal in all of
        # this. The launch is not yet the real one, which names its step by the fingerprint. Here
        # the step has the default name, so that the fingerprint does not depend on itself.
        identity = {
            "arguments": [_argument_identity(argument) for argument in launch.arguments],
            "environment": {**relevant_variables(), **launch.environment},
            "files": dict(files),
            "hosts": list(launcher.hosts) or [os.uname().nodename],
            "ranks": launcher.ranks,
            "routing": routing.text,
            "benchmark": benchmark.text,
            "routes": "" if table is None else _digest(table),
            "fabric": _fabric_identity(self.file, self.switches_fabric),
            "round": round_,
        }
        return PlannedRun(
            routing,
            benchmark,
            round_,
            turn_number,
            fingerprint=fingerprint_of(identity),
            identity=identity,
            command=command,
            files=files,
        )


def fabric_commands_text(file: ClusterFile, switches_fabric: bool) -> str:
    """Return how the fabric is switched, for people; empty if it is not.

    Such as ``apply: sudo -n load {folder}; restore: sudo -n load default``.
    """
    commands = file.cluster.fabric
    if commands is None or not switches_fabric:
        return ""
    command_words = commands.model_dump(include={"apply", "restore"})
    return "; ".join(
        f"{name}: {' '.join(map(_quote_word, words))}" for name, words in command_words.items()
    )


def _quote_word(word: str) -> str:
    """Quote a word of a command, but not because of braces, which `shlex.quote` would quote."""
    return word if re.fullmatch(r"[^\s'\"]+", word) else shlex.quote(word)


_KEYS_WITHOUT_EFFECT = frozenset({"state", "restore", "seconds"})
"""Keys of a fabric's entry that do not affect the routes while a routing is applied."""


def _fabric_identity(file: ClusterFile, switches_fabric: bool) -> Any:
    """Return how the fabric is switched, for fingerprints: with the content of all files.

    A new key with its default value must not change the fingerprints of runs of earlier versions,
    so only keys that the file gives count.
    """
    commands = file.cluster.fabric
    if commands is None or not switches_fabric:
        return ""
    entries = commands.model_dump(exclude=set(_KEYS_WITHOUT_EFFECT), exclude_unset=True)
    # earlier versions required this key, so it is part of all fingerprints
    entries["use"] = commands.use
    return {
        key: list(map(_argument_identity, value)) if isinstance(value, list) else value
        for key, value in entries.items()
    }


_digests: dict[int, tuple[RouteTable, str]] = {}
"""Digests by the table's `id`, with the table itself: so no other one can get its `id`."""


def _digest(table: RouteTable) -> str:
    """Return the SHA-256 of network and routes, hexadecimal; compute it once per table."""
    if id(table) not in _digests:
        _digests[id(table)] = (table, table_digest(table))
    return _digests[id(table)][1]


_file_digests: dict[tuple[str, int, int], str] = {}
"""Digests of files by path, time and size."""


def _argument_identity(argument: str) -> str:
    """Return what a fingerprint contains for an argument of a command.

    For the absolute path of a file, that is the file's name and a digest of its content, so that a
    program or an input may move: ``/old/osu_bw`` and ``/new/osu_bw`` are equal. Other arguments
    count as they are.
    """
    path = Path(argument)
    if not path.is_absolute() or not path.is_file():
        return argument
    try:
        status = path.stat()
        key = argument, status.st_mtime_ns, status.st_size
        if key not in _file_digests:
            with open_input(path, MAX_ARRAYS) as stream:
                _file_digests[key] = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    return f"{path.name} {_file_digests[key]}"
