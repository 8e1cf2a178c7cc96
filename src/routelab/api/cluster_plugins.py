"""Kinds of plugin for real systems: what is launched there, and what switches their routing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from routelab.api.benchmark import (
    BenchmarkResult,
    BenchmarkTask,
    FigureOfMerit,
    RunOutput,
    WorkloadModel,
)
from routelab.api.fabric import FabricJob, Switch
from routelab.api.plugin_base import Plugin


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


class FabricPlugin(Plugin):
    """Changes the routing of a real system, and puts it back.

    Class attributes
    ----------------
    changes : bool
        Whether it changes anything; then it has to be allowed.
    """

    kind = "fabric"
    changes: ClassVar[bool] = True

    @property
    def export(self) -> str:
        """Instance name of the export plugin whose files it needs; empty: none.

        They lie in the job's folder, read back and compared with the routes, before `apply` or
        `restore` is called.
        """
        return ""

    def problems(self, job: FabricJob) -> list[str]:
        """What is missing, found out without changing or running anything; a line each."""
        return []

    def check(self, job: FabricJob, switch: Switch) -> None:
        """Ask the system whether `apply` would work, without changing anything.

        Raises
        ------
        FabricError
            If it would not.
        """
        return

    @abstractmethod
    def apply(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as `job` says, whatever it did before.

        Raises
        ------
        FabricError
            If that failed; what the fabric does then is not known, and it is restored.
        """

    @abstractmethod
    def restore(self, job: FabricJob, switch: Switch) -> None:
        """Make the fabric route as it did before anything was applied; may be called twice.

        Parameters
        ----------
        job : FabricJob
            What was applied last, or begun to be.

        Raises
        ------
        FabricError
        """
