"""The job protocol: what planning, batches, limits and reports know about jobs of any kind."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from routelab.results.json_files import write_json
from routelab.results.outcome import OUTCOME, Status, has_valid_outcome, recorded_status
from routelab.study.study import Limits

if TYPE_CHECKING:
    from routelab.jobs.worker import Item

MANIFEST = "batch-outcomes/1"

TRY_AGAIN: tuple[Status, ...] = ("failed", "timeout")
"""Statuses of jobs that the next run tries again."""

DIGEST = 16
"""Characters of the digest in the name of a directory."""

MAX_ID = 150
"""Longest name of a job's directory, in bytes: file names have 255, and log files add a suffix."""


def folder_name(id_: str) -> str:
    """Return the name of the directory of an id: itself, or its beginning and a digest if long.

    The name depends only on the id. The outcome has the complete name.
    """
    encoded = id_.encode("utf-8", "backslashreplace")
    if len(encoded) <= MAX_ID:
        return id_
    digest = hashlib.sha256(encoded).hexdigest()[:DIGEST]
    # one byte for the dash; a character of several bytes that the cut divides is left out
    return f"{encoded[: MAX_ID - DIGEST - 1].decode(errors='ignore')}-{digest}"


class Compilation(NamedTuple):
    """A tiny piece of work that compiles and loads the kernels of many jobs.

    Attributes
    ----------
    key : tuple of str
        Equal for compilations that load the same kernels.
    name : str
        Name in messages.
    work : callable
        Runs the kernels on a tiny input.
    classes : tuple of str
        Names of the plugin classes whose kernels it loads.
    """

    key: tuple[str, ...]
    name: str
    work: Callable[[], object]
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BaseJob(ABC):
    """Base class of jobs: one piece of work with one outcome.

    A kind of job is a subclass in a module of `routelab.workflow.stages`, with a class method
    ``plan(parts)`` that yields the jobs of a study. Planning, batching, limits, resuming,
    progress and reports use only the methods of this class.

    Class attributes
    ----------------
    kind : str
        Folder of the results, and name of the kind in Snakemake rules.
    outcome_kind : str
        Kind in the outcome.
    nouns : (str, str)
        Singular and plural of what these jobs make, for messages, such as ``("route table", "route
        tables")``.
    order : int
        Position among the kinds in lists.
    per_batch : int
        Least number of jobs in a batch if a study has that many; 1: each job is a batch.
    seconds_each : float
        Typical time per result; batches that take long start first.
    of_surveys : bool
        Whether these are the jobs of surveys. A survey has only such jobs, another study has none.

    Attributes
    ----------
    folder : str
        Folder of its result and outcome.
    ids : tuple of str
        Names of the directories below ``results/<study>/<kind>``; long ones are shortened there.
    text : str
        Canonical name of what is run.
    digest : str
        Digest of the code and the files that the result depends on; empty outside a workflow.
    inputs : tuple of str
        Input files.
    needs : tuple of str
        Folders of jobs that must run before.
    limits : Limits
    network : str
        Canonical name of the network; empty if the job has none or makes it.
    classes : tuple of str
        Names of the plugin classes whose kernels the job loads.
    """

    kind: ClassVar[str]
    outcome_kind: ClassVar[str]
    nouns: ClassVar[tuple[str, str]]
    order: ClassVar[int]
    per_batch: ClassVar[int] = 20
    seconds_each: ClassVar[float] = 0.1
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

    # --- names -------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def plan(cls, parts: Any) -> Iterable[Self]:
        """Return the jobs of this kind in a study.

        Parameters
        ----------
        parts : routelab.workflow.parts.study_plugins.Parts

        Raises
        ------
        ConfigError
            Lists everything that is wrong.
        """

    @classmethod
    def folder_of(cls, results: Path | str, ids: Sequence[str]) -> str:
        """Return the folder of a job in the folder of its study's results."""
        return "/".join([str(results), cls.kind, *map(folder_name, ids)])

    @classmethod
    def manifest(cls, results: Path, batch: str) -> Path:
        """Return the file that a batch of such jobs writes when all have an outcome."""
        study, _, number = batch.rpartition("-")
        return results / study / "batches" / cls.kind / f"{number}.json"

    @classmethod
    def write_manifest(cls, jobs: Sequence[BaseJob], path: Path, replaces: int = 0) -> None:
        """Write the file that marks a batch as done.

        Parameters
        ----------
        jobs : sequence of BaseJob
        path : Path
        replaces : int
            Time of the manifest that this one replaces, in ns; 0 if none. Snakemake makes a page
            again if the content of a manifest has changed. The time changes it even if all jobs
            that were repeated have the same outcome as before.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        outcomes = [{"folder": job.folder, **recorded_status(job.folder)} for job in jobs]
        write_json(path, {"format": MANIFEST, "replaces": replaces, "outcomes": outcomes})

    @property
    def title(self) -> str:
        """Name in messages."""
        return " / ".join(self.ids) or self.text

    @property
    def base_name(self) -> str:
        """Name without parameters, which jobs that share kernels have in common.

        Of ``dor~order=yx`` it is ``dor``.
        """
        return "@".join(part.partition("~")[0] for part in self.text.split("@"))

    def group(self, study: str) -> str:
        """Return the name that batches with such jobs have in their ids, before their number."""
        return study

    @property
    def size(self) -> int:
        """Number of its results."""
        return 1

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that the result depends on; empty outside a workflow."""
        if not self.digest:
            return ""
        parts = [self.kind, self.text, self.digest, *self.content()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def content(self) -> Sequence[str]:
        """Return what the result depends on besides name and digest."""
        return ()

    # --- outcome -------------------------------------------------------------------------------

    @property
    def outcome(self) -> Path:
        """File with the outcome."""
        return Path(self.folder) / OUTCOME

    def is_done(self) -> bool:
        """Return whether the result exists, has this fingerprint, and need not be tried again."""
        return self.has_outcome() and self.status() not in TRY_AGAIN

    def has_outcome(self) -> bool:
        """Return whether an outcome with this fingerprint and `sources` exists, and its files."""
        return has_valid_outcome(Path(self.folder), self.fingerprint, self.sources())

    def sources(self) -> Mapping[str, str]:
        """Return the digests of the present network and table, if it is made from such.

        A fingerprint does not tell apart two tables of an algorithm that is not reproducible.
        """
        return {}

    def status(self) -> str:
        """Return the outcome's status: ``failed`` if it cannot be read, empty if it is missing."""
        return recorded_status(self.folder)["status"]

    def forget(self) -> None:
        """Remove the outcome, so that the job is not done; other files stay for the report."""
        self.outcome.unlink(missing_ok=True)

    def statuses(self) -> list[tuple[str, str]]:
        """Return status and reason of each result; both are empty if it is missing."""
        ending = recorded_status(self.folder)
        return [(ending["status"], ending["reason"])]

    # --- execution -----------------------------------------------------------------------------

    def compilations(self) -> Sequence[Compilation]:
        """Return the compilations that load everything that the job needs; none by default."""
        return ()

    @abstractmethod
    def work_items(self) -> Sequence[Item]:
        """Return the missing work; called once, in the process that starts the workers."""
