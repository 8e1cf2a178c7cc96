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
"""Reasons why a finished run has no figures: it printed nothing; its output is truncated; the
number of processes, the benchmark, the class or the size differs from the request; the program's
own check failed or did not run; the program or the launcher printed an error; a signal ended it;
the output has an unknown form."""


class BenchmarkError(RoutelabError):
    """A run produced no trustworthy figures.

    Attributes
    ----------
    failure : str
        Why, as one of the words of `Failure`; the message has the details.
    """

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure: Failure = failure


@dataclass(frozen=True)
class BenchmarkTask:
    """Processes, hosts, program and folder of one run of a benchmark.

    Attributes
    ----------
    ranks : int
        MPI processes.
    nodes : int
        Hosts, each with a block of equally many ranks.
    executable : Path
        The program, found by one of the names that `BenchmarkPlugin.executables` gives.
    folder : Path
        Working directory of the run, visible to all hosts; contains `BenchmarkPlugin.files`.
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
    """Output and exit code of a run.

    Attributes
    ----------
    stdout, stderr : str
        Undecodable bytes are replaced.
    exit_code : int or None
        Exit code of the launcher; negative: the signal that ended it; None: unknown.
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
        "": no preferred direction (a count of iterations, for example).
    size : int or None
        Bytes of a message, if the benchmark has a row for each size.

    Examples
    --------
    >>> from routelab.api import FigureOfMerit
    >>> FigureOfMerit("latency", 1.9, "us", "lower", size=8).size
    8
    """

    metric: str
    value: float
    unit: str
    better: Literal["lower", "higher", ""]
    size: int | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """Figures that a run measured.

    Attributes
    ----------
    figures : tuple of FigureOfMerit
        At least one; no two have both the same metric and the same size.
    version : str
        Version that the benchmark prints; empty if it prints none.
    facts : mapping
        Other values that the benchmark prints: class, processes, iterations. Texts and numbers.
    foreign : tuple of str
        Lines of the output that do not come from the benchmark, but from a launcher, a library or a
        shell.
    """

    figures: tuple[FigureOfMerit, ...]
    version: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkloadModel:
    """Workload whose simulation predicts the figures of a benchmark.

    Attributes
    ----------
    workload : str
        Instance name of a workload plugin.
    iterations : int
        Iterations to simulate, as in the settings of the flow engine; 0: all.
    """

    workload: str
    iterations: int = 0


class BenchmarkPlugin(Plugin):
    """A benchmark that is launched on real machines.

    Class attributes
    ----------------
    figure : str
        The figure of merit that represents the benchmark where one number is needed.
    shows_end : bool
        Whether `parse` can detect a truncated output even if it does not know what was requested
        (`task` is None). False, for example, for a program that prints one row per message size and
        nothing after the last row: an output that ends after the row for 1 KiB may be complete.
        ``routelab bench parse`` then prints a warning.
    """

    kind = "benchmark"
    figure: ClassVar[str]
    shows_end: ClassVar[bool] = True

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Return why the benchmark cannot run with that many processes; None if it can."""
        return None

    @abstractmethod
    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return the possible names of the program's file, the best one first."""

    def lacks(self, executable: Path) -> str:
        """Return what the program needs and does not find here, and how to get it.

        ``routelab cluster check`` calls this on the host on which it runs. It must not start
        processes of MPI. Return an empty text if nothing is missing, or if that cannot be found
        out.
        """
        return ""

    @abstractmethod
    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the program and its arguments, without launcher; no shell reads them."""

    def files(self, task: BenchmarkTask) -> Mapping[str, str]:
        """Return the files that the run's folder must contain before it starts, text by name."""
        return {}

    @abstractmethod
    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Return the figures that the run measured.

        Parameters
        ----------
        output : RunOutput
        task : BenchmarkTask or None
            What was run. None if this is unknown, because the output is a file of the user; then
            the plugin's parameters may differ from those of the run, too.

        Raises
        ------
        BenchmarkError
            If there are no trustworthy figures. No other error, whatever the output is.
        """

    def model(self, task: BenchmarkTask) -> WorkloadModel | None:
        """Return the workload that predicts the benchmark; None if no workload does."""
        return None

    def predicted(self, facts: Mapping[str, Any], task: BenchmarkTask) -> tuple[FigureOfMerit, ...]:
        """Return the figures that the flow engine predicts, to compare them with measured ones.

        `facts` are those of the flow engine's result for the workload that `model` returned.
        """
        return ()
