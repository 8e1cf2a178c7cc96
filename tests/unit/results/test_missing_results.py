"""Sentences about missing results."""

from __future__ import annotations

from routelab.results.missing_results import (
    JobStatus,
    collect_missing,
    loss_sentences,
)

MEMORY = "reached its limit of 4 GB (limits.memory_gb)"


def jobs(*groups, study="demo", thing="simulation"):
    """Jobs from groups of ``(number, status, reason)``."""
    return [
        JobStatus(study, thing, f"{thing}s", status, reason)
        for number, status, reason in groups
        for _ in range(number)
    ]


def test_studies_and_kinds_are_counted_apart_and_the_most_serious_comes_first():
    every = [
        *jobs((1, "ok", ""), (1, "not-run", ""), study="a"),
        *jobs((2, "not-run", ""), study="b", thing="route table"),
        *jobs((1, "failed", "why"), (1, "ok", ""), study="b"),
    ]
    assert loss_sentences(iter(every)) == [
        "1 of 2 simulations of b failed: why",
        "2 of 2 route tables of b have not run yet",
        "1 of 2 simulations of a has not run yet",
    ]


def test_losses_have_counts_and_a_status():
    lost, other = collect_missing(
        jobs((1, "ok", ""), (2, "failed", MEMORY), (1, "unsupported", "no"))
    )
    assert (lost.noun, lost.count, lost.total, lost.status) == ("simulation", 2, 4, "timeout")
    assert lost.is_alarm
    assert not other.is_alarm
    assert lost.text == "2 of 4 simulations reached their limit of 4 GB; raise limits.memory_gb"
