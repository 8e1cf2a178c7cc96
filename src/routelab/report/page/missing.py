"""Missing results of a study, by kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from routelab.artifacts.losses import JobStatus, Loss, collect_losses
from routelab.artifacts.outcome import Outcome
from routelab.report.frames.benchmarks import BenchFrames
from routelab.report.frames.simulations import EngineFrames
from routelab.report.frames.view import OK, View
from routelab.report.frames.views import Views

TABLE = "route table"
BOUND = "bound"


@dataclass(frozen=True)
class ResultKind:
    """All jobs of a study that make the same kind of result.

    Attributes
    ----------
    noun : str
        Noun for the results, in the singular.
    outcomes : sequence of Outcome
    """

    noun: str
    outcomes: Sequence[Outcome]

    @property
    def plural(self) -> str:
        """Noun for the results, in the plural."""
        return f"{self.noun}s"

    @property
    def total(self) -> int:
        """Number of jobs."""
        return len(self.outcomes)

    @property
    def ok(self) -> int:
        """Number of jobs with a result."""
        return sum(outcome.status == OK for outcome in self.outcomes)

    @property
    def alarms(self) -> int:
        """Number of jobs without a result, except unsupported ones."""
        return sum(outcome.status not in (OK, "unsupported") for outcome in self.outcomes)


def kinds_of(views: Views) -> list[ResultKind]:
    """Return the kinds of results that a study has, except bounds; route tables come first."""
    kinds = [ResultKind(TABLE, views.routes.outcomes)] if views.routes.records else []
    return kinds + [ResultKind(noun, view.outcomes) for noun, view in views.named_views]


def losses_of(study: str, views: Views) -> list[Loss]:
    """Return all results that a study lacks, the most serious first."""
    kinds = [*kinds_of(views), ResultKind(BOUND, views.bound_outcomes)]
    return collect_losses(
        JobStatus(study, kind.noun, kind.plural, outcome.status, outcome.reason)
        for kind in kinds
        for outcome in kind.outcomes
    )


def absent_kinds(views: Views) -> list[str]:
    """Return the kinds of results of which none exist, or fewer than were lost.

    Unsupported jobs alone do not make route tables absent if the study has other results.
    """
    kinds = kinds_of(views)
    any_result = any(kind.ok for kind in kinds)
    return [
        kind.noun
        for kind in kinds
        if kind.alarms > kind.ok
        or not (kind.ok or (kind.noun == TABLE and any_result and not kind.alarms))
    ]


def incomplete(view: View, views: Views) -> str:
    """Return the reservation that a comparison of incomplete results begins with.

    Returns
    -------
    str
        ``"Among the 5 of 9 simulations that have a result, "``; empty if every job of the kind
        that `view` shows has a result or is unsupported.
    """
    noun = TABLE
    if isinstance(view, EngineFrames):
        noun = "simulation" if view.work == "traffic" else "flow simulation"
    elif isinstance(view, BenchFrames):
        noun = "measurement"
    for kind in kinds_of(views):
        if kind.noun == noun and kind.alarms:
            have = "has" if kind.ok == 1 else "have"
            return f"Among the {kind.ok} of {kind.total} {kind.plural} that {have} a result, "
    return ""


def as_sentence(text: str) -> str:
    """Return `text` with a full stop, unless it already ends with a punctuation mark."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def loss_json(loss: Loss) -> dict[str, Any]:
    """Return a loss in the form of ``summary.json``."""
    return {
        "thing": loss.noun,
        "status": loss.status,
        "lost": loss.count,
        "total": loss.total,
        "text": as_sentence(loss.text),
        "sentence": as_sentence(loss.sentence),
    }
