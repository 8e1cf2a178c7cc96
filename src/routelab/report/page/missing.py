"""Missing results of a study, by kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from routelab.artifacts.missing_results import JobStatus, Loss, collect_losses
from routelab.artifacts.outcome import Outcome
from routelab.report.frames.benchmarks import BenchFrames
from routelab.report.frames.simulations import EngineFrames
from routelab.report.frames.view import OK, View
from routelab.report.frames.views import Views

TABLE = "route table"
BOUND = "bound"


def losses_of(study: str, views: Views) -> list[Loss]:
    """Return all results that a study lacks, the most serious first."""
    return collect_losses(
        JobStatus(study, noun, f"{noun}s", outcome.status, outcome.reason)
        for noun, outcomes in ((*_outcomes(views), (BOUND, views.bound_outcomes)))
        for outcome in outcomes
    )


def _outcomes(views: Views) -> list[tuple[str, Sequence[Outcome]]]:
    """Return the outcomes of every kind of result except bounds, each with its noun."""
    kinds = [(noun, view.outcomes) for noun, view in views.named_views]
    return [(TABLE, views.routes.outcomes), *kinds] if views.routes.records else kinds


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
    outcomes = dict(_outcomes(views)).get(noun, ())
    ok = sum(outcome.status == OK for outcome in outcomes)
    if all(outcome.status in (OK, "unsupported") for outcome in outcomes):
        return ""
    have = "has" if ok == 1 else "have"
    return f"Among the {ok} of {len(outcomes)} {noun}s that {have} a result, "


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
