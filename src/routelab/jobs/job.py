"""The job protocol: what planning, batches, limits and reports know of all kinds of work."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from routelab.artifacts.json_files import write_json
from routelab.artifacts.outcome import Status
from routelab.config.study import Limits

if TYPE_CHECKING:
    from routelab.jobs.limits import Breach, Meter

OUTCOME = "outcome.json"
"""File of a job's folder with what became of it."""

MANIFEST = "batch-outcomes/1"

TRY_AGAIN: tuple[Status, ...] = ("failed", "timeout")
"""Outcomes that the next run tries to improve."""

MAX_ID = 150
"""Longest name of a job's directory: file names have 255 bytes, and log files add an ending."""


class Rehearsal(NamedTuple):
    """A tiny piece of work that compiles and loads the kernels of many jobs.

    Attributes
    ----------
    key : tuple of str
        Equal for rehearsals that load the same.
    name : str
        What people know it by.
    work : callable
    classes : tuple of str
        Names of the plugin classes whose kernels it loads.
    """

    key: tuple[str, ...]
    name: str
    work: Callable[[], object]
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Job(ABC):
    """One piece of work with an outcome of its own.

    A kind of job is a subclass in a module of `routelab.stages.kinds`, with a class method
    ``plan(parts)`` that yields the jobs that a study asks for. Planning, batching, limits,
    resuming, progress and reports know jobs only by what is here.

    Class attributes
    ----------------
    kind : str
        Folder of the results, and name of the kind for Snakemake.
    outcome_kind : str
        What the outcome calls it.
    things : (str, str)
        What people call one of these jobs, and many.
    order : int
        Place among the kinds in lists.
    per_batch : int
        Most jobs of a batch: enough to share the imports, few enough to keep all cores busy.
    of_surveys : bool
        Whether surveys consist of such jobs; other studies consist of all other kinds.

    Attributes
    ----------
    folder : str
        Where its result and outcome go.
    ids : tuple of str
        Names of the directories below ``results/<kind>``.
    text : str
        Canonical name of what is run.
    digest : str
        Of the code and files that the result depends on; empty outside a workflow.
    inputs : tuple of str
        Files that it reads.
    needs : tuple of str
        Folders of jobs that must have run.
    limits : Limits
    network : str
        Canonical name of the network; empty if it has none or makes it.
    classes : tuple of str
        Names of the plugin classes whose kernels it loads.
    """

    kind: ClassVar[str]
    outcome_kind: ClassVar[str]
    things: ClassVar[tuple[str, str]]
    order: ClassVar[int]
    per_batch: ClassVar[int] = 20
    of_surveys: ClassVar[bool] = False

    folder: str
    ids: tuple[str, ...] = ()
    text: str
    digest: str = ""
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    network: str = ""
    classes: tuple[str, ...] = ()

    # --- what it is known by -----------------------------------------------------------------

    @classmethod
    @abstractmethod
    def plan(cls, parts: Any) -> Iterable[Self]:
        """The jobs of this kind that a study asks for.

        Parameters
        ----------
        parts : routelab.stages.parts.parts.Parts

        Raises
        ------
        ConfigError
            With everything that is wrong.
        """

    @classmethod
    def folder_of(cls, results: Path | str, ids: Sequence[str]) -> str:
        """The folder of a job in a results folder."""
        return "/".join([str(results), cls.kind, *ids])

    @classmethod
    def manifest(cls, results: Path, batch: str) -> Path:
        """The file that a batch of such jobs leaves when all have an outcome."""
        return results / "batches" / cls.kind / f"{batch}.json"

    @classmethod
    def write_manifest(cls, jobs: Sequence[Job], path: Path) -> None:
        """Write the file that says that a batch is done.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        outcomes = [{"folder": job.folder, **job._ending()} for job in jobs]
        write_json(path, {"format": MANIFEST, "outcomes": outcomes})

    @property
    def title(self) -> str:
        """What people know it by."""
        return " / ".join(self.ids) or self.text

    @property
    def labels(self) -> dict[str, str]:
        """Its names by column: topology, routing, traffic or workload, and settings."""
        names = (*self.ids, "", "", "", "")
        return dict(zip(("topology", "routing", "traffic", "settings"), names, strict=False))

    @property
    def make(self) -> str:
        """The name without parameters: what jobs that share kernels have in common."""
        return "@".join(part.partition("~")[0] for part in self.text.split("@"))

    def group(self, study: str) -> str:
        """The name that its batch shares with others of the study, before their numbers."""
        return f"{study}.{self.make}"

    @property
    def size(self) -> int:
        """How many results it makes."""
        return 1

    def left(self) -> int:
        """How many results are still to be made, if it is not done."""
        return self.size

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that the result depends on; empty outside a workflow."""
        if not self.digest:
            return ""
        parts = [self.kind, self.text, self.digest, *self.content()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def content(self) -> Sequence[str]:
        """What the result depends on beside name and digest."""
        return ()

    def merge(self, other: Self) -> Self:
        """The job that serves two studies which ask for it."""
        return replace(
            self,
            limits=self.limits.with_most_of(other.limits),
            inputs=tuple(dict.fromkeys((*self.inputs, *other.inputs))),
        )

    # --- what has become of it -----------------------------------------------------------------

    @property
    def outcome(self) -> Path:
        """The file that says what became of it."""
        return Path(self.folder) / OUTCOME

    def is_done(self) -> bool:
        """Whether the result is there, is that of this fingerprint, and needs no other try."""
        return self.has_outcome() and self.status() not in TRY_AGAIN

    def has_outcome(self) -> bool:
        """Whether there is an outcome of this fingerprint."""
        try:
            outcome = json.loads(self.outcome.read_bytes())
            return bool(outcome["provenance"]["fingerprint"] == self.fingerprint)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def status(self) -> str:
        """What the outcome says, ``failed`` if it cannot be read; empty where there is none."""
        return self._ending()["status"]

    def _ending(self) -> dict[str, str]:
        """Status and reason of the outcome."""
        try:
            outcome = json.loads(self.outcome.read_bytes())
            return {"status": str(outcome["status"]), "reason": str(outcome["reason"])}
        except FileNotFoundError:
            return {"status": "", "reason": ""}
        except (OSError, ValueError, KeyError, TypeError):
            return {"status": "failed", "reason": "its outcome cannot be read"}

    def endings(self) -> list[tuple[str, str]]:
        """Status and reason of each result; both are empty where there is none."""
        ending = self._ending()
        return [(ending["status"], ending["reason"])]

    # --- how it is done ------------------------------------------------------------------------

    def rehearsals(self) -> Sequence[Rehearsal]:
        """How to load everything that the job needs; nothing by default."""
        return ()

    def start(self) -> Job:
        """What is missing of the job; called once, before its first process."""
        return self

    @abstractmethod
    def do(self) -> None:
        """Do what is to be done in one process under the limits, and write what became of it.

        Raises
        ------
        RoutelabError
            If it cannot be written, say on a full disk.
        """

    @abstractmethod
    def end(self, ended: int | Breach, meter: Meter) -> Job | None:
        """Complete what a process that `do` ran in has left; return what is still to be done.

        Parameters
        ----------
        ended : int or Breach
            Exit code, which a plugin may have chosen, or why it was stopped.
        meter : Meter
            Says which part of the work it was at.

        Raises
        ------
        RoutelabError
            If no outcome can be written.
        """
