"""Which results of a study are missing, by what its jobs make."""

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
class Kind:
    """All jobs of a study that make the same kind of result.

    Attributes
    ----------
    thing : str
        What they make, in the singular.
    outcomes : sequence of Outcome
    """

    thing: str
    outcomes: Sequence[Outcome]

    @property
    def things(self) -> str:
        """What they make, in the plural."""
        return f"{self.thing}s"

    @property
    def total(self) -> int:
        """The number of jobs."""
        return len(self.outcomes)

    @property
    def ok(self) -> int:
        """Jobs with a result."""
        return sum(outcome.status == OK for outcome in self.outcomes)

    @property
    def alarms(self) -> int:
        """Jobs without a result that could have one: all but the unsupported ones."""
        return sum(outcome.status not in (OK, "unsupported") for outcome in self.outcomes)


def kinds_of(views: Views) -> list[Kind]:
    """Return the kinds of results that a study has, except bounds; route tables come first."""
    kinds = [Kind(TABLE, views.routes.outcomes)] if views.routes.records else []
    return kinds + [Kind(thing, view.outcomes) for thing, view in views.simulated]


def losses_of(study: str, views: Views) -> list[Loss]:
    """Return all results that a study lacks, the most serious first."""
    kinds = [*kinds_of(views), Kind(BOUND, views.routes.bound_outcomes)]
    return collect_losses(
        JobStatus(study, kind.thing, kind.things, outcome.status, outcome.reason)
        for kind in kinds
        for outcome in kind.outcomes
    )


def absent_things(views: Views) -> list[str]:
    """Return the kinds of results of which none exist, or fewer than were lost.

    Unsupported jobs alone do not make route tables absent while the study has other results: the
    study is about these.
    """
    kinds = kinds_of(views)
    anything = any(kind.ok for kind in kinds)
    return [
        kind.thing
        for kind in kinds
        if kind.alarms > kind.ok
        or not (kind.ok or (kind.thing == TABLE and anything and not kind.alarms))
    ]


def incomplete(view: View, views: Views) -> str:
    """Return the reservation that a comparison of incomplete results begins with.

    Returns
    -------
    str
        ``"Among the 5 of 9 simulations that have a result, "``; empty if every job of the kind
        that `view` shows has a result or is unsupported.
    """
    thing = TABLE
    if isinstance(view, EngineFrames):
        thing = "simulation" if view.work == "traffic" else "flow simulation"
    elif isinstance(view, BenchFrames):
        thing = "measurement"
    for kind in kinds_of(views):
        if kind.thing == thing and kind.alarms:
            have = "has" if kind.ok == 1 else "have"
            return f"Among the {kind.ok} of {kind.total} {kind.things} that {have} a result, "
    return ""


def as_sentence(text: str) -> str:
    """Return `text` with a full stop, unless it ends with a mark already."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def loss_json(loss: Loss) -> dict[str, Any]:
    """Return a loss as ``summary.json`` has it."""
    return {
        "thing": loss.noun,
        "status": loss.status,
        "lost": loss.count,
        "total": loss.total,
        "text": as_sentence(loss.text),
        "sentence": as_sentence(loss.sentence),
    }
