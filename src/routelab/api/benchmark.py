"""Benchmarks: plugins that are launched on real machines, and what they measure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from routelab.api.errors import RoutelabError
from routelab.api.plugin_base import Plugin

Failure = Literal[
    "no-result",
    "incomplete",
    "wrong-processes",
    "wrong-benchmark",
    "verification-failed",
    "error-text",
    "killed",
    "unreadable",
]
"""Ways in which a run that ended has no figures: nothing was printed; it stops in the middle;
another number of processes took part than was asked for; another benchmark, class or size ran; the
program's own check failed or was not done; it, or the launcher, printed an error; it was ended by
a signal; what it printed is not of its form."""


class BenchmarkError(RoutelabError):
    """A run gave no figures that can be trusted.

    Attributes
    ----------
    failure : Failure
    """

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure: Failure = failure


@dataclass(frozen=True)
class BenchmarkTask:
    """What a benchmark runs on.

    Attributes
    ----------
    ranks : int
        MPI processes.
    nodes : int
        Hosts; ranks are in blocks of equal size.
    executable : Path
        The program, found by one of the names that `BenchmarkPlugin.executables` gives.
    folder : Path
        Working directory of the run, seen by all hosts; `BenchmarkPlugin.files` lie in it.
    """

    ranks: int
    nodes: int
    executable: Path
    folder: Path

    @property
    def ranks_per_node(self) -> int:
        """Ranks that share a host."""
        return self.ranks // self.nodes


@dataclass(frozen=True)
class RunOutput:
    """What a run left.

    Attributes
    ----------
    stdout, stderr : str
        With the undecodable replaced.
    exit_code : int or None
        Of the launcher; negative: the signal that ended it; None: not known.
    """

    stdout: str
    stderr: str = ""
    exit_code: int | None = None


@dataclass(frozen=True)
class FigureOfMerit:
    """One number that a benchmark measures.

    Attributes
    ----------
    metric : str
        Such as ``latency_avg`` or ``mops``.
    value : float
        Finite.
    unit : str
    better : {"lower", "higher", ""}
        "": it is no merit (a count of iterations, say).
    size : int or None
        Bytes of a message, where the benchmark has a row for each size.
    """

    metric: str
    value: float
    unit: str
    better: Literal["lower", "higher", ""]
    size: int | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """What a run measured.

    Attributes
    ----------
    figures : tuple of FigureOfMerit
        At least one; the pairs of metric and size differ.
    version : str
        Of the benchmark, as it says; empty if it does not.
    facts : mapping
        What else it says of itself: class, processes, iterations. Texts and numbers.
    """

    figures: tuple[FigureOfMerit, ...]
    version: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkloadModel:
    """What predicts a benchmark.

    Attributes
    ----------
    workload : str
        Instance name of a workload plugin.
    iterations : int
        As in the settings of the flow engine; 0: all.
    """

    workload: str
    iterations: int = 0


class BenchmarkPlugin(Plugin):
    """A benchmark that is launched on real machines.

    Class attributes
    ----------------
    figure : str
        The figure of merit that is meant where one number is to stand for the benchmark.
    """

    kind = "benchmark"
    figure: ClassVar[str]

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Why it cannot run with that many processes; None if it can."""
        return None

    @abstractmethod
    def executables(self, ranks: int) -> tuple[str, ...]:
        """Names of the program's file, the best one first."""

    @abstractmethod
    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """The program and its arguments, without launcher; no shell reads them."""

    def files(self, task: BenchmarkTask) -> Mapping[str, str]:
        """Text by name of the files that lie in the run's folder before it starts."""
        return {}

    @abstractmethod
    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """What the run measured.

        Parameters
        ----------
        output : RunOutput
        task : BenchmarkTask or None
            None where nothing is known of what was asked for; the plugin's parameters say nothing
            of it then, either.

        Raises
        ------
        BenchmarkError
            If there are no figures that can be trusted. Nothing else, whatever the output is.
        """

    def model(self, task: BenchmarkTask) -> WorkloadModel | None:
        """The workload that predicts it; None: there is none."""
        return None

    def predicted(self, facts: Mapping[str, Any], task: BenchmarkTask) -> tuple[FigureOfMerit, ...]:
        """Those of its figures that follow from what the flow engine found (its facts)."""
        return ()
