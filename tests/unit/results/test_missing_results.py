"""Sentences about missing results."""

from __future__ import annotations

import subprocess
import sys

import pytest

from routelab.results.missing_results import (
    LONGEST_REASON,
    JobStatus,
    cause_text,
    collect_missing,
    loss_sentences,
    status_text,
)

CPU = "reached its limit of 120 CPU-s (limits.seconds)"
MEMORY = "reached its limit of 4 GB (limits.memory_gb)"
SECONDS, KEY = "300 idle seconds", "limits.idle_seconds"
IDLE = f"reached its limit of {SECONDS} ({KEY})"


def jobs(*groups, study="demo", thing="simulation"):
    """Jobs from groups of ``(number, status, reason)``."""
    return [
        JobStatus(study, thing, f"{thing}s", status, reason)
        for number, status, reason in groups
        for _ in range(number)
    ]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([], []),
        ([(9, "ok", "")], []),
        (
            [(9, "timeout", CPU)],
            ["9 of 9 simulations of demo reached their limit of 120 CPU-s; raise limits.seconds"],
        ),
        (
            [(8, "ok", ""), (1, "timeout", CPU)],
            ["1 of 9 simulations of demo reached its limit of 120 CPU-s; raise limits.seconds"],
        ),
        (
            [(1, "failed", MEMORY)],
            ["1 of 1 simulation of demo reached its limit of 4 GB; raise limits.memory_gb"],
        ),
        (
            # what a job was doing does not split a limit; its value does
            [
                (1, "timeout", f"{CPU} in dor on torus~dims=4: warm-up (2 of 5)"),
                (2, "timeout", f"{CPU} in rdr: load 0.3"),
                (1, "timeout", CPU.replace("120", "60")),
                (2, "timeout", IDLE),
            ],
            [
                "3 of 6 simulations of demo reached their limit of 120 CPU-s; raise limits.seconds",
                f"2 of 6 simulations of demo reached their limit of {SECONDS}; raise {KEY}",
                "1 of 6 simulations of demo reached its limit of 60 CPU-s; raise limits.seconds",
            ],
        ),
        (
            [(2, "timeout", "took longer than 5 s")],
            ["2 of 2 simulations of demo reached a limit: took longer than 5 s"],
        ),
        (
            [(5, "ok", ""), (4, "not-run", "a/outcome.json does not exist")],
            ["4 of 9 simulations of demo have not run yet"],
        ),
        (
            [(8, "ok", ""), (1, "not-run", "")],
            ["1 of 9 simulations of demo has not run yet"],
        ),
        (
            [(2, "unsupported", "needs a ring."), (1, "unsupported", "needs a grid")],
            [
                "2 of 3 simulations of demo do not apply to their network: needs a ring",
                "1 of 3 simulations of demo does not apply to its network: needs a grid",
            ],
        ),
        (
            # a limit that another job reached is the reason of a failure, not this job's limit
            [(2, "failed", f"its network: {CPU}"), (1, "failed", "")],
            [
                f"2 of 3 simulations of demo failed: its network: {CPU}",
                "1 of 3 simulations of demo failed",
            ],
        ),
        (
            [(1, "unsupported", CPU)],
            [f"1 of 1 simulation of demo does not apply to its network: {CPU}"],
        ),
        (
            [(1, "failed", "a"), (3, "failed", "b"), (1, "failed", "c"), (1, "failed", "d")],
            ["6 of 6 simulations of demo failed: b (and 3 other reasons)"],
        ),
        (
            # the most serious first, however many there are of the others
            [
                (3, "unsupported", "no"),
                (2, "not-run", ""),
                (2, "timeout", CPU),
                (1, "failed", "it broke\nTraceback:\n  ..."),
            ],
            [
                "1 of 8 simulations of demo failed: it broke",
                "2 of 8 simulations of demo reached their limit of 120 CPU-s; raise limits.seconds",
                "2 of 8 simulations of demo have not run yet",
                "3 of 8 simulations of demo do not apply to their network: no",
            ],
        ),
    ],
)
def test_sentences(groups, expected):
    assert loss_sentences(jobs(*groups)) == expected


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


def test_a_long_reason_is_cut_and_keeps_one_line():
    (sentence,) = loss_sentences(jobs((1, "failed", "\n" + "word\t" * 100 + "\nmore")))
    reason = sentence.partition("failed: ")[2]
    assert reason.startswith("word word ")
    assert reason.endswith("word…")
    assert len(reason) <= LONGEST_REASON


def test_losses_know_what_programs_ask():
    lost, other = collect_missing(
        jobs((1, "ok", ""), (2, "failed", MEMORY), (1, "unsupported", "no"))
    )
    assert (lost.noun, lost.count, lost.total, lost.status) == ("simulation", 2, 4, "timeout")
    assert lost.is_alarm
    assert not other.is_alarm
    assert lost.text == "2 of 4 simulations reached their limit of 4 GB; raise limits.memory_gb"


@pytest.mark.parametrize(
    ("status", "reason", "status_words", "cause"),
    [
        ("failed", "it broke", "failed", "failed: it broke"),
        ("failed", MEMORY, "reached a limit", MEMORY),
        ("timeout", f"{CPU} in dor: load", "reached a limit", f"{CPU} in dor: load"),
        ("timeout", "too slow", "reached a limit", "reached a limit: too slow"),
        ("not-run", "x does not exist", "not run yet", "not run yet"),
        ("unsupported", "needs a ring", "unsupported", "unsupported: needs a ring"),
    ],
)
def test_statuses_in_words(status, reason, status_words, cause):
    assert status_text(status, reason) == status_words
    assert cause_text(status, reason) == cause


def test_no_heavy_library_is_needed():
    code = (
        "import sys, routelab.results.missing_results; "
        "print(*sorted({'pandas', 'numba', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
