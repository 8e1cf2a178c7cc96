"""Jobs that have not run yet, and other jobs whose outcome cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.results.missing_results import NOT_RUN
from routelab.results.outcome import Outcome, read_outcome


@dataclass(frozen=True)
class PendingOutcome(Outcome):
    """Stand-in for the outcome of a job that has not run; its status is ``not-run``.

    It exists in reports only, and cannot be written.
    """

    def __post_init__(self) -> None:
        # An `Outcome` is frozen, and its own check, which this replaces, refuses the status.
        object.__setattr__(self, "status", NOT_RUN)

    def to_json(self) -> dict[str, Any]:
        """Raise a ValueError: outcome files have no such status."""
        raise ValueError(f"a job that has not run has no outcome to write ({self.reason})")


def read_or_pending(folder: Path, kind: str, topology: str, routing: str) -> Outcome:
    """Read the outcome of a job, or return a stand-in, so that a report can show the job.

    Parameters
    ----------
    folder : Path
        The job's folder.
    kind, topology, routing : str
        What the outcome says if the file is missing.

    Returns
    -------
    Outcome
        `PendingOutcome` if the file is missing; a failure with the reason if it is unreadable.
    """
    path = folder / "outcome.json"
    try:
        return read_outcome(path)
    except (InputError, OSError) as error:
        # a missing file is the cause of an `InputError`
        if isinstance(error.__cause__, FileNotFoundError):
            return PendingOutcome(kind, topology, routing, reason=f"{path} does not exist")
        return Outcome(kind, topology, routing, "failed", f"no outcome: {error}")


def fail_if_stale(outcome: Outcome, table: Outcome | None) -> Outcome:
    """Return the outcome of a job that used a route table; a failure if the table has changed.

    Parameters
    ----------
    outcome : Outcome
        Of a measurement or simulation; its provenance has the digest of the table that it used.
    table : Outcome or None
        Of the job that makes the table; None if the study has no such job.
    """
    present_digest = None if table is None else table.provenance.get("digest")
    used_digest = outcome.provenance.get("sources", {}).get("table")
    # A job that failed for some metrics has files with the numbers of the others. A job without any
    # result keeps its own reason.
    has_result = outcome.status == "ok" or outcome.files
    if not has_result or present_digest in (None, used_digest):
        return outcome
    reason = "it was computed from another route table than the present one; run again"
    return replace(outcome, status="failed", reason=reason, facts={}, files={})
